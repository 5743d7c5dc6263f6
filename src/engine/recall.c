/* Chapters of long captures that an earlier run judged. */
#include "engine/recall.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "engine/chapters.h"
#include "model/verdict_pack.h"
#include "state/cache.h"

enum {
	HEAD_MAGIC = 0x31485346,    /* "FSH1"; another number when the bytes change */
	SUMMARY_MAGIC = 0x31435346, /* "FSC1"; likewise */
	PRINT_BYTES = 4096,         /* looked at again at the head and the end of a file */
	PATH_BYTES_MAX = 1 << 13,
	FILE_BYTES_MIN = 60, /* of the head */
};

/* With its end, so that two texts are not one longer text. */
static void add_text(uint64_t *digest, const char *text)
{
	text = text != NULL ? text : "";
	*digest = fsl_hash_bytes(*digest, text, strlen(text) + 1);
}

/* A file that the configuration names counts as changed if its size or time changed. */
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
	static const char *const keys[] = {"root_path", /* the cache is keyed by it */
					   "fail_slow_perception_path",
					   "slow_node_detection_path",
					   "state_path",
					   "confine",
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

/* Digest of all that a verdict depends on beside the data: the program and its configuration. It
 * includes the build, as a package may be fixed without a new version. */
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
	if (config->seen_ranks.n > 0) {
		char text[32]; /* ranks that are missed, as an earlier run saw them */
		(void)snprintf(text, sizeof(text), "%zu", config->seen_ranks.n);
		add_text(&digest, text);
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

static void pack_chapter(struct fsl_pack *pack, const struct fsl_judged_chapter *chapter)
{
	fsl_pack_u32(pack, SUMMARY_MAGIC);
	fsl_pack_u64(pack, chapter->n_steps);
	fsl_pack_u64(pack, chapter->n_ops);
	fsl_pack_u64(pack, chapter->n_before);
	fsl_pack_u8(pack, chapter->is_ordinal);
	fsl_pack_u8(pack, chapter->is_brief);
	fsl_progress_pack(&chapter->progress, pack);
	fsl_singles_pack(&chapter->singles, pack);
	fsl_pack_bytes(pack, chapter->packed.bytes, chapter->packed.n_bytes);
}

/* Hashes up to PRINT_BYTES in front of @end; false if they cannot be read. */
static bool print_of(int file, uint64_t end, uint64_t *print)
{
	char bytes[PRINT_BYTES] = {0};
	size_t n = end < PRINT_BYTES ? (size_t)end : PRINT_BYTES, n_read = 0;
	while (n_read < n) {
		ssize_t got = pread(file, bytes + n_read, n - n_read, (off_t)(end - n + n_read));
		if (got == 0 || (got < 0 && errno != EINTR)) {
			return false;
		}
		n_read += got > 0 ? (size_t)got : 0;
	}
	*print = fsl_hash_bytes(FSL_HASH_START, bytes, n);
	return true;
}

/* Hashes the head and the end of a file that had @n_bytes, to be compared by a later run; 0 if it
 * cannot be read. */
static void take_prints(const char *path, uint64_t n_bytes, uint64_t *head, uint64_t *end)
{
	int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	*head = *end = 0;
	if (file >= 0) {
		(void)print_of(file, n_bytes < PRINT_BYTES ? n_bytes : PRINT_BYTES, head);
		(void)print_of(file, n_bytes, end);
		(void)close(file);
	}
}

static void pack_note(struct fsl_pack *pack, const struct fsl_note *note)
{
	fsl_pack_u64(pack, (uint64_t)note->boundary_ns);
	fsl_pack_u64(pack, note->place.offset);
	fsl_pack_u64(pack, note->place.line);
	fsl_pack_u8(pack, note->place.json_state);
	fsl_pack_u64(pack, note->n_records);
	for (size_t d = 0; d < FSL_DROPS_N; d++) {
		fsl_pack_u64(pack, note->n_dropped[d]);
	}
	fsl_pack_text(pack, note->message);
}

static void pack_file(struct fsl_pack *pack, const struct fsl_file_past *past)
{
	uint64_t head = 0, end = 0;
	take_prints(past->path, past->n_bytes, &head, &end);
	fsl_pack_text(pack, past->path);
	fsl_pack_u64(pack, past->device);
	fsl_pack_u64(pack, past->inode);
	fsl_pack_u64(pack, past->n_bytes);
	fsl_pack_u64(pack, head);
	fsl_pack_u64(pack, end);
	fsl_pack_u64(pack, (uint64_t)past->last_event_ns);
	fsl_pack_u8(pack, (uint8_t)past->n_notes);
	for (size_t k = 0; k < past->n_notes; k++) {
		pack_note(pack, &past->notes[k]);
	}
}

static void pack_head(struct fsl_pack *pack, const struct fsl_job *job)
{
	const struct fsl_chapters *chapters = &job->chapters;
	const struct fsl_file_past *pasts = fsl_stream_files(job->feed->stream);
	fsl_pack_u32(pack, HEAD_MAGIC);
	fsl_pack_u64(pack, (uint64_t)chapters->rule.length_ns);
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
		fsl_pack_u64(pack, (uint64_t)chapters->wanted_ns[level]);
	}
	fsl_pack_u8(pack, chapters->has_ops_enough);
	fsl_pack_u32(pack, (uint32_t)chapters->step_hint.rank);
	fsl_pack_u64(pack, chapters->step_hint.n_ops);
	fsl_pack_u64(pack, (uint64_t)chapters->span.begin_ns);
	fsl_pack_u64(pack, (uint64_t)chapters->begin_ns);
	fsl_pack_u64(pack, job->feed->inputs.n_items);
	for (size_t i = 0; i < job->feed->inputs.n_items; i++) {
		pack_file(pack, &pasts[i]);
	}
}

static enum fsl_status unpack_chapter(struct fsl_judged_chapter *out, struct fsl_arena *arena,
				      struct fsl_unpack *unpack, struct fsl_error *err)
{
	size_t n_bytes = 0;
	bool is_ours = fsl_unpack_u32(unpack) == SUMMARY_MAGIC;
	out->n_steps = (size_t)fsl_unpack_u64(unpack);
	out->n_ops = (size_t)fsl_unpack_u64(unpack);
	out->n_before = (size_t)fsl_unpack_u64(unpack);
	out->is_ordinal = fsl_unpack_u8(unpack) != 0;
	out->is_brief = fsl_unpack_u8(unpack) != 0;
	enum fsl_status status = fsl_progress_unpack(&out->progress, unpack, arena, err);
	if (status == FSL_OK) {
		status = fsl_singles_unpack(&out->singles, unpack, err);
	}
	if (status != FSL_OK) {
		return status;
	}
	const void *bytes = fsl_unpack_bytes(unpack, &n_bytes);
	if (!fsl_unpack_is_done(unpack) || !is_ours) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "kept chapter is damaged");
	}
	fsl_pack_packed(&out->packed, bytes, n_bytes);
	return out->packed.is_failed
		       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: bytes=%zu", n_bytes)
		       : fsl_localisation_unpack(&out->verdict, bytes, n_bytes, err);
}

