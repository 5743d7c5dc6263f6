/* The option parser: forms, messages and --help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/opt.h"

static const char *const formats[] = {"text", "json", NULL};

/* Targets of one table. */
struct values {
	bool dry, help;
	int n_quiet, format;
	const char *config, *output;
	int64_t jobs, from_ns;
	struct fsl_opt_texts rules;
};

static struct values values;

static const struct fsl_opt options[] = {
	{"config", 'c', FSL_OPT_TEXT, &values.config, 0, 0, NULL, "FILE", "configuration file"},
	{"output", 'o', FSL_OPT_TEXT, &values.output, 0, 0, NULL, "DIR",
	 "folder of the verdict files, which is made when it is missing; without it, the folder that "
	 "the configuration names"},
	{"jobs", 'j', FSL_OPT_INT, &values.jobs, 1, 64, NULL, "N", "threads"},
	{"from", 0, FSL_OPT_TIME, &values.from_ns, 0, 0, NULL, "TIME", "begin"},
	{"format", 0, FSL_OPT_CHOICE, &values.format, 0, 0, formats, NULL, "what goes to stdout"},
	{"dry-run", 'n', FSL_OPT_FLAG, &values.dry, 0, 0, NULL, NULL, "write nothing"},
	{"quiet", 'q', FSL_OPT_COUNT, &values.n_quiet, 0, 0, NULL, NULL, "less"},
	{"a-very-long-name-of-an-option", 0, FSL_OPT_TEXT, &values.config, 0, 0, NULL, "FILE",
	 "help"},
	{"rule", 0, FSL_OPT_TEXTS, &values.rules, 0, 0, NULL, "RULE", "a rule"},
	{0},
};

enum { WORDS_MAX = 12 };

/* Parses "failslow" and the @words, which end with NULL; operands come back joined by "|". */
static enum fsl_status parse(const char *const *words, char *operands, size_t size,
			     struct fsl_error *err)
{
	char *argv[WORDS_MAX + 2] = {(char *)(uintptr_t) "failslow"};
	int argc = 1, n_operands = -1;
	for (; words[argc - 1] != NULL; argc++) {
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
	}
	values = (struct values){.format = -1};
	enum fsl_status status = fsl_opt_parse(options, argc, argv, &n_operands, err);
	assert_string_equal(argv[0], "failslow");
	operands[0] = '\0';
	for (int i = 0; i < n_operands; i++) {
		(void)snprintf(operands + strlen(operands), size - strlen(operands), "%s|",
			       argv[1 + i]);
	}
	return status;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL}, operands, sizeof(operands), NULL)

static void all_forms_of_an_option_mean_the_same(void **state)
{
	(void)state;
	char operands[100];
	assert_int_equal(PARSE("--config", "x"), FSL_OK);
	assert_string_equal(values.config, "x");
	assert_int_equal(PARSE("--config=x"), FSL_OK);
	assert_string_equal(values.config, "x");
	assert_int_equal(PARSE("-c", "x"), FSL_OK);
	assert_string_equal(values.config, "x");
	assert_int_equal(PARSE("-cx"), FSL_OK);
	assert_string_equal(values.config, "x");
	assert_int_equal(PARSE("-qncx"), FSL_OK);
	assert_string_equal(values.config, "x");
	assert_true(values.dry);
	assert_int_equal(values.n_quiet, 1);
	assert_int_equal(PARSE("-c", "x", "-c", "y"), FSL_OK);
	assert_string_equal(values.config, "y");
}

static void an_option_of_several_texts_keeps_all_of_them(void **state)
{
	(void)state;
	char operands[100];
	assert_int_equal(PARSE("--rule", "a=b", "x", "--rule=c", "--rule", "a=b"), FSL_OK);
	assert_int_equal(values.rules.n_items, 3);
	assert_string_equal(values.rules.items[0], "a=b");
	assert_string_equal(values.rules.items[1], "c");
	assert_string_equal(values.rules.items[2], "a=b");
	assert_int_equal(PARSE("--rule="), FSL_ERR_USAGE);
}

