/*
 * The run: ranks kept sorted, texts of the enumerations, and the promised order of a rank's events.
 */
#include "model/run.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/sort.h"

const char *fsl_drop_text(enum fsl_drop drop)
{
	static const char *const texts[FSL_DROPS_N] = {
		[FSL_DROP_MALFORMED] = "malformed",
		[FSL_DROP_TOO_LONG] = "too long",
		[FSL_DROP_NO_NAME] = "operator without a name",
		[FSL_DROP_BAD_NAME] = "not a communication operator",
		[FSL_DROP_NO_START] = "end without a start",
		[FSL_DROP_NO_END] = "start without an end",
		[FSL_DROP_BACKWARDS] = "ends before it begins",
		[FSL_DROP_CUT] = "cut by the end of the file",
		[FSL_DROP_DUPLICATE] = "duplicate",
		[FSL_DROP_OUT_OF_RANGE] = "outside the time range",
	};
	return texts[drop];
}

const char *fsl_file_state_text(enum fsl_file_state state)
{
	static const char *const texts[] = {
		[FSL_FILE_READ] = "read",           [FSL_FILE_PARTIAL] = "partial",
		[FSL_FILE_EMPTY] = "empty",         [FSL_FILE_UNUSABLE] = "unusable",
		[FSL_FILE_DUPLICATE] = "duplicate",
	};
	return texts[state];
}

enum fsl_status fsl_run_init(struct fsl_run *run, struct fsl_error *err)
{
	*run = (struct fsl_run){0};
	run->names = fsl_strpool_create();
	if (run->names == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"names of a run\"");
	}
	return FSL_OK;
}

void fsl_run_fini(struct fsl_run *run)
{
	for (size_t i = 0; i < run->n_ranks; i++) {
		fsl_free(run->ranks[i].ops);
		fsl_free(run->ranks[i].remnants);
		fsl_free(run->ranks[i].stages);
		fsl_free(run->ranks[i].steps);
	}
	fsl_free(run->ranks);
	fsl_free(run->files);
	fsl_strpool_destroy(run->names);
	fsl_arena_fini(&run->arena);
	*run = (struct fsl_run){0};
}

/* Index of the first rank >= @rank. */
static size_t lower_bound(const struct fsl_run *run, int32_t rank)
{
	size_t at;
	FSL_LOWER_BOUND(at, run->n_ranks, run->ranks[at].rank < rank);
	return at;
}

struct fsl_rank *fsl_run_add_rank(struct fsl_run *run, int32_t rank, struct fsl_error *err)
{
	FSL_REQUIRE(rank >= 0 && rank < FSL_RANKS_MAX);
	size_t idx = lower_bound(run, rank);
	if (idx < run->n_ranks && run->ranks[idx].rank == rank) {
		return &run->ranks[idx];
	}
	if (FSL_GROW(run->ranks, run->ranks_capacity, run->n_ranks + 1, err) != FSL_OK) {
		return NULL;
	}
	struct fsl_rank *slot = &run->ranks[idx];
	memmove(slot + 1, slot, (run->n_ranks - idx) * sizeof(*slot));
	run->n_ranks++;
	FSL_ASSERT(idx == 0 || run->ranks[idx - 1].rank < rank);
	FSL_ASSERT(idx + 1 == run->n_ranks || run->ranks[idx + 1].rank > rank);
	*slot = (struct fsl_rank){
		.rank = rank,
		.server_ip = "localhost",
		.last_event_ns = FSL_NS_ABSENT,
		.open_op_id = FSL_STR_NONE,
		.open_group_id = FSL_STR_NONE,
		.open_begin_ns = FSL_NS_ABSENT,
	};
	return slot;
}

const struct fsl_rank *fsl_run_rank(const struct fsl_run *run, int32_t rank)
{
	size_t idx = fsl_run_rank_idx(run, rank);
	return idx != SIZE_MAX ? &run->ranks[idx] : NULL;
}