static void unpack_note(struct fsl_note *note, struct fsl_unpack *unpack, struct fsl_arena *arena)
{
	size_t n = 0;
	note->boundary_ns = (int64_t)fsl_unpack_u64(unpack);
	note->place.offset = fsl_unpack_u64(unpack);
	note->place.line = fsl_unpack_u64(unpack);
	note->place.json_state = fsl_unpack_u8(unpack);
	note->n_records = fsl_unpack_u64(unpack);
	for (size_t d = 0; d < FSL_DROPS_N; d++) {
		note->n_dropped[d] = fsl_unpack_u64(unpack);
	}
	const char *text = fsl_unpack_text(unpack, PATH_BYTES_MAX, &n);
	note->message = fsl_arena_strndup(arena, unpack->is_bad ? "" : text, n);
	unpack->is_bad |= note->message == NULL;
}

/* Reads what the head tells of one file and compares it with the file as it is now. *limit_ns:
 * chapters that end later may have changed. Returns NULL if the head can be used, else the reason
 * why not. */
static const char *unpack_file(struct fsl_file_past *past, struct fsl_unpack *unpack,
			       struct fsl_arena *arena, const struct fsl_input *input,
			       const struct fsl_chapter_rule *rule, int64_t *limit_ns)
{
	size_t n = 0;
	const char *path = fsl_unpack_text(unpack, PATH_BYTES_MAX, &n);
	bool is_same =
		!unpack->is_bad && n == strlen(input->path) && memcmp(path, input->path, n) == 0;
	past->path = input->path;
	past->device = fsl_unpack_u64(unpack);
	past->inode = fsl_unpack_u64(unpack);
	past->n_bytes = fsl_unpack_u64(unpack);
	uint64_t prints[2] = {fsl_unpack_u64(unpack), 0}, now[2];
	prints[1] = fsl_unpack_u64(unpack);
	past->last_event_ns = (int64_t)fsl_unpack_u64(unpack);
	past->n_notes = fsl_unpack_u8(unpack);
	unpack->is_bad |= past->n_notes > FSL_SINK_NOTES_MAX;
	for (size_t k = 0; !unpack->is_bad && k < past->n_notes; k++) {
		unpack_note(&past->notes[k], unpack, arena);
		unpack->is_bad |= past->notes[k].place.offset > past->n_bytes;
	}
	if (unpack->is_bad || !is_same) {
		return "other files were there";
	}
	if (past->device != (uint64_t)input->device || past->inode != (uint64_t)input->inode ||
	    past->n_bytes > input->n_bytes) {
		return "a file was replaced or cut";
	}
	take_prints(input->path, past->n_bytes, &now[0], &now[1]);
	if (now[0] != prints[0] || now[1] != prints[1]) {
		return "a file was rewritten";
	}
	int64_t passed_ns = past->n_notes > 0 ? past->notes[past->n_notes - 1].boundary_ns
					      : past->last_event_ns - rule->slack_ns;
	bool is_read_in_pieces =
		input->told.kind == FSL_NAME_MARKERS || input->told.kind == FSL_NAME_TIMELINE;
	passed_ns = is_read_in_pieces && past->n_notes == 0 ? INT64_MIN : passed_ns;
	if (past->n_bytes < input->n_bytes && passed_ns < *limit_ns) {
		*limit_ns = passed_ns;
	}
	return NULL;
}

