/* Launches, idle time, queues, copies and the critical path of real traces are those of
 * HolisticTraceAnalysis, and follow from made-up works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "capture/critical_path.h"

enum { PATH_BYTES = 512 };

/* A set of the reference data, and how near its figures are. */
struct known {
	const char *trace, *expected; /* in data/kineto, and in its folder of results */
	int rank;
	int64_t steps[4]; /* that the other program took; -1 at the end; none: all */
	double us_a_gap;  /* that its rounding adds to a gap or a call, at most */
	double of_ties;   /* its order of changes at one time is another one: of a mean of them */
	bool has_all_launches;
};

static const char *shared(char path[PATH_BYTES], const char *name)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, PATH_BYTES, "%s/data/kineto/%s",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, name);
	return path;
}

static void assert_near(const char *what, double found, double wanted, double tolerance)
{
	if (!(fabs(found - wanted) <= tolerance)) {
		fail_msg("%s: %.9g instead of %.9g", what, found, wanted);
	}
}

/* Calls @take with each line of a table of results; false: there is no such file. */
static bool each_line(const struct known *known, const char *table,
		      const struct fsl_worker_figures *figures,
		      void (*take)(const struct known *known, const char *line,
				   const struct fsl_worker_figures *figures))
{
	char path[PATH_BYTES], name[PATH_BYTES], line[1024];
	(void)snprintf(name, sizeof(name), "expected/%s/%s", known->expected, table);
	FILE *file = fopen(shared(path, name), "r");
	if (file == NULL) {
		return false;
	}
	while (fgets(line, sizeof(line), file) != NULL) {
		take(known, line, figures);
	}
	assert_int_equal(fclose(file), 0);
	return true;
}

static const struct fsl_stream_figures *find_stream(const struct fsl_worker_figures *figures,
						    int stream)
{
	for (size_t i = 0; i < figures->n_streams; i++) {
		if (figures->streams[i].stream == stream) {
			return &figures->streams[i];
		}
	}
	fail_msg("no stream %d", stream);
	return NULL;
}

/* rank,stream,idle_category,idle_time,idle_time_ratio */
static void compare_idle(const struct known *known, const char *line,
			 const struct fsl_worker_figures *figures)
{
	static const char *const names[FSL_STREAM_WAITS_N] = {"host_wait", "kernel_wait", "other"};
	int rank = 0, stream = 0;
	char name[32];
	double us = 0.0;
	if (sscanf(line, "%d,%d,%31[a-z_],%lf", &rank, &stream, name, &us) != 4 ||
	    rank != known->rank) {
		return;
	}
	const struct fsl_stream_figures *found = find_stream(figures, stream);
	int64_t n_gaps = 0;
	for (size_t i = 0; i < FSL_STREAM_WAITS_N; i++) {
		n_gaps += found->n_waits[i];
	}
	for (size_t i = 0; i < FSL_STREAM_WAITS_N; i++) {
		if (strcmp(name, names[i]) == 0) {
			assert_near(name, (double)found->wait_ns[i] / 1e3, us,
				    0.01 + known->us_a_gap * (double)n_gaps);
		}
	}
}

/* rank,stream,count,mean,std,min,25%,50%,75%,max */
static void compare_queue(const struct known *known, const char *line,
			  const struct fsl_worker_figures *figures)
{
	int rank = 0, stream = 0;
	double count = 0.0, mean = 0.0, max = 0.0;
	if (sscanf(line, "%d,%d,%lf,%lf,%*f,%*f,%*f,%*f,%*f,%lf", &rank, &stream, &count, &mean,
		   &max) != 5 ||
	    rank != known->rank) {
		return;
	}
	const struct fsl_stream_figures *found = find_stream(figures, stream);
	assert_near("lengths", (double)found->n_lengths, count, 0.0);
	assert_near("mean", (double)found->length_sum / (double)found->n_lengths, mean,
		    1e-9 + known->of_ties * mean);
	assert_near("max", (double)found->length_max, max, known->of_ties > 0.0 ? 1.0 : 0.0);
}

