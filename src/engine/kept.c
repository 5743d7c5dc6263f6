/* Keeps the chapters of a long capture beside the state file, and goes on from there. */
#include "engine/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/build_id.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "engine/chapters.h"
#include "engine/kept_parts.h"
#include "state/state.h"
#include "team/team.h"

/* With its end, so that two texts are not one longer text. */
static void add_text(uint64_t *digest, const char *text)
{
	text = text != NULL ? text : "";
	*digest = fsl_hash_bytes(*digest, text, strlen(text) + 1);
}

/* A file that the configuration names is another one when its size or time is. */
static void add_file(uint64_t *digest, const char *path)
{
	struct stat facts;
	char text[96] = "absent";
	if (path != NULL && stat(path, &facts) == 0) {
		(void)snprintf(text, sizeof(text), "%lld %lld.%09ld", (long long)facts.st_size,
			       (long long)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec);
	}
	add_text(digest, text);
}

/* Keys that change no verdict. */
static bool is_silent_key(const char *key)
{
	static const char *const keys[] = {"root_path", /* it is what the kept is found by */
					   "fail_slow_perception_path",
					   "slow_node_detection_path",
					   "state_path",
					   "jobs",
					   "look_back"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i]) == 0) {
			return true;
		}
	}
	return false;
}

enum { RULES_BYTES = 64 };

/* What a verdict depends on beside the data: the program and its configuration. Packages are mended
 * without another version. */
static void rules_of(char rules[RULES_BYTES], const struct fsl_config *config)
{
	size_t n_build = 0;
	const void *build = fsl_build_id(&n_build);
	uint64_t digest = fsl_hash_bytes(FSL_HASH_START, build, n_build);
	for (size_t i = 0; i < config->n_values; i++) {
		const struct fsl_config_value *value = &config->values[i];
		size_t n_key = strlen(value->key);
		if (is_silent_key(value->key)) {
			continue;
		}
		add_text(&digest, value->key);
		add_text(&digest, value->value);
		if (n_key > 7 && strcmp(value->key + n_key - 7, ".plugin") == 0) {
			char path[4096]; /* JSON text: in quotes */
			(void)snprintf(path, sizeof(path), "%.*s",
				       (int)strcspn(value->value + 1, "\""), value->value + 1);
			add_file(&digest, path);
		}
	}
	add_text(&digest, config->training_log);
	add_file(&digest, config->rank_table_json);
	(void)snprintf(rules, RULES_BYTES, FSL_VERSION " %016" PRIx64, digest);
}

/* The folder by its one true name; free with free(). */
static char *root_of(const struct fsl_config *config)
{
	return realpath(config->root_path, NULL);
}

static void open_tails(struct fsl_kept *kept, const struct fsl_config *config, const char *root)
{
	char *path = fsl_state_beside(config->state_path, FSL_BESIDE_TAILS, root);
	if (path != NULL) {
		fsl_tails_open(&kept->before, path);
	}
	fsl_free(path);
}

static enum fsl_status read_kept(struct fsl_kept *kept, const struct fsl_config *config,
				 struct fsl_error *err)
{
	char rules[RULES_BYTES];
	void *bytes = NULL;
	size_t n_bytes = 0;
	char *root = root_of(config);
	enum fsl_status status = FSL_OK;
	if (root == NULL) {
		return FSL_OK; /* nothing was kept */
	}
	rules_of(rules, config);
	status = fsl_state_get_kept(config->state_path, root, rules, &bytes, &n_bytes, err);
	if (status == FSL_OK && bytes != NULL) {
		status = fsl_kept_unpack(kept, bytes, n_bytes, err);
		if (status == FSL_OK) {
			open_tails(kept, config, root);
		}
	}
	fsl_free(bytes);
	free(root);
	return status;
}

/* Chapters that end at or before the boundary. */
static size_t count_closed(const struct fsl_chapters *chapters, int64_t boundary_ns)
{
	size_t n = 0;
	while (n < chapters->n_items && chapters->items[n].time.end_ns <= boundary_ns) {
		n++;
	}
	return n;
}

/* Forgets what was read before; the run may still keep what it finds. */
static void forget(struct fsl_kept *kept)
{
	fsl_chapters_fini(&kept->chapters);
	fsl_marks_fini(&kept->before);
	kept->resume_ns = FSL_NS_ABSENT;
}

