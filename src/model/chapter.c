/* Cuts captures into chapters, and takes chapters out of a run. */
#include "model/chapter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

enum {
	LEAD_PARTS = 4,    /* of a chapter's length */
	SLACK_MAX_S = 120, /* as FSL_ENTRY_SLACK_S */
	SLACK_PARTS = 8,   /* three of them: a dozen steps of the shortest chapters */
};

struct fsl_chapter_rule fsl_chapter_rule_for(int64_t length_ns)
{
	int64_t slack_max_ns = (int64_t)SLACK_MAX_S * FSL_NS_PER_S;
	int64_t slack_ns = length_ns / SLACK_PARTS * 3;
	return (struct fsl_chapter_rule){
		.length_ns = length_ns,
		.lead_ns = length_ns / LEAD_PARTS,
		.slack_ns = slack_ns < slack_max_ns ? slack_ns : slack_max_ns,
	};
}

struct fsl_chapter_rule fsl_chapter_rule_of(double hours)
{
	int64_t length_ns = 0;
	if (hours > 0.0) {
		length_ns = (int64_t)llround(hours * 3600.0 * (double)FSL_NS_PER_S);
	}
	return fsl_chapter_rule_for(length_ns);
}

struct fsl_chapter_rule fsl_chapter_rule_finer(const struct fsl_chapter_rule *rule, int64_t span_ns,
					       int64_t n_least)
{
	int64_t length_ns = rule->length_ns;
	while (n_least > 1 && length_ns % 2 == 0 && length_ns / 2 >= FSL_NS_PER_S &&
	       span_ns / length_ns < n_least) {
		length_ns /= 2;
	}
	return fsl_chapter_rule_for(length_ns);
}

/* False if the rank never had events. The end is the last event that the rank ever had: a run that
 * continues an earlier one reads no operators of a rank that fell silent long ago. */
static bool span_of_rank(const struct fsl_rank *rank, int64_t *begin_ns, int64_t *end_ns)
{
	*end_ns = *begin_ns = rank->last_event_ns;
	if (rank->n_ops > 0) {
		*begin_ns = fsl_op_begin_ns(&rank->ops[0]);
	} else if (rank->n_stages > 0) {
		*begin_ns = rank->stages[0].begin_ns;
	}
	return rank->last_event_ns != FSL_NS_ABSENT;
}

/* A clock is off if both ends are moved by about the same time, or if the rank has no time in
 * common with the others. */
static bool is_torn(const struct fsl_span *span, int64_t begin_ns, int64_t end_ns, int64_t lead_ns)
{
	int64_t first_ns = begin_ns - span->begin_ns, last_ns = end_ns - span->end_ns;
	bool is_moved = llabs(first_ns) > lead_ns && llabs(last_ns) > lead_ns &&
			llabs(first_ns - last_ns) <= lead_ns;
	return is_moved || begin_ns > span->end_ns || end_ns < span->begin_ns;
}

enum fsl_status fsl_run_span(struct fsl_span *span, const struct fsl_run *run,
			     const struct fsl_chapter_rule *rule, struct fsl_error *err)
{
	size_t n = 0;
	int64_t *ends = NULL;
	*span = (struct fsl_span){.begin_ns = FSL_NS_ABSENT, .end_ns = FSL_NS_ABSENT};
	FSL_TRY(FSL_NEW(ends, 4 * run->n_ranks, "ends", err));
	int64_t *begins = ends + run->n_ranks, *work = begins + run->n_ranks;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n += span_of_rank(&run->ranks[r], &begins[n], &ends[n]);
	}
	if (n > 0) {
		memcpy(work, begins, n * sizeof(*work));
		span->begin_ns = fsl_select_i64(work, n, n / 2);
		memcpy(work, ends, n * sizeof(*work));
		span->end_ns = fsl_select_i64(work, n, n / 2);
	}
	for (size_t i = 0; i < n; i++) {
		int64_t apart_ns = llabs(begins[i] - span->begin_ns);
		span->apart_ns = apart_ns > span->apart_ns ? apart_ns : span->apart_ns;
		span->is_torn |= is_torn(span, begins[i], ends[i], rule->lead_ns);
	}
	fsl_free(ends);
	return FSL_OK;
}

