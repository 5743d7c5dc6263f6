/* Which operator divides a sequence into steps that are alike. */
#include <stdlib.h>
#include <string.h>

#include "arcs/classes.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"

#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* Different tokens and how often each comes. */
struct kinds {
	struct kind {
		uint64_t token;
		size_t n;
		size_t begin; /* into places */
	} items[FSL_ARCS_KINDS_MAX];
	size_t n;
	uint32_t slots[2 * FSL_ARCS_KINDS_MAX]; /* by token; UINT32_MAX: free */
};

/* The kind of a token, added if it is new; UINT32_MAX if there are too many. */
static uint32_t kind_of(struct kinds *kinds, uint64_t token)
{
	enum { SLOTS_N = 2 * FSL_ARCS_KINDS_MAX };
	size_t at = (size_t)(token >> 32) % SLOTS_N;
	while (kinds->slots[at] != UINT32_MAX && kinds->items[kinds->slots[at]].token != token) {
		at = (at + 1) % SLOTS_N;
	}
	if (kinds->slots[at] == UINT32_MAX && kinds->n < FSL_ARCS_KINDS_MAX) {
		kinds->slots[at] = (uint32_t)kinds->n;
		kinds->items[kinds->n++] = (struct kind){.token = token};
	}
	return kinds->slots[at];
}

/* Counts the kinds of a sequence, none if there are too many; @kind_of_place: [n] or NULL. */
static void count_kinds(struct kinds *kinds, const uint64_t *tokens, size_t n,
			uint32_t *kind_of_place)
{
	kinds->n = 0;
	memset(kinds->slots, 0xff, sizeof(kinds->slots));
	for (size_t i = 0; i < n; i++) {
		uint32_t k = kind_of(kinds, tokens[i]);
		if (k == UINT32_MAX) {
			kinds->n = 0;
			return;
		}
		kinds->items[k].n++;
		if (kind_of_place != NULL) {
			kind_of_place[i] = k;
		}
	}
}

bool fsl_sequence_kinds(uint64_t *hash, size_t *n_kinds, const uint64_t *tokens, size_t n)
{
	struct fsl_arena arena = {0};
	struct kinds *kinds = fsl_arena_take(&arena, sizeof(*kinds)); /* most of it stays unused */
	*hash = 0;
	if (kinds == NULL) {
		return false;
	}
	count_kinds(kinds, tokens, n, NULL);
	*n_kinds = kinds->n > 0 || n == 0 ? kinds->n : FSL_ARCS_KINDS_MAX + 1;
	for (size_t k = 0; k < kinds->n; k++) {
		if (kinds->items[k].n > 1) {
			*hash += (kinds->items[k].token | 1) * FACTOR;
		}
	}
	fsl_arena_fini(&arena);
	return true;
}

/* A sequence, to be searched for anchors. */
struct search {
	const struct fsl_sequence *sequence;
	struct kinds kinds;
	uint32_t *kind_of_place; /* [n] */
	uint32_t *places;        /* [n], sorted by kind */
	uint64_t *hash;          /* [n + 1]: of the tokens before each place, one polynomial */
	int64_t *quiet_ns;       /* [n], scratch */
	bool is_found[FSL_ARCS_KINDS_MAX];
};

static bool search_init(struct search *search, struct fsl_arena *arena,
			const struct fsl_sequence *sequence)
{
	size_t n = sequence->n, begin = 0;
	search->sequence = sequence;
	search->kind_of_place = fsl_arena_take(arena, n * sizeof(*search->kind_of_place));
	search->places = fsl_arena_take(arena, n * sizeof(*search->places));
	search->hash = fsl_arena_take(arena, (n + 1) * sizeof(*search->hash));
	search->quiet_ns = fsl_arena_take(arena, n * sizeof(*search->quiet_ns));
	if (search->kind_of_place == NULL || search->places == NULL || search->hash == NULL ||
	    search->quiet_ns == NULL) {
		return false;
	}
	count_kinds(&search->kinds, sequence->tokens, n, search->kind_of_place);
	for (size_t k = 0; k < search->kinds.n; k++) {
		search->kinds.items[k].begin = begin;
		begin += search->kinds.items[k].n;
		search->kinds.items[k].n = 0;
	}
	search->hash[0] = 0;
	for (size_t i = 0; i < n && search->kinds.n > 0; i++) {
		struct kind *kind = &search->kinds.items[search->kind_of_place[i]];
		search->places[kind->begin + kind->n++] = (uint32_t)i;
		search->hash[i + 1] = search->hash[i] * FACTOR + sequence->tokens[i];
	}
	return true;
}

/* Hash of the tokens behind place @a up to place @b. */
static uint64_t hash_between(const struct search *search, size_t a, size_t b)
{
	uint64_t base = FACTOR, power = 1;
	for (size_t exponent = b - a; exponent > 0; exponent /= 2, base *= base) {
		power *= exponent % 2 != 0 ? base : 1;
	}
	return search->hash[b + 1] - search->hash[a + 1] * power;
}

/* Which of @n > 0 hashes most of them may be (Boyer and Moore, 1981); *n_alike: how many are. */
static size_t usual_of(const uint64_t *hashes, size_t n, size_t *n_alike)
{
	size_t best = 0, n_votes = 0;
	for (size_t i = 0; i < n; i++) {
		best = n_votes == 0 ? i : best;
		n_votes += hashes[i] == hashes[best] ? 1 : SIZE_MAX;
	}
	*n_alike = 0;
	for (size_t i = 0; i < n; i++) {
		*n_alike += hashes[i] == hashes[best];
	}
	return best;
}

