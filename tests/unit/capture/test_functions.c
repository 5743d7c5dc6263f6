/* Functions of ranks: small ones by hand, real traces against sums of exact intervals. */
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

#include <cjson/cJSON.h>

#include "base/file.h"
#include "capture/call_paths.h"

static void assert_near(const char *what, double found, double wanted, double tolerance)
{
	if (!(fabs(found - wanted) <= tolerance)) {
		fail_msg("%.60s: %.9f instead of %.9f", what, found, wanted);
	}
}

static double number(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(object, key);
	return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* The function of this key; names are compared as far as traces are read. */
static const struct fsl_function *find(const struct fsl_functions *functions,
				       enum fsl_function_class class, const char *key)
{
	enum { NAME_BYTES = 1000 };
	for (size_t i = 0; i < functions->n_items; i++) {
		const struct fsl_function *item = &functions->items[i];
		size_t n_shape = strlen(item->shape), n_key = strlen(key);
		bool has_end = n_key >= n_shape && strcmp(key + n_key - n_shape, item->shape) == 0;
		size_t n_name = strlen(item->name);
		bool is_whole = n_name > NAME_BYTES || n_name + n_shape == n_key ||
				(n_shape == 0 && n_name + 1 == n_key && key[n_name] == '|');
		if (item->class == class && has_end && is_whole &&
		    strncmp(key, item->name, n_name < NAME_BYTES ? n_name : NAME_BYTES) == 0) {
			return item;
		}
	}
	fail_msg("no such function: %s", key);
	return NULL;
}

static void compare_section(const struct fsl_functions *functions, enum fsl_function_class class,
			    const cJSON *section, double tolerance)
{
	const cJSON *wanted = NULL;
	double window_ns = (double)functions->window_ns;
	cJSON_ArrayForEach(wanted, section)
	{
		const struct fsl_function *item = find(functions, class, wanted->string);
		assert_int_equal(item->count, (int64_t)number(wanted, "n"));
		assert_near(item->name, (double)item->exclusive_ns / window_ns,
			    number(wanted, "bottleneck_ratio"), tolerance);
		if (class == FSL_FUNCTION_COMPUTE) {
			assert_near(item->name, item->median_ns / 1e3, number(wanted, "median_us"),
				    0.3);
		} else {
			assert_near(item->name, (double)item->wall_ns / window_ns,
				    number(wanted, "time_ratio"), tolerance);
		}
	}
}

/* Compares a trace with worker @w of a result; all of one job in the order of ranks. */
static void compare(const char *trace, const char *result, int w)
{
	char path[512];
	struct fsl_profile set;
	char *text = NULL;
	size_t length = 0;
	const char *asked = getenv("FSL_SHARED_DIR");
	const char *folder = asked != NULL && asked[0] != '\0' ? asked : FSL_SHARED_DIR;
	(void)snprintf(path, sizeof(path), "%s/data/kineto/expected/ref/%s", folder, result);
	if (access(path, R_OK) != 0) {
		skip();
	}
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	cJSON *root = cJSON_Parse(text);
	const cJSON *worker = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "workers"), w);
	assert_non_null(worker);
	(void)snprintf(path, sizeof(path), "%s/data/kineto/%s", folder, trace);
	const struct fsl_profile_options options = {.path = path, .sums_functions = true};
	assert_int_equal(fsl_profile_read(&set, &options, NULL), FSL_OK);
	const struct fsl_functions *functions = set.ranks[0].functions;
	assert_non_null(functions);
	double window_us = number(worker, "window_us");
	double tolerance = 1.0 / window_us; /* the result went through doubles since 1970 */
	assert_near("window", (double)functions->window_ns / 1e3, window_us, 0.5);
	assert_near("compute", (double)functions->compute_ns / 1e3 / window_us,
		    number(worker, "gpu_utilization"), tolerance);
	assert_near("busy", (double)functions->busy_ns / 1e3 / window_us,
		    number(worker, "gpu_any_busy"), tolerance);
	static const char *const sections[FSL_FUNCTION_PYTHON] = {"major_kernels", "gpu_memory",
								  "communication", "cuda_runtime"};
	for (size_t c = 0; c < FSL_FUNCTION_PYTHON; c++) {
		compare_section(functions, (enum fsl_function_class)c,
				cJSON_GetObjectItem(worker, sections[c]), tolerance);
	}
	fsl_profile_fini(&set);
	cJSON_Delete(root);
	fsl_free(text);
}

