/* `failslow eval`: how often the verdict is right, on simulated jobs whose faults are known. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/language.h"
#include "base/number.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "engine/threads.h"
#include "eval/eval.h"
#include "eval/eval_report.h"
#include "plugin/registry.h"
#include "report/report.h"

enum { FILTERS_MAX = 8, JOBS_MAX = 4096, BAR_WIDTH = 40 };

struct options {
	const char *config_path, *seeds, *baselines, *output, *filter;
	int64_t n_threads, limit;
	bool lists_wrong, checks_gates, wants_help;
	int n_quiet;
	const char *preset; /* operand */
};

static enum fsl_status parse(struct options *o, int argc, char **argv, struct fsl_error *err)
{
	*o = (struct options){.preset = "quick"};
	const struct fsl_opt table[] = {
		{"seeds", 's', FSL_OPT_TEXT, &o->seeds, 0, 0, NULL, "SEEDS",
		 "tune, test or A-B; default: tune for quick, test for full"},
		{"filter", 'f', FSL_OPT_TEXT, &o->filter, 0, 0, NULL, "LIST",
		 "only jobs of KEY=VALUE[,KEY=VALUE...]; values may be A|B"},
		{"limit", 'n', FSL_OPT_INT, &o->limit, 1, INT32_MAX, NULL, "N",
		 "at most N jobs, spread over the matrix"},
		{"baselines", 'b', FSL_OPT_TEXT, &o->baselines, 0, 0, NULL, "LIST",
		 "all, none, quick, or names separated by commas"},
		{"config", 'c', FSL_OPT_TEXT, &o->config_path, 0, 0, NULL, "FILE",
		 "model_config.json; without it the built-in defaults"},
		{"output", 'o', FSL_OPT_TEXT, &o->output, 0, 0, NULL, "DIR",
		 "folder for results.json, jobs.csv and report.md, made when missing"},
		{"jobs", 'j', FSL_OPT_INT, &o->n_threads, 0, JOBS_MAX, NULL, "N",
		 "threads; 0: one per core"},
		{"list-wrong", 'w', FSL_OPT_FLAG, &o->lists_wrong, 0, 0, NULL, NULL,
		 "print every wrong job with the commands that reproduce it"},
		{"gates", 'g', FSL_OPT_FLAG, &o->checks_gates, 0, 0, NULL, NULL,
		 "print what a release must reach; exit with 1 when it is missed"},
		{"quiet", 'q', FSL_OPT_COUNT, &o->n_quiet, 0, 0, NULL, NULL,
		 "no summary and no progress"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	int n_operands = 0;
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (n_operands > 1) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "one preset at most: second=\"%s\"", argv[2]);
	}
	o->preset = n_operands == 1 ? argv[1] : o->preset;
	if (o->wants_help) {
		fsl_command_help(
			"eval", "eval [options] [quick|full|families]",
			"Simulates jobs with known faults, has them judged, and says how often "
			"the verdict is right: quick takes a minute, full about a quarter of an "
			"hour; families is the part of full whose communication overlaps.\n",
			table);
	}
	return FSL_OK;
}

/* "tune", "test" or "A-B" */
static enum fsl_status parse_seeds(struct fsl_eval_selection *selection, const char *seeds,
				   struct fsl_error *err)
{
	bool is_full = strcmp(selection->preset, "full") == 0;
	selection->seed_to = -1;
	selection->seed_from = is_full ? FSL_EVAL_SEED_TEST : FSL_EVAL_SEED_TUNE;
	if (seeds == NULL) {
		return FSL_OK;
	}
	if (strcmp(seeds, "tune") == 0 || strcmp(seeds, "test") == 0) {
		selection->seed_from =
			strcmp(seeds, "test") == 0 ? FSL_EVAL_SEED_TEST : FSL_EVAL_SEED_TUNE;
		return FSL_OK;
	}
	const char *dash = strchr(seeds, '-');
	size_t n_from = dash != NULL ? (size_t)(dash - seeds) : strlen(seeds);
	const char *to = dash != NULL ? dash + 1 : seeds;
	if (!fsl_parse_i64(seeds, n_from, &selection->seed_from) ||
	    !fsl_parse_i64(to, strlen(to), &selection->seed_to) || selection->seed_from < 0 ||
	    selection->seed_to < selection->seed_from) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"seeds are tune, test, or a range A-B with A <= B: seeds=\"%s\"",
				seeds);
	}
	return FSL_OK;
}