/* Returns NULL if the head can be used, else the reason why not. */
static const char *unpack_head(struct fsl_job *job, const struct fsl_cache_job *cached,
			       int64_t *limit_ns)
{
	struct fsl_feed *feed = job->feed;
	struct fsl_chapters *chapters = &job->chapters;
	struct fsl_unpack unpack = {.at = cached->head, .n_left = cached->n_head};
	bool is_ours = fsl_unpack_u32(&unpack) == HEAD_MAGIC;
	chapters->rule = fsl_chapter_rule_for((int64_t)fsl_unpack_u64(&unpack));
	for (size_t level = 0; level < FSL_CHAPTER_LEVELS_N; level++) {
		chapters->wanted_ns[level] = (int64_t)fsl_unpack_u64(&unpack);
	}
	chapters->has_ops_enough = fsl_unpack_u8(&unpack) != 0;
	chapters->step_hint.rank = (int32_t)fsl_unpack_u32(&unpack);
	chapters->step_hint.n_ops = (size_t)fsl_unpack_u64(&unpack);
	chapters->span.begin_ns = (int64_t)fsl_unpack_u64(&unpack);
	chapters->begin_ns = (int64_t)fsl_unpack_u64(&unpack);
	size_t n = fsl_unpack_count(&unpack, SIZE_MAX, FILE_BYTES_MIN);
	if (unpack.is_bad || !is_ours || chapters->rule.length_ns <= 0) {
		return "it is damaged";
	}
	feed->pasts = fsl_arena_alloc(&feed->arena, n * sizeof(*feed->pasts));
	if (feed->pasts == NULL || n != feed->inputs.n_items) {
		return "files came or went";
	}
	const char *why = NULL;
	for (size_t i = 0; i < n && why == NULL; i++) {
		why = unpack_file(&feed->pasts[i], &unpack, &feed->arena, &feed->inputs.items[i],
				  &chapters->rule, limit_ns);
	}
	return why == NULL && !fsl_unpack_is_done(&unpack) ? "it is damaged" : why;
}