/* Where reading can go on: at the end of a kept chapter. */
static int64_t find_resume_ns(const struct fsl_kept *kept, const struct fsl_ingest_options *options)
{
	struct fsl_error err = {0};
	int64_t resume_ns = FSL_NS_ABSENT;
	size_t n = kept->chapters.n_items;
	if (n == 0 || fsl_marks_resume_ns(&kept->before, options, kept->chapters.rule.slack_ns,
					  kept->chapters.items[n - 1].time.end_ns, &resume_ns,
					  &err) != FSL_OK) {
		return FSL_NS_ABSENT;
	}
	return count_closed(&kept->chapters, resume_ns) > 0 ? resume_ns : FSL_NS_ABSENT;
}

/* Chapters that will be judged again. */
static void drop_open(struct fsl_chapters *chapters, size_t n_kept)
{
	while (chapters->n_items > n_kept) {
		fsl_chapter_fini(&chapters->items[--chapters->n_items]);
	}
}

/* Marks for chapters of one rule, or @n_parts > 0, for rules up to it. */
static void ask_for_marks(struct fsl_ingest_options *options, const struct fsl_chapter_rule *rule,
			  int64_t n_parts)
{
	options->mark_period_ns = rule->length_ns;
	options->mark_lead_ns = rule->lead_ns + rule->slack_ns;
	options->mark_parts = n_parts > 1 ? n_parts : 0;
}

/* Where marks are not, the next run finds those that it needs: the rule is known by now. */
static void find_chapters(struct fsl_kept *kept, const struct fsl_config *config,
			  struct fsl_ingest_options *options)
{
	struct fsl_error err = {0};
	if (read_kept(kept, config, &err) != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "kept",
			"what the last run kept is not used, all is read: cause=\"%s\"",
			fsl_error_root(&err));
		forget(kept);
		return;
	}
	if (kept->chapters.n_items > 0) {
		ask_for_marks(options, &kept->chapters.rule, 0);
	}
	kept->resume_ns = find_resume_ns(kept, options);
	drop_open(&kept->chapters, count_closed(&kept->chapters, kept->resume_ns));
	const struct fsl_judged_chapter *wrong =
		fsl_chapters_newest_wrong(&kept->chapters, kept->chapters.n_items);
	if (wrong != NULL && wrong->is_brief) { /* it may have to be told in full */
		kept->resume_ns = FSL_NS_ABSENT;
	}
}

void fsl_kept_load(struct fsl_kept *kept, const struct fsl_config *config,
		   struct fsl_ingest_options *options)
{
	*kept = (struct fsl_kept){.longest = fsl_job_chapter_rule(config),
				  .n_parts = config->chapter_parts,
				  .resume_ns = FSL_NS_ABSENT};
	kept->is_wanted = config->chapter_keep && kept->longest.length_ns > 0 &&
			  options->from_ns == INT64_MIN && options->to_ns == INT64_MAX &&
			  fsl_team_size() == 1;
	if (!kept->is_wanted) {
		return;
	}
	ask_for_marks(options, &kept->longest, kept->n_parts);
	options->marks = &kept->now;
	find_chapters(kept, config, options);
	if (kept->resume_ns == FSL_NS_ABSENT) {
		forget(kept);
		return;
	}
	options->resume = &kept->before;
	options->resume_ns = kept->resume_ns;
	fsl_log(FSL_LOG_INFO, "kept", "going on from the last run: chapters=%zu",
		kept->chapters.n_items);
}

static int compare_rank(const void *key, const void *item)
{
	return FSL_ORDER(*(const int32_t *)key, ((const struct fsl_kept_rank *)item)->rank);
}

/* What began before @limit_ns and ended when the earlier run had read its last, but for @slack_ns.
 * That run knew of an operator that has run since where the host launched it, which may be long
 * before: with several streams others that were launched behind it ran. */
