/* Lanes that the user tells, and begins and ends of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "source/kineto/intake.h"

/* A rank, and its intake with rules. */
struct small {
	struct fsl_profile_rank rank;
	struct fsl_kineto_events events;
	struct fsl_lanes *lanes;
	struct fsl_kineto_intake intake;
};

static void begin(struct small *small, const char *const *rules, size_t n_rules)
{
	*small = (struct small){.rank = {.names = fsl_strpool_create()}};
	assert_non_null(small->rank.names);
	small->events = (struct fsl_kineto_events){.rank = &small->rank};
	assert_int_equal(fsl_lanes_create(&small->lanes, rules, n_rules, NULL), FSL_OK);
	assert_int_equal(fsl_kineto_intake_init(&small->intake, &small->events, small->lanes, NULL),
			 FSL_OK);
}

static void end(struct small *small)
{
	fsl_kineto_intake_fini(&small->intake);
	fsl_lanes_destroy(small->lanes);
	fsl_kineto_events_fini(&small->events);
	fsl_profile_rank_fini(&small->rank);
}

static struct fsl_trace_text text(const char *of)
{
	return (struct fsl_trace_text){of, strlen(of)};
}

static void take(struct small *small, char phase, const char *category, uint64_t pid, int64_t ts_ns,
		 const char *name)
{
	struct fsl_trace_event event = {.phase = phase,
					.pid = pid,
					.tid = 1,
					.ts_ns = ts_ns,
					.dur_ns = phase == 'X' ? 10 : FSL_NS_ABSENT,
					.whole_name = text(name),
					.whole_category = text(category)};
	for (size_t i = 0; i < FSL_KINETO_ARGS_N; i++) {
		event.args[i] = -1;
	}
	event.args[FSL_KINETO_CORRELATION] = phase == 'B' ? ts_ns : -1;
	event.category = strcmp(category, "cuda_runtime") == 0 ? FSL_KINETO_RUNTIME : 0;
	assert_int_equal(fsl_kineto_intake_take(&small->intake, &event, NULL), FSL_OK);
}

static void learn(struct small *small, const char *kind, uint64_t pid, const char *name)
{
	struct fsl_trace_event event = {
		.phase = 'M', .whole_name = text(kind), .pid = pid, .tid = 1};
	event.texts[FSL_KINETO_LANE_NAME] = text(name);
	assert_int_equal(fsl_kineto_intake_learn(&small->intake, &event, NULL), FSL_OK);
}

static void ends_close_the_last_begin_of_their_thread(void **state)
{
	(void)state;
	struct small small;
	begin(&small, NULL, 0);
	take(&small, 'B', "cuda_runtime", 1, 100, "outer");
	take(&small, 'B', "cuda_runtime", 2, 110, "other");
	take(&small, 'B', "cuda_runtime", 1, 120, "inner");
	take(&small, 'E', "", 1, 130, "");
	take(&small, 'E', "", 1, 150, "");
	take(&small, 'E', "", 2, 115, "");
	assert_int_equal(small.events.calls.n, 3);
	struct fsl_kineto_calls calls;
	fsl_kineto_calls_begin(&calls, &small.events);
	assert_int_equal(fsl_packed_settle(&small.events.calls, NULL), FSL_OK);
	const struct fsl_kineto_call inner = fsl_kineto_call_at(&calls, 2);
	assert_string_equal(fsl_strpool_text(small.rank.names, inner.name_id), "inner");
	assert_int_equal(inner.begin_ns, 120);
	assert_int_equal(inner.dur_ns, 10);
	assert_int_equal(inner.correlation, 120);
	assert_int_equal(fsl_kineto_call_at(&calls, 0).dur_ns, 50);
	assert_int_equal(fsl_kineto_call_at(&calls, 1).dur_ns, 5);
	assert_int_equal(fsl_kineto_intake_unmatched(&small.intake), 0);
	end(&small);
}

static void begins_beyond_a_limit_wait_for_room(void **state)
{
	enum { LIMIT = 1 << 16 };
	(void)state;
	struct small small;
	begin(&small, NULL, 0);
	for (int i = 0; i < LIMIT + 5; i++) {
		take(&small, 'B', "cuda_runtime", 1, i, "a");
	}
	assert_int_equal(small.intake.n_open, LIMIT);
	take(&small, 'E', "", 1, LIMIT + 5, "");
	take(&small, 'B', "cuda_runtime", 1, LIMIT + 6, "a");
	take(&small, 'E', "", 1, LIMIT + 7, "");
	assert_int_equal(small.events.calls.n, 2);
	assert_int_equal(small.intake.n_open, LIMIT);
	assert_int_equal(fsl_kineto_intake_unmatched(&small.intake), LIMIT - 1 + 5);
	end(&small);
}

