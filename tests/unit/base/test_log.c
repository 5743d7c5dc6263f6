/* Log lines on stderr and printed error chains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_line.h"

/* Sends stderr into a temporary file until capture_end(). */
struct capture {
	FILE *file;
	int kept_fd;
};

static struct capture capture_begin(void)
{
	struct capture capture = {tmpfile(), -1};
	assert_non_null(capture.file);
	(void)fflush(stderr);
	capture.kept_fd = dup(STDERR_FILENO);
	assert_true(dup2(fileno(capture.file), STDERR_FILENO) >= 0);
	return capture;
}

static void capture_end(struct capture *capture, char *text, size_t size)
{
	(void)fflush(stderr);
	assert_true(dup2(capture->kept_fd, STDERR_FILENO) >= 0);
	(void)close(capture->kept_fd);
	rewind(capture->file);
	size_t n = fread(text, 1, size - 1, capture->file);
	text[n] = '\0';
	(void)fclose(capture->file);
}

static void only_levels_up_to_the_chosen_one_are_printed(void **state)
{
	(void)state;
	char text[1024];
	assert_int_equal(fsl_log_level_get(), FSL_LOG_WARNING);
	struct capture capture = capture_begin();
	fsl_log(FSL_LOG_ERROR, "t", "one: n=%d", 1);
	fsl_log(FSL_LOG_WARNING, "t", "two");
	fsl_log(FSL_LOG_INFO, "t", "three");
	fsl_log_set_level(FSL_LOG_DEBUG);
	fsl_log(FSL_LOG_DEBUG, "t", "four");
	fsl_log_set_level(FSL_LOG_ERROR);
	fsl_log(FSL_LOG_WARNING, "t", "five");
	fsl_log_set_level(FSL_LOG_WARNING);
	capture_end(&capture, text, sizeof(text));
	assert_string_equal(text, "failslow: error: t: one: n=1\nfailslow: warning: t: two\n"
				  "failslow: debug: t: four\n");
}

static void a_long_line_is_cut_but_still_one_line(void **state)
{
	(void)state;
	char text[4096], wide[3000];
	memset(wide, 'w', sizeof(wide));
	wide[sizeof(wide) - 1] = '\0';
	struct capture capture = capture_begin();
	fsl_log(FSL_LOG_ERROR, "t", "%s", wide);
	capture_end(&capture, text, sizeof(text));
	assert_true(strlen(text) < 1100);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void names_of_files_steer_no_terminal(void **state)
{
	static const struct {
		const char *name, *told;
	} cases[] = {
		{"a\033[31mb", "a?[31mb"},
		{"a\302\23331mb", "a??31mb"},
		{"a\23331mb", "a?31mb"},
		{"a\177b\nc", "a?b?c"},
		{"\342\200\256cba", "???cba"},
		{"\342\201\246x\342\200\250", "???x???"},
		{"\345\215\241 7", "\345\215\241 7"},
		{"na\303\257ve", "na\303\257ve"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256], wanted[256];
		struct capture capture = capture_begin();
		fsl_log(FSL_LOG_ERROR, "t", "%s", cases[i].name);
		capture_end(&capture, text, sizeof(text));
		(void)snprintf(wanted, sizeof(wanted), "failslow: error: t: %s\n", cases[i].told);
		assert_string_equal(text, wanted);
	}
}

static void error_print_shows_the_newest_first(void **state)
{
	(void)state;
	char text[1024];
	struct fsl_error err = {0};
	(void)FSL_FAIL(&err, FSL_ERR_FORMAT, "root");
	(void)FSL_CAUSE(&err, FSL_ERR_INPUT, "top");
	struct capture capture = capture_begin();
	fsl_error_print(stderr, &err);
	fsl_log_set_level(FSL_LOG_INFO);
	fsl_error_print(stderr, &err);
	fsl_log_set_level(FSL_LOG_WARNING);
	fsl_error_clear(&err);
	err.status = FSL_ERR_MEMORY;
	fsl_error_print(stderr, &err);
	capture_end(&capture, text, sizeof(text));
	const char *quiet = "failslow: error: top\n  because: root\n";
	assert_memory_equal(text, quiet, strlen(quiet));
	assert_non_null(strstr(text + strlen(quiet), "failslow: error: top ("));
	assert_non_null(strstr(text, "test_log.c:"));
	assert_non_null(strstr(text, "failslow: error: out of memory\n"));
}

static void lines_for_programs_have_time_and_level(void **state)
{
	(void)state;
	static const struct {
		int64_t time_ns;
		const char *wanted;
	} cases[] = {
		{0, "time=1970-01-01T00:00:00.000Z"},
		{INT64_C(951782399999000000), "time=2000-02-28T23:59:59.999Z"},
		{INT64_C(951868800000000000), "time=2000-03-01T00:00:00.000Z"},
		{INT64_C(1709210096007999999), "time=2024-02-29T12:34:56.007Z"},
		{INT64_C(4107542400000000000), "time=2100-03-01T00:00:00.000Z"},
		{INT64_MAX, "time=2262-04-11T23:47:16.854Z"},
	};
	char line[FSL_LOG_LINE_BYTES];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fsl_log_entry entry = {.form = FSL_LOG_LOGFMT,
						    .time_ns = cases[i].time_ns,
						    .tag = "t",
						    .message = "m"};
		line[fsl_log_line(line, &entry)] = '\0';
		assert_memory_equal(line, cases[i].wanted, strlen(cases[i].wanted));
		assert_string_equal(line + strlen(cases[i].wanted),
				    " level=error area=t msg=\"m\"\n");
	}
}