/* rank,name,count,mean,std,min,25%,50%,75%,max: of sums over copies at one time */
static void compare_copies(const struct known *known, const char *line,
			   const struct fsl_worker_figures *figures)
{
	int rank = 0;
	char name[64];
	double count = 0.0, mean = 0.0, max = 0.0;
	if (sscanf(line, "%d,%63[A-Za-z ],%lf,%lf,%*f,%*f,%*f,%*f,%*f,%lf", &rank, name, &count,
		   &mean, &max) != 5 ||
	    rank != known->rank) {
		return;
	}
	const struct fsl_copy_figures *found =
		&figures->copies[fsl_copy_kind_of(name, strlen(name))];
	assert_near(name, (double)found->n_told, count, known->of_ties > 0.0 ? 0.005 * count : 0.0);
	assert_near(name, found->bandwidth_sum / (double)found->n_told, mean,
		    (1e-6 + known->of_ties) * mean);
	assert_true(found->bandwidth_max <= max * (1.0 + 1e-6));
}

static struct fsl_launch_figures launches;

/* correlation,cpu_duration,gpu_duration,launch_delay */
static void sum_launches(const struct known *known, const char *line,
			 const struct fsl_worker_figures *figures)
{
	(void)known;
	(void)figures;
	double call_us = 0.0, work_us = 0.0, delay_us = 0.0;
	if (sscanf(line, "%*d,%lf,%lf,%lf", &call_us, &work_us, &delay_us) != 3) {
		return;
	}
	launches.count++;
	launches.call_ns += llround(call_us * 1e3);
	launches.work_ns += llround(work_us * 1e3);
	launches.delay_ns += llround(delay_us * 1e3);
	launches.n_short += work_us < call_us;
	launches.n_slow_calls += call_us > 50.0;
	launches.n_long_delays += delay_us > 100.0;
}

static void compare_launches(const struct known *known, const struct fsl_worker_figures *figures)
{
	char name[64];
	const struct fsl_launch_figures *found = &figures->launches;
	launches = (struct fsl_launch_figures){0};
	(void)snprintf(name, sizeof(name), "cuda_kernel_launch_stats_%d.csv", known->rank);
	if (!known->has_all_launches || !each_line(known, name, figures, sum_launches)) {
		return;
	}
	/* Delays went through doubles since 1970 and are off by 0.25 us each. */
	double n = (double)launches.count, off_ns = 500.0 * n + 1e3 * known->us_a_gap * n;
	assert_near("launches", (double)found->count, n, 0.0);
	assert_near("calls", (double)found->call_ns, (double)launches.call_ns,
		    1e3 * known->us_a_gap * n);
	assert_near("works", (double)found->work_ns, (double)launches.work_ns,
		    1e3 * known->us_a_gap * n);
	assert_near("delays", (double)found->delay_ns, (double)launches.delay_ns, off_ns);
	if (known->us_a_gap == 0.0) {
		assert_near("short", (double)found->n_short, (double)launches.n_short, 0.0);
		assert_near("slow", (double)found->n_slow_calls, (double)launches.n_slow_calls,
			    0.0);
		assert_near("long", (double)found->n_long_delays, (double)launches.n_long_delays,
			    2.0);
	}
}

static void check(const struct known *known)
{
	char path[PATH_BYTES], name[64];
	struct fsl_profile set;
	struct fsl_error err = {0};
	size_t n_steps = 0;
	while (n_steps < 4 && known->steps[n_steps] > 0) {
		n_steps++;
	}
	if (access(shared(path, known->trace), R_OK) != 0) {
		skip();
	}
	const struct fsl_profile_options options = {
		.path = path, .steps = known->steps, .n_steps = n_steps, .sums_functions = true};
	assert_int_equal(fsl_profile_read(&set, &options, &err), FSL_OK);
	assert_int_equal(set.n_ranks, 1);
	const struct fsl_worker_figures *figures = set.ranks[0].figures;
	(void)snprintf(name, sizeof(name), "idle_time_breakdown_rank%d_0.csv", known->rank);
	if (known->has_all_launches) {
		assert_true(each_line(known, name, figures, compare_idle));
	}
	assert_true(each_line(known, "queue_length_summary.csv", figures, compare_queue));
	assert_true(each_line(known, "memory_bw_summary.csv", figures, compare_copies));
	compare_launches(known, figures);
	fsl_profile_fini(&set);
}

