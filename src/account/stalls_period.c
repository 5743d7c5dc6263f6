/* Joins stalls that recur every so many steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/limits.h"
#include "account/stalls_parts.h"
#include "base/sort.h"

enum { PERIODS_MAX = 32 };

static int compare_phase(const void *left, const void *right)
{
	const struct fsl_stall *a = left, *b = right;
	FSL_ORDER_BY((int)a->phase, (int)b->phase);
	return FSL_ORDER(a->step, b->step);
}

/* Stalls of one phase at one distance. */
struct rhythm {
	int64_t every, place;
	size_t n;        /* that are alike */
	double usual_ns; /* median cost of those on the places */
};

static bool is_on_place(const struct rhythm *rhythm, const struct fsl_stall *stall)
{
	return stall->step % rhythm->every == rhythm->place;
}

/* True if @stall is much longer than those of the rhythm, on a place of it or not: one of its own.
 */
static bool is_other(const struct rhythm *rhythm, double lost_ns)
{
	return lost_ns > FSL_STALL_ALIKE_MAX * rhythm->usual_ns;
}

/* Sets the median cost of the stalls on the places of @rhythm, and how many are alike. Returns how
 * many there are. */
static size_t weigh(const struct fsl_stalls_look *look, struct rhythm *rhythm,
		    const struct fsl_stall *stalls, size_t n)
{
	size_t n_on_place = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_on_place(rhythm, &stalls[i])) {
			look->work[n_on_place++] = (double)stalls[i].lost_ns;
		}
	}
	rhythm->usual_ns = fsl_stalls_median(look->work, n_on_place, look->work + look->n);
	for (size_t i = 0; i < n_on_place; i++) {
		rhythm->n += !is_other(rhythm, look->work[i]);
	}
	return n_on_place;
}

/* True if most of what the stalls cost lies on the places, and most places hold one. A long stall
 * neither makes a period nor hides one: it counts as if it were as long as those on the places. */
static bool is_periodic(const struct rhythm *rhythm, size_t n_on_place,
			const struct fsl_stall *stalls, size_t n)
{
	int64_t first = -1, last = -1;
	double on_ns = 0.0, off_ns = 0.0;
	for (size_t i = 0; i < n; i++) {
		double lost_ns = (double)stalls[i].lost_ns;
		if (is_on_place(rhythm, &stalls[i])) {
			first = first < 0 ? stalls[i].step : first;
			last = stalls[i].step;
			on_ns += is_other(rhythm, lost_ns) ? rhythm->usual_ns : lost_ns;
		} else {
			off_ns += fmin(lost_ns, rhythm->usual_ns);
		}
	}
	double n_places = (double)((last - first) / rhythm->every + 1);
	return rhythm->n >= FSL_STALL_PERIODIC_MIN &&
	       on_ns >= FSL_STALL_ON_PLACE_MIN * (on_ns + off_ns) &&
	       (double)n_on_place >= FSL_STALL_OCCUPIED_MIN * n_places;
}

/* How many stalls lie at a distance, from the place that holds most of them. */
static struct rhythm rhythm_of(const struct fsl_stalls_look *look, const struct fsl_stall *stalls,
			       size_t n, int64_t every)
{
	struct rhythm best = {.every = every};
	for (size_t k = 0; k < n && k < FSL_STALL_PERIODIC_MIN; k++) {
		struct rhythm rhythm = {.every = every, .place = stalls[k].step % every};
		size_t n_on_place = weigh(look, &rhythm, stalls, n);
		bool is_better = rhythm.n > best.n && is_periodic(&rhythm, n_on_place, stalls, n);
		best = is_better ? rhythm : best;
	}
	return best;
}

static struct rhythm find_rhythm(const struct fsl_stalls_look *look, const struct fsl_stall *stalls,
				 size_t n)
{
	struct rhythm best = {.n = 0};
	int64_t tried[PERIODS_MAX];
	size_t n_tried = 0;
	/* To the next one and, if a stray lies between, to the one behind. */
	for (size_t i = 2; i < 2 * n && n_tried < PERIODS_MAX; i++) {
		size_t lag = 1 + i % 2;
		int64_t every = i / 2 >= lag ? stalls[i / 2].step - stalls[i / 2 - lag].step : 0;
		bool is_new = every >= 2;
		for (size_t k = 0; k < n_tried && is_new; k++) {
			is_new = tried[k] != every;
		}
		if (is_new) {
			tried[n_tried++] = every;
			struct rhythm rhythm = rhythm_of(look, stalls, n, every);
			bool is_better = rhythm.n > best.n ||
					 (rhythm.n == best.n && rhythm.every > best.every);
			best = rhythm.n > 0 && is_better ? rhythm : best;
		}
	}
	return best;
}

/* Up to the usual length a much longer stall is one of the rhythm. Beyond, it is one of its own,
 * and no evaluation. */
static void split(struct fsl_stalls_look *look, const struct rhythm *rhythm,
		  struct fsl_stall *stall)
{
	struct fsl_stall rest = *stall;
	if (!is_other(rhythm, (double)stall->lost_ns) || look->n_found >= 2 * look->n) {
		return;
	}
	stall->lost_ns = stall->most_ns = (int64_t)rhythm->usual_ns;
	rest.lost_ns = rest.most_ns = rest.lost_ns - stall->lost_ns;
	rest.phase = rest.phase == FSL_STALL_EVALUATION ? FSL_STALL_UNKNOWN : rest.phase;
	look->found[look->n_found++] = rest;
}

/* Adds the next one to a rhythm. */
static void add_to(struct fsl_stall *joined, const struct fsl_stall *stall)
{
	joined->n_times++;
	joined->lost_ns += stall->lost_ns;
	joined->most_ns = fsl_stalls_larger(joined->most_ns, stall->most_ns);
	joined->last_step = stall->last_step;
	joined->end_ns = stall->end_ns;
}

/* Joins what lies at one distance to the first of it; returns how many stalls are left. */
static size_t join(struct fsl_stalls_look *look, struct fsl_stall *stalls, size_t n)
{
	struct rhythm rhythm = find_rhythm(look, stalls, n);
	struct fsl_stall *joined = NULL;
	size_t n_left = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_of_it = rhythm.n > 0 && is_on_place(&rhythm, &stalls[i]);
		if (is_of_it) {
			split(look, &rhythm, &stalls[i]);
		}
		if (is_of_it && joined != NULL) {
			add_to(joined, &stalls[i]);
			continue;
		}
		stalls[n_left] = stalls[i];
		if (is_of_it) {
			joined = &stalls[n_left];
			joined->every_steps = rhythm.every;
		}
		n_left++;
	}
	return n_left;
}

/* Joins stalls of each phase; restarts and warm-ups stay as they are. What join() splits off comes
 * behind all others. */
void fsl_stalls_join(struct fsl_stalls_look *look)
{
	size_t n_left = 0;
	qsort(look->found, look->n_found, sizeof(*look->found), compare_phase);
	for (size_t begin = 0, end; begin < look->n_found; begin = end) {
		enum fsl_stall_phase phase = look->found[begin].phase;
		for (end = begin; end < look->n_found && look->found[end].phase == phase; end++) {
		}
		bool is_single = phase == FSL_STALL_RESTART || phase == FSL_STALL_WARM_UP;
		size_t n = is_single ? end - begin : join(look, look->found + begin, end - begin);
		memmove(look->found + n_left, look->found + begin, n * sizeof(*look->found));
		n_left += n;
	}
	look->n_found = n_left;
}
