/* Clocks of profiles of Ascend: read, found below a job, and never those of another host. Processes
 * of containers. */
#include "tree.h"

#include "source/ftrace/find.h"

#define RAW_NS INT64_C(30001129942580)
#define UTC_US INT64_C(1701069324370978)
#define DAY_NS INT64_C(86400000000000)

/* The folder and those above it. */
static void make_folder(const struct tree *tree, const char *folder)
{
	char path[512];
	tree_path(tree, folder, path, sizeof(path));
	for (char *at = path + strlen(tree->root) + 1; *at != '\0'; at++) {
		if (*at == '/') {
			*at = '\0';
			(void)mkdir(path, 0755);
			*at = '/';
		}
	}
	(void)mkdir(path, 0755);
}

static void write_profile(struct tree *tree, const char *folder, const char *host, int64_t raw_ns,
			  int64_t utc_us, int64_t length_us)
{
	char name[256], text[256];
	make_folder(tree, folder);
	(void)snprintf(name, sizeof(name), "%s/start_info", folder);
	(void)snprintf(text, sizeof(text),
		       "{\"collectionTimeBegin\": \"%lld\", \"clockMonotonicRaw\": \"%lld\"}",
		       (long long)utc_us, (long long)raw_ns);
	tree_write(tree, name, text);
	(void)snprintf(name, sizeof(name), "%s/end_info", folder);
	(void)snprintf(text, sizeof(text),
		       "{\"collectionTimeEnd\": \"%lld\", \"clockMonotonicRaw\": \"%lld\"}",
		       (long long)(utc_us + length_us), (long long)(raw_ns + 1000 * length_us - 7));
	tree_write(tree, name, text);
	(void)snprintf(name, sizeof(name), "%s/info.json", folder);
	(void)snprintf(text, sizeof(text), "{\"hostname\": \"%s\"}", host);
	tree_write(tree, name, text);
}

static void find(const struct tree *tree, struct fsl_prof_clocks *clocks)
{
	const char *root = tree->root;
	*clocks = (struct fsl_prof_clocks){0};
	assert_int_equal(fsl_prof_clocks_find(clocks, &root, 1, NULL), FSL_OK);
}

static void a_profile_tells_offset_drift_and_window(void **state)
{
	struct tree *tree = *state;
	struct fsl_prof_clocks clocks;
	bool is_ambiguous = true;
	write_profile(tree, "a_ascend_pt/PROF_1/host", "node1", RAW_NS, UTC_US, 5000000);
	find(tree, &clocks);
	assert_int_equal(clocks.n_items, 1);
	const struct fsl_prof_clock *clock =
		fsl_prof_clocks_choose(&clocks, "t.txt", RAW_NS + 1, &is_ambiguous);
	assert_ptr_equal(clock, &clocks.items[0]);
	assert_false(is_ambiguous);
	assert_true(clock->offset_ns == UTC_US * 1000 - RAW_NS);
	assert_int_equal(clock->drift_ns, 7);
	assert_true(clock->end_ns == RAW_NS + INT64_C(5000000000) - 7);
	assert_string_equal(clock->host, "node1");
	fsl_prof_clocks_fini(&clocks);
}

static void profiles_of_another_time_do_not_fit(void **state)
{
	struct tree *tree = *state;
	struct fsl_prof_clocks clocks;
	bool is_ambiguous = true;
	write_profile(tree, "PROF_1/host", "node1", RAW_NS, UTC_US, 5000000);
	write_profile(tree, "PROF_2/host", "node1", RAW_NS + 9000000000, UTC_US + 9000000, 100);
	find(tree, &clocks);
	assert_null(fsl_prof_clocks_choose(&clocks, "t", RAW_NS + 99 * DAY_NS, &is_ambiguous));
	assert_null(fsl_prof_clocks_choose(&clocks, "t", RAW_NS - 2 * DAY_NS, &is_ambiguous));
	assert_ptr_equal(fsl_prof_clocks_choose(&clocks, "t", RAW_NS + 8000000000, &is_ambiguous),
			 &clocks.items[1]);
	assert_ptr_equal(fsl_prof_clocks_choose(&clocks, "t", RAW_NS - 5, &is_ambiguous),
			 &clocks.items[0]);
	assert_false(is_ambiguous);
	fsl_prof_clocks_fini(&clocks);
}