static void figures_in_us_are_exact(void **state)
{
	(void)state;
	static const struct known known[] = {
		{"hta/trace_filter/sampled_rank-0.json.gz", "hta_sampled2_all", 0, {0}, 0, 0, true},
		{"hta/trace_filter/sampled_rank-1.json.gz", "hta_sampled2_all", 1, {0}, 0, 0, true},
	};
	check(&known[0]);
	check(&known[1]);
}

static void figures_in_ns_are_exact(void **state)
{
	(void)state;
	check(&(struct known){"hta/nccl_parser_config/nccl_data.json.gz",
			      "hta_nccl_ddp2_all",
			      0,
			      {0},
			      0,
			      0,
			      true});
}

/* The other program takes changes within one us in any order. */
static void figures_of_many_works_within_a_us_differ_by_ties_alone(void **state)
{
	(void)state;
	check(&(struct known){"hta/df_index_resolver/df_index_resolver.json.gz",
			      "hta_dfidx_all",
			      1,
			      {0},
			      0,
			      0.01,
			      true});
}

/* The other program rounds begins up and ends down to us here, and leaves the last step out. */
static void figures_of_some_steps_differ_by_rounding_alone(void **state)
{
	(void)state;
	check(&(struct known){
		"hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		"hta_ns_resnet",
		0,
		{101, 102, 103, 104},
		2.0,
		0.01,
		true});
}

/* A quarter of the works of this trace has no launch; the other program leaves these out. */
static void queues_of_rocm_are_exact(void **state)
{
	(void)state;
	check(&(struct known){"tracelens/mi300_resnet_act_checkpoint.json.gz",
			      "tl_resnet_actckpt_all",
			      0,
			      {0},
			      0,
			      0,
			      false});
}

static double share_of(const struct fsl_critical_path *path, enum fsl_path_part part)
{
	return 100.0 * (double)path->parts_ns[part] / (double)path->length_ns;
}

/* Path in the @nth annotation of this name, which becomes the only step of a copy of the trace. */
static struct fsl_critical_path find_path(const char *trace, const char *annotation, int nth)
{
	static const char step[] = "ProfilerStep#1\"";
	char path[PATH_BYTES], copy[] = "/tmp/critical-path-XXXXXX", name[sizeof(copy) + 16];
	char *text = NULL;
	size_t length = 0;
	struct fsl_profile set;
	struct fsl_error err = {0};
	if (access(shared(path, trace), R_OK) != 0) {
		skip();
	}
	assert_int_equal(fsl_file_read_text(path, &text, &length, &err), FSL_OK);
	for (char *at = strstr(text, annotation); at != NULL && nth > 0;
	     at = strstr(at + 1, annotation)) {
		if (--nth == 0) {
			memset(at, ' ', strlen(annotation));
			memcpy(at, step, sizeof(step) - 1);
		}
	}
	assert_non_null(mkdtemp(copy));
	(void)snprintf(name, sizeof(name), "%s/trace.json", copy);
	assert_int_equal(fsl_file_write_atomic(name, text, length, &err), FSL_OK);
	const struct fsl_profile_options options = {.path = name, .sums_functions = true};
	assert_int_equal(fsl_profile_read(&set, &options, &err), FSL_OK);
	struct fsl_critical_path found = set.ranks[0].figures->path;
	fsl_profile_fini(&set);
	fsl_free(text);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(copy), 0);
	int64_t sum_ns = 0;
	for (size_t i = 0; i < FSL_PATH_PARTS_N; i++) {
		sum_ns += found.parts_ns[i];
	}
	assert_int_equal(sum_ns, found.length_ns);
	return found;
}

/* cp_alexnet.csv: 35,834 us, of which the host takes 89.4 % and the device 10.4 %. */
static void the_path_of_a_model_is_that_of_hta(void **state)
{
	(void)state;
	struct fsl_critical_path path =
		find_path("hta/critical_path/alexnet/"
			  "benchmark_result_2869224_1695835535_trace.json.gz",
			  "[param|pytorch.model.alex_net|0|0|0|measure|forward]\"", 2);
	assert_int_equal(path.window_ns, 36356000);
	assert_near("length", (double)path.length_ns, 35834e3, 0.01 * 35834e3);
	assert_near("host", share_of(&path, FSL_PATH_HOST), 89.4, 0.5);
	assert_near("device", share_of(&path, FSL_PATH_COMPUTE) + share_of(&path, FSL_PATH_MEMORY),
		    10.4, 0.5);
}

