/*
 * Arrival arcs: every operator begins when the latest of a few earlier events plus a fixed time has
 * passed (max-plus); only what these do not explain is the rank's own work. An end that a rank
 * waited for explains its arrival, so that waiting is never taken for work, and nothing has to be
 * told apart into asynchronous and synchronous. docs/users/algorithms.md has the rule.
 */
#ifndef FSL_ARCS_ARCS_H
#define FSL_ARCS_ARCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "arcs/limits.h"
#include "base/mem.h"
#include "base/number.h"

/*
 * Ranks that do the same work in every step, as samples: a step is @n_positions operators behind an
 * anchor. Positions count from 0; place 0 of a step is the anchor, place k + 1 is position k.
 */
struct fsl_arcs_class {
	size_t n_ranks, n_positions, n_steps;
	/* [member * n_steps + step]: the member was seen whole in the step; NULL: all were. */
	const uint8_t *is_seen;
	const uint32_t *numbers; /* [step], ascending, as steps of other work lie between them */
	/*
	 * Writes the begins and ends, ns on the common clock, of one member in @n seen steps:
	 * [place * n + i], (n_positions + 1) * n values each.
	 */
	void (*fill)(const void *source, size_t member, const uint32_t *steps, size_t n,
		     int64_t *begin_ns, int64_t *end_ns);
	/* Writes when the host had launched the operators of one seen step of a member, ns on the
	 * common clock: [place]; FSL_NS_ABSENT: not known. */
	void (*fill_launches)(const void *source, size_t member, uint32_t step, int64_t *launch_ns);
	const void *source; /* borrowed */
};

static inline bool fsl_arcs_is_seen(const struct fsl_arcs_class *class, size_t member, size_t step)
{
	return class->is_seen == NULL || class->is_seen[member * class->n_steps + step] != 0;
}

/* Candidates of one position: ends of the operators 1, 2, .. before it, then own begins. */
enum { FSL_ARCS_CANDIDATES_N = FSL_ARCS_ENDS_BACK + FSL_ARCS_BEGINS_BACK };

/*
 * Finds the arcs of a class: how soon after each candidate any of its ranks ever arrives. Of each
 * rank the 10 % quantile over the steps, with few of them the least; of these the least over the
 * ranks, as only the slowest rank does not wait. @arcs_ns: [position * FSL_ARCS_CANDIDATES_N +
 * candidate], INT64_MAX if no rank was seen. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_arcs_build(int64_t *arcs_ns, const struct fsl_arcs_class *class,
			       struct fsl_error *err);

/*
 * Own work of one member at position @k in @n steps, ns: its arrival behind what the arcs explain.
 * @begin_ns, @end_ns: as filled.
 */
void fsl_arcs_explain(int64_t *own_ns, const int64_t *arcs_ns, size_t k, const int64_t *begin_ns,
		      const int64_t *end_ns, size_t n);

/* Sums over the positions of a step, ms, for each step of a class; all in one arena. */
struct fsl_arcs_sums {
	/* [member * n_steps + step], less the level of the class: own work; and the part of it by
	 * which the rank was late too, which the other ranks had to wait for. 0 if not seen. */
	double *excess_ms, *costly_ms;
	double *dur_ms; /* [step], from anchor to anchor; the median of the ranks */
	double step_ms; /* median step */
};
enum fsl_status fsl_arcs_sum(struct fsl_arcs_sums *out, struct fsl_arena *arena,
			     const struct fsl_arcs_class *class, const int64_t *arcs_ns,
			     struct fsl_error *err);

enum fsl_arcs_word {
	FSL_ARCS_UNTOLD, /* it could not be judged */
	FSL_ARCS_INNOCENT,
	FSL_ARCS_LASTING, /* slow to the end of the capture */
	FSL_ARCS_COMES,   /* slow again and again, or until it healed */
	FSL_ARCS_RECURS,  /* slow in every so many steps to the end of the capture */
	FSL_ARCS_HOST,    /* slow with all ranks of its host */
};
static inline bool fsl_arcs_is_slow(enum fsl_arcs_word word)
{
	return word >= FSL_ARCS_LASTING;
}

/* Shares of the step. */
struct fsl_arcs_verdict {
	enum fsl_arcs_word word;
	double cost;   /* own work that the others waited for, over the steps from @onset */
	double excess; /* own work beyond the class */
	double z;      /* sigmas from the class; NaN: not by its level */
	size_t onset;  /* step of the class */
	size_t every;  /* steps from one slow one to the next; else 0 */
};

/* True if the step has one of the numbers from that of the onset on, every so many. */
static inline bool fsl_arcs_recurs_at(const struct fsl_arcs_verdict *verdict,
				      const uint32_t *numbers, size_t step)
{
	return step >= verdict->onset &&
	       (numbers[step] - numbers[verdict->onset]) % verdict->every == 0;
}

/* A class and what is known about the hosts of its members, to be judged. */
struct fsl_arcs_case {
	size_t n_ranks, n_steps;
	struct fsl_arcs_sums sums;
	const uint32_t *host_of;           /* [member]: the first member of its host */
	const int64_t *arcs_ns;            /* for fsl_arcs_ask() */
	const uint32_t *numbers;           /* [step], as of the class */
	struct fsl_arcs_verdict *verdicts; /* [member]; written */
};
/* Names the member that the others wait for in every so many steps, if one does by more than chance
 * and at a cost. False: out of memory. */
bool fsl_arcs_name_rhythm(struct fsl_arcs_case *c, struct fsl_arena *arena);
/* Judges all members of all classes of at least FSL_ARCS_STEPS_MIN steps. FSL_ERR_MEMORY only. */
enum fsl_status fsl_arcs_decide(struct fsl_arcs_case *cases, size_t n_cases, struct fsl_error *err);

/* Shares of the own work of a slow rank that its peers waited for. */
struct fsl_arcs_clues {
	double head_share; /* before the first operator of the step */
	double host_share; /* before the host launched the operator behind it; NaN: not known */
};
/*
 * Asks a member how it spends its work in the steps in which @costly_ms, [n_steps], is above
 * @least_ms. An operator that begins as it is launched tells that the device waited for the host;
 * one that was launched long before, that the device was at work. False: out of memory.
 */
bool fsl_arcs_ask(struct fsl_arcs_clues *out, const struct fsl_arcs_class *class,
		  const int64_t *arcs_ns, const double *costly_ms, size_t member, double least_ms);

#endif