static void profiles_of_two_hosts_are_told_apart_by_the_path_or_refused(void **state)
{
	struct tree *tree = *state;
	struct fsl_prof_clocks clocks;
	bool is_ambiguous = false;
	write_profile(tree, "x/PROF_1/host", "node1", RAW_NS, UTC_US, 5000000);
	write_profile(tree, "y/PROF_1/host", "node12", RAW_NS - 4000, UTC_US, 5000000);
	find(tree, &clocks);
	assert_null(fsl_prof_clocks_choose(&clocks, "job/sched.txt", RAW_NS, &is_ambiguous));
	assert_true(is_ambiguous);
	assert_ptr_equal(
		fsl_prof_clocks_choose(&clocks, "job/node12/sched.txt", RAW_NS, &is_ambiguous),
		&clocks.items[1]);
	assert_ptr_equal(
		fsl_prof_clocks_choose(&clocks, "ftrace_node1_9.txt", RAW_NS, &is_ambiguous),
		&clocks.items[0]);
	assert_false(is_ambiguous);
	assert_null(fsl_prof_clocks_choose(&clocks, "node1/node12.txt", RAW_NS, &is_ambiguous));
	assert_true(is_ambiguous);
	fsl_prof_clocks_fini(&clocks);
}

static void profiles_without_names_are_of_one_host_if_their_clocks_agree(void **state)
{
	struct tree *tree = *state;
	struct fsl_prof_clocks clocks;
	bool is_ambiguous = true;
	write_profile(tree, "PROF_1/host", "", RAW_NS, UTC_US, 5000000);
	write_profile(tree, "PROF_2/host", "", RAW_NS + 100, UTC_US, 5000000);
	find(tree, &clocks);
	assert_non_null(fsl_prof_clocks_choose(&clocks, "t", RAW_NS + 9, &is_ambiguous));
	assert_false(is_ambiguous);
	fsl_prof_clocks_fini(&clocks);
	write_profile(tree, "PROF_3/host", "", RAW_NS, UTC_US + 2000000, 5000000);
	find(tree, &clocks);
	assert_null(fsl_prof_clocks_choose(&clocks, "t", RAW_NS + 9, &is_ambiguous));
	assert_true(is_ambiguous);
	fsl_prof_clocks_fini(&clocks);
}

static void damaged_files_tell_nothing(void **state)
{
	struct tree *tree = *state;
	struct fsl_prof_clocks clocks;
	make_folder(tree, "PROF_1/host");
	make_folder(tree, "PROF_2/host");
	make_folder(tree, "PROF_3/host");
	tree_write(tree, "PROF_1/host/start_info", "{\"collectionTimeBegin\": \"x\"}");
	tree_write(tree, "PROF_2/host/start_info", "{");
	tree_write(tree, "PROF_3/host/start_info",
		   "{\"collectionTimeBegin\": \"9223372036854775807\", "
		   "\"clockMonotonicRaw\": \"5\"}");
	find(tree, &clocks);
	assert_int_equal(clocks.n_items, 0);
	fsl_prof_clocks_fini(&clocks);
}

static void files_beside_the_trace_tell_its_clock(void **state)
{
	struct tree *tree = *state;
	struct fsl_ftrace_beside beside;
	struct fsl_ftrace_ranks ranks = {0};
	char path[256];
	write_profile(tree, "f", "node1", RAW_NS, UTC_US, 5000000);
	tree_path(tree, "f/sched.txt", path, sizeof(path));
	assert_int_equal(fsl_ftrace_read_beside(&beside, &ranks, path, "", RAW_NS, NULL), FSL_OK);
	assert_true(beside.has_offset && beside.has_start_info);
	assert_true(beside.offset_ns == UTC_US * 1000 - RAW_NS);
	assert_int_equal(beside.drift_ns, 7);
	assert_string_equal(beside.clock, "mono_raw");
	fsl_ftrace_ranks_fini(&ranks);
}