/* cp_event_sync.csv: 2,411 us, of which the host takes 98.1 %, a kernel 36 us and its launch 10. */
static void the_path_through_an_event_is_that_of_hta(void **state)
{
	(void)state;
	struct fsl_critical_path path =
		find_path("hta/critical_path/cuda_event_sync/event_sync_trace.json.gz",
			  "ProfilerStep#100\"", 1);
	assert_int_equal(path.window_ns, 3154000);
	assert_near("length", (double)path.length_ns, 2411e3, 0.01 * 2411e3);
	assert_near("host", share_of(&path, FSL_PATH_HOST), 98.1, 0.5);
	assert_int_equal(path.parts_ns[FSL_PATH_COMPUTE], 36000);
	assert_int_equal(path.parts_ns[FSL_PATH_LAUNCH], 10000);
}

static void take_works(struct fsl_worker_figures *figures, const struct fsl_stream_work *works,
		       size_t n)
{
	struct fsl_streams *streams = NULL;
	assert_int_equal(FSL_NEW(streams, 1, "streams", NULL), FSL_OK);
	streams->figures = figures;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(fsl_streams_add(streams, &works[i], NULL), FSL_OK);
	}
	assert_int_equal(fsl_streams_settle(streams, NULL), FSL_OK);
	fsl_streams_fini(streams);
	fsl_free(streams);
}

static void a_late_launch_is_the_hosts_and_a_short_gap_the_devices(void **state)
{
	(void)state;
	const struct fsl_stream_work works[] = {
		{100000, 200000, 10000, 20000, 0, 7},
		{210000, 300000, 30000, 130000, 0, 7}, /* in the queue, 10 us */
		{400000, 500000, 40000, 50000, 0, 7},  /* in the queue, 100 us */
		{450000, 460000, FSL_NS_ABSENT, FSL_NS_ABSENT, 0, 9},
		{700000, 705000, 600000, 690000, 0, 7}, /* launched when all had ended */
	};
	struct fsl_worker_figures *figures = NULL;
	assert_int_equal(FSL_NEW(figures, 1, "figures", NULL), FSL_OK);
	take_works(figures, works, 5);
	assert_int_equal(figures->n_streams, 2);
	const struct fsl_stream_figures *stream = &figures->streams[0];
	assert_int_equal(stream->stream, 7);
	assert_int_equal(stream->count, 4);
	assert_int_equal(stream->busy_ns, 295000);
	assert_int_equal(stream->wait_ns[FSL_STREAM_KERNEL_WAIT], 10000);
	assert_int_equal(stream->wait_ns[FSL_STREAM_OTHER_WAIT], 100000);
	assert_int_equal(stream->wait_ns[FSL_STREAM_HOST_WAIT], 200000);
	/* 1, 2, 3 launched; 2, 1, 0 begun; 1; 0 */
	assert_int_equal(stream->n_lengths, 8);
	assert_int_equal(stream->length_sum, 10);
	assert_int_equal(stream->length_max, 3);
	const struct fsl_launch_figures *launch = &figures->launches;
	assert_int_equal(launch->count, 4);
	assert_int_equal(launch->n_short, 2);
	assert_int_equal(launch->n_slow_calls, 2);
	assert_int_equal(launch->n_long_delays, 1);
	assert_int_equal(launch->delay_median_ns, 80000);
	assert_int_equal(launch->delay_max_ns, 350000);
	fsl_worker_figures_destroy(figures);
}

static void a_queue_is_full_while_it_holds_1024_launches(void **state)
{
	(void)state;
	enum { N = FSL_STREAM_QUEUE_FULL + 2 };
	static struct fsl_stream_work works[N];
	struct fsl_worker_figures *figures = NULL;
	assert_int_equal(FSL_NEW(figures, 1, "figures", NULL), FSL_OK);
	for (int64_t i = 0; i < N; i++) { /* launched each 10 ns, begun each 10 ns later on */
		works[i] = (struct fsl_stream_work){
			100000 + 10 * i, 100005 + 10 * i, 10 * i, 10 * i + 1, 0, 3};
	}
	take_works(figures, works, N);
	/* From the 1024th launch to the third begin. */
	assert_int_equal(figures->streams[0].full_ns, 100020 - 10 * (FSL_STREAM_QUEUE_FULL - 1));
	assert_int_equal(figures->streams[0].length_max, N);
	fsl_worker_figures_destroy(figures);
}