size_t fsl_run_rank_idx(const struct fsl_run *run, int32_t rank)
{
	size_t idx = lower_bound(run, rank);
	return idx < run->n_ranks && run->ranks[idx].rank == rank ? idx : SIZE_MAX;
}

/* Position of @needle in @text, ignoring case, from @from on; SIZE_MAX if absent. */
static size_t find_text(const char *text, size_t length, const char *needle, size_t from)
{
	size_t n_needle = strlen(needle);
	for (size_t i = from; i + n_needle <= length; i++) {
		if (strncasecmp(text + i, needle, n_needle) == 0) {
			return i;
		}
	}
	return SIZE_MAX;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Looks for a whole word: "GC" is too short to be looked for inside words ("MsgCount"). */
static bool has_word(const char *text, size_t length, const char *word)
{
	size_t n_word = strlen(word);
	size_t at = find_text(text, length, word, 0);
	for (; at != SIZE_MAX; at = find_text(text, length, word, at + 1)) {
		bool begins = at == 0 || !is_letter(text[at - 1]);
		bool ends = at + n_word == length || !is_letter(text[at + n_word]);
		if (begins && ends) {
			return true;
		}
	}
	return false;
}

enum fsl_stage_kind fsl_stage_kind_from_text(const char *type, size_t length)
{
	/*
	 * forward and backward come before checkpoint: the functions of activation checkpointing
	 * (torch.utils.checkpoint@CheckpointFunction@backward) recompute, they do not save.
	 */
	static const struct {
		const char *needle;
		enum fsl_stage_kind kind;
	} rules[] = {
		{"dataloader", FSL_STAGE_DATALOADER}, {"forward", FSL_STAGE_FORWARD},
		{"backward", FSL_STAGE_BACKWARD},     {"ckpt", FSL_STAGE_CKPT},
		{"checkpoint", FSL_STAGE_CKPT},       {"optim", FSL_STAGE_OPTIMIZER},
	};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (find_text(type, length, rules[i].needle, 0) != SIZE_MAX) {
			return rules[i].kind;
		}
	}
	if (has_word(type, length, "GC")) {
		return FSL_STAGE_GC;
	}
	return find_text(type, length, "synchron", 0) != SIZE_MAX ? FSL_STAGE_SYNC
								  : FSL_STAGE_OTHER;
}

/* Compares all fields, so that the order does not depend on the order of reading. */
static int compare_ops(const void *left, const void *right)
{
	const struct fsl_op *a = left, *b = right;
	const int64_t times_a[] = {fsl_op_begin_ns(a), fsl_op_end_ns(a), a->host_begin_ns,
				   a->host_end_ns, a->step};
	const int64_t times_b[] = {fsl_op_begin_ns(b), fsl_op_end_ns(b), b->host_begin_ns,
				   b->host_end_ns, b->step};
	int order = FSL_ORDER(times_a[0], times_b[0]);
	if (order == 0) {
		order = FSL_ORDER(a->id, b->id);
	}
	for (size_t i = 1; order == 0 && i < sizeof(times_a) / sizeof(times_a[0]); i++) {
		order = FSL_ORDER(times_a[i], times_b[i]);
	}
	const uint64_t rest_a[] = {a->op_id, a->group_id, a->dtype_id, a->n_elements};
	const uint64_t rest_b[] = {b->op_id, b->group_id, b->dtype_id, b->n_elements};
	for (size_t i = 0; order == 0 && i < sizeof(rest_a) / sizeof(rest_a[0]); i++) {
		order = FSL_ORDER(rest_a[i], rest_b[i]);
	}
	return order;
}

static int compare_remnants(const void *left, const void *right)
{
	const struct fsl_op *a = left, *b = right;
	int64_t a_ns = fsl_remnant_ns(a), b_ns = fsl_remnant_ns(b);
	return a_ns != b_ns ? FSL_ORDER(a_ns, b_ns) : compare_ops(left, right);
}