static void begins_and_ends_without_each_other_are_counted(void **state)
{
	(void)state;
	struct small small;
	begin(&small, NULL, 0);
	take(&small, 'E', "", 1, 90, "");
	for (int i = 0; i < 3; i++) {
		take(&small, 'B', "cuda_runtime", 1, 100 + i, "a");
		take(&small, 'E', "", 1, 200 + i, "");
	}
	take(&small, 'B', "cuda_runtime", 1, 300, "open");
	take(&small, 'B', "cuda_runtime", 1, FSL_NS_ABSENT, "no time");
	assert_int_equal(small.events.calls.n, 3);
	assert_int_equal(small.intake.n_open, 1); /* room is used again */
	assert_int_equal(fsl_kineto_intake_unmatched(&small.intake), 3);
	end(&small);
}

static void rules_tell_categories_threads_and_processes(void **state)
{
	(void)state;
	struct small small;
	const char *const rules[] = {"^lib=cudalib", "^Device \\d$=kernel", "main=cpu"};
	begin(&small, rules, 3);
	learn(&small, "process_name", 7, "Device 0");
	learn(&small, "process_name", 8, "Device x");
	learn(&small, "process_name", 9, "Device 1");
	learn(&small, "thread_name", 9, "main");
	take(&small, 'X', "library", 1, 100, "a call");
	take(&small, 'X', "library", 7, 100, "a call in the process of a device");
	take(&small, 'X', "any", 7, 100, "a kernel");
	take(&small, 'X', "", 7, 100, "a kernel without a category");
	take(&small, 'X', "any", 8, 100, "nothing");
	take(&small, 'X', "any", 9, 100, "on a thread of its own kind");
	assert_int_equal(small.events.calls.n, 2);
	assert_int_equal(small.events.works.n, 2);
	end(&small);
}

static void the_first_rule_that_fits_decides(void **state)
{
	(void)state;
	struct fsl_lanes *lanes = NULL;
	const char *const rules[] = {"^a=b=kernel", "a=python", ".=syscall"};
	assert_int_equal(fsl_lanes_create(&lanes, rules, 3, NULL), FSL_OK);
	assert_int_equal(fsl_lanes_category(lanes, "a=b", 3), FSL_KINETO_KERNEL);
	assert_int_equal(fsl_lanes_category(lanes, "ba", 2), FSL_KINETO_PYTHON);
	assert_int_equal(fsl_lanes_category(lanes, "x", 1), FSL_KINETO_SYSCALL);
	assert_int_equal(fsl_lanes_category(lanes, "", 0), FSL_KINETO_NONE);
	fsl_lanes_destroy(lanes);
}

static void rules_without_a_kind_or_expression_are_refused(void **state)
{
	(void)state;
	struct fsl_lanes *lanes = NULL;
	static const char *const rules[] = {"", "a", "=cpu", "a=", "a=CPU", "(=cpu", "a=cpu "};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		assert_int_equal(fsl_lanes_create(&lanes, &rules[i], 1, NULL), FSL_ERR_USAGE);
		assert_null(lanes);
	}
	assert_int_equal(fsl_lanes_create(&lanes, NULL, 0, NULL), FSL_OK);
	assert_null(lanes);
}

static void an_expression_that_works_for_ever_fits_nothing(void **state)
{
	(void)state;
	struct fsl_lanes *lanes = NULL;
	const char *const rules[] = {"^(a+)+$=cpu"};
	assert_int_equal(fsl_lanes_create(&lanes, rules, 1, NULL), FSL_OK);
	assert_int_equal(fsl_lanes_category(lanes, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", 31),
			 FSL_KINETO_NONE);
	fsl_lanes_destroy(lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_close_the_last_begin_of_their_thread),
		cmocka_unit_test(begins_beyond_a_limit_wait_for_room),
		cmocka_unit_test(begins_and_ends_without_each_other_are_counted),
		cmocka_unit_test(rules_tell_categories_threads_and_processes),
		cmocka_unit_test(the_first_rule_that_fits_decides),
		cmocka_unit_test(rules_without_a_kind_or_expression_are_refused),
		cmocka_unit_test(an_expression_that_works_for_ever_fits_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
