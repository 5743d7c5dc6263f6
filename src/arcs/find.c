/* From a run to what its arrival arcs say: classes, arcs, sums, decision. */
#include "arcs/find.h"

#include <math.h>
#include <string.h>

#include "arcs/classes.h"
#include "base/log.h"
#include "base/try.h"

static const char *text_of(enum fsl_arcs_lack lack)
{
	switch (lack) {
	case FSL_ARCS_LACK_NOTHING:
		return NULL;
	case FSL_ARCS_LACK_ANCHOR:
		return "no operator divides its work into steps that are alike";
	case FSL_ARCS_LACK_RANKS:
		return "fewer than two other ranks do the same work";
	case FSL_ARCS_LACK_STEPS:
		return "too few steps are alike";
	}
	return NULL;
}

/* Numbers of the hosts of a class. False: out of memory. */
static bool number_hosts(struct fsl_arcs_case *c, struct fsl_arena *arena,
			 const struct fsl_equals *equals)
{
	const struct fsl_rank *ranks = equals->run->ranks;
	uint32_t *host_of = fsl_arena_take(arena, c->n_ranks * sizeof(*host_of));
	for (size_t m = 0; m < c->n_ranks && host_of != NULL; m++) {
		const char *host = ranks[equals->ranks[m]].server_ip;
		/* Ranks of a host mostly stand side by side. */
		bool is_last = m > 0 && strcmp(host, ranks[equals->ranks[m - 1]].server_ip) == 0;
		size_t k = is_last ? m - 1 : 0;
		while (k < m && strcmp(host, ranks[equals->ranks[k]].server_ip) != 0) {
			k++;
		}
		host_of[m] = k < m ? host_of[k] : (uint32_t)m;
	}
	c->host_of = host_of;
	return host_of != NULL;
}

static enum fsl_status measure(struct fsl_arcs_case *c, struct fsl_arcs *out,
			       struct fsl_arena *scratch, const struct fsl_equals *equals,
			       struct fsl_error *err)
{
	const struct fsl_arcs_class *class = &equals->class;
	size_t n_arcs = 0;
	int64_t *arcs_ns = NULL;
	if (fsl_mul_size(class->n_positions, FSL_ARCS_CANDIDATES_N * sizeof(*arcs_ns), &n_arcs)) {
		arcs_ns = fsl_arena_take(scratch, n_arcs);
	}
	*c = (struct fsl_arcs_case){
		.n_ranks = class->n_ranks, .n_steps = class->n_steps, .numbers = class->numbers};
	c->verdicts = fsl_arena_take(scratch, class->n_ranks * sizeof(*c->verdicts));
	if (arcs_ns == NULL || c->verdicts == NULL || !number_hosts(c, scratch, equals)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", class->n_ranks);
	}
	c->arcs_ns = arcs_ns;
	FSL_TRY(fsl_arcs_build(arcs_ns, class, err));
	return fsl_arcs_sum(&c->sums, &out->arena, class, arcs_ns, err);
}

static enum fsl_status ask(struct fsl_arcs_rank *rank, const struct fsl_arcs_case *c,
			   const struct fsl_equals *equals, size_t member, struct fsl_error *err)
{
	/* The cost of a rank that recurs is a mean over all steps; its slow steps cost more. */
	double cost =
		rank->verdict.word == FSL_ARCS_RECURS ? rank->verdict.excess : rank->verdict.cost;
	double least_ms = FSL_ARCS_COST_PART * cost * rank->step_ms;
	if (fsl_arcs_is_slow(rank->verdict.word) &&
	    !fsl_arcs_ask(&rank->clues, &equals->class, c->arcs_ns, rank->costly_ms, member,
			  least_ms)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", c->n_steps);
	}
	return FSL_OK;
}