enum fsl_status fsl_chapters_list(struct fsl_chapter **chapters, size_t *n_chapters,
				  struct fsl_arena *arena, const struct fsl_span *span,
				  const struct fsl_chapter_rule *rule, struct fsl_error *err)
{
	int64_t length_ns = rule->length_ns, first_ns = 0;
	size_t n = 1;
	if (length_ns > 0 && !span->is_torn && span->begin_ns != FSL_NS_ABSENT) {
		first_ns = (span->begin_ns + length_ns / 2 + length_ns - 1) / length_ns * length_ns;
		int64_t last_ns = span->end_ns - length_ns / 2;
		n += last_ns >= first_ns ? (size_t)((last_ns - first_ns) / length_ns) + 1 : 0;
	}
	struct fsl_chapter *items = NULL;
	FSL_TRY(FSL_ARENA_NEW(items, arena, n, "chapters", err));
	for (size_t k = 0; k < n; k++) {
		items[k].begin_ns = k == 0 ? INT64_MIN : items[k - 1].end_ns;
		items[k].end_ns = k + 1 < n ? first_ns + (int64_t)k * length_ns : INT64_MAX;
	}
	*chapters = items;
	*n_chapters = n;
	return FSL_OK;
}

/* Half-open range of indices. */
struct range {
	size_t begin, end;
};

/* The parts of a rank that belong to a chapter. */
struct parts {
	int64_t from_ns, to_ns;
	struct range ops; /* operators of that range that end in [from, to) */
	struct range remnants, stages;
};

/*
 * An operator belongs to the chapter in which it ends. Members of a collective end together, but
 * each begins as late as it arrives. So all ranks of a chapter have the same collectives, and none
 * has to be searched for.
 */
static bool is_in(const struct parts *parts, const struct fsl_op *op)
{
	int64_t end_ns = fsl_op_end_ns(op);
	return end_ns >= parts->from_ns && end_ns < parts->to_ns;
}

static struct parts parts_of(const struct fsl_rank *rank, int64_t from_ns, int64_t to_ns)
{
	bool is_known = rank->longest_op_ns > 0 && from_ns != INT64_MIN;
	int64_t earliest_ns = is_known ? from_ns - rank->longest_op_ns : INT64_MIN;
	struct parts parts = {.from_ns = from_ns, .to_ns = to_ns};
	struct range *ops = &parts.ops, *remnants = &parts.remnants, *stages = &parts.stages;
	FSL_LOWER_BOUND(ops->begin, rank->n_ops,
			fsl_op_begin_ns(&rank->ops[ops->begin]) < earliest_ns);
	FSL_LOWER_BOUND(ops->end, rank->n_ops, fsl_op_begin_ns(&rank->ops[ops->end]) < to_ns);
	FSL_LOWER_BOUND(remnants->begin, rank->n_remnants,
			fsl_remnant_ns(&rank->remnants[remnants->begin]) < from_ns);
	FSL_LOWER_BOUND(remnants->end, rank->n_remnants,
			fsl_remnant_ns(&rank->remnants[remnants->end]) < to_ns);
	FSL_LOWER_BOUND(stages->begin, rank->n_stages,
			rank->stages[stages->begin].begin_ns < from_ns);
	FSL_LOWER_BOUND(stages->end, rank->n_stages, rank->stages[stages->end].begin_ns < to_ns);
	return parts;
}

/* New ids of the names that a chapter uses. */
struct renaming {
	uint32_t *to; /* new id of each name of the run; FSL_STR_NONE: not used */
	const struct fsl_strpool *names;
};

static void use(const struct renaming *renaming, uint32_t id)
{
	if (id != FSL_STR_NONE) {
		renaming->to[id] = 0;
	}
}

static uint32_t renamed(const struct renaming *renaming, uint32_t id)
{
	return id != FSL_STR_NONE ? renaming->to[id] : FSL_STR_NONE;
}

static void use_op(const struct renaming *renaming, const struct fsl_op *op)
{
	use(renaming, op->op_id);
	use(renaming, op->group_id);
	use(renaming, op->dtype_id);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Numbers the names in use in order of their texts. */
static enum fsl_status number_names(struct fsl_strpool *out, const struct renaming *renaming,
				    struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(renaming->names), n = 0;
	const char **texts = NULL;
	enum fsl_status status = FSL_OK;
	FSL_TRY(FSL_NEW(texts, n_names, "names", err));
	for (size_t i = 0; i < n_names; i++) {
		if (renaming->to[i] != FSL_STR_NONE) {
			texts[n++] = fsl_strpool_text(renaming->names, (uint32_t)i);
		}
	}
	qsort(texts, n, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		uint32_t id = 0;
		status = fsl_strpool_intern(out, texts[i], strlen(texts[i]), &id, err);
	}
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		if (renaming->to[i] != FSL_STR_NONE) {
			const char *text = fsl_strpool_text(renaming->names, (uint32_t)i);
			renaming->to[i] = fsl_strpool_find(out, text, strlen(text));
		}
	}
	fsl_free(texts);
	return status;
}