/* True if the places (@begin, @end] hold every kind that comes as often as @kind. */
static bool holds_frequent(struct search *search, const struct kind *kind, size_t begin, size_t end)
{
	const struct kinds *kinds = &search->kinds;
	double least = FSL_ARCS_AS_FREQUENT * (double)kind->n;
	for (size_t k = 0; k < kinds->n; k++) {
		search->is_found[k] = (double)kinds->items[k].n < least;
	}
	for (size_t i = begin + 1; i <= end; i++) {
		search->is_found[search->kind_of_place[i]] = true;
	}
	for (size_t k = 0; k < kinds->n; k++) {
		if (!search->is_found[k]) {
			return false;
		}
	}
	return true;
}

/* True if a kind divides the sequence into steps that are alike. @hashes: scratch, n. */
static bool is_anchor(struct search *search, const struct kind *kind, uint64_t *hashes)
{
	const uint32_t *uses = search->places + kind->begin;
	/* Nothing follows the last operator. */
	size_t n = kind->n - (uses[kind->n - 1] + 1 == search->sequence->n), n_alike = 0;
	if (n < FSL_ARCS_STEPS_MIN) {
		return false;
	}
	for (size_t i = 1; i < n; i++) {
		hashes[i - 1] = hash_between(search, uses[i - 1], uses[i]);
	}
	size_t usual = usual_of(hashes, n - 1, &n_alike);
	size_t length = uses[usual + 1] - uses[usual];
	return (double)n_alike >= FSL_ARCS_ANCHOR_SHARE_MIN * (double)(n - 1) &&
	       (double)(n_alike * length) >=
		       FSL_ARCS_ANCHOR_SHARE_MIN * (double)search->sequence->n &&
	       holds_frequent(search, kind, uses[usual], uses[usual + 1]);
}

static double quiet_after(struct search *search, const struct kind *kind)
{
	for (size_t i = 0; i < kind->n; i++) {
		search->quiet_ns[i] = search->sequence->quiet_ns[search->places[kind->begin + i]];
	}
	return (double)fsl_select_i64(search->quiet_ns, kind->n, kind->n / 2) / FSL_NS_PER_MS;
}

static int compare_anchors(const void *a, const void *b)
{
	const struct fsl_anchor *x = a, *y = b;
	return FSL_ORDER(x->token, y->token);
}

bool fsl_sequence_anchors(struct fsl_anchor *anchors, size_t *n,
			  const struct fsl_sequence *sequence)
{
	struct fsl_arena arena = {0};
	struct search *search = fsl_arena_take(&arena, sizeof(*search));
	uint64_t *hashes = fsl_arena_take(&arena, sequence->n * sizeof(*hashes));
	bool is_short = search == NULL || hashes == NULL || !search_init(search, &arena, sequence);
	*n = 0;
	for (size_t k = 0; !is_short && k < search->kinds.n; k++) {
		const struct kind *kind = &search->kinds.items[k];
		if (is_anchor(search, kind, hashes)) {
			anchors[(*n)++] = (struct fsl_anchor){kind->token, kind->n,
							      quiet_after(search, kind)};
		}
	}
	fsl_arena_fini(&arena);
	qsort(anchors, *n, sizeof(*anchors), compare_anchors);
	return !is_short;
}

bool fsl_sequence_steps(struct fsl_launches *out, struct fsl_arena *arena, uint64_t token)
{
	struct fsl_arena scratch = {0};
	size_t n = 0, n_uses = 0, n_alike = 0;
	for (size_t i = 0; i < out->n_places; i++) {
		n_uses += out->tokens[i] == token;
	}
	uint32_t *uses = fsl_arena_take(&scratch, (n_uses + 1) * sizeof(*uses));
	uint64_t *hashes = fsl_arena_take(&scratch, (n_uses + 1) * sizeof(*hashes)), hash = 0;
	bool is_short = uses == NULL || hashes == NULL;
	for (size_t i = 0; i < out->n_places && !is_short; i++) {
		hash = hash * FACTOR + out->tokens[i];
		if (out->tokens[i] == token) {
			hashes[n] = hash; /* of what lies behind the use before */
			uses[n++] = (uint32_t)i;
			hash = 0;
		}
	}
	out->lack = FSL_ARCS_LACK_STEPS;
	out->n_uses = n;
	if (!is_short && n > 2) {
		size_t usual = 1 + usual_of(hashes + 1, n - 1, &n_alike);
		out->n_positions = uses[usual] - uses[usual - 1];
		out->work = hashes[usual];
		out->anchors = fsl_arena_take(arena, n_alike * sizeof(*out->anchors));
		out->numbers = fsl_arena_take(arena, n_alike * sizeof(*out->numbers));
		is_short = out->anchors == NULL || out->numbers == NULL;
		for (size_t i = 2; i < n && !is_short; i++) {
			if (hashes[i] == out->work) {
				out->numbers[out->n_steps] = (uint32_t)(i - 1);
				out->anchors[out->n_steps++] = uses[i - 1];
			}
		}
	}
	fsl_arena_fini(&scratch);
	return !is_short;
}