static void streams_beyond_the_limit_are_one(void **state)
{
	(void)state;
	enum { N = FSL_STREAMS_MAX + 40 };
	static struct fsl_stream_work works[N];
	struct fsl_worker_figures *figures = NULL;
	assert_int_equal(FSL_NEW(figures, 1, "figures", NULL), FSL_OK);
	for (int32_t i = 0; i < N; i++) {
		works[i] = (struct fsl_stream_work){i, i + 1, FSL_NS_ABSENT, FSL_NS_ABSENT, 0, i};
	}
	take_works(figures, works, N);
	assert_int_equal(figures->n_streams, FSL_STREAMS_MAX);
	assert_int_equal(figures->streams[0].stream, -1);
	assert_int_equal(figures->streams[0].count, 41);
	fsl_worker_figures_destroy(figures);
}

static void copies_have_a_kind_and_a_bandwidth(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum fsl_copy_kind kind;
	} names[] = {
		{"Memcpy HtoD (Pinned -> Device)", FSL_COPY_TO_DEVICE},
		{"Memcpy DtoH (Device -> Pageable)", FSL_COPY_TO_HOST},
		{"Memcpy DtoD (Device -> Device)", FSL_COPY_ON_DEVICE},
		{"Memcpy PtoP (Device -> Device)", FSL_COPY_TO_PEER},
		{"Memset (Device)", FSL_COPY_FILL},
		{"CopyDeviceToHost", FSL_COPY_TO_HOST},
		{"Memcpy HtoH", FSL_COPY_OTHER},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(fsl_copy_kind_of(names[i].name, strlen(names[i].name)),
				 names[i].kind);
	}
	struct fsl_copy_figures copies = {0};
	fsl_copy_count(&copies, 1000, 4000, -1);       /* 4 GB/s by bytes */
	fsl_copy_count(&copies, 0, 4000, 12000000000); /* as the profiler tells */
	fsl_copy_count(&copies, 500, -1, -1);          /* not told */
	assert_int_equal(copies.count, 3);
	assert_int_equal(copies.n_told, 2);
	assert_int_equal(copies.n_bytes, 8000);
	assert_near("sum", copies.bandwidth_sum, 16.0, 1e-9);
	assert_near("max", copies.bandwidth_max, 12.0, 1e-9);
}

enum { THREADS_MAX = 3 };

/* Hosts in any order and works by begin, in memory. */
struct made {
	struct fsl_path_host *hosts;
	size_t n_hosts, at;
	const struct fsl_path_work *works;
	size_t n_works, n_threads;
	const struct fsl_path_sync *sync; /* one, or NULL */
	const struct fsl_path_event *event;
};

static enum fsl_status next_host(void *context, struct fsl_path_host *host, bool *has,
				 struct fsl_error *err)
{
	(void)err;
	struct made *made = context;
	*has = made->at < made->n_hosts;
	if (*has) {
		*host = made->hosts[made->at++];
	}
	return FSL_OK;
}

static bool tell_work(const void *context, uint32_t index, struct fsl_path_work *out)
{
	const struct made *made = context;
	*out = made->works[index];
	return true;
}

static void expect_path(struct made *made, const int64_t parts_ns[FSL_PATH_PARTS_N])
{
	struct fsl_critical_path path = {0};
	bool has_autograd[THREADS_MAX] = {false};
	const struct fsl_path_input input = {.next_host = next_host,
					     .hosts = made,
					     .work = tell_work,
					     .works = made,
					     .n_works = made->n_works,
					     .syncs = made->sync,
					     .n_syncs = made->sync != NULL ? 1 : 0,
					     .events = made->event,
					     .n_events = made->event != NULL ? 1 : 0,
					     .has_autograd = has_autograd,
					     .n_threads = made->n_threads};
	int64_t sum_ns = 0;
	made->at = 0;
	if (made->n_hosts > 0) {
		qsort(made->hosts, made->n_hosts, sizeof(*made->hosts), fsl_path_host_compare);
	}
	for (size_t i = 0; i < made->n_hosts; i++) {
		has_autograd[made->hosts[i].thread] |= made->hosts[i].is_autograd;
	}
	assert_int_equal(fsl_critical_path_find(&path, &input, NULL), FSL_OK);
	for (size_t i = 0; i < FSL_PATH_PARTS_N; i++) {
		if (path.parts_ns[i] != parts_ns[i]) {
			fail_msg("%s: %lld instead of %lld", fsl_path_part_texts[i],
				 (long long)path.parts_ns[i], (long long)parts_ns[i]);
		}
		sum_ns += parts_ns[i];
	}
	assert_int_equal(path.length_ns, sum_ns);
}