static void functions_of_two_ranks_have_the_exact_ratios(void **state)
{
	(void)state;
	compare("hta/trace_filter/sampled_rank-0.json.gz", "hta_sampled2.json", 0);
	compare("hta/trace_filter/sampled_rank-1.json.gz", "hta_sampled2.json", 1);
}

static void functions_of_other_dialects_have_the_exact_ratios(void **state)
{
	(void)state;
	compare("hta/nccl_parser_config/nccl_data.json.gz", "hta_nccl_ddp2.json", 0);
	compare("tb_samples/resnet50_nw4_worker0.1623212756351.pt.trace.json.gz", "tb_old.json", 0);
	compare("tracelens/h100_Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "tl_qwen_h100.json", 0);
}

static void functions_of_rocm_have_the_exact_ratios(void **state)
{
	(void)state;
	compare("tracelens/mi300_resnet_act_checkpoint.json.gz", "tl_resnet_actckpt.json", 0);
}

/* A rank with functions, made by hand. */
struct small {
	struct fsl_profile_rank rank;
	struct fsl_function_times times;
};

static uint32_t name(struct small *small, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(small->rank.names, text, strlen(text), &id, NULL),
			 FSL_OK);
	return id;
}

static void begin(struct small *small)
{
	*small = (struct small){.rank = {.names = fsl_strpool_create()}};
	small->rank.functions = fsl_calloc(1, sizeof(*small->rank.functions));
	assert_non_null(small->rank.names);
	assert_non_null(small->rank.functions);
	assert_int_equal(fsl_function_times_init(&small->times, NULL), FSL_OK);
}

/* Adds the call paths of frames, in a window of @window frames. */
static enum fsl_status add_paths(struct small *small, const struct fsl_frame *items, size_t n,
				 size_t window, const struct fsl_busy *above)
{
	struct fsl_frames frames = {.window = window};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		status = fsl_frames_add(&frames, &items[i], NULL);
	}
	FSL_THEN(status, fsl_frames_settle(&frames, NULL));
	FSL_THEN(status, fsl_call_paths_add(&small->times, &frames, above, NULL));
	fsl_frames_fini(&frames);
	return status;
}

static const struct fsl_functions *settle(struct small *small)
{
	assert_int_equal(fsl_functions_settle(&small->times, &small->rank, NULL), FSL_OK);
	return small->rank.functions;
}

static void end(struct small *small)
{
	fsl_function_times_fini(&small->times);
	fsl_profile_rank_fini(&small->rank);
}

static void own_time_of_a_call_path_is_without_its_callees(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	struct fsl_busy busy = {0};
	assert_int_equal(fsl_busy_add(&busy, 80, 95, NULL), FSL_OK);
	struct fsl_frame frames[] = {
		{20, 10, name(&small, "g"), 1, FSL_FRAME_PYTHON},
		{0, 100, name(&small, "f"), 1, FSL_FRAME_PYTHON},
		{40, 30, name(&small, "g"), 1, FSL_FRAME_PYTHON},
		{45, 5, name(&small, "h"), 1, FSL_FRAME_PYTHON},
		{200, 7, name(&small, "g"), 1, FSL_FRAME_PYTHON},
	};
	assert_int_equal(add_paths(&small, frames, 5, 0, &busy), FSL_OK);
	const struct fsl_functions *functions = settle(&small);
	assert_int_equal(functions->n_items, 4);
	const struct fsl_function *f = find(functions, FSL_FUNCTION_PYTHON, "f");
	const struct fsl_function *g = find(functions, FSL_FUNCTION_PYTHON, "f|g");
	assert_int_equal(f->total_ns, 60);
	assert_int_equal(f->exclusive_ns, 45);
	assert_int_equal(g->count, 2);
	assert_int_equal(g->total_ns, 35);
	assert_near("mean", g->mean_ns, 17.5, 1e-9);
	assert_near("spread", g->spread_ns, 7.5, 1e-9);
	assert_int_equal(find(functions, FSL_FUNCTION_PYTHON, "f|g|h")->total_ns, 5);
	assert_int_equal(find(functions, FSL_FUNCTION_PYTHON, "g")->total_ns, 7);
	fsl_free(busy.spans);
	end(&small);
}