static void rename_op(const struct renaming *renaming, struct fsl_op *op)
{
	op->op_id = renamed(renaming, op->op_id);
	op->group_id = renamed(renaming, op->group_id);
	op->dtype_id = renamed(renaming, op->dtype_id);
}

/* Copies operators with the ids of the run, and notes which names they use. False if out of memory,
 * as in the functions below. */
static bool copy_ops(struct fsl_rank *out, const struct fsl_op *ops, const struct parts *parts,
		     const struct renaming *renaming)
{
	size_t n_most = parts->ops.end - parts->ops.begin;
	if (FSL_GROW(out->ops, out->ops_capacity, n_most, NULL) != FSL_OK) {
		return false;
	}
	for (size_t i = parts->ops.begin; i < parts->ops.end; i++) {
		fsl_op_fetch_ahead(&ops[i]);
		if (is_in(parts, &ops[i])) {
			use_op(renaming, &ops[i]);
			out->ops[out->n_ops++] = ops[i];
		}
	}
	return true;
}

static bool copy_remnants(struct fsl_rank *out, const struct fsl_op *remnants, struct range range,
			  const struct renaming *renaming)
{
	size_t n = range.end - range.begin;
	if (FSL_GROW(out->remnants, out->remnants_capacity, n, NULL) != FSL_OK) {
		return false;
	}
	for (size_t i = range.begin; i < range.end; i++) {
		use_op(renaming, &remnants[i]);
		out->remnants[out->n_remnants++] = remnants[i];
	}
	return true;
}

static bool copy_stages(struct fsl_rank *out, const struct fsl_stage *stages, struct range range,
			const struct renaming *renaming)
{
	out->n_stages = range.end - range.begin;
	if (FSL_GROW(out->stages, out->stages_capacity, out->n_stages, NULL) != FSL_OK) {
		return false;
	}
	for (size_t i = 0; i < out->n_stages; i++) {
		out->stages[i] = stages[range.begin + i];
		use(renaming, out->stages[i].type_id);
		use(renaming, out->stages[i].frame - 1);
		use(renaming, out->stages[i].stack - 1);
	}
	return true;
}

/* Step times are sorted by number, which need not follow time. */
static bool copy_steps(struct fsl_rank *out, const struct fsl_rank *rank, int64_t from_ns,
		       int64_t to_ns)
{
	if (FSL_GROW(out->steps, out->steps_capacity, rank->n_steps, NULL) != FSL_OK) {
		return false;
	}
	for (size_t i = 0; i < rank->n_steps; i++) {
		if (rank->steps[i].begin_ns >= from_ns && rank->steps[i].begin_ns < to_ns) {
			out->steps[out->n_steps++] = rank->steps[i];
		}
	}
	return true;
}