static void texts_beyond_the_room_are_refused(void **state)
{
	(void)state;
	char text[] = "--rule=a", *argv[FSL_OPT_TEXTS_MAX + 2];
	int n_operands = 0;
	for (int n = FSL_OPT_TEXTS_MAX; n <= FSL_OPT_TEXTS_MAX + 1; n++) {
		values = (struct values){.format = -1};
		for (int i = 0; i <= n; i++) {
			argv[i] = text;
		}
		assert_int_equal(fsl_opt_parse(options, n + 1, argv, &n_operands, NULL),
				 n > FSL_OPT_TEXTS_MAX ? FSL_ERR_USAGE : FSL_OK);
	}
}

static void values_have_their_types(void **state)
{
	(void)state;
	char operands[100];
	assert_int_equal(
		PARSE("-j", "8", "--from=1749971240", "--format", "json", "-qq", "--quiet"),
		FSL_OK);
	assert_true(values.jobs == 8);
	assert_true(values.from_ns == INT64_C(1749971240000000000));
	assert_int_equal(values.format, 1);
	assert_int_equal(values.n_quiet, 3);
	assert_false(values.dry);
}

static void operands_move_to_the_front_in_order(void **state)
{
	(void)state;
	char operands[100];
	assert_int_equal(PARSE("a", "-q", "b", "-c", "x", "-", "--", "-q", "--", "c"), FSL_OK);
	assert_string_equal(operands, "a|b|-|-q|--|c|");
	assert_int_equal(values.n_quiet, 1);
	assert_int_equal(PARSE("--"), FSL_OK);
	assert_string_equal(operands, "");
	assert_int_equal(parse((const char *const[]){NULL}, operands, sizeof(operands), NULL),
			 FSL_OK);
	assert_string_equal(operands, "");
}

/* Expects a usage error with this message. */
static void check_wrong(const char *first, const char *second, const char *wanted)
{
	char operands[100];
	struct fsl_error err = {0};
	const char *words[] = {first, second, NULL};
	assert_int_equal(parse(words, operands, sizeof(operands), &err), FSL_ERR_USAGE);
	assert_string_equal(fsl_error_root(&err), wanted);
}

static void an_unknown_option_comes_with_the_nearest_known(void **state)
{
	(void)state;
	check_wrong("--confg", "x",
		    "unknown option: option=\"--confg\", did_you_mean=\"--config\"");
	check_wrong("--ocnfig=x", NULL,
		    "unknown option: option=\"--ocnfig\", did_you_mean=\"--config\"");
	check_wrong("--jbos", NULL, "unknown option: option=\"--jbos\", did_you_mean=\"--jobs\"");
	check_wrong("--dryrun", NULL,
		    "unknown option: option=\"--dryrun\", did_you_mean=\"--dry-run\"");
	check_wrong("--out", NULL, "unknown option: option=\"--out\", did_you_mean=\"--output\"");
	check_wrong("--frmo", NULL, "unknown option: option=\"--frmo\", did_you_mean=\"--from\"");
	check_wrong("--whatever", NULL,
		    "unknown option: option=\"--whatever\", remedy=\"see --help\"");
	check_wrong("--=x", NULL, "unknown option: option=\"--\", remedy=\"see --help\"");
	check_wrong("-x", NULL, "unknown option: option=\"-x\", remedy=\"see --help\"");
	check_wrong("-qx", NULL, "unknown option: option=\"-x\", remedy=\"see --help\"");
}

static void an_overlong_option_is_cut_in_the_message(void **state)
{
	(void)state;
	char operands[100], word[300] = "--";
	struct fsl_error err = {0};
	memset(word + 2, 'w', sizeof(word) - 3);
	word[sizeof(word) - 1] = '\0';
	const char *words[] = {word, NULL};
	assert_int_equal(parse(words, operands, sizeof(operands), &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "unknown option: option=\"--www"));
}