/* Reads the kept chapters that end up to @limit_ns. */
static enum fsl_status unpack_chapters(struct fsl_chapters *chapters,
				       const struct fsl_cache_job *cached, int64_t limit_ns,
				       struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	chapters->items = fsl_calloc(cached->n_items, sizeof(*chapters->items));
	if (chapters->items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chapters=%zu",
				cached->n_items);
	}
	for (size_t k = 0; k < cached->n_items && status == FSL_OK; k++) {
		const struct fsl_cache_chapter *from = &cached->items[k];
		struct fsl_judged_chapter *out = &chapters->items[k];
		struct fsl_unpack unpack = {.at = from->summary, .n_left = from->n_summary};
		bool is_next = k == 0 ? from->begin_ns == INT64_MIN
				      : from->begin_ns == cached->items[k - 1].end_ns;
		if (from->end_ns > limit_ns || !is_next) {
			break;
		}
		fsl_localisation_init(&out->verdict);
		out->time = (struct fsl_chapter){from->begin_ns, from->end_ns};
		out->is_known = true;
		chapters->n_items++;
		status = unpack_chapter(out, &chapters->arena, &unpack, err);
		if (status == FSL_OK) {
			fsl_pack_packed(&out->matrices, from->matrices, from->n_matrices);
		}
	}
	return status;
}

/* True if a run without kept chapters would cut the capture into chapters of another length. */
static bool is_outgrown(const struct fsl_job *job, const struct fsl_config *config,
			const struct fsl_span *span)
{
	const struct fsl_chapters *chapters = &job->chapters;
	struct fsl_span now = *span;
	int64_t wanted_ns[FSL_CHAPTER_LEVELS_N];
	now.begin_ns = chapters->span.begin_ns;
	fsl_job_wanted_lengths(wanted_ns, job, config, &now);
	return memcmp(wanted_ns, chapters->wanted_ns, sizeof(wanted_ns)) != 0 || span->is_torn;
}

/* Keeps only chapters that end at least half a length before the capture ends: a later chapter may
 * go on. */
static void drop_open(struct fsl_chapters *chapters, const struct fsl_span *span)
{
	int64_t last_ns = span->end_ns - chapters->rule.length_ns / 2;
	while (chapters->n_items > 0 &&
	       chapters->items[chapters->n_items - 1].time.end_ns > last_ns) {
		fsl_chapter_fini(&chapters->items[--chapters->n_items]);
	}
}

static const char *recall(struct fsl_job *job, const struct fsl_config *config,
			  const struct fsl_span *span, const struct fsl_cache_job *cached)
{
	struct fsl_error err = {0};
	int64_t limit_ns = INT64_MAX;
	struct fsl_chapters *chapters = &job->chapters;
	const char *why = unpack_head(job, cached, &limit_ns);
	if (why != NULL) {
		return why;
	}
	if (is_outgrown(job, config, span)) {
		return "the capture has outgrown its chapters";
	}
	if (unpack_chapters(chapters, cached, limit_ns, &err) != FSL_OK) {
		return fsl_error_root(&err)[0] != '\0' ? "a chapter is damaged" : "memory is short";
	}
	drop_open(chapters, span);
	const struct fsl_judged_chapter *wrong =
		fsl_chapters_newest_wrong(chapters, chapters->n_items);
	return wrong != NULL && wrong->is_brief ? "a chapter has to be told in full" : NULL;
}

