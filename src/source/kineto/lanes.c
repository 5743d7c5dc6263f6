/* Rules for lanes, with PCRE2. */
#include "source/kineto/lanes.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/try.h"
#include "source/kineto/names.h"

enum {
	REGEX_BYTES_MAX = 512, /* of a rule */
	MATCH_LIMIT = 10000,   /* steps of a match; names of lanes are short */
};

static const struct {
	const char *name;
	enum fsl_kineto_category category;
} kinds[] = {
	{"python", FSL_KINETO_PYTHON},   {"cpu", FSL_KINETO_CPU},
	{"syscall", FSL_KINETO_SYSCALL}, {"cudalib", FSL_KINETO_RUNTIME},
	{"kernel", FSL_KINETO_KERNEL},
};

const char fsl_lane_help[] =
	"lanes of other Chrome traces: what a category, thread or process is whose name fits REGEX: "
	"python, cpu, syscall, cudalib or kernel; may be repeated";

struct fsl_lanes {
	struct {
		pcre2_code *code;
		enum fsl_kineto_category category;
	} rules[FSL_OPT_TEXTS_MAX];
	size_t n_rules;
	pcre2_match_context *context;
};

static enum fsl_status compile(struct fsl_lanes *lanes, const char *rule, struct fsl_error *err)
{
	const char *equals = strrchr(rule, '=');
	size_t length = equals != NULL ? (size_t)(equals - rule) : 0;
	enum fsl_kineto_category category = FSL_KINETO_NONE;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && equals != NULL; i++) {
		category = strcmp(kinds[i].name, equals + 1) == 0 ? kinds[i].category : category;
	}
	if (category == FSL_KINETO_NONE || length == 0 || length > REGEX_BYTES_MAX) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no rule of the form REGEX=KIND: option=\"--lane\", value=\"%s\", "
				"allowed=\"python, cpu, syscall, cudalib, kernel\"",
				rule);
	}
	int code = 0;
	PCRE2_SIZE at = 0;
	pcre2_code *compiled =
		pcre2_compile((PCRE2_SPTR)rule, length, PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
	if (compiled == NULL) {
		PCRE2_UCHAR text[128] = "";
		(void)pcre2_get_error_message(code, text, sizeof(text));
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no regular expression: option=\"--lane\", value=\"%s\", "
				"reason=\"%s\", at=%zu",
				rule, (const char *)text, (size_t)at);
	}
	lanes->rules[lanes->n_rules].code = compiled;
	lanes->rules[lanes->n_rules++].category = category;
	return FSL_OK;
}

enum fsl_status fsl_lanes_create(struct fsl_lanes **out, const char *const *rules, size_t n_rules,
				 struct fsl_error *err)
{
	struct fsl_lanes *lanes = NULL;
	*out = NULL;
	if (n_rules == 0) {
		return FSL_OK;
	}
	FSL_REQUIRE(n_rules <= FSL_OPT_TEXTS_MAX);
	FSL_TRY(FSL_NEW(lanes, 1, "lanes", err));
	lanes->context = pcre2_match_context_create(NULL);
	enum fsl_status status = FSL_MADE(lanes->context, n_rules, "lanes", err);
	if (status == FSL_OK) {
		(void)pcre2_set_match_limit(lanes->context, MATCH_LIMIT);
	}
	for (size_t i = 0; i < n_rules; i++) {
		FSL_THEN(status, compile(lanes, rules[i], err));
	}
	if (status != FSL_OK) {
		fsl_lanes_destroy(lanes);
		return status;
	}
	*out = lanes;
	return FSL_OK;
}

void fsl_lanes_destroy(struct fsl_lanes *lanes)
{
	if (lanes == NULL) {
		return;
	}
	for (size_t i = 0; i < lanes->n_rules; i++) {
		pcre2_code_free(lanes->rules[i].code);
	}
	pcre2_match_context_free(lanes->context);
	fsl_free(lanes);
}

int fsl_lanes_category(const struct fsl_lanes *lanes, const char *text, size_t length)
{
	/* Per call: the lanes are shared by threads. Answers are kept by text, so it is rare. */
	pcre2_match_data *match = pcre2_match_data_create(1, NULL);
	int category = FSL_KINETO_NONE;
	for (size_t i = 0; i < lanes->n_rules && match != NULL && length > 0; i++) {
		if (pcre2_match(lanes->rules[i].code, (PCRE2_SPTR)text, length, 0, 0, match,
				lanes->context) >= 0) {
			category = (int)lanes->rules[i].category;
			break;
		}
	}
	pcre2_match_data_free(match);
	return category;
}