static void system_calls_are_a_share_of_the_function_that_makes_them(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	uint32_t f = name(&small, "f"), g = name(&small, "g"), read = name(&small, "read");
	struct fsl_frame frames[] = {
		{0, 100, f, 1, false},
		{10, 20, read, 1, FSL_FRAME_SYSCALL}, /* of f */
		{15, 5, read, 1, FSL_FRAME_SYSCALL},  /* within the other one */
		{40, 50, g, 1, false},
		{50, 30, read, 1, FSL_FRAME_SYSCALL},  /* of g */
		{85, 10, read, 1, FSL_FRAME_SYSCALL},  /* up to the end of g */
		{200, 50, read, 1, FSL_FRAME_SYSCALL}, /* of nobody */
		{0, 60, f, 2, false},
		{5, 100, read, 2, FSL_FRAME_SYSCALL}, /* longer than its caller */
	};
	assert_int_equal(add_paths(&small, frames, 9, 0, NULL), FSL_OK);
	const struct fsl_functions *functions = settle(&small);
	assert_int_equal(functions->n_items, 2);
	const struct fsl_function *outer = find(functions, FSL_FUNCTION_PYTHON, "f");
	assert_int_equal(outer->total_ns, 110);
	assert_int_equal(outer->syscall_ns, 20 + 55);
	assert_int_equal(find(functions, FSL_FUNCTION_PYTHON, "f|g")->total_ns, 50);
	assert_int_equal(find(functions, FSL_FUNCTION_PYTHON, "f|g")->syscall_ns, 35);
	end(&small);
}

static void one_path_on_two_threads_counts_once(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	uint32_t f = name(&small, "f");
	struct fsl_frame frames[] = {{50, 100, f, 1, FSL_FRAME_OPERATOR},
				     {0, 100, f, 2, FSL_FRAME_OPERATOR},
				     {300, 1, f, 1, FSL_FRAME_OPERATOR},
				     {0, 400, f, 1, FSL_FRAME_LOADING}};
	assert_int_equal(add_paths(&small, frames, 4, 0, NULL), FSL_OK);
	const struct fsl_functions *functions = settle(&small);
	assert_int_equal(functions->n_items, 1);
	assert_int_equal(functions->items[0].count, 3);
	assert_int_equal(functions->items[0].total_ns, 201);
	assert_int_equal(functions->items[0].wall_ns, 151);
	assert_int_equal(functions->items[0].exclusive_ns, 151);
	end(&small);
}

/* Work of the device stands above [60, 120). f runs on one thread or the other in [0, 20), [25,
 * 110) and [140, 150), and h, called by it, in the gaps. */
static void functions_on_several_threads_lose_the_time_of_higher_classes_once(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	struct fsl_busy busy = {0};
	assert_int_equal(fsl_busy_add(&busy, 60, 120, NULL), FSL_OK);
	uint32_t f = name(&small, "f"), h = name(&small, "h");
	struct fsl_frame frames[] = {{50, 100, f, 1, FSL_FRAME_PYTHON},
				     {0, 100, f, 2, FSL_FRAME_PYTHON},
				     {300, 1, h, 1, FSL_FRAME_PYTHON},
				     {110, 30, h, 1, FSL_FRAME_PYTHON},
				     {20, 5, h, 2, FSL_FRAME_PYTHON}};
	assert_int_equal(add_paths(&small, frames, 5, 0, &busy), FSL_OK);
	const struct fsl_functions *functions = settle(&small);
	const struct fsl_function *both = find(functions, FSL_FUNCTION_PYTHON, "f");
	const struct fsl_function *inner = find(functions, FSL_FUNCTION_PYTHON, "f|h");
	const struct fsl_function *alone = find(functions, FSL_FUNCTION_PYTHON, "h");
	assert_int_equal(both->count, 2);
	assert_int_equal(both->total_ns, 70 + 95);
	assert_int_equal(both->wall_ns, 115);
	assert_int_equal(both->exclusive_ns, 65);
	assert_int_equal(inner->wall_ns, 35);
	assert_int_equal(inner->exclusive_ns, 25);
	assert_int_equal(alone->wall_ns, 1);
	assert_int_equal(alone->exclusive_ns, 1);
	fsl_free(busy.spans);
	end(&small);
}