void fsl_recall_load(struct fsl_job *job, const struct fsl_config *config,
		     const struct fsl_span *span)
{
	char rules[RULES_BYTES];
	struct fsl_error err = {0};
	struct fsl_cache_job cached = {0};
	char *root = config->chapter_keep && !config->is_look ? root_of(config) : NULL;
	char *path = root != NULL ? fsl_cache_path(config->state_path) : NULL;
	if (path != NULL) {
		rules_of(rules, config);
		if (fsl_cache_get(&cached, path, root, rules, &err) != FSL_OK) {
			fsl_log(FSL_LOG_INFO, "recall", "all is read: cause=\"%s\"",
				fsl_error_root(&err));
		}
	}
	const char *why = cached.n_items > 0 ? recall(job, config, span, &cached) : "";
	if (why != NULL || job->chapters.n_items == 0) {
		fsl_chapters_fini(&job->chapters);
		job->feed->pasts = NULL;
	}
	if (why == NULL || why[0] != '\0') {
		fsl_log(FSL_LOG_INFO, "recall", "known from an earlier run: chapters=%zu%s%s",
			job->chapters.n_items, why != NULL ? ", all is read: " : "",
			why != NULL ? why : "");
	}
	fsl_cache_job_fini(&cached);
	fsl_free(path);
	free(root);
}

/* Chapters that are over, each in a pack of its own. */
static bool list_chapters(struct fsl_cache_job *out, struct fsl_pack *packs,
			  const struct fsl_chapters *chapters)
{
	bool is_failed = false;
	for (size_t k = 0; k < out->n_items; k++) {
		const struct fsl_judged_chapter *chapter = &chapters->items[k];
		pack_chapter(&packs[k], chapter);
		is_failed |= packs[k].is_failed;
		out->items[k] = (struct fsl_cache_chapter){
			.begin_ns = chapter->time.begin_ns,
			.end_ns = chapter->time.end_ns,
			.summary = packs[k].bytes,
			.n_summary = packs[k].n_bytes,
			.matrices = chapter->matrices.bytes,
			.n_matrices = chapter->matrices.n_bytes,
			.is_new = !chapter->is_known,
		};
	}
	return !is_failed;
}

static enum fsl_status save(const struct fsl_job *job, const struct fsl_config *config,
			    const char *path, const char *root, struct fsl_error *err)
{
	char rules[RULES_BYTES];
	struct fsl_pack head = {0};
	size_t n = job->chapters.n_items - 1;
	struct fsl_cache_job out = {.n_items = n};
	struct fsl_pack *packs = fsl_calloc(n, sizeof(*packs));
	out.items = fsl_arena_alloc(&out.arena, n * sizeof(*out.items));
	enum fsl_status status = FSL_ERR_MEMORY;
	pack_head(&head, job);
	if (packs != NULL && out.items != NULL && !head.is_failed &&
	    list_chapters(&out, packs, &job->chapters)) {
		out.head = head.bytes;
		out.n_head = head.n_bytes;
		rules_of(rules, config);
		status = fsl_cache_put(path, root, rules, &out, config->now_ns, err);
	} else {
		(void)FSL_FAIL(err, status, "out of memory: chapters=%zu", n);
	}
	for (size_t k = 0; packs != NULL && k < n; k++) {
		fsl_pack_fini(&packs[k]);
	}
	fsl_free(packs);
	fsl_pack_fini(&head);
	fsl_cache_job_fini(&out);
	return status;
}

void fsl_recall_save(const struct fsl_job *job, const struct fsl_config *config)
{
	struct fsl_error err = {0};
	bool is_wanted = config->chapter_keep && !config->is_look && job->chapters.n_items > 1;
	char *root = is_wanted ? root_of(config) : NULL;
	char *path = root != NULL ? fsl_cache_path(config->state_path) : NULL;
	if (path != NULL && save(job, config, path, root, &err) != FSL_OK) {
		fsl_log(FSL_LOG_INFO, "recall",
			"nothing is kept of chapters, the next run reads all again: cause=\"%s\"",
			fsl_error_root(&err));
	}
	fsl_free(path);
	free(root);
}