static void quotes_are_escaped_and_long_texts_end_well(void **state)
{
	(void)state;
	char line[FSL_LOG_LINE_BYTES + 1], message[3 * FSL_LOG_LINE_BYTES];
	struct fsl_log_entry entry = {.form = FSL_LOG_JSON,
				      .has_priority = true,
				      .level = FSL_LOG_INFO,
				      .tag = "t",
				      .message = "a=\"b\\c\""};
	line[fsl_log_line(line, &entry)] = '\0';
	assert_string_equal(line, "<6>{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\","
				  "\"area\":\"t\",\"message\":\"a=\\\"b\\\\c\\\"\"}\n");
	memset(message, '"', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	entry.message = message;
	size_t length = fsl_log_line(line, &entry);
	assert_in_range(length, FSL_LOG_LINE_BYTES - 12, FSL_LOG_LINE_BYTES);
	assert_memory_equal(line + length - 5, "\\\"\"}\n", 5);
	entry.form = FSL_LOG_TEXT;
	assert_int_equal(fsl_log_line(line, &entry), FSL_LOG_LINE_BYTES);
}

static void a_word_for_the_level_is_for_text_alone(void **state)
{
	(void)state;
	static const char *const wanted[] = {
		[FSL_LOG_TEXT] = "failslow: 警告: t: m\n",
		[FSL_LOG_LOGFMT] = "time=1970-01-01T00:00:00.000Z level=warning area=t msg=\"m\"\n",
	};
	char line[FSL_LOG_LINE_BYTES + 1];
	for (int form = FSL_LOG_TEXT; form <= FSL_LOG_LOGFMT; form++) {
		const struct fsl_log_entry entry = {.form = (enum fsl_log_form)form,
						    .level = FSL_LOG_WARNING,
						    .word = "警告",
						    .tag = "t",
						    .message = "m"};
		line[fsl_log_line(line, &entry)] = '\0';
		assert_string_equal(line, wanted[form]);
	}
}

static void an_error_is_one_line_for_programs(void **state)
{
	(void)state;
	char text[1024];
	struct fsl_error err = {0};
	(void)FSL_FAIL(&err, FSL_ERR_FORMAT, "root: name=\"a\"");
	(void)FSL_CAUSE(&err, FSL_ERR_INPUT, "top");
	struct capture capture = capture_begin();
	fsl_log_set_form(FSL_LOG_LOGFMT);
	fsl_error_print(stderr, &err);
	fsl_log_from_handler("deadline", "error", "over");
	fsl_log_set_form(FSL_LOG_TEXT);
	capture_end(&capture, text, sizeof(text));
	assert_non_null(strstr(text, "Z level=error area=failslow "
				     "msg=\"top; because: root: name=\\\"a\\\"\"\n"));
	assert_non_null(strstr(text, "Z level=error area=deadline msg=\"over\"\n"));
}

/* @is_own: the variable names the stream of stderr, else another one. */
static void print_to_journal(bool is_own, char *text, size_t size)
{
	char stream[64];
	struct stat facts;
	struct capture capture = capture_begin();
	assert_int_equal(fstat(STDERR_FILENO, &facts), 0);
	(void)snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)facts.st_dev,
		       (unsigned long long)facts.st_ino + (is_own ? 0 : 1));
	(void)setenv("JOURNAL_STREAM", stream, 1);
	fsl_log_look_at_stream();
	fsl_log(FSL_LOG_WARNING, "t", "m");
	struct fsl_error err = {0};
	(void)FSL_FAIL(&err, FSL_ERR_FORMAT, "root");
	fsl_error_print(stderr, &err);
	(void)unsetenv("JOURNAL_STREAM");
	fsl_log_look_at_stream();
	fsl_log(FSL_LOG_WARNING, "t", "n");
	capture_end(&capture, text, size);
}

static void journald_gets_priorities(void **state)
{
	(void)state;
	char text[1024];
	print_to_journal(true, text, sizeof(text));
	assert_string_equal(text, "<4>failslow: warning: t: m\n<3>failslow: error: root\n"
				  "failslow: warning: t: n\n");
	print_to_journal(false, text, sizeof(text));
	assert_string_equal(text, "failslow: warning: t: m\nfailslow: error: root\n"
				  "failslow: warning: t: n\n");
}

static void a_broken_promise_aborts_with_its_place(void **state)
{
	(void)state;
	char text[1024];
	struct capture capture = capture_begin();
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		FSL_REQUIRE(1 + 1 == 3);
		_exit(0);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	capture_end(&capture, text, sizeof(text));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_non_null(strstr(text, "assertion failed: 1 + 1 == 3 ("));
	assert_non_null(strstr(text, "test_log.c:"));
	FSL_REQUIRE(1 + 1 == 2);
}

/* Counts how often it is asked. */
static bool is_asked(int *n)
{
	(*n)++;
	return true;
}

static void an_invariant_is_looked_at_in_checked_builds_alone(void **state)
{
	(void)state;
	int n = 0;
	FSL_ASSERT(is_asked(&n));
#ifdef FSL_CHECKED
	assert_int_equal(n, 1);
#else
	assert_int_equal(n, 0);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_levels_up_to_the_chosen_one_are_printed),
		cmocka_unit_test(a_long_line_is_cut_but_still_one_line),
		cmocka_unit_test(names_of_files_steer_no_terminal),
		cmocka_unit_test(error_print_shows_the_newest_first),
		cmocka_unit_test(lines_for_programs_have_time_and_level),
		cmocka_unit_test(quotes_are_escaped_and_long_texts_end_well),
		cmocka_unit_test(a_word_for_the_level_is_for_text_alone),
		cmocka_unit_test(an_error_is_one_line_for_programs),
		cmocka_unit_test(journald_gets_priorities),
		cmocka_unit_test(a_broken_promise_aborts_with_its_place),
		cmocka_unit_test(an_invariant_is_looked_at_in_checked_builds_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