/* Cuts "a=1,b=2" at its commas, in place. */
static enum fsl_status cut_filters(const char *filters[FILTERS_MAX], size_t *n_filters, char *text,
				   struct fsl_error *err)
{
	*n_filters = 0;
	for (char *next = text; next != NULL && *next != '\0';) {
		if (*n_filters == FILTERS_MAX) {
			return FSL_FAIL(err, FSL_ERR_USAGE, "too many filters: most=%d",
					FILTERS_MAX);
		}
		filters[(*n_filters)++] = next;
		next = strchr(next, ',');
		if (next != NULL) {
			*next++ = '\0';
		}
	}
	return FSL_OK;
}

/* One line on the terminal that is written over; nothing elsewhere. */
static void show_progress(void *context, size_t n_done, size_t n_tasks, double share_done)
{
	const bool *is_shown = context;
	if (!*is_shown) {
		return;
	}
	int n_filled = (int)(share_done * BAR_WIDTH);
	(void)fprintf(stderr, "\r[%.*s%*s] ", n_filled, "########################################",
		      BAR_WIDTH - n_filled, "");
	(void)fsl_tell_print(stderr, "%zu of %zu jobs", n_done, n_tasks);
	if (n_done == n_tasks) {
		(void)fprintf(stderr, "\n");
	}
}

/* Ctrl-C is held back while jobs run and looked for between them. */
static bool is_not_interrupted(void *context)
{
	sigset_t pending;
	(void)context;
	return sigpending(&pending) != 0 || sigismember(&pending, SIGINT) != 1;
}

static void hold_interrupt(sigset_t *before)
{
	sigset_t interrupt;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, before);
}

/* Forgets a Ctrl-C that was obeyed. */
static void release_interrupt(const sigset_t *before)
{
	sigset_t interrupt;
	const struct timespec at_once = {0};
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	(void)sigtimedwait(&interrupt, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

static enum fsl_status write_file(const char *folder, const char *name, const char *text,
				  struct fsl_error *err)
{
	char *path = fsl_path_join(folder, name);
	if (path == NULL || text == NULL) {
		fsl_free(path);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", name);
	}
	enum fsl_status status = fsl_file_write_atomic(path, text, strlen(text), err);
	fsl_free(path);
	return status;
}

/* A page's text; NULL after a failed allocation. */
static const char *text_of(const struct fsl_page *page)
{
	return page->has_failed ? NULL : page->text;
}

static enum fsl_status write_page(const struct fsl_eval *eval, const char *folder, bool has_gates,
				  struct fsl_error *err)
{
	struct fsl_page page;
	bool passed = true;
	fsl_page_init(&page, true);
	enum fsl_status status = fsl_eval_summary(&page, eval, err);
	if (status == FSL_OK && has_gates) {
		status = fsl_eval_gates(&page, eval, &passed, err);
	}
	FSL_THEN(status, write_file(folder, "report.md", text_of(&page), err));
	fsl_page_fini(&page);
	return status;
}

static enum fsl_status write_jobs(const struct fsl_eval *eval, const char *folder,
				  struct fsl_error *err)
{
	struct fsl_page page;
	fsl_page_init(&page, false);
	fsl_eval_jobs_csv(&page, eval);
	enum fsl_status status = write_file(folder, "jobs.csv", text_of(&page), err);
	fsl_page_fini(&page);
	return status;
}

static enum fsl_status write_results(const struct fsl_eval *eval, const char *folder,
				     struct fsl_error *err)
{
	cJSON *json = fsl_eval_results_json(eval);
	char *text = json != NULL ? fsl_json_text(json, 1) : NULL;
	enum fsl_status status = write_file(folder, "results.json", text, err);
	fsl_free(text);
	cJSON_Delete(json);
	return status;
}

static enum fsl_status write_files(const struct fsl_eval *eval, const struct options *options,
				   struct fsl_error *err)
{
	FSL_TRY(fsl_dir_create(options->output, err));
	FSL_TRY(write_results(eval, options->output, err));
	FSL_TRY(write_jobs(eval, options->output, err));
	return write_page(eval, options->output, true, err);
}

static enum fsl_status print(const struct fsl_eval *eval, const struct options *options,
			     int *exit_code, struct fsl_error *err)
{
	struct fsl_page page;
	bool passed = true;
	enum fsl_status status = FSL_OK;
	fsl_page_init(&page, false);
	page.width = fsl_terminal_width();
	page.is_told = true;
	if (options->n_quiet == 0) {
		status = fsl_eval_summary(&page, eval, err);
	}
	if (status == FSL_OK && options->lists_wrong) {
		fsl_eval_list_wrong(&page, eval);
	}
	if (status == FSL_OK && options->checks_gates) {
		status = fsl_eval_gates(&page, eval, &passed, err);
	}
	if (status == FSL_OK && page.has_failed) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"summary\"");
	}
	if (status == FSL_OK && page.length > 0) {
		fsl_print_told(page.text);
	}
	*exit_code = passed ? FSL_EXIT_DONE : FSL_EXIT_ANOMALY;
	fsl_page_fini(&page);
	return status;
}