/* Last event among the events of a rank that a chapter has. */
static int64_t last_event_ns(const struct fsl_rank *taken)
{
	int64_t last_ns = FSL_NS_ABSENT;
	for (size_t i = 0; i < taken->n_ops; i++) {
		int64_t end_ns = fsl_op_end_ns(&taken->ops[i]);
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	for (size_t i = 0; i < taken->n_stages; i++) {
		last_ns = taken->stages[i].end_ns > last_ns ? taken->stages[i].end_ns : last_ns;
	}
	return last_ns;
}

/* Takes one rank's part; false if out of memory. */
static bool take_rank(struct fsl_rank *out, const struct fsl_rank *rank,
		      const struct fsl_chapter *chapter, int64_t from_ns,
		      const struct renaming *renaming)
{
	struct parts parts = parts_of(rank, from_ns, chapter->end_ns);
	bool is_last = chapter->end_ns == INT64_MAX;
	*out = (struct fsl_rank){
		.rank = rank->rank,
		.server_ip = rank->server_ip,
		.has_markers_file = rank->has_markers_file,
		.is_restarted = rank->is_restarted,
		.n_restarts = rank->n_restarts,
		.finished_ns = is_last ? rank->finished_ns : 0,
		.open_op_id = is_last ? rank->open_op_id : FSL_STR_NONE,
		.open_group_id = is_last ? rank->open_group_id : FSL_STR_NONE,
		.open_begin_ns = is_last ? rank->open_begin_ns : FSL_NS_ABSENT,
	};
	use(renaming, out->open_op_id);
	use(renaming, out->open_group_id);
	if (!copy_ops(out, rank->ops, &parts, renaming) ||
	    !copy_remnants(out, rank->remnants, parts.remnants, renaming) ||
	    !copy_stages(out, rank->stages, parts.stages, renaming) ||
	    !copy_steps(out, rank, from_ns, chapter->end_ns)) {
		return false;
	}
	out->last_event_ns = is_last ? rank->last_event_ns : last_event_ns(out);
	return true;
}

/*
 * Renames the copies, which are in the cache; the events of the run would have to come from memory.
 */
static void rename_events(struct fsl_run *taken, const struct renaming *renaming)
{
	for (size_t r = 0; r < taken->n_ranks; r++) {
		struct fsl_rank *rank = &taken->ranks[r];
		for (size_t i = 0; i < rank->n_ops; i++) {
			rename_op(renaming, &rank->ops[i]);
		}
		for (size_t i = 0; i < rank->n_remnants; i++) {
			rename_op(renaming, &rank->remnants[i]);
		}
		for (size_t i = 0; i < rank->n_stages; i++) {
			struct fsl_stage *stage = &rank->stages[i];
			stage->type_id = renamed(renaming, stage->type_id);
			stage->frame = renamed(renaming, stage->frame - 1) + 1; /* 0 stays 0 */
			stage->stack = renamed(renaming, stage->stack - 1) + 1;
		}
		rank->open_op_id = renamed(renaming, rank->open_op_id);
		rank->open_group_id = renamed(renaming, rank->open_group_id);
	}
}

static bool take_ranks(struct fsl_run *out, const struct fsl_run *run,
		       const struct fsl_chapter *chapter, int64_t from_ns,
		       const struct renaming *renaming)
{
	out->ranks = fsl_calloc(run->n_ranks, sizeof(*out->ranks));
	out->ranks_capacity = out->ranks != NULL ? run->n_ranks : 0;
	for (size_t r = 0; r < out->ranks_capacity; r++) {
		out->n_ranks++;
		if (!take_rank(&out->ranks[r], &run->ranks[r], chapter, from_ns, renaming)) {
			return false;
		}
	}
	return out->ranks != NULL;
}

enum fsl_status fsl_chapter_take(struct fsl_run *out, const struct fsl_run *run,
				 const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names);
	struct renaming renaming = {NULL, run->names};
	int64_t from_ns =
		chapter->begin_ns == INT64_MIN ? INT64_MIN : chapter->begin_ns - rule->lead_ns;
	enum fsl_status status = fsl_run_init(out, err);
	FSL_THEN(status, FSL_NEW(renaming.to, n_names, "names", err));
	if (status == FSL_OK) {
		/* all bytes of FSL_STR_NONE are 0xff */
		memset(renaming.to, 0xff, n_names * sizeof(*renaming.to));
		if (!take_ranks(out, run, chapter, from_ns, &renaming)) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
					  run->n_ranks);
		}
	}
	FSL_THEN(status, number_names(out->names, &renaming, err));
	out->step_hint = run->step_hint;
	if (status == FSL_OK) {
		rename_events(out, &renaming);
		out->files = run->files;
		out->n_files = run->n_files;
	}
	fsl_free(renaming.to);
	if (status != FSL_OK) {
		fsl_chapter_drop(out);
	}
	return status;
}

void fsl_chapter_drop(struct fsl_run *taken)
{
	taken->files = NULL; /* borrowed */
	fsl_run_fini(taken);
}

enum fsl_status fsl_chapter_keep(struct fsl_run *run, const struct fsl_chapter *chapter,
				 const struct fsl_chapter_rule *rule, struct fsl_error *err)
{
	struct fsl_run taken;
	FSL_TRY(fsl_chapter_take(&taken, run, chapter, rule, err));
	taken.arena = run->arena; /* texts of ranks and files */
	taken.files_capacity = run->files_capacity;
	run->arena = (struct fsl_arena){0};
	run->files = NULL;
	fsl_run_fini(run);
	*run = taken;
	return FSL_OK;
}
