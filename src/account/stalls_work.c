/* Looks at the operators of a long step: they tell other work, or a new process. */
#include <math.h>

#include "account/limits.h"
#include "account/stalls_parts.h"

/* The longest time of a step in which an operator of the first rank neither began nor ended. */
static double longest_rest_ns(const struct fsl_stalls_look *look, size_t s)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	const struct fsl_op *ops = look->facts->run->ranks[0].ops;
	int64_t last_ns = cuts->begin_ns[s], longest_ns = 0;
	for (size_t i = cuts->first_op[s]; i < cuts->first_op[s + 1]; i++) {
		int64_t begin_ns = fsl_op_begin_ns(&ops[i]), end_ns = fsl_op_end_ns(&ops[i]);
		longest_ns = fsl_stalls_larger(
			longest_ns, fsl_stalls_larger(begin_ns - last_ns, end_ns - begin_ns));
		last_ns = fsl_stalls_larger(last_ns, end_ns);
	}
	return (double)fsl_stalls_larger(longest_ns, cuts->begin_ns[s + 1] - last_ns);
}

/*
 * An evaluation is a step with more operators than others. If it has few more, as a step of many
 * micro-batches, they have to divide its time: a step that stands does so at one place.
 */
bool fsl_stalls_has_more_work(const struct fsl_stalls_look *look, int64_t step, double lost_ns)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	size_t s = fsl_steps_numbered(look->facts->steps, step);
	if (look->usual_ops <= 0.0 || s >= cuts->n_steps) {
		return false;
	}
	double n_ops = (double)(cuts->first_op[s + 1] - cuts->first_op[s]);
	return n_ops >= FSL_STALL_WORK_MIN * look->usual_ops ||
	       (n_ops > look->most_ops && longest_rest_ns(look, s) < FSL_STALL_EXPLAINED * lost_ns);
}

void fsl_stalls_set_usual_ops(struct fsl_stalls_look *look)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	size_t n = cuts != NULL && cuts->n_ranks > 0 ? cuts->n_steps : 0;
	n = n < look->n ? n : look->n;
	for (size_t s = 0; s < n; s++) {
		look->work[s] = (double)(cuts->first_op[s + 1] - cuts->first_op[s]);
	}
	if (n > 0) {
		double *scratch = look->work + look->n;
		double low = fsl_percentile(look->work, n, 25.0, scratch);
		double high = fsl_percentile(look->work, n, 75.0, scratch);
		look->usual_ops = fsl_stalls_median(look->work, n, scratch);
		look->most_ops = look->usual_ops + FSL_STALL_WORK_SPREADS * (high - low);
	}
}

/*
 * Index of the first operator of a new process in step @s of a rank, or behind the step: ids begin
 * again there, after at least @least_ns without an operator. Threads that take turns go back by a
 * few ids only. SIZE_MAX: none.
 */
static size_t ids_begin_again(const struct fsl_stalls_look *look, size_t r, size_t s,
			      double least_ns)
{
	const struct fsl_cuts *cuts = look->facts->cuts;
	const struct fsl_rank *rank = &look->facts->run->ranks[r];
	const struct fsl_op *ops = rank->ops;
	size_t begin = fsl_cuts_first(cuts, r, s), end = fsl_cuts_first(cuts, r, s + 1);
	for (size_t i = begin > 0 ? begin : 1; i <= end && i < rank->n_ops; i++) {
		uint64_t id = ops[i].id, last = ops[i - 1].id;
		double rest_ns = (double)(fsl_op_begin_ns(&ops[i]) - fsl_op_end_ns(&ops[i - 1]));
		if (rest_ns >= least_ns && last != FSL_OP_ID_RESTORED && id < last &&
		    (double)(last - id) >= look->usual_ops &&
		    (last <= ops[0].id || last - id > (last - ops[0].id) / 2)) {
			return i;
		}
	}
	return SIZE_MAX;
}

/* Index of the first operator of the first rank, or SIZE_MAX, if most ranks began again there. */
static size_t most_begin_again(const struct fsl_stalls_look *look, size_t s, double least_ns)
{
	const struct fsl_run *run = look->facts->run;
	size_t n = 0, n_again = 0;
	for (size_t r = 0; r < run->n_ranks && r < look->facts->cuts->n_ranks; r++) {
		n += run->ranks[r].n_ops > 0;
		n_again += ids_begin_again(look, r, s, least_ns) != SIZE_MAX;
	}
	return 2 * n_again > n ? ids_begin_again(look, 0, s, least_ns) : SIZE_MAX;
}

/* Markers have no step numbers. A long step in which the ids of most ranks begin again holds a
 * restart, and from here on it is as long as usual. */
void fsl_stalls_find_restarts(struct fsl_stalls_look *look)
{
	const struct fsl_case *facts = look->facts;
	for (size_t i = 0; i < look->n && look->usual_ops > 0.0; i++) {
		const struct fsl_job_step *item = &look->progress->steps.items[i];
		double lost_ns = (look->step_ms[i] - look->level_ms[i]) * FSL_NS_PER_MS;
		size_t s = fsl_steps_numbered(facts->steps, item->step), first = SIZE_MAX;
		if (look->excess[i] > log1p(FSL_STALL_SHARE_MIN) && s < facts->cuts->n_steps &&
		    item->dur_ns <= FSL_STALL_NS_MAX) {
			first = most_begin_again(look, s, FSL_STALL_EXPLAINED * lost_ns);
		}
		if (first == SIZE_MAX) {
			continue;
		}
		const struct fsl_op *op = &facts->run->ranks[0].ops[first];
		size_t behind = i + (first >= facts->cuts->first_op[s + 1] && i + 1 < look->n);
		look->found[look->n_found++] =
			(struct fsl_stall){.phase = FSL_STALL_RESTART,
					   .step = look->progress->steps.items[behind].step,
					   .last_step = look->progress->steps.items[behind].step,
					   .before_step = item->step,
					   .begin_ns = fsl_op_end_ns(op - 1),
					   .end_ns = fsl_op_begin_ns(op),
					   .n_times = 1,
					   .every_steps = -1,
					   .lost_ns = (int64_t)lost_ns,
					   .most_ns = (int64_t)lost_ns};
		look->step_ms[i] = look->level_ms[i];
		look->gap_ns[behind] = fsl_sum_i64(look->gap_ns[behind], (int64_t)lost_ns);
	}
}
