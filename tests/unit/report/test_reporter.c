/* The table of reporters, and the one way through it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/config.h"
#include "report/reporter.h"

/* What the reporters of these tests do, one letter a call: "b" begin, "v" verdict, "e" end that was
 * told of no failure, "E" end that was told of one. Each is followed by the reporter's digit. */
static char calls[64];

static void note(char what, char who)
{
	size_t length = strlen(calls);
	assert_true(length + 2 < sizeof(calls));
	calls[length] = what;
	calls[length + 1] = who;
	calls[length + 2] = '\0';
}

struct memory {
	int64_t look_back_mins;
};

#define BEGIN(digit, is_wanted)                                                                    \
	static bool begin_##digit(void *self, const struct fsl_config *config,                     \
				  const struct fsl_report *report)                                 \
	{                                                                                          \
		assert_non_null(report);                                                           \
		note('b', #digit[0]);                                                              \
		assert_int_equal(((struct memory *)self)->look_back_mins, 0);                      \
		((struct memory *)self)->look_back_mins =                                          \
			config != NULL ? (int64_t)config->look_back_mins : 0;                      \
		return is_wanted;                                                                  \
	}
#define REPORTER_OF(digit, status_of_verdict)                                                      \
	static enum fsl_status verdict_##digit(void *self, struct fsl_report *report,              \
					       struct fsl_error *err)                              \
	{                                                                                          \
		note('v', #digit[0]);                                                              \
		assert_int_equal(((struct memory *)self)->look_back_mins, report->width);          \
		enum fsl_status status = status_of_verdict;                                        \
		return status == FSL_OK ? status : FSL_FAIL(err, status, "failure of " #digit);    \
	}                                                                                          \
	static void end_##digit(void *self, bool is_told)                                          \
	{                                                                                          \
		assert_non_null(self);                                                             \
		note(is_told ? 'e' : 'E', #digit[0]);                                              \
	}                                                                                          \
	static const struct fsl_reporter reporter_##digit = {                                      \
		.name = #digit,                                                                    \
		.summary = "of a test",                                                            \
		.self_bytes = sizeof(struct memory),                                               \
		.begin = begin_##digit,                                                            \
		.verdict = verdict_##digit,                                                        \
		.end = end_##digit,                                                                \
	};

BEGIN(1, true)
REPORTER_OF(1, FSL_OK)
BEGIN(2, true)
REPORTER_OF(2, FSL_ERR_IO)
BEGIN(3, true)
REPORTER_OF(3, FSL_ERR_INPUT)
BEGIN(4, false)
REPORTER_OF(4, FSL_ERR_INTERNAL)

/* Neither memory nor an end. */
static bool begin_5(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	(void)config;
	(void)report;
	assert_null(self);
	note('b', '5');
	return true;
}

static enum fsl_status verdict_5(void *self, struct fsl_report *report, struct fsl_error *err)
{
	(void)report;
	(void)err;
	assert_null(self);
	note('v', '5');
	return FSL_OK;
}

static const struct fsl_reporter reporter_5 = {
	.name = "5", .summary = "of a test", .begin = begin_5, .verdict = verdict_5};

static enum fsl_status tell(const struct fsl_reporter *const *reporters, struct fsl_error *err)
{
	struct fsl_config config = {.look_back_mins = 20.0};
	struct fsl_report report = {.width = 20};
	calls[0] = '\0';
	return fsl_report_tell_through(reporters, &report, &config, err);
}

static void all_begin_before_the_first_verdict_and_end_behind_the_last(void **state)
{
	(void)state;
	static const struct fsl_reporter *const two[] = {&reporter_1, &reporter_5, NULL};
	static const struct fsl_reporter *const one[] = {&reporter_5, NULL};
	assert_int_equal(tell(two, NULL), FSL_OK);
	assert_string_equal(calls, "b1b5v1v5e1");
	assert_int_equal(tell(one, NULL), FSL_OK);
	assert_string_equal(calls, "b5v5");
}

static void no_reporter_is_no_failure(void **state)
{
	(void)state;
	static const struct fsl_reporter *const none[] = {NULL};
	assert_int_equal(tell(none, NULL), FSL_OK);
	assert_string_equal(calls, "");
}

static void a_reporter_that_has_nothing_to_do_is_not_called_again(void **state)
{
	(void)state;
	static const struct fsl_reporter *const reporters[] = {&reporter_4, &reporter_1, NULL};
	assert_int_equal(tell(reporters, NULL), FSL_OK);
	assert_string_equal(calls, "b4b1v1e1");
}

static void the_first_failure_stands_and_stops_no_other_reporter(void **state)
{
	(void)state;
	static const struct fsl_reporter *const reporters[] = {&reporter_1, &reporter_2,
							       &reporter_3, &reporter_1, NULL};
	static const struct fsl_reporter *const reversed[] = {&reporter_3, &reporter_2, NULL};
	struct fsl_error err = {0};
	assert_int_equal(tell(reporters, &err), FSL_ERR_IO);
	assert_string_equal(fsl_error_root(&err), "failure of 2");
	assert_int_equal(err.n_causes, 1);
	assert_string_equal(calls, "b1b2b3b1v1v2v3v1E1E2E3E1");
	fsl_error_clear(&err);
	assert_int_equal(tell(reversed, &err), FSL_ERR_INPUT);
	assert_string_equal(fsl_error_root(&err), "failure of 3");
	assert_string_equal(calls, "b3b2v3v2E3E2");
}

static void a_reporter_without_memory_is_left_out_and_the_others_tell(void **state)
{
	(void)state;
	static const struct fsl_reporter *const reporters[] = {&reporter_1, &reporter_1,
							       &reporter_5, NULL};
	static const char *const expected[] = {"b5v5", "b1b5v1v5E1"};
	for (uint64_t nth = 1; nth <= 2; nth++) {
		fsl_mem_fail_at(nth); /* and all behind it */
		enum fsl_status status = tell(reporters, NULL);
		fsl_mem_fail_at(0);
		assert_int_equal(status, FSL_ERR_MEMORY);
		assert_string_equal(calls, expected[nth - 1]);
	}
}

static void names_are_words_that_occur_once(void **state)
{
	(void)state;
	assert_true(fsl_reporters_size() > 0);
	for (size_t i = 0; i < fsl_reporters_size(); i++) {
		const struct fsl_reporter *reporter = fsl_reporters_at(i);
		assert_int_equal(strspn(reporter->name, "abcdefghijklmnopqrstuvwxyz_0123456789"),
				 strlen(reporter->name));
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(reporter->name, fsl_reporters_at(k)->name);
		}
		assert_non_null(reporter->begin);
		assert_non_null(reporter->verdict);
		assert_true(strlen(reporter->summary) > 0 && strlen(reporter->summary) < 80);
	}
	assert_null(fsl_reporters_at(fsl_reporters_size()));
	assert_null(fsl_reporters_at(SIZE_MAX));
}

static void each_lies_in_the_file_of_its_name(void **state)
{
	(void)state;
	static const char *const folders[] = {"report", "report/msprof"};
	for (size_t i = 0; i < fsl_reporters_size(); i++) {
		size_t n_files = 0;
		for (size_t k = 0; k < sizeof(folders) / sizeof(folders[0]); k++) {
			char path[512];
			(void)snprintf(path, sizeof(path), FSL_SOURCE_DIR "/src/%s/reporter_%s.c",
				       folders[k], fsl_reporters_at(i)->name);
			n_files += access(path, F_OK) == 0;
		}
		assert_int_equal(n_files, 1);
	}
}

/* SIZE_MAX: not in the table. */
static size_t place_of(const char *name)
{
	for (size_t i = 0; i < fsl_reporters_size(); i++) {
		if (strcmp(fsl_reporters_at(i)->name, name) == 0) {
			return i;
		}
	}
	return SIZE_MAX;
}

static void alarms_are_marked_first_and_files_are_written_before_they_are_shown(void **state)
{
	(void)state;
	assert_int_equal(place_of("incidents"), 0);
	assert_true(place_of("text") < place_of("alertmanager")); /* it may keep the run waiting */
	assert_true(place_of("systrace") < place_of("json"));
	assert_true(place_of("systrace") < place_of("text"));
	assert_true(place_of("case") < place_of("msprof"));
	assert_true(place_of("msprof") < place_of("text"));
	assert_int_not_equal(place_of("text"), SIZE_MAX);
	assert_int_not_equal(place_of("json"), SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_begin_before_the_first_verdict_and_end_behind_the_last),
		cmocka_unit_test(no_reporter_is_no_failure),
		cmocka_unit_test(a_reporter_that_has_nothing_to_do_is_not_called_again),
		cmocka_unit_test(the_first_failure_stands_and_stops_no_other_reporter),
		cmocka_unit_test(a_reporter_without_memory_is_left_out_and_the_others_tell),
		cmocka_unit_test(names_are_words_that_occur_once),
		cmocka_unit_test(each_lies_in_the_file_of_its_name),
		cmocka_unit_test(
			alarms_are_marked_first_and_files_are_written_before_they_are_shown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
