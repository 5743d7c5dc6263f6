/* `failslow check`: what the last run found, in one line; nothing is analysed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/results.h"
#include "text/json_tree.h"

enum {
	LINE_CHARS_MAX = 80, /* node-problem-detector cuts there */
	INTERVALS_MAX = 3,   /* older results say nothing about now */
	CRITICAL_PERCENT = 20,
};

enum answer { ANSWER_OK, ANSWER_WARNING, ANSWER_CRITICAL, ANSWER_UNKNOWN, ANSWERS_N };
static const char *const answer_texts[ANSWERS_N] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
/* Exit codes: of --nagios these are the answers themselves. */
static const int exit_codes[ANSWERS_N] = {0, 1, 1, 2};

struct options {
	const char *config_path, *output, *job, *host;
	int64_t now_ns;
	bool is_nagios, wants_help;
};

static enum fsl_status parse(struct options *o, int argc, char **argv, struct fsl_error *err)
{
	*o = (struct options){.now_ns = FSL_NS_ABSENT};
	const struct fsl_opt table[] = {
		{"config", 'c', FSL_OPT_TEXT, &o->config_path, 0, 0, NULL, "FILE",
		 "model_config.json whose runs are asked; without it the installed one"},
		{"output", 'o', FSL_OPT_TEXT, &o->output, 0, 0, NULL, "DIR",
		 "the runs whose results went there"},
		{"job", 0, FSL_OPT_TEXT, &o->job, 0, 0, NULL, "NAME", "only this job"},
		{"host", 0, FSL_OPT_TEXT, &o->host, 0, 0, NULL, "HOST",
		 "only what is wrong with this host"},
		{"nagios", 0, FSL_OPT_FLAG, &o->is_nagios, 0, 0, NULL, NULL,
		 "exit codes of its plug-ins: 0 OK, 1 warning, 2 critical, 3 unknown"},
		{"now", 0, FSL_OPT_TIME, &o->now_ns, 0, 0, NULL, "TIME",
		 "take TIME as the present"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	int n_operands = 0;
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	FSL_TRY(fsl_check_operands(n_operands, 0, 0, "no operand, but options", err));
	if (o->now_ns == FSL_NS_ABSENT) {
		o->now_ns = fsl_now_ns();
	}
	if (o->wants_help) {
		fsl_command_help(
			"check", "check [OPTION]...",
			"Tells in one line of at most 80 characters what the last runs found, "
			"from the cases that they kept; nothing is analysed.\n\nExit codes: 0 "
			"nothing is wrong, 1 something is, 2 unknown: no result, an old one, or "
			"one that could not tell.\n",
			table);
	}
	return FSL_OK;
}

/* The worst that was found so far. */
struct found {
	enum answer answer;
	char job[80], text[512];
	size_t n_jobs;
};

/* A problem is worse than not knowing, and that is worse than none. */
static int rank_of(enum answer answer)
{
	static const int ranks[ANSWERS_N] = {0, 2, 3, 1};
	return ranks[answer];
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(object, key));
	return text != NULL ? text : "";
}

static bool names_host(const cJSON *root, const char *host)
{
	const cJSON *culprit = NULL;
	cJSON_ArrayForEach(culprit, cJSON_GetObjectItem(root, "culprits"))
	{
		if (strcmp(text_of(culprit, "host"), host) == 0) {
			return true;
		}
	}
	return false;
}

static int64_t age_ns(const cJSON *job, int64_t now_ns)
{
	int64_t then_ns = 0;
	return fsl_parse_time(text_of(job, "now"), &then_ns) ? now_ns - then_ns : INT64_MAX;
}

static enum answer answer_of(const cJSON *root, const struct options *o)
{
	const char *state = text_of(root, "state");
	const cJSON *share = cJSON_GetObjectItem(root, "lostShare");
	double percent = cJSON_IsNumber(share) ? 100.0 * share->valuedouble : 0.0;
	if (strcmp(state, "unknown") == 0) {
		return ANSWER_UNKNOWN;
	}
	if (strcmp(state, "active") != 0 || (o->host != NULL && !names_host(root, o->host))) {
		return ANSWER_OK;
	}
	bool is_critical =
		strcmp(text_of(root, "verdict"), "hang") == 0 || percent >= CRITICAL_PERCENT;
	return is_critical ? ANSWER_CRITICAL : ANSWER_WARNING;
}

/* Minutes from one run to the next: as the run of the case was told, else by the configuration. */
static double interval_of(const cJSON *job, double configured_mins)
{
	const cJSON *every = cJSON_GetObjectItem(job, "everyMins");
	return cJSON_IsNumber(every) && every->valuedouble > 0.0 ? every->valuedouble
								 : configured_mins;
}

/* Adds what one case says. */
static void add_case(struct found *found, const cJSON *root, const struct options *o,
		     double interval_mins)
{
	const cJSON *job = cJSON_GetObjectItem(root, "job");
	const char *name = text_of(job, "name"), *text = text_of(root, "headline");
	char old[128];
	if (o->job != NULL && strcmp(o->job, name) != 0) {
		return;
	}
	enum answer answer = answer_of(root, o);
	int64_t age = age_ns(job, o->now_ns);
	double age_mins = (double)age / (60.0 * FSL_NS_PER_S);
	if (age_mins > INTERVALS_MAX * interval_of(job, interval_mins) &&
	    strcmp(text_of(job, "phase"), "ended") != 0) {
		answer = ANSWER_UNKNOWN;
		(void)snprintf(old, sizeof(old), "the last look was %.0f min ago", age_mins);
		text = old;
	} else if (answer == ANSWER_OK && o->host != NULL) {
		(void)snprintf(old, sizeof(old), "nothing is wrong with host %.60s", o->host);
		text = old;
	}
	if (found->n_jobs++ == 0 || rank_of(answer) > rank_of(found->answer)) {
		found->answer = answer;
		(void)snprintf(found->job, sizeof(found->job), "%s", name);
		(void)snprintf(found->text, sizeof(found->text), "%s", text);
	}
}

/* A file that is no case of ours says nothing; a lack of memory must not look like that. */
static enum fsl_status read_case(struct found *found, const char *path, const struct options *o,
				 double interval_mins, struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	bool is_short = false;
	struct fsl_error why = {0};
	enum fsl_status status = fsl_file_read_text(path, &text, &length, &why);
	if (status == FSL_OK) {
		cJSON *root = fsl_json_tree(text, length, NULL, &is_short);
		if (strcmp(text_of(root, "schema"), "failslow.case/2") == 0) {
			add_case(found, root, o, interval_mins);
		}
		cJSON_Delete(root);
	}
	fsl_free(text);
	if (status == FSL_ERR_MEMORY) {
		*err = why;
		return status;
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", path)
			: FSL_OK;
}

static bool is_case_name(const char *name)
{
	static const char begin[] = "failslow_", end[] = ".json";
	size_t n = strlen(name);
	return n > strlen(begin) + strlen(end) && strncmp(name, begin, strlen(begin)) == 0 &&
	       strcmp(name + n - strlen(end), end) == 0;
}

static enum fsl_status read_cases(struct found *found, const char *folder, const struct options *o,
				  double interval_mins, struct fsl_error *err)
{
	char **names = NULL;
	size_t n_names = 0;
	struct fsl_error why = {0};
	enum fsl_status status = fsl_dir_list(folder, &names, &n_names, &why);
	if (status == FSL_ERR_MEMORY) {
		*err = why;
		return status;
	}
	if (status != FSL_OK) {
		return FSL_OK; /* no run was there yet */
	}
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		if (!is_case_name(names[i])) {
			continue;
		}
		char *path = fsl_path_join(folder, names[i]);
		status = path != NULL ? read_case(found, path, o, interval_mins, err)
				      : FSL_FAIL(err, FSL_ERR_MEMORY,
						 "out of memory: folder=\"%s\"", folder);
		fsl_free(path);
	}
	fsl_free(names);
	return status;
}

static void print(const struct found *found, const struct options *o)
{
	char line[1024];
	const char *what = found->n_jobs > 0 ? found->text
			   : o->job != NULL  ? "no result of this job"
					     : "no result of any run";
	const char *job = found->n_jobs > 0 ? found->job : o->job;
	(void)snprintf(line, sizeof(line), "%s: %s%s%s", answer_texts[found->answer],
		       job != NULL ? job : "", job != NULL ? ": " : "", what);
	size_t length = strlen(line);
	if (length > LINE_CHARS_MAX) {
		length = LINE_CHARS_MAX - strlen("...");
		while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80) {
			length--; /* a character stays whole */
		}
		(void)snprintf(line + length, sizeof(line) - length, "...");
	}
	printf("%s\n", line);
}

enum fsl_status fsl_cmd_check(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct options options;
	struct fsl_results results;
	struct found found = {.answer = ANSWER_UNKNOWN};
	*exit_code = FSL_EXIT_DONE;
	FSL_TRY(parse(&options, argc, argv, err));
	if (options.wants_help) {
		return FSL_OK;
	}
	FSL_TRY(fsl_results_find(&results, options.config_path, options.output, err));
	enum fsl_status status = read_cases(&found, results.folder, &options,
					    results.config.fail_slow_span_mins, err);
	if (status == FSL_OK) {
		print(&found, &options);
		*exit_code = options.is_nagios ? (int)found.answer : exit_codes[found.answer];
	}
	fsl_results_fini(&results);
	return status;
}