static uint64_t mix(uint64_t i)
{
	uint64_t z = i * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ (z >> 27);
}

/* Nested frames of two threads: each of @n stretches of 100 ns has a caller, and callees that stand
 * in front of it, as far away as @spread stretches. */
static void make_frames(struct small *small, struct fsl_frame *frames, size_t n, size_t spread)
{
	uint32_t outer = name(small, "outer"), inner = name(small, "inner");
	for (size_t i = 0; i < n; i++) {
		size_t at = i - i % spread + (spread - 1 - i % spread);
		int64_t begin_ns = (int64_t)(100 * at);
		unsigned thread = 1 + (i / spread % 2 == 0 ? 0U : 1U);
		frames[3 * i] = (struct fsl_frame){begin_ns + 10, (int64_t)(mix(i) % 40), inner,
						   thread & 3U, FSL_FRAME_OPERATOR};
		frames[3 * i + 1] =
			(struct fsl_frame){begin_ns + 60, 30, inner, thread & 3U, FSL_FRAME_PYTHON};
		frames[3 * i + 2] = (struct fsl_frame){begin_ns, 100 + (int64_t)(mix(i) % 50),
						       outer, thread & 3U, FSL_FRAME_PYTHON};
	}
}

static void assert_alike(const struct fsl_functions *a, const struct fsl_functions *b)
{
	assert_int_equal(a->n_items, b->n_items);
	for (size_t i = 0; i < a->n_items; i++) {
		const struct fsl_function *left = &a->items[i], *right = &b->items[i];
		assert_string_equal(left->name, right->name);
		assert_int_equal(left->count, right->count);
		assert_int_equal(left->total_ns, right->total_ns);
		assert_int_equal(left->wall_ns, right->wall_ns);
		assert_int_equal(left->exclusive_ns, right->exclusive_ns);
		assert_true(left->spread_ns == right->spread_ns);
	}
}

/* In order but for neighbours, in nine runs, backwards. */
static void paths_are_the_same_for_any_window_and_order(void **state)
{
	(void)state;
	enum { N = 900 };
	static const size_t spreads[] = {1, 3, 100, N}, windows[] = {1, 2, 7, 64, 3 * N};
	static struct fsl_frame frames[3 * N];
	struct fsl_busy busy = {0};
	for (int i = 0; i < N; i++) {
		assert_int_equal(fsl_busy_add(&busy, 100 * i + 20, 100 * i + 70, NULL), FSL_OK);
	}
	for (size_t s = 0; s < sizeof(spreads) / sizeof(spreads[0]); s++) {
		struct small whole;
		begin(&whole);
		make_frames(&whole, frames, N, spreads[s]);
		assert_int_equal(add_paths(&whole, frames, 3 * N, 3 * N, &busy), FSL_OK);
		const struct fsl_functions *wanted = settle(&whole);
		assert_true(wanted->n_items >= 2);
		for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++) {
			struct small small;
			begin(&small);
			make_frames(&small, frames, N, spreads[s]);
			assert_int_equal(add_paths(&small, frames, 3 * N, windows[w], &busy),
					 FSL_OK);
			assert_alike(settle(&small), wanted);
			end(&small);
		}
		end(&whole);
	}
	fsl_free(busy.spans);
}

