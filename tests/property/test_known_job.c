/* The simulator keeps its promises on disk: physics, determinism, truth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/known_job.h"
#include "support/program.h"

enum { PATH_BYTES = 1024, TEXT_BYTES = 4 * 1024 * 1024, OPS_MAX = 4096 };

/* Whole file as text; the caller frees it. */
static char *read_whole(const char *dir, const char *name)
{
	char path[PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	char *text = calloc(1, TEXT_BYTES);
	assert_non_null(text);
	size_t n_bytes = fread(text, 1, TEXT_BYTES - 1, file);
	assert_true(n_bytes > 0);
	(void)fclose(file);
	return text;
}

/* Device begin and end of each operator of one rank, by id. */
struct times {
	int64_t begin_ns[OPS_MAX], end_ns[OPS_MAX];
	size_t n_ops;
};

static void read_times(struct times *times, const char *dir, const char *name)
{
	char *text = read_whole(dir, name);
	memset(times, 0, sizeof(*times));
	char *rest = NULL;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		int flag = 0;
		size_t id = 0;
		int64_t time_ns = 0;
		/* Device rows have no name: Flag,Id,Kind,,1,Timestamp,... */
		if (sscanf(line, "%d,%zu,1,,1,%" SCNd64, &flag, &id, &time_ns) != 3) {
			continue;
		}
		assert_true(id < OPS_MAX);
		*(flag == 16 ? &times->begin_ns[id] : &times->end_ns[id]) = time_ns;
		times->n_ops = id > times->n_ops ? id : times->n_ops;
	}
	free(text);
}

static void make_tree(const struct known_job *job, const char *name, char *dir,
		      struct fsl_sim_truth *truth)
{
	assert_true(scratch_create(FSL_BUILD_DIR, name, dir, PATH_BYTES));
	assert_int_equal(known_job_write(job, dir, truth, NULL), FSL_OK);
}

/* Two ranks that meet four times in each of ten steps. */
static void init_pair(struct known_job *job)
{
	known_job_init(job);
	job->params.tp = 2;
	job->params.dp = 1;
	job->params.steps = 10;
}

static void same_seed_gives_the_same_bytes(void **state)
{
	(void)state;
	static const char *const suffixes[] = {"", ".gz", ".zst"};
	for (int compression = 0; compression <= FSL_SIM_ZSTD; compression++) {
		char markers[64], a[PATH_BYTES], b[PATH_BYTES];
		(void)snprintf(markers, sizeof(markers), "mspti/hccl_activity-10.1.0.1-.3.csv%s",
			       suffixes[compression]);
		const char *const names[] = {markers, "timeline/host0--00000.timeline",
					     "truth.json", "model_config.json"};
		struct known_job job;
		known_job_init(&job);
		job.params.steps = 5;
		job.params.compression = compression;
		make_tree(&job, "known-job-a", a, NULL);
		make_tree(&job, "known-job-b", b, NULL);
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			char *one = read_whole(a, names[i]);
			char *two = read_whole(b, names[i]);
			assert_memory_equal(one, two, TEXT_BYTES);
			free(one);
			free(two);
		}
		scratch_remove(a);
		scratch_remove(b);
	}
}

static void collectives_end_together_when_the_last_has_arrived(void **state)
{
	(void)state;
	struct known_job job;
	init_pair(&job);
	char dir[PATH_BYTES];
	make_tree(&job, "known-job-ends", dir, NULL);
	static struct times one;
	static struct times two;
	read_times(&one, dir, "mspti/hccl_activity-10.1.0.1-.0.csv");
	read_times(&two, dir, "mspti/hccl_activity-10.1.0.1-.1.csv");
	assert_int_equal(one.n_ops, 1 + 10 * 4);
	assert_int_equal(two.n_ops, one.n_ops);
	for (size_t id = 1; id <= one.n_ops; id++) {
		int64_t last_ns =
			one.begin_ns[id] > two.begin_ns[id] ? one.begin_ns[id] : two.begin_ns[id];
		int64_t apart_ns = one.end_ns[id] - two.end_ns[id];
		assert_true(apart_ns > -20000 && apart_ns < 20000);
		assert_true(one.end_ns[id] > last_ns && two.end_ns[id] > last_ns);
	}
	scratch_remove(dir);
}

static void slow_rank_waits_least(void **state)
{
	(void)state;
	struct known_job job;
	init_pair(&job);
	job.fault = FSL_SIM_COMPUTE;
	job.n_culprits = 1;
	job.culprits[0] = 1;
	char dir[PATH_BYTES];
	make_tree(&job, "known-job-waits", dir, NULL);
	static struct times peer;
	static struct times slow;
	read_times(&peer, dir, "mspti/hccl_activity-10.1.0.1-.0.csv");
	read_times(&slow, dir, "mspti/hccl_activity-10.1.0.1-.1.csv");
	for (size_t id = 2; id <= peer.n_ops; id++) {
		assert_true(peer.end_ns[id] - peer.begin_ns[id] >
			    2 * (slow.end_ns[id] - slow.begin_ns[id]));
	}
	scratch_remove(dir);
}

static void fault_does_not_change_the_noise(void **state)
{
	(void)state;
	struct known_job job;
	init_pair(&job);
	char dir[PATH_BYTES];
	static struct times clean;
	static struct times faulty;
	make_tree(&job, "known-job-noise", dir, NULL);
	read_times(&clean, dir, "mspti/hccl_activity-10.1.0.1-.0.csv");
	job.fault = FSL_SIM_COMPUTE;
	job.onset_step = 5;
	job.n_culprits = 1;
	job.culprits[0] = 1;
	make_tree(&job, "known-job-noise", dir, NULL);
	read_times(&faulty, dir, "mspti/hccl_activity-10.1.0.1-.0.csv");
	for (size_t id = 1; id <= 1 + 5 * 4; id++) {
		assert_int_equal(clean.end_ns[id], faulty.end_ns[id]);
	}
	/* After the onset the healthy rank still works as long as before between two operators. */
	for (size_t id = 1 + 5 * 4; id < clean.n_ops; id++) {
		int64_t own_clean = clean.begin_ns[id + 1] - clean.end_ns[id];
		int64_t own_faulty = faulty.begin_ns[id + 1] - faulty.end_ns[id];
		assert_true(own_clean - own_faulty < 2 && own_faulty - own_clean < 2);
	}
	scratch_remove(dir);
}

static void truth_tells_the_step_time_with_and_without_the_fault(void **state)
{
	(void)state;
	struct known_job job;
	known_job_init(&job);
	job.fault = FSL_SIM_COMPUTE;
	job.factor = 1.5;
	job.onset_step = 20;
	job.n_culprits = 1;
	char dir[PATH_BYTES];
	struct fsl_sim_truth truth;
	make_tree(&job, "known-job-truth", dir, &truth);
	double ratio = truth.fault_step_ms / truth.fault_healthy_ms;
	assert_true(ratio == truth.slowdown);
	/* Compute is 96 % of a step: 4 segments of 160 ms and 320 ms of about 1010 ms. */
	assert_true(ratio > 1.45 && ratio < 1.5);
	assert_true(truth.onset_ns > job.params.start_ns && truth.onset_ns < truth.end_ns);
	fsl_sim_truth_fini(&truth);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_gives_the_same_bytes),
		cmocka_unit_test(collectives_end_together_when_the_last_has_arrived),
		cmocka_unit_test(slow_rank_waits_least),
		cmocka_unit_test(fault_does_not_change_the_noise),
		cmocka_unit_test(truth_tells_the_step_time_with_and_without_the_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