static void wrong_values_name_what_is_allowed(void **state)
{
	(void)state;
	check_wrong("--jobs", "65", "invalid value for --jobs: 65 (integer from 1 to 64)");
	check_wrong("-jx", NULL, "invalid value for -j: x (integer from 1 to 64)");
	check_wrong("-j", "-1", "invalid value for -j: -1 (integer from 1 to 64)");
	check_wrong("--format=xml", NULL, "invalid value for --format: xml (text, json)");
	check_wrong(
		"--from", "noon",
		"invalid value for --from: noon (ISO 8601 as 2025-06-15T15:07:20, or an epoch in s, "
		"ms, us or ns)");
	check_wrong("--config", NULL, "option needs a value: option=\"--config\", value=\"FILE\"");
	check_wrong("-c", NULL, "option needs a value: option=\"-c\", value=\"FILE\"");
	check_wrong("--format", NULL, "option needs a value: option=\"--format\", value=\"VALUE\"");
	check_wrong("--dry-run=yes", NULL,
		    "option takes no value: option=\"--dry-run\", value=\"yes\"");
}

static void empty_values_and_operands_are_refused(void **state)
{
	(void)state;
	check_wrong("--config", "",
		    "option has an empty value, is a shell variable not set: option=\"--config\", "
		    "wanted=\"FILE\"");
	check_wrong("--config=", NULL,
		    "option has an empty value, is a shell variable not set: option=\"--config\", "
		    "wanted=\"FILE\"");
	check_wrong("-o", "",
		    "option has an empty value, is a shell variable not set: option=\"-o\", "
		    "wanted=\"DIR\"");
	check_wrong("", NULL, "operand is empty, is a shell variable not set: operand=1");
	check_wrong("a", "", "operand is empty, is a shell variable not set: operand=2");
	check_wrong("--", "", "operand is empty, is a shell variable not set: operand=1");
}

static void check_help(int width, const char *wanted)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	fsl_opt_print(out, options, width);
	(void)fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void help_is_aligned_and_wrapped(void **state)
{
	(void)state;
	check_help(
		80,
		"  -c, --config FILE       configuration file\n"
		"  -o, --output DIR        folder of the verdict files, which is made when it is\n"
		"                          missing; without it, the folder that the configuration\n"
		"                          names\n"
		"  -j, --jobs N            threads\n"
		"      --from TIME         begin\n"
		"      --format text|json  what goes to stdout\n"
		"  -n, --dry-run           write nothing\n"
		"  -q, --quiet             less\n"
		"      --a-very-long-name-of-an-option FILE\n"
		"                          help\n"
		"      --rule RULE         a rule\n");
	check_help(
		120,
		"  -c, --config FILE       configuration file\n"
		"  -o, --output DIR        folder of the verdict files, which is made when it is "
		"missing; without it, the folder that the\n"
		"                          configuration names\n"
		"  -j, --jobs N            threads\n"
		"      --from TIME         begin\n"
		"      --format text|json  what goes to stdout\n"
		"  -n, --dry-run           write nothing\n"
		"  -q, --quiet             less\n"
		"      --a-very-long-name-of-an-option FILE\n"
		"                          help\n"
		"      --rule RULE         a rule\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms_of_an_option_mean_the_same),
		cmocka_unit_test(an_option_of_several_texts_keeps_all_of_them),
		cmocka_unit_test(texts_beyond_the_room_are_refused),
		cmocka_unit_test(values_have_their_types),
		cmocka_unit_test(operands_move_to_the_front_in_order),
		cmocka_unit_test(an_unknown_option_comes_with_the_nearest_known),
		cmocka_unit_test(an_overlong_option_is_cut_in_the_message),
		cmocka_unit_test(wrong_values_name_what_is_allowed),
		cmocka_unit_test(empty_values_and_operands_are_refused),
		cmocka_unit_test(help_is_aligned_and_wrapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