static enum fsl_status run(const struct options *options,
			   const struct fsl_eval_selection *selection,
			   const struct fsl_config *config, int *exit_code, struct fsl_error *err)
{
	struct fsl_eval eval = {0};
	bool shows = options->n_quiet == 0 && isatty(STDERR_FILENO);
	struct fsl_eval_progress progress = {show_progress, is_not_interrupted, &shows};
	bool is_full = strcmp(selection->preset, "full") == 0;
	const char *baselines =
		options->baselines != NULL ? options->baselines : (is_full ? "all" : "quick");
	sigset_t before;
	hold_interrupt(&before);
	enum fsl_status status = fsl_eval_init(&eval, selection, baselines, config, err);
	FSL_THEN(status, fsl_eval_run(&eval, config, &progress, err));
	if (status == FSL_OK && options->output != NULL) {
		status = write_files(&eval, options, err);
	}
	FSL_THEN(status, print(&eval, options, exit_code, err));
	fsl_eval_fini(&eval);
	release_interrupt(&before);
	return status;
}

enum fsl_status fsl_cmd_eval(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct options options;
	struct fsl_config config = {0};
	struct fsl_arena arena = {0};
	const char *filters[FILTERS_MAX];
	struct fsl_eval_selection selection = {.filters = filters};
	struct fsl_registry *registry = NULL;
	enum fsl_status status = parse(&options, argc, argv, err);
	if (status != FSL_OK || options.wants_help) {
		return status;
	}
	selection.preset = options.preset;
	selection.limit = (size_t)options.limit;
	status = parse_seeds(&selection, options.seeds, err);
	if (status == FSL_OK && options.filter != NULL) {
		char *text = fsl_arena_strdup(&arena, options.filter);
		status = text != NULL ? cut_filters(filters, &selection.n_filters, text, err)
				      : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory");
	}
	registry = fsl_registry_create();
	if (status == FSL_OK && registry == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors");
	}
	FSL_THEN(status, fsl_config_load(&config, options.config_path, registry, err));
	if (status == FSL_OK) {
		/* They start when Ctrl-C is held back. */
		(void)fsl_threads_allow((int)options.n_threads);
		status = run(&options, &selection, &config, exit_code, err);
	}
	fsl_config_fini(&config);
	fsl_registry_destroy(registry);
	fsl_arena_fini(&arena);
	return status;
}
