/* Places a lost operator by what is left of its record, by its neighbours and by what is usual. */
#include "match/restore_place.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "match/limits.h"

int64_t fsl_ended_before(const struct fsl_rank *rank, size_t op_idx, int64_t time_ns)
{
	int64_t latest_ns = INT64_MIN;
	bool has_device = rank->ops[op_idx].dev_begin_ns != FSL_NS_ABSENT;
	for (size_t k = op_idx, n = 0; k-- > 0 && n < FSL_LOST_LOOK_BACK_OPS; n++) {
		if (fsl_lacks_device(&rank->ops[k], has_device)) {
			continue;
		}
		int64_t end_ns = fsl_op_end_ns(&rank->ops[k]);
		latest_ns = end_ns <= time_ns && end_ns > latest_ns ? end_ns : latest_ns;
	}
	return latest_ns == INT64_MIN ? time_ns : latest_ns;
}

/* First remnant at or after @time_ns. */
static size_t remnant_at(const struct fsl_rank *rank, int64_t time_ns)
{
	size_t low = 0;
	FSL_BISECT(low, rank->n_remnants, mid, fsl_remnant_ns(&rank->remnants[mid]) < time_ns);
	return low;
}

static bool is_same(const struct fsl_op *a, const struct fsl_op *b)
{
	return a->op_id == b->op_id && a->group_id == b->group_id;
}

/*
 * The remnant of a lost operator: an end at the end of its instance, under its name or without one;
 * else the latest begin under its name that has no end. @is_taken: per remnant.
 */
static size_t find_remnant(const struct fsl_lost_op *lost, const struct fsl_rank *rank,
			   const bool *is_taken)
{
	size_t best = SIZE_MAX, behind = remnant_at(rank, lost->end_ns + lost->tolerance_ns + 1);
	for (size_t i = behind; i-- > 0;) {
		const struct fsl_op *remnant = &rank->remnants[i];
		bool is_unnamed = remnant->op_id == FSL_STR_NONE;
		if (fsl_remnant_ns(remnant) < lost->end_ns - lost->tolerance_ns) {
			break;
		}
		if (!is_taken[i] && remnant->dev_end_ns != FSL_NS_ABSENT &&
		    (is_same(remnant, &lost->op) || (is_unnamed && best == SIZE_MAX))) {
			best = i;
		}
	}
	for (size_t i = behind, n = 0; i-- > 0 && n < FSL_LOST_REMNANTS && best == SIZE_MAX; n++) {
		const struct fsl_op *remnant = &rank->remnants[i];
		if (!is_taken[i] && remnant->dev_end_ns == FSL_NS_ABSENT &&
		    is_same(remnant, &lost->op) && remnant->dev_begin_ns > lost->after_ns &&
		    remnant->dev_begin_ns < lost->before_ns) {
			best = i;
		}
	}
	return best;
}

enum fsl_status fsl_find_remnants(const struct fsl_rank *rank, struct fsl_lost_op *items, size_t n,
				  struct fsl_error *err)
{
	bool *is_taken = fsl_calloc(rank->n_remnants + 1, sizeof(*is_taken));
	if (is_taken == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: remnants=%zu",
				rank->n_remnants);
	}
	for (size_t i = 0; i < n; i++) {
		size_t k = find_remnant(&items[i], rank, is_taken);
		if (k != SIZE_MAX) {
			items[i].remnant = &rank->remnants[k];
			is_taken[k] = true;
		}
	}
	fsl_free(is_taken);
	return FSL_OK;
}

/* Begin of a synchronous operator that the rank could begin from @free_ns on. INT64_MIN: nothing
 * near it is known to have ended before, so it began when its transfer did. */
static int64_t begin_of(const struct fsl_lost_op *lost, int64_t free_ns)
{
	int64_t last_ns = lost->end_ns - lost->transfer_ns;
	if (free_ns == INT64_MIN) {
		return last_ns;
	}
	int64_t usual_ns = free_ns + lost->gap_ns;
	int64_t waited_ns = lost->waited_ns - lost->transfer_high_ns;
	bool is_awaited =
		waited_ns > FSL_END_JITTER_NS &&
		(double)waited_ns >= FSL_LOST_WAITED_SHARE_MIN * (double)(last_ns - usual_ns);
	int64_t begin_ns = is_awaited || last_ns < usual_ns ? last_ns : usual_ns;
	return begin_ns > free_ns ? begin_ns : free_ns;
}