/* Frames as they were added, but for the order. */
static void frames_come_back_as_they_were(void **state)
{
	(void)state;
	static const struct fsl_frame items[] = {
		{INT64_C(1) << 60, INT64_C(1) << 60, UINT32_MAX - 1, 3, FSL_FRAME_SYSCALL},
		{-5, 0, 0, 3, FSL_FRAME_LOADING},
		{0, 127, 31, 3, FSL_FRAME_PYTHON},
		{0, 128, 32, 3, FSL_FRAME_OPERATOR},
	};
	static const size_t sorted[] = {1, 3, 2, 0};
	for (int keeps_order = 0; keeps_order < 2; keeps_order++) {
		struct fsl_frames frames = {.keeps_order = keeps_order != 0, .shift_ns = 7};
		struct fsl_frame frame;
		for (size_t i = 0; i < 4; i++) {
			assert_int_equal(fsl_frames_add(&frames, &items[i], NULL), FSL_OK);
		}
		assert_int_equal(fsl_frames_settle(&frames, NULL), FSL_OK);
		assert_int_equal(frames.n, 4);
		assert_int_equal(frames.n_threads, keeps_order != 0 ? 1 : 4);
		struct fsl_frame_cursor cursor = fsl_frames_read(&frames, frames.n_threads - 1);
		for (size_t i = 0; i < 4; i++) {
			const struct fsl_frame *item = &items[keeps_order != 0 ? i : sorted[i]];
			assert_true(fsl_frame_next(&cursor, &frame));
			assert_int_equal(frame.begin_ns, item->begin_ns + 7);
			assert_int_equal(frame.dur_ns, item->dur_ns);
			assert_int_equal(frame.name_id, item->name_id);
			assert_int_equal(frame.kind, item->kind);
		}
		assert_false(fsl_frame_next(&cursor, &frame));
		fsl_frames_fini(&frames);
	}
}

static void forgotten_frames_leave_the_others_in_order(void **state)
{
	(void)state;
	enum { N = 2000 };
	struct fsl_frames frames = {.window = 4, .shift_ns = 1000};
	for (int i = 0; i < N; i++) {
		int at = i % 10 == 9 ? i - 9 : i; /* one of ten comes late */
		struct fsl_frame frame = {at, 1, (uint32_t)i, 1, FSL_FRAME_PYTHON};
		frame.kind = i % 3 == 0 ? FSL_FRAME_OPERATOR : FSL_FRAME_PYTHON;
		assert_int_equal(fsl_frames_add(&frames, &frame, NULL), FSL_OK);
	}
	assert_int_equal(fsl_frames_settle(&frames, NULL), FSL_OK);
	assert_int_equal(fsl_frames_forget(&frames, FSL_FRAME_PYTHON, NULL), FSL_OK);
	struct fsl_frame_cursor cursor = fsl_frames_read(&frames, 1);
	struct fsl_frame frame;
	int64_t last_ns = 0;
	size_t n = 0;
	for (; fsl_frame_next(&cursor, &frame); n++) {
		assert_int_equal(frame.kind, FSL_FRAME_OPERATOR);
		assert_int_equal(frame.name_id % 3, 0);
		assert_true(frame.begin_ns >= last_ns && frame.begin_ns >= 1000);
		last_ns = frame.begin_ns;
	}
	assert_int_equal(n, (N + 2) / 3);
	assert_int_equal(frames.n, n);
	fsl_frames_fini(&frames);
}

static void frames_deeper_than_the_limit_count_for_their_callers(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	enum { N = FSL_CALL_DEPTH_MAX + 10 };
	static struct fsl_frame frames[N];
	for (size_t i = 0; i < N; i++) {
		frames[i] = (struct fsl_frame){(int64_t)i, (int64_t)(2 * N - 2 * i),
					       name(&small, "long"), 1, FSL_FRAME_PYTHON};
	}
	assert_int_equal(add_paths(&small, frames, N, 0, NULL), FSL_OK);
	const struct fsl_functions *functions = settle(&small);
	int64_t sum_ns = 0;
	for (size_t i = 0; i < functions->n_items; i++) {
		sum_ns += functions->items[i].total_ns;
	}
	assert_int_equal(functions->n_items, FSL_CALL_DEPTH_MAX);
	size_t n_longest = 0;
	for (size_t i = 0; i < functions->n_items; i++) {
		size_t n = strlen(functions->items[i].name);
		n_longest = n > n_longest ? n : n_longest;
	}
	assert_true(n_longest >= FSL_FUNCTION_NAME_MAX && n_longest < FSL_FUNCTION_NAME_MAX + 16);
	assert_int_equal(sum_ns, 2 * N);
	end(&small);
}