static enum fsl_status tell(struct fsl_arcs *out, const struct fsl_arcs_case *c,
			    const struct fsl_equals *equals, struct fsl_error *err)
{
	size_t n_bytes = c->n_steps * sizeof(*equals->begin_ns);
	int64_t *begin_ns = fsl_arena_take(&out->arena, n_bytes);
	uint32_t *numbers = fsl_arena_take(&out->arena, c->n_steps * sizeof(*numbers));
	if (begin_ns == NULL || numbers == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", c->n_steps);
	}
	memcpy(begin_ns, equals->begin_ns, n_bytes);
	memcpy(numbers, equals->numbers, c->n_steps * sizeof(*numbers));
	for (size_t m = 0; m < c->n_ranks; m++) {
		out->ranks[equals->ranks[m]] =
			(struct fsl_arcs_rank){.verdict = c->verdicts[m],
					       .step_ms = c->sums.step_ms,
					       .first_rank = equals->ranks[0],
					       .n_steps = c->n_steps,
					       .begin_ns = begin_ns,
					       .numbers = numbers,
					       .excess_ms = c->sums.excess_ms + m * c->n_steps,
					       .costly_ms = c->sums.costly_ms + m * c->n_steps,
					       .dur_ms = c->sums.dur_ms};
		FSL_TRY(ask(&out->ranks[equals->ranks[m]], c, equals, m, err));
		out->n_judged++;
		out->n_slow += fsl_arcs_is_slow(c->verdicts[m].word);
		fsl_log(FSL_LOG_DEBUG, "arcs",
			"rank judged: rank=%d, word=%d, cost=%.4f, excess=%.4f, z=%.1f, onset=%zu, "
			"head=%.2f, host=%.2f",
			(int)equals->run->ranks[equals->ranks[m]].rank, (int)c->verdicts[m].word,
			c->verdicts[m].cost, c->verdicts[m].excess, c->verdicts[m].z,
			c->verdicts[m].onset, out->ranks[equals->ranks[m]].clues.head_share,
			out->ranks[equals->ranks[m]].clues.host_share);
	}
	return FSL_OK;
}

static enum fsl_status judge(struct fsl_arcs *out, const struct fsl_classes *classes,
			     struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_arcs_case *cases =
		fsl_arena_alloc(&scratch, (classes->n_items + 1) * sizeof(*cases));
	enum fsl_status status =
		cases != NULL ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: classes");
	for (size_t i = 0; i < classes->n_items && status == FSL_OK; i++) {
		status = measure(&cases[i], out, &scratch, &classes->items[i], err);
	}
	if (status == FSL_OK) {
		status = fsl_arcs_decide(cases, classes->n_items, err);
	}
	for (size_t i = 0; i < classes->n_items && status == FSL_OK; i++) {
		status = tell(out, &cases[i], &classes->items[i], err);
	}
	for (size_t r = 0; r < out->n_ranks && status == FSL_OK; r++) {
		out->ranks[r].lack = text_of(classes->launches[r].lack);
	}
	fsl_arena_fini(&scratch);
	return status;
}

/* Classes by size of the operators, unless sizes differ in every step. */
static enum fsl_status find_classes(struct fsl_classes *out, const struct fsl_run *run,
				    const struct fsl_topology *topology, const int64_t *clock_ns,
				    struct fsl_error *err)
{
	struct fsl_classes plain;
	FSL_TRY(fsl_classes_find(out, run, topology, clock_ns, true, err));
	if (out->n_items > 0) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_classes_find(&plain, run, topology, clock_ns, false, err);
	bool is_free = status == FSL_OK && out->n_kinds >= FSL_ARCS_SIZES_FREE * plain.n_kinds;
	if (is_free || status != FSL_OK) {
		fsl_classes_fini(out);
		*out = plain;
	} else {
		fsl_classes_fini(&plain);
	}
	return status;
}

enum fsl_status fsl_arcs_find(struct fsl_arcs *out, const struct fsl_run *run,
			      const struct fsl_topology *topology, const int64_t *clock_ns,
			      struct fsl_error *err)
{
	struct fsl_classes classes = {0};
	*out = (struct fsl_arcs){.n_ranks = run->n_ranks};
	out->ranks = fsl_arena_alloc(&out->arena, (run->n_ranks + 1) * sizeof(*out->ranks));
	enum fsl_status status =
		out->ranks != NULL
			? find_classes(&classes, run, topology, clock_ns, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", run->n_ranks);
	if (status == FSL_OK) {
		status = judge(out, &classes, err);
	}
	fsl_classes_fini(&classes);
	if (status != FSL_OK) {
		fsl_arcs_fini(out);
	}
	return status;
}

void fsl_arcs_fini(struct fsl_arcs *arcs)
{
	fsl_arena_fini(&arcs->arena);
	*arcs = (struct fsl_arcs){0};
}