static int compare_stages(const void *left, const void *right)
{
	const struct fsl_stage *a = left, *b = right;
	FSL_ORDER_BY(a->begin_ns, b->begin_ns);
	FSL_ORDER_BY(a->end_ns, b->end_ns);
	FSL_ORDER_BY(a->type_id, b->type_id);
	FSL_ORDER_BY(a->step, b->step);
	FSL_ORDER_BY(a->frame, b->frame);
	FSL_ORDER_BY(a->stack, b->stack);
	FSL_ORDER_BY(a->n_uncollectable, b->n_uncollectable);
	return FSL_ORDER(a->n_collected, b->n_collected);
}

static int compare_steps(const void *left, const void *right)
{
	const struct fsl_step_time *a = left, *b = right;
	FSL_ORDER_BY(a->is_logged, b->is_logged);
	int order = FSL_ORDER(a->step, b->step);
	order = order != 0 ? order : FSL_ORDER(a->begin_ns, b->begin_ns);
	return order != 0 ? order : FSL_ORDER(a->dur_ns, b->dur_ns);
}

enum { ITEM_BYTES_MAX = 64, MOVES_PER_ITEM = 4 };

typedef int compare_function(const void *, const void *);

/* Moves item @i to its place among the items before it; returns the number of items that it passed.
 * Stops after @n_max items and sets *is_done to false. */
static size_t insert(char *items, size_t i, size_t size, size_t n_max, compare_function *compare,
		     bool *is_done)
{
	_Alignas(max_align_t) char item[ITEM_BYTES_MAX];
	size_t n = 0;
	memcpy(item, items + i * size, size);
	while (n < i && n < n_max && compare(items + (i - n - 1) * size, item) > 0) {
		memcpy(items + (i - n) * size, items + (i - n - 1) * size, size);
		n++;
	}
	memcpy(items + (i - n) * size, item, size);
	*is_done = n == i || compare(items + (i - n - 1) * size, item) <= 0;
	return n;
}

/* Inputs are nearly always in order except for neighbours; for them the time is linear. */
static void sort(void *items, size_t n_items, size_t size, compare_function *compare)
{
	size_t n_max = MOVES_PER_ITEM * n_items;
	FSL_REQUIRE(size <= ITEM_BYTES_MAX);
	for (size_t i = 1; i < n_items; i++) {
		const char *item = (const char *)items + i * size;
		bool is_done = true;
		if (compare(item - size, item) > 0) {
			n_max -= insert(items, i, size, n_max, compare, &is_done);
		}
		if (!is_done) {
			qsort(items, n_items, size, compare);
			return;
		}
	}
}

static bool is_sorted(const void *items, size_t n_items, size_t size, compare_function *compare)
{
	const char *base = items;
	for (size_t i = 1; i < n_items; i++) {
		if (compare(base + (i - 1) * size, base + i * size) > 0) {
			return false;
		}
	}
	return true;
}

/* Sorts, and keeps one of equal items; returns how many are left. */
static size_t sort_unique(void *items, size_t n_items, size_t size, compare_function *compare)
{
	sort(items, n_items, size, compare);
	char *base = items;
	size_t n_kept = n_items > 0 ? 1 : 0;
	for (size_t i = 1; i < n_items; i++) {
		const char *item = base + i * size;
		if (compare(base + (n_kept - 1) * size, item) != 0) {
			memmove(base + n_kept * size, item, size);
			n_kept++;
		}
	}
	return n_kept;
}

/* Keeps the later run of equal step numbers. Unnumbered steps lose only exact duplicates. */
static size_t unique_steps(struct fsl_step_time *steps, size_t n_steps)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < n_steps; i++) {
		bool is_again =
			n_kept > 0 && steps[i].step == steps[n_kept - 1].step &&
			steps[i].is_logged == steps[n_kept - 1].is_logged &&
			(steps[i].step >= 0 || compare_steps(&steps[i], &steps[n_kept - 1]) == 0);
		n_kept -= is_again ? 1 : 0;
		steps[n_kept++] = steps[i];
	}
	return n_kept;
}