/* A launch in an operator, two works in a row, a wait for the device, and an operator behind it. */
static void the_path_goes_over_the_device_and_back(void **state)
{
	(void)state;
	struct fsl_path_host hosts[] = {
		{.begin_ns = 0, .end_ns = 30},
		{.begin_ns = 10, .end_ns = 20, .action = FSL_PATH_LAUNCHES, .detail = 0},
		{.begin_ns = 22, .end_ns = 28, .action = FSL_PATH_LAUNCHES, .detail = 1},
		{.begin_ns = 40, .end_ns = 310, .action = FSL_PATH_DEVICE_WAIT, .is_wait = true},
		{.begin_ns = 320, .end_ns = 350},
	};
	const struct fsl_path_work works[] = {{25, 125, 0, 7, FSL_PATH_COMPUTE},
					      {130, 300, 0, 7, FSL_PATH_COMMUNICATION}};
	struct made input = {
		.hosts = hosts, .n_hosts = 5, .works = works, .n_works = 2, .n_threads = 1};
	expect_path(&input, (const int64_t[FSL_PATH_PARTS_N]){[FSL_PATH_HOST] = 10 + 30,
							      [FSL_PATH_LAUNCH] = 15,
							      [FSL_PATH_COMPUTE] = 100,
							      [FSL_PATH_BETWEEN] = 5,
							      [FSL_PATH_COMMUNICATION] = 170});
	/* Without the wait nothing joins the device and the host again. */
	hosts[3].action = FSL_PATH_NO_ACTION;
	expect_path(&input, (const int64_t[FSL_PATH_PARTS_N]){[FSL_PATH_HOST] = 10,
							      [FSL_PATH_LAUNCH] = 15,
							      [FSL_PATH_COMPUTE] = 100,
							      [FSL_PATH_BETWEEN] = 5,
							      [FSL_PATH_COMMUNICATION] = 170});
}

/* Loading, forward pass, backward pass on a thread of its own, optimizer. */
static void a_backward_pass_on_its_own_thread_is_on_the_path(void **state)
{
	(void)state;
	struct fsl_path_host hosts[] = {
		{.begin_ns = 0, .end_ns = 100, .is_loading = true},
		{.begin_ns = 110, .end_ns = 200},
		{.begin_ns = 210, .end_ns = 500, .thread = 1, .is_autograd = true},
		{.begin_ns = 510, .end_ns = 570},
		{.begin_ns = 0, .end_ns = 400, .thread = 2}, /* has no part in it */
	};
	struct made input = {.hosts = hosts, .n_hosts = 5, .n_threads = 3};
	expect_path(&input, (const int64_t[FSL_PATH_PARTS_N]){
				    [FSL_PATH_LOADING] = 100, [FSL_PATH_HOST] = 90 + 290 + 60});
}

static void a_work_waits_for_an_event_of_another_stream(void **state)
{
	(void)state;
	struct fsl_path_host hosts[] = {
		{.begin_ns = 0, .end_ns = 5, .action = FSL_PATH_LAUNCHES, .detail = 0},
		{.begin_ns = 6, .end_ns = 7, .action = FSL_PATH_RECORDS, .detail = 0},
		{.begin_ns = 8, .end_ns = 9, .action = FSL_PATH_STREAM_WAITS, .detail = 0},
		{.begin_ns = 10, .end_ns = 15, .action = FSL_PATH_LAUNCHES, .detail = 1},
	};
	const struct fsl_path_work works[] = {{20, 120, 0, 7, FSL_PATH_COMPUTE},
					      {125, 165, 0, 8, FSL_PATH_MEMORY}};
	const struct fsl_path_sync sync = {0, 8, 0};
	const struct fsl_path_event event = {0, 7};
	struct made input = {.hosts = hosts,
			     .n_hosts = 4,
			     .works = works,
			     .n_works = 2,
			     .sync = &sync,
			     .event = &event,
			     .n_threads = 1};
	expect_path(
		&input,
		(const int64_t[FSL_PATH_PARTS_N]){
			[FSL_PATH_LAUNCH] = 20, [FSL_PATH_COMPUTE] = 100, [FSL_PATH_MEMORY] = 40});
}

