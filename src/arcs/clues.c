/* How a slow rank spends its work: at the head of the step, or before its host launched it. */
#include <math.h>
#include <string.h>

#include "arcs/arcs.h"
#include "base/log.h"
#include "base/sort.h"

/* One step of the member and of a few peers. */
struct page {
	int64_t *begin_ns, *end_ns, *launch_ns; /* of the member: [place] */
	int64_t *peers_ns, *scratch_ns;         /* begins: [peer * n_places + place] */
	size_t n_places, n_peers;
};

static bool page_init(struct page *page, struct fsl_arena *arena,
		      const struct fsl_arcs_class *class)
{
	size_t n = class->n_positions + 1;
	int64_t *rows = NULL;
	if (FSL_ARCS_CLUE_PEERS_MAX + 4 <= SIZE_MAX / sizeof(*rows) / n) {
		rows = fsl_arena_take(arena, (FSL_ARCS_CLUE_PEERS_MAX + 4) * n * sizeof(*rows));
	}
	*page = (struct page){rows, rows + n, rows + 2 * n, rows + 4 * n, rows + 3 * n, n, 0};
	return rows != NULL;
}

/* True if the class saw the member and a peer in the step. */
static bool page_fill(struct page *page, const struct fsl_arcs_class *class, size_t member,
		      uint32_t step)
{
	size_t stride = class->n_ranks / FSL_ARCS_CLUE_PEERS_MAX + 1;
	page->n_peers = 0;
	if (!fsl_arcs_is_seen(class, member, step)) {
		return false;
	}
	class->fill(class->source, member, &step, 1, page->begin_ns, page->end_ns);
	class->fill_launches(class->source, member, step, page->launch_ns);
	for (size_t m = 0; m < class->n_ranks; m += stride) {
		if (m != member && fsl_arcs_is_seen(class, m, step)) {
			class->fill(class->source, m, &step, 1,
				    page->peers_ns + page->n_peers++ * page->n_places,
				    page->scratch_ns);
		}
	}
	return page->n_peers > 0;
}

/* How much later than its peers the member begins at a place, ns. */
static int64_t lateness_ns(const struct page *page, size_t place)
{
	int64_t values[FSL_ARCS_CLUE_PEERS_MAX];
	for (size_t i = 0; i < page->n_peers; i++) {
		values[i] = page->peers_ns[i * page->n_places + place];
	}
	return page->begin_ns[place] - fsl_select_i64(values, page->n_peers, page->n_peers / 2);
}

/* Costly work of a member, ns: all of it, before the first operator, and before the launch of the
 * operator behind it. */
struct sums {
	int64_t all_ns, head_ns, host_ns, told_ns;
};

static void add_page(struct sums *sums, const struct page *page, const int64_t *arcs_ns)
{
	for (size_t k = 0; k + 1 < page->n_places; k++) {
		int64_t own_ns = 0, late_ns = lateness_ns(page, k + 1);
		fsl_arcs_explain(&own_ns, arcs_ns, k, page->begin_ns, page->end_ns, 1);
		own_ns = own_ns < late_ns ? own_ns : late_ns;
		if (own_ns <= 0) {
			continue;
		}
		sums->all_ns += own_ns;
		sums->head_ns += k == 0 ? own_ns : 0;
		if (page->launch_ns[k + 1] != FSL_NS_ABSENT) {
			double queued_ns = (double)(page->begin_ns[k + 1] - page->launch_ns[k + 1]);
			bool is_fed = queued_ns >= FSL_ARCS_CLUE_QUEUE_SHARE * (double)own_ns;
			sums->told_ns += own_ns;
			sums->host_ns += is_fed ? 0 : own_ns;
		}
	}
}

bool fsl_arcs_ask(struct fsl_arcs_clues *out, const struct fsl_arcs_class *class,
		  const int64_t *arcs_ns, const double *costly_ms, size_t member, double least_ms)
{
	struct fsl_arena arena = {0};
	struct sums sums = {0};
	struct page page;
	size_t n_high = 0, n_seen = 0;
	bool is_made = page_init(&page, &arena, class);
	for (size_t s = 0; s < class->n_steps; s++) {
		n_high += costly_ms[s] > least_ms;
	}
	size_t stride = n_high / FSL_ARCS_CLUE_STEPS_MAX + 1;
	for (size_t s = 0; s < class->n_steps && is_made; s++) {
		bool is_asked = costly_ms[s] > least_ms && n_seen++ % stride == 0;
		if (is_asked && page_fill(&page, class, member, (uint32_t)s)) {
			add_page(&sums, &page, arcs_ns);
		}
	}
	fsl_arena_fini(&arena);
	bool is_told = sums.all_ns > 0 && 2 * sums.told_ns >= sums.all_ns;
	out->head_share = sums.all_ns > 0 ? (double)sums.head_ns / (double)sums.all_ns : NAN;
	out->host_share = is_told ? (double)sums.host_ns / (double)sums.told_ns : NAN;
	return is_made;
}