static void functions_beyond_the_limit_are_summed(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	enum { N = FSL_FUNCTIONS_KEPT_MAX + 3 };
	for (int i = 0; i < N; i++) {
		char text[32];
		uint32_t id = 0;
		(void)snprintf(text, sizeof(text), "k%d", i);
		assert_int_equal(fsl_function_find(&small.times, FSL_FUNCTION_COMPUTE,
						   name(&small, text), FSL_STR_NONE, FSL_STR_NONE,
						   &id, NULL),
				 FSL_OK);
		fsl_function_count(&small.times, id, i + 1);
		fsl_function_add_time(&small.times, id, i * 10000, i * 10000 + i + 1, NULL);
	}
	const struct fsl_functions *functions = settle(&small);
	assert_int_equal(functions->n_items, FSL_FUNCTIONS_KEPT_MAX);
	assert_int_equal(functions->items[0].total_ns, N);
	assert_int_equal(functions->rest[FSL_FUNCTION_COMPUTE].n, 3);
	assert_int_equal(functions->rest[FSL_FUNCTION_COMPUTE].total_ns, 1 + 2 + 3);
	end(&small);
}

static void calls_without_duration_count_for_the_median(void **state)
{
	(void)state;
	struct small small;
	begin(&small);
	uint32_t id = 0;
	assert_int_equal(fsl_function_find(&small.times, FSL_FUNCTION_RUNTIME, name(&small, "c"),
					   FSL_STR_NONE, FSL_STR_NONE, &id, NULL),
			 FSL_OK);
	static const int64_t durations[] = {0, 0, 8, 20};
	for (int i = 0; i < 4; i++) {
		fsl_function_count(&small.times, id, durations[i]);
		fsl_function_add_time(&small.times, id, i * 100, i * 100 + durations[i], NULL);
	}
	assert_int_equal(fsl_function_medians_begin(&small.times, NULL), FSL_OK);
	for (int i = 4; i-- > 0;) {
		fsl_function_medians_add(&small.times, id, durations[i]);
	}
	fsl_function_medians_tell(&small.times);
	const struct fsl_functions *functions = settle(&small);
	assert_int_equal(functions->items[0].count, 4);
	assert_near("median", functions->items[0].median_ns, 4.0, 1e-9);
	assert_near("mean", functions->items[0].mean_ns, 7.0, 1e-9);
	end(&small);
}

static void short_memory_fails_whole(void **state)
{
	(void)state;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK && nth < 200; nth++) {
		struct small small;
		begin(&small);
		struct fsl_frame frames[] = {{0, 100, name(&small, "f"), 1, FSL_FRAME_PYTHON},
					     {10, 20, name(&small, "g"), 1, FSL_FRAME_PYTHON},
					     {0, 10, name(&small, "f"), 2, FSL_FRAME_PYTHON}};
		fsl_mem_fail_at(nth);
		status = add_paths(&small, frames, 3, 0, NULL);
		FSL_THEN(status, fsl_functions_settle(&small.times, &small.rank, NULL));
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		end(&small);
	}
	assert_int_equal(status, FSL_OK);
	assert_true(nth > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_two_ranks_have_the_exact_ratios),
		cmocka_unit_test(functions_of_other_dialects_have_the_exact_ratios),
		cmocka_unit_test(functions_of_rocm_have_the_exact_ratios),
		cmocka_unit_test(own_time_of_a_call_path_is_without_its_callees),
		cmocka_unit_test(system_calls_are_a_share_of_the_function_that_makes_them),
		cmocka_unit_test(one_path_on_two_threads_counts_once),
		cmocka_unit_test(functions_on_several_threads_lose_the_time_of_higher_classes_once),
		cmocka_unit_test(paths_are_the_same_for_any_window_and_order),
		cmocka_unit_test(frames_come_back_as_they_were),
		cmocka_unit_test(forgotten_frames_leave_the_others_in_order),
		cmocka_unit_test(frames_deeper_than_the_limit_count_for_their_callers),
		cmocka_unit_test(functions_beyond_the_limit_are_summed),
		cmocka_unit_test(calls_without_duration_count_for_the_median),
		cmocka_unit_test(short_memory_fails_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
