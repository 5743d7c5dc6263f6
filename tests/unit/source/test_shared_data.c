/* Reference trees compared with a naive reading of the same files: equal numbers of operators and
 * equal times. */
#include "tree.h"

#include <dirent.h>

/* Sums over one marker file if every line is split at commas. */
struct naive {
	size_t n_host_starts, n_device_starts;
	uint64_t host_ns, device_ns; /* ends minus starts, modulo 2^64 */
};

static struct naive read_naively(const char *path)
{
	struct naive naive = {0};
	char line[1024];
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(strncmp(line, "Flag,Id,Kind,Name,SourceKind,Timestamp", 38), 0);
	while (fgets(line, sizeof(line), file) != NULL) {
		char *rest = line, *fields[6];
		for (size_t i = 0; i < 6; i++) {
			fields[i] = strsep(&rest, ",");
			assert_non_null(rest);
		}
		bool is_start = strcmp(fields[0], "16") == 0;
		bool is_device = strcmp(fields[4], "1") == 0;
		uint64_t time = strtoull(fields[5], NULL, 10);
		uint64_t *sum = is_device ? &naive.device_ns : &naive.host_ns;
		*sum += is_start ? -time : time;
		naive.n_host_starts += is_start && !is_device ? 1 : 0;
		naive.n_device_starts += is_start && is_device ? 1 : 0;
	}
	assert_int_equal(fclose(file), 0);
	return naive;
}

static struct naive sum_up(const struct fsl_rank *rank)
{
	struct naive sum = {0};
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		assert_int_not_equal(op->group_id, FSL_STR_NONE);
		sum.n_host_starts += op->host_begin_ns != FSL_NS_ABSENT ? 1 : 0;
		sum.n_device_starts += op->dev_begin_ns != FSL_NS_ABSENT ? 1 : 0;
		sum.host_ns += (uint64_t)(op->host_end_ns - op->host_begin_ns);
		sum.device_ns += (uint64_t)(op->dev_end_ns - op->dev_begin_ns);
	}
	return sum;
}

static const char *shared_folder(void)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	return folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR;
}

static void read_tree(struct fsl_run *run, const char *root)
{
	struct fsl_error err = {0};
	const struct fsl_ingest_options options = {
		.root_path = root, .from_ns = INT64_MIN, .to_ns = INT64_MAX};
	assert_int_equal(fsl_run_init(run, &err), FSL_OK);
	assert_int_equal(fsl_ingest_run(run, &options, &err), FSL_OK);
}

/* Every CSV marker file of the tree agrees with its naive reading. */
static void compare(const char *root, size_t n_ranks)
{
	struct fsl_run run;
	read_tree(&run, root);
	assert_int_equal(run.n_ranks, n_ranks);
	for (size_t i = 0; i < run.n_files; i++) {
		const struct fsl_file *file = &run.files[i];
		if (strcmp(file->format, "mspti_csv") != 0) {
			continue;
		}
		struct naive expected = read_naively(file->path);
		struct naive found = sum_up(fsl_run_rank(&run, file->rank));
		assert_memory_equal(&found, &expected, sizeof(found));
		for (size_t k = 0; k < FSL_DROPS_N; k++) {
			assert_int_equal(file->n_dropped[k], 0);
		}
	}
	fsl_run_fini(&run);
}

static void every_case_agrees_with_a_naive_reading(void **state)
{
	(void)state;
	char path[1024], root[1300];
	size_t n_cases = 0;
	(void)snprintf(path, sizeof(path), "%s/data/cases", shared_folder());
	DIR *folder = opendir(path);
	assert_non_null(folder);
	for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
		bool is_missing = strncmp(entry->d_name, "missing_rank5", 13) == 0;
		if (entry->d_name[0] == '.' || strchr(entry->d_name, '_') == NULL) {
			continue;
		}
		(void)snprintf(root, sizeof(root), "%s/%s", path, entry->d_name);
		compare(root, is_missing ? 7 : 8);
		n_cases++;
	}
	(void)closedir(folder);
	assert_true(n_cases >= 17);
}

static void the_real_run_agrees_with_a_naive_reading(void **state)
{
	(void)state;
	char root[1024];
	(void)snprintf(root, sizeof(root), "%s/data/real/ar", shared_folder());
	compare(root, 16);
}

static void operators_and_stages_are_as_many_as_the_job_made(void **state)
{
	(void)state;
	char root[1024];
	struct fsl_run run;
	(void)snprintf(root, sizeof(root), "%s/data/cases/compute_tp8_r3", shared_folder());
	read_tree(&run, root);
	for (int32_t rank = 0; rank < 8; rank++) {
		assert_int_equal(fsl_run_rank(&run, rank)->n_ops, 321);
		assert_string_equal(fsl_run_rank(&run, rank)->server_ip, "10.1.0.1");
	}
	assert_int_equal(run.ranks[0].n_stages, 252);
	assert_int_equal(run.ranks[1].n_stages, 0);
	fsl_run_fini(&run);
}

int main(void)
{
	char path[1024];
	(void)snprintf(path, sizeof(path), "%s/data/cases", shared_folder());
	if (access(path, R_OK) != 0) {
		(void)printf("skipped: no reference data: path=\"%s\"\n", path);
		return 77;
	}
	fsl_log_set_level(FSL_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_agrees_with_a_naive_reading),
		cmocka_unit_test(the_real_run_agrees_with_a_naive_reading),
		cmocka_unit_test(operators_and_stages_are_as_many_as_the_job_made),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