static void ranks_of_containers_get_the_numbers_of_the_host(void **state)
{
	static const struct {
		int32_t told, wanted;
	} pids[] = {{17, 4711}, {18, 4712}, {4713, 4713}, {19, 19}};
	struct tree *tree = *state;
	struct fsl_ftrace_beside beside;
	struct fsl_ftrace_ranks ranks = {0};
	char path[256];
	tree_write(tree, "sched.pid_mapping.json",
		   "{\"4711\": {\"NSpid\": \"17\", \"Tgid\": \"4711\"},"
		   " \"4720\": {\"NSpid\": \"18\", \"Tgid\": \"4711\"},"
		   " \"4712\": {\"NSpid\": \"18\", \"Tgid\": \"4712\"},"
		   " \"5001\": {\"NSpid\": \"19\", \"Tgid\": \"5001\"},"
		   " \"5002\": {\"NSpid\": \"19\", \"Tgid\": \"5002\"}}");
	tree_path(tree, "sched.txt", path, sizeof(path));
	assert_int_equal(fsl_ftrace_read_beside(&beside, &ranks, path, "", 0, NULL), FSL_OK);
	for (int32_t r = 0; r < 4; r++) { /* as the job's files tell them, later */
		assert_non_null(fsl_ftrace_ranks_get(&ranks, r, pids[r].told, NULL));
	}
	fsl_ftrace_ranks_resolve(&ranks);
	assert_non_null(fsl_ftrace_ranks_get(&ranks, 4, 17, NULL));
	fsl_ftrace_ranks_resolve(&ranks);
	assert_int_equal(ranks.items[4].pid, 4711);
	for (int32_t r = 0; r < 4; r++) {
		assert_int_equal(ranks.items[r].pid, pids[r].wanted);
	}
	assert_int_equal(ranks.n_told, 5);
	fsl_ftrace_ranks_fini(&ranks);
}

/* What a file beside a trace tells of its clock, if it is the only one. */
static bool is_told(struct tree *tree, const char *name, const char *text)
{
	struct fsl_ftrace_beside beside;
	struct fsl_ftrace_ranks ranks = {0};
	char path[256];
	tree_write(tree, name, text);
	tree_path(tree, "sched.txt", path, sizeof(path));
	assert_int_equal(fsl_ftrace_read_beside(&beside, &ranks, path, "", RAW_NS, NULL), FSL_OK);
	fsl_ftrace_ranks_fini(&ranks);
	return beside.has_offset;
}

static void clocks_beyond_all_times_tell_nothing(void **state)
{
	struct tree *tree = *state;
	const char *const name = "sched.clocks.json";
	assert_true(is_told(tree, name, "{\"CLOCK_REALTIME\": 7, \"CLOCK_BOOTTIME\": 5}"));
	assert_false(is_told(tree, name,
			     "{\"CLOCK_REALTIME\": 9223372036854775807, \"CLOCK_BOOTTIME\": 5}"));
	assert_false(is_told(tree, name,
			     "{\"CLOCK_REALTIME\": 7, \"CLOCK_BOOTTIME\": -9223372036854775808}"));
	assert_true(is_told(tree, "ranks.json", "{\"realtime_minus_tai_ns\": -37}"));
	assert_false(
		is_told(tree, "ranks.json", "{\"realtime_minus_tai_ns\": -9223372036854775807}"));
}

int main(void)
{
#define tree_test(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)
	const struct CMUnitTest tests[] = {
		tree_test(a_profile_tells_offset_drift_and_window),
		tree_test(profiles_of_another_time_do_not_fit),
		tree_test(profiles_of_two_hosts_are_told_apart_by_the_path_or_refused),
		tree_test(profiles_without_names_are_of_one_host_if_their_clocks_agree),
		tree_test(damaged_files_tell_nothing),
		tree_test(files_beside_the_trace_tell_its_clock),
		tree_test(ranks_of_containers_get_the_numbers_of_the_host),
		tree_test(clocks_beyond_all_times_tell_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