/* True if operators are in order and no two begin at the same time: nothing to sort or drop. */
static bool is_rising(const struct fsl_op *ops, size_t n_ops)
{
	for (size_t i = 1; i < n_ops; i++) {
		fsl_op_fetch_ahead(&ops[i]);
		if (fsl_op_begin_ns(&ops[i - 1]) >= fsl_op_begin_ns(&ops[i])) {
			return false;
		}
	}
	return true;
}

/* The steps that the stages of a rank tell. */
struct numbers {
	enum fsl_stage_kind kind; /* of the stages that begin a step */
	int64_t first, last;      /* step that began; -1: none */
	int64_t worked, ended;    /* of the newest stage of another kind, and optimizer */
};

static struct numbers numbers_of(const struct fsl_rank *rank)
{
	struct numbers numbers = {FSL_STAGE_FORWARD, -1, -1, -1, -1};
	for (size_t i = 0; i < rank->n_stages; i++) {
		bool is_loader = rank->stages[i].kind == FSL_STAGE_DATALOADER;
		numbers.kind = is_loader ? FSL_STAGE_DATALOADER : numbers.kind;
	}
	return numbers;
}

/*
 * True if a step that was worked on begins again. A step may load for each of its micro-batches:
 * then it ended before, and its number is one that counts.
 */
static bool begins_again(struct numbers *numbers, const struct fsl_stage *stage)
{
	if (stage->kind != numbers->kind) {
		numbers->worked = stage->step;
		numbers->ended = stage->kind == FSL_STAGE_OPTIMIZER ? stage->step : numbers->ended;
		return false;
	}
	int64_t last = numbers->last;
	numbers->first = numbers->first < 0 ? stage->step : numbers->first;
	numbers->last = stage->step;
	return (stage->step < last && stage->step <= numbers->worked) ||
	       (stage->step == last && numbers->ended == last && last > numbers->first);
}

static void drop_earlier_runs(struct fsl_rank *rank)
{
	enum { RESTARTS_MAX = 64 }; /* numbers that fall more often are no steps */
	struct numbers numbers = numbers_of(rank);
	uint32_t n_restarts = 0;
	for (size_t i = 0; i < rank->n_stages; i++) {
		n_restarts += begins_again(&numbers, &rank->stages[i]);
	}
	if (n_restarts == 0 || n_restarts > RESTARTS_MAX) {
		return;
	}
	rank->n_restarts = n_restarts > rank->n_restarts ? n_restarts : rank->n_restarts;
	size_t n = 0;
	numbers = numbers_of(rank);
	for (size_t i = 0; i < rank->n_stages; i++) {
		struct fsl_stage stage = rank->stages[i];
		if (begins_again(&numbers, &stage) && stage.step > numbers.first) {
			size_t n_kept = 0;
			for (size_t k = 0; k < n; k++) {
				if (rank->stages[k].step < stage.step) {
					rank->stages[n_kept++] = rank->stages[k];
				}
			}
			n = n_kept;
		}
		rank->stages[n++] = stage;
	}
	rank->n_stages = n;
}

void fsl_run_drop_reruns(struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		drop_earlier_runs(&run->ranks[r]);
	}
}

void fsl_rank_normalise(struct fsl_rank *rank)
{
	if (!rank->is_rising && !is_rising(rank->ops, rank->n_ops)) {
		rank->n_ops = sort_unique(rank->ops, rank->n_ops, sizeof(*rank->ops), compare_ops);
	}
	FSL_ASSERT(is_sorted(rank->ops, rank->n_ops, sizeof(*rank->ops), compare_ops));
	rank->is_rising = false; /* holds no longer when others change them */
	rank->n_remnants = sort_unique(rank->remnants, rank->n_remnants, sizeof(*rank->remnants),
				       compare_remnants);
	rank->n_stages =
		sort_unique(rank->stages, rank->n_stages, sizeof(*rank->stages), compare_stages);
	sort(rank->steps, rank->n_steps, sizeof(*rank->steps), compare_steps);
	rank->n_steps = unique_steps(rank->steps, rank->n_steps);
}