/* Spans that overlap and hold each other in part, works before their launch: no harm. */
static void damaged_times_give_some_path(void **state)
{
	(void)state;
	struct fsl_path_host hosts[] = {
		{.begin_ns = 0, .end_ns = 50},
		{.begin_ns = 20, .end_ns = 80, .action = FSL_PATH_LAUNCHES, .detail = 0},
		{.begin_ns = 30, .end_ns = 30},
		{.begin_ns = 70, .end_ns = 90, .action = FSL_PATH_LAUNCHES, .detail = 0},
	};
	const struct fsl_path_work work = {10, 10, -1, -1, FSL_PATH_COMPUTE};
	struct made input = {
		.hosts = hosts, .n_hosts = 4, .works = &work, .n_works = 1, .n_threads = 1};
	expect_path(&input, (const int64_t[FSL_PATH_PARTS_N]){[FSL_PATH_HOST] = 90});
	expect_path(&(struct made){0}, (const int64_t[FSL_PATH_PARTS_N]){0});
}

/* More works than are kept: the host launches all of them before the second one begins. Each works
 * for 100 ns, 5 ns behind the one before it; the last call waits for all. */
static void a_path_over_many_works_is_exact(void **state)
{
	(void)state;
	enum { N = 5000, QUEUED = 4000 };
	static struct fsl_path_host hosts[N + 1];
	static struct fsl_path_work works[N];
	for (int i = 0; i < N; i++) {
		int64_t begin_ns = 1000000 + 105 * (int64_t)i;
		int64_t call_ns = i < QUEUED ? 10 * (int64_t)i : begin_ns - 2000;
		works[i] = (struct fsl_path_work){begin_ns, begin_ns + 100, 0, 7, FSL_PATH_COMPUTE};
		hosts[i] = (struct fsl_path_host){.begin_ns = call_ns,
						  .end_ns = call_ns + 4,
						  .action = FSL_PATH_LAUNCHES,
						  .detail = (uint32_t)i};
	}
	hosts[N] = (struct fsl_path_host){.begin_ns = works[N - 1].begin_ns,
					  .end_ns = works[N - 1].end_ns + 50,
					  .action = FSL_PATH_DEVICE_WAIT,
					  .is_wait = true};
	struct made made = {
		.hosts = hosts, .n_hosts = N + 1, .works = works, .n_works = N, .n_threads = 1};
	expect_path(&made, (const int64_t[FSL_PATH_PARTS_N]){[FSL_PATH_LAUNCH] = 1000000,
							     [FSL_PATH_COMPUTE] = 100 * N,
							     [FSL_PATH_BETWEEN] = 5 * (N - 1)});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_in_us_are_exact),
		cmocka_unit_test(figures_in_ns_are_exact),
		cmocka_unit_test(figures_of_many_works_within_a_us_differ_by_ties_alone),
		cmocka_unit_test(figures_of_some_steps_differ_by_rounding_alone),
		cmocka_unit_test(queues_of_rocm_are_exact),
		cmocka_unit_test(a_late_launch_is_the_hosts_and_a_short_gap_the_devices),
		cmocka_unit_test(a_queue_is_full_while_it_holds_1024_launches),
		cmocka_unit_test(streams_beyond_the_limit_are_one),
		cmocka_unit_test(copies_have_a_kind_and_a_bandwidth),
		cmocka_unit_test(the_path_goes_over_the_device_and_back),
		cmocka_unit_test(a_backward_pass_on_its_own_thread_is_on_the_path),
		cmocka_unit_test(a_work_waits_for_an_event_of_another_stream),
		cmocka_unit_test(damaged_times_give_some_path),
		cmocka_unit_test(a_path_over_many_works_is_exact),
		cmocka_unit_test(the_path_of_a_model_is_that_of_hta),
		cmocka_unit_test(the_path_through_an_event_is_that_of_hta),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