static bool is_rank_late(const struct fsl_rank *rank, const struct fsl_kept_rank *before,
			 int64_t limit_ns, int64_t slack_ns)
{
	int64_t last_op_ns = before->last_op_ns - slack_ns;
	int64_t last_stage_ns = before->last_stage_ns - slack_ns;
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		bool is_launched = op->host_end_ns != FSL_NS_ABSENT && op->host_end_ns < limit_ns;
		if ((is_launched || fsl_op_begin_ns(op) < limit_ns) &&
		    fsl_op_end_ns(op) > last_op_ns) {
			return true;
		}
	}
	for (size_t i = 0; i < rank->n_stages && rank->stages[i].begin_ns < limit_ns; i++) {
		if (rank->stages[i].end_ns > last_stage_ns) {
			return true;
		}
	}
	return false;
}

static bool is_late(const struct fsl_kept *kept, const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		const struct fsl_kept_rank *before =
			bsearch(&rank->rank, kept->ranks, kept->n_ranks, sizeof(*kept->ranks),
				compare_rank);
		if (before == NULL ||
		    is_rank_late(rank, before, kept->resume_ns, kept->chapters.rule.slack_ns)) {
			return true;
		}
	}
	return false;
}

/* True when a run that reads all would find operators enough for shorter chapters, and the one that
 * made those kept did not. */
static bool has_ops_enough_now(const struct fsl_kept *kept, const struct fsl_config *config,
			       const struct fsl_run *run)
{
	const struct fsl_chapters *chapters = &kept->chapters;
	if (chapters->has_ops_enough || chapters->n_items == 0) {
		return false;
	}
	size_t n_ops = fsl_run_count_ops(run, chapters->items[chapters->n_items - 1].time.end_ns);
	for (size_t k = 0; k < chapters->n_items; k++) {
		n_ops += chapters->items[k].n_ops;
	}
	return n_ops >= (size_t)config->chapter_operators_min;
}

/* True when a run that reads all would want chapters of another length, or have them of one that
 * those kept cannot have. */
static bool is_outgrown(const struct fsl_kept *kept, const struct fsl_config *config,
			const struct fsl_run *run)
{
	struct fsl_span span;
	int64_t length_ns = kept->chapters.rule.length_ns;
	if (fsl_run_span(&span, run, &kept->longest, NULL) != FSL_OK) {
		return true;
	}
	span.begin_ns = kept->chapters.span.begin_ns;
	int64_t wanted_ns[FSL_CHAPTER_LEVELS_N];
	bool is_possible = length_ns == kept->longest.length_ns, is_same = true;
	fsl_job_wanted_lengths(wanted_ns, config, &span);
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
		is_possible |= length_ns == wanted_ns[level];
		is_same &= wanted_ns[level] == kept->chapters.wanted_ns[level];
	}
	return !is_same || !is_possible || has_ops_enough_now(kept, config, run);
}

bool fsl_kept_is_outdated(const struct fsl_kept *kept, const struct fsl_config *config,
			  const struct fsl_run *run)
{
	if (kept->resume_ns == FSL_NS_ABSENT) {
		return false;
	}
	const char *why = is_late(kept, run) ? "events of kept chapters came late" : NULL;
	if (why == NULL && is_outgrown(kept, config, run)) {
		why = "the capture has outgrown its chapters";
	}
	if (why != NULL) {
		fsl_log(FSL_LOG_INFO, "kept", "%s, all is read", why);
	}
	return why != NULL;
}

void fsl_kept_forget(struct fsl_kept *kept, struct fsl_ingest_options *options)
{
	forget(kept);
	fsl_marks_fini(&kept->now);
	ask_for_marks(options, &kept->longest, kept->n_parts);
	options->resume = NULL;
	options->resume_ns = FSL_NS_ABSENT;
}

void fsl_kept_give(struct fsl_kept *kept, struct fsl_job *job)
{
	job->chapters = kept->chapters;
	kept->chapters = (struct fsl_chapters){0};
}

static void note_end(int64_t *last_ns, int64_t end_ns)
{
	*last_ns = end_ns > *last_ns ? end_ns : *last_ns;
}

/* A host may be far ahead of its device, and markers of timelines: rows of one kind do not tell
 * until when the others are there. */