static void set_times(struct fsl_op *op, int64_t begin_ns, int64_t end_ns)
{
	bool has_device = op->dev_begin_ns != FSL_NS_ABSENT;
	FSL_ASSERT(begin_ns <= end_ns);
	op->host_begin_ns = has_device ? FSL_NS_ABSENT : begin_ns;
	op->host_end_ns = has_device ? FSL_NS_ABSENT : end_ns;
	op->dev_begin_ns = has_device ? begin_ns : FSL_NS_ABSENT;
	op->dev_end_ns = has_device ? end_ns : FSL_NS_ABSENT;
	op->id = FSL_OP_ID_RESTORED;
	op->step = -1;
}

/* Latest end before a lost operator, and its own end, cut to the time that the rank's other
 * operators leave it; false if it would end inside a synchronous one. @k: the next operator. */
static bool find_gap(struct fsl_lost_op *lost, const struct fsl_rank *rank, size_t k,
		     int64_t *free_ns)
{
	int64_t next_ns = fsl_op_begin_ns(&rank->ops[k]);
	int64_t end_ns = lost->end_ns < next_ns ? lost->end_ns : next_ns;
	bool has_device = lost->op.dev_begin_ns != FSL_NS_ABSENT;
	for (size_t i = k, n = 0; i-- > 0 && n < FSL_LOST_LOOK_BACK_OPS; n++) {
		if (fsl_lacks_device(&rank->ops[i], has_device)) {
			continue;
		}
		int64_t other_ns = fsl_op_end_ns(&rank->ops[i]);
		bool holds_next =
			i + 1 < rank->n_ops && fsl_op_begin_ns(&rank->ops[i + 1]) < other_ns;
		if (other_ns > end_ns + lost->tolerance_ns && !holds_next) {
			return false;
		}
		if (other_ns <= end_ns + lost->tolerance_ns && other_ns > *free_ns) {
			*free_ns = other_ns;
		}
	}
	lost->end_ns = end_ns;
	return true;
}

/*
 * Begin of an asynchronous operator, which need not be long before its end: between the two
 * operators that are its neighbours in another step; if these are not found, its usual duration
 * before its end.
 */
static int64_t async_begin(const struct fsl_lost_op *lost, const struct fsl_rank *rank)
{
	size_t k = fsl_first_op_at(rank, lost->end_ns);
	for (size_t n = 0; n < FSL_LOST_NEIGHBOURS_OPS && k > 0 && lost->like > 0 &&
			   lost->like + 1 < rank->n_ops && k < rank->n_ops;
	     n++, k--) {
		int64_t begin_ns = fsl_op_begin_ns(&rank->ops[k]);
		if (begin_ns < lost->after_ns) {
			break;
		}
		if (is_same(&rank->ops[k], &rank->ops[lost->like + 1]) &&
		    is_same(&rank->ops[k - 1], &rank->ops[lost->like - 1])) {
			int64_t usual_ns = fsl_ended_before(rank, k, begin_ns) + lost->gap_ns;
			return usual_ns < begin_ns ? usual_ns : begin_ns;
		}
	}
	return lost->end_ns - lost->dur_ns;
}

void fsl_place_lost(struct fsl_lost_op *lost, const struct fsl_rank *rank, int64_t restored_ns)
{
	int64_t free_ns = restored_ns;
	bool has_end = lost->remnant != NULL && lost->remnant->dev_end_ns != FSL_NS_ABSENT;
	bool has_begin = lost->remnant != NULL && lost->remnant->dev_begin_ns != FSL_NS_ABSENT;
	lost->end_ns = has_end ? lost->remnant->dev_end_ns : lost->end_ns;
	size_t k = fsl_first_op_at(rank, lost->end_ns - lost->tolerance_ns);
	while (k < rank->n_ops &&
	       fsl_lacks_device(&rank->ops[k], lost->op.dev_begin_ns != FSL_NS_ABSENT)) {
		k++;
	}
	if (k == 0 || k == rank->n_ops) {
		return; /* before the capture of this rank or behind it */
	}
	lost->is_placed = find_gap(lost, rank, k, &free_ns) || has_begin || lost->is_async;
	if (!lost->is_placed) {
		return;
	}
	int64_t begin_ns = lost->is_async ? async_begin(lost, rank) : begin_of(lost, free_ns);
	begin_ns = has_begin ? lost->remnant->dev_begin_ns : begin_ns;
	set_times(&lost->op, begin_ns, lost->end_ns > begin_ns ? lost->end_ns : begin_ns);
}