size_t fsl_ranks_seen(const struct fsl_run *run)
{
	size_t n_seen = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		n_seen += run->ranks[r].n_ops > 0;
	}
	return n_seen;
}

size_t fsl_run_count_ops(const struct fsl_run *run, int64_t from_ns)
{
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		n += from_ns == INT64_MIN ? rank->n_ops : 0;
		for (size_t i = 0; i < rank->n_ops && from_ns != INT64_MIN; i++) {
			n += fsl_op_end_ns(&rank->ops[i]) >= from_ns;
		}
	}
	return n;
}

void fsl_run_measure_ops(struct fsl_run *run)
{
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_rank *rank = &run->ranks[r];
		int64_t longest_ns = 1;
		for (size_t i = 0; i < rank->n_ops; i++) {
			int64_t ns = fsl_op_end_ns(&rank->ops[i]) - fsl_op_begin_ns(&rank->ops[i]);
			longest_ns = ns > longest_ns ? ns : longest_ns;
		}
		rank->longest_op_ns = longest_ns;
	}
}

bool fsl_rank_waits(const struct fsl_rank *rank)
{
	/* More than the messages to several pipeline partners that may overtake each other. */
	enum { OUTLIVED_MIN = 64 };
	size_t n_later = 0;
	if (rank->open_op_id == FSL_STR_NONE) {
		return false;
	}
	for (size_t i = rank->n_ops; i-- > 0 && n_later < OUTLIVED_MIN;) {
		const struct fsl_op *op = &rank->ops[i];
		if (fsl_op_begin_ns(op) <= rank->open_begin_ns) {
			break; /* earlier operators begin earlier, too */
		}
		n_later += op->op_id == rank->open_op_id && op->group_id == rank->open_group_id &&
			   op->host_begin_ns > rank->open_begin_ns;
	}
	return n_later < OUTLIVED_MIN;
}

static void cut_rank(struct fsl_rank *rank, int64_t from_ns, int64_t to_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < rank->n_stages; i++) {
		if (rank->stages[i].begin_ns >= from_ns && rank->stages[i].end_ns <= to_ns) {
			rank->stages[n++] = rank->stages[i];
		}
	}
	rank->n_stages = n;
	n = 0;
	for (size_t i = 0; i < rank->n_steps; i++) {
		int64_t begin_ns = rank->steps[i].begin_ns;
		if (begin_ns >= from_ns && begin_ns + rank->steps[i].dur_ns <= to_ns) {
			rank->steps[n++] = rank->steps[i];
		}
	}
	rank->n_steps = n;
}

void fsl_run_cut_steps(struct fsl_run *run, int64_t from_ns, int64_t to_ns)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		cut_rank(&run->ranks[r], from_ns, to_ns);
	}
}

static size_t forget_ops(struct fsl_op *ops, size_t n_ops,
			 int64_t (*time_of)(const struct fsl_op *), int64_t from_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < n_ops; i++) {
		if (time_of(&ops[i]) >= from_ns) {
			ops[n++] = ops[i];
		}
	}
	return n;
}

void fsl_run_forget(struct fsl_run *run, int64_t from_ns)
{
#pragma omp parallel for schedule(dynamic, 1)
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_rank *rank = &run->ranks[r];
		size_t n = 0;
		rank->n_ops = forget_ops(rank->ops, rank->n_ops, fsl_op_end_ns, from_ns);
		rank->n_remnants =
			forget_ops(rank->remnants, rank->n_remnants, fsl_remnant_ns, from_ns);
		for (size_t i = 0; i < rank->n_stages; i++) {
			if (rank->stages[i].begin_ns >= from_ns) {
				rank->stages[n++] = rank->stages[i];
			}
		}
		rank->n_stages = n;
	}
}