static void note_file(struct fsl_kept *kept, const struct fsl_file *file)
{
	struct fsl_kept_rank *rank = bsearch(&file->rank, kept->ranks, kept->n_ranks,
					     sizeof(*kept->ranks), compare_rank);
	const struct fsl_file_marks *marks = fsl_marks_of(&kept->now, file->path);
	if (rank == NULL || marks == NULL || file->state == FSL_FILE_DUPLICATE) {
		return;
	}
	if (marks->kind == FSL_INPUT_TIMELINE) {
		note_end(&rank->last_stage_ns, marks->last.any_ns);
	} else if (marks->kind == FSL_INPUT_MARKERS) {
		bool has_device = marks->last.device_ns != FSL_NS_ABSENT;
		note_end(&rank->last_op_ns,
			 has_device ? marks->last.device_ns : marks->last.any_ns);
	}
}

static enum fsl_status note_ranks(struct fsl_kept *kept, const struct fsl_run *run,
				  struct fsl_error *err)
{
	kept->n_ranks = 0;
	kept->ranks = fsl_arena_alloc(&kept->arena, run->n_ranks * sizeof(*kept->ranks));
	if (kept->ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", run->n_ranks);
	}
	kept->n_ranks = run->n_ranks;
	for (size_t r = 0; r < run->n_ranks; r++) {
		kept->ranks[r] =
			(struct fsl_kept_rank){run->ranks[r].rank, FSL_NS_ABSENT, FSL_NS_ABSENT};
	}
	for (size_t i = 0; i < run->n_files; i++) {
		note_file(kept, &run->files[i]);
	}
	return FSL_OK;
}

/* The next run goes on where the newest chapter begins, if it can. */
static void write_tails(struct fsl_kept *kept, const struct fsl_job *job,
			const struct fsl_config *config, const char *root)
{
	struct fsl_error err = {0};
	const struct fsl_chapters *chapters = &job->chapters;
	int64_t boundary_ns = chapters->items[chapters->n_items - 1].time.begin_ns;
	char *path = fsl_state_beside(config->state_path, FSL_BESIDE_TAILS, root);
	bool is_anew = false;
	if (path != NULL && fsl_tails_write(&kept->now, &kept->before, path, boundary_ns, &is_anew,
					    &err) != FSL_OK) {
		fsl_log(FSL_LOG_INFO, "kept",
			"the next run reads the newest rows again: cause=\"%s\"",
			fsl_error_root(&err));
	}
	if (is_anew) {
		fsl_state_sweep_beside(config->state_path);
	}
	fsl_free(path);
}

static enum fsl_status write_kept(struct fsl_kept *kept, const struct fsl_job *job,
				  const struct fsl_config *config, struct fsl_error *err)
{
	char rules[RULES_BYTES];
	struct fsl_pack pack = {0};
	char *root = root_of(config);
	if (root == NULL) {
		return FSL_FAIL(err, FSL_ERR_IO, "folder is gone: path=\"%s\"", config->root_path);
	}
	const struct fsl_chapter_rule *rule = &job->chapters.rule;
	rules_of(rules, config);
	fsl_marks_settle(&kept->now, rule->length_ns, rule->lead_ns + rule->slack_ns);
	enum fsl_status status = fsl_state_prepare_folder(config->state_path, err);
	if (status == FSL_OK) {
		write_tails(kept, job, config, root);
		status = fsl_kept_pack(kept, &job->chapters, &pack, err);
	}
	if (status == FSL_OK) {
		status = fsl_state_put_kept(config->state_path, root, rules, pack.bytes,
					    pack.n_bytes, err);
	}
	fsl_pack_fini(&pack);
	free(root);
	return status;
}

void fsl_kept_save(struct fsl_kept *kept, const struct fsl_job *job,
		   const struct fsl_config *config)
{
	struct fsl_error err = {0};
	if (!kept->is_wanted || job->chapters.n_items < 2) {
		return;
	}
	enum fsl_status status = note_ranks(kept, &job->run, &err);
	if (status == FSL_OK) {
		status = write_kept(kept, job, config, &err);
	}
	if (status != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "kept",
			"nothing is kept for the next run, which reads all again: cause=\"%s\"",
			fsl_error_root(&err));
	}
}

void fsl_kept_fini(struct fsl_kept *kept)
{
	fsl_chapters_fini(&kept->chapters);
	fsl_marks_fini(&kept->before);
	fsl_marks_fini(&kept->now);
	fsl_arena_fini(&kept->arena);
	*kept = (struct fsl_kept){0};
}
