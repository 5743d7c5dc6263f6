/*
 * The compute layer: kernels that are slower on one rank than on its peers, operators that run
 * where they should not, shapes that change, and what takes most of the time.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "blame/capture_places.h"
#include "blame/kernel_peers.h"
#include "blame/limits.h"
#include "blame/operator_types.h"
#include "capture/source_words.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "text/phrase.h"

enum {
	TYPES_TOLD_MAX = 5,
	LINES_MAX = 20,
	SHAPE_CHARACTERS_MAX = 48,
};

/* "MatMulV2 4096,1024;1024,1024", cut where shapes are many. */
static void add_kernel(struct fsl_phrase *phrase, const struct fsl_profile_rank *rank,
		       const struct fsl_kernel_peers *peers)
{
	const char *shape = fsl_strpool_text(rank->names, peers->shape_id);
	int length = (int)strcspn(shape, "|");
	bool is_cut = length > SHAPE_CHARACTERS_MAX;
	fsl_phrase_add(phrase, "%s", fsl_strpool_text(rank->names, peers->type_id));
	if (length > 0) {
		fsl_phrase_add(phrase, " [%.*s%s]", is_cut ? SHAPE_CHARACTERS_MAX : length, shape,
			       is_cut ? "..." : "");
	}
}

/* Without it the others are as fast as on the peers: it is the kernel, or the type of operator in
 * all its shapes, rather than the device. */
static bool is_one(const struct fsl_kernel_peers *peers, double ms, double excess_ms)
{
	double rest_ms = peers->compared_ms - ms;
	return peers->excess_ms - excess_ms <= FSL_KERNELS_MORE_MIN * rest_ms;
}

static const char *advise_slow(const struct fsl_kernel_peers *peers)
{
	if (is_one(peers, peers->top_count * peers->top_mean_ms, peers->top_excess_ms)) {
		return "one kernel is slower and the others are not: compare its input (values, "
		       "layout, alignment) and its core with the peers'";
	}
	if (is_one(peers, peers->top_type_ms, peers->top_type_excess_ms)) {
		return "one type of operator is slower in all its shapes and the others are not: "
		       "compare its build, its core and the values of its inputs with the peers', "
		       "and test the device with it alone";
	}
	return "all kernels are slower: check clock, temperature, power limit and ECC errors of "
	       "this device, and what else runs on it";
}

static enum fsl_status tell_slow(struct fsl_profile_findings *findings,
				 const struct fsl_profile_rank *rank,
				 const struct fsl_kernel_peers *peers, struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_SLOW_KERNELS);
	struct fsl_phrase what = {0};
	double usual_ms = peers->compared_ms - peers->excess_ms;
	fsl_phrase_add(&what, "rank %d: the same kernels take ", (int)rank->rank);
	fsl_phrase_add_ms(&what, peers->excess_ms);
	fsl_phrase_add(&what, " per step (");
	fsl_phrase_add_percent(&what, peers->excess_ms / usual_ms);
	fsl_phrase_add(&what, ") longer than on its peers; most of it ");
	fsl_phrase_add_ms(&what, peers->top_excess_ms);
	fsl_phrase_add(&what, " in %.0f calls of ", peers->top_count);
	add_kernel(&what, rank, peers);
	fsl_phrase_add(&what, ", %.0f us each instead of %.0f us", 1000.0 * peers->top_mean_ms,
		       1000.0 * peers->top_peers_ms);
	finding.rank = rank->rank;
	finding.gain_ms = peers->excess_ms;
	finding.what = what.text;
	finding.advice = advise_slow(peers);
	(void)fsl_profile_finding_add_fact(&finding, "excess", peers->excess_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "compared", peers->compared_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "slow_ratio", peers->compared_ms / usual_ms,
					   "ratio");
	(void)fsl_profile_finding_add_fact(&finding, "top_excess", peers->top_excess_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "top_call", peers->top_mean_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "top_call_of_peers", peers->top_peers_ms,
					   "ms");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Ranks whose table of kernels is an excerpt: nothing is told by its kernels. */
static enum fsl_status miss_whole_tables(struct fsl_profile_findings *findings,
					 const struct fsl_profile *profile, struct fsl_error *err)
{
	int32_t *ranks = fsl_calloc(profile->n_ranks + 1, sizeof(*ranks));
	size_t n = 0;
	if (ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", profile->n_ranks);
	}
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (fsl_operator_types_are_cut(&profile->ranks[r])) {
			ranks[n++] = profile->ranks[r].rank;
		}
	}
	enum fsl_status status = fsl_profile_findings_miss_ranks(
		findings, ranks, n,
		"single kernels and the gaps between them: the table of kernels holds less than "
		"half of what the rank computes (a cut file); sums of op_statistic.csv are used "
		"instead, if they are there",
		err);
	fsl_free(ranks);
	return status;
}

/* Ranks that have kernels and nobody to compare them with. */
static enum fsl_status miss_peers(struct fsl_profile_findings *findings,
				  const struct fsl_profile *profile,
				  const struct fsl_kernel_peers *peers, int32_t *ranks,
				  struct fsl_error *err)
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (!(peers[r].compared_ms > 0.0)) {
			ranks[n++] = profile->ranks[r].rank;
		}
	}
	return fsl_profile_findings_miss_ranks(findings, ranks, n,
					       fsl_profile_source_words(profile)->kernels, err);
}

static enum fsl_status judge_peers(struct fsl_profile_findings *findings,
				   const struct fsl_profile_case *facts, struct fsl_error *err)
{
	const struct fsl_profile *profile = facts->profile;
	const struct fsl_kernels_job job = {.profile = profile,
					    .cluster = facts->cluster,
					    .places = facts->places != NULL ? &facts->places->places
									    : NULL,
					    .look = facts->look};
	size_t n = profile->n_ranks;
	struct fsl_kernel_peers *peers = fsl_calloc(n + 1, sizeof(*peers));
	int32_t *ranks = fsl_calloc(n + 1, sizeof(*ranks));
	enum fsl_status status =
		peers != NULL && ranks != NULL
			? fsl_kernel_peers_compare(peers, &job, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	for (size_t r = 0; r < n && status == FSL_OK; r++) {
		if (peers[r].is_slow) {
			status = tell_slow(findings, &profile->ranks[r], &peers[r], err);
		}
	}
	if (status == FSL_OK) {
		status = miss_peers(findings, profile, peers, ranks, err);
	}
	fsl_free(ranks);
	fsl_free(peers);
	return status;
}

/* The longest types with all their numbers. */
static size_t list_types(struct fsl_profile_line *lines, const struct fsl_operator_types *types)
{
	size_t n = types->n_items < LINES_MAX ? types->n_items : LINES_MAX;
	double n_ranks = (double)types->n_ranks;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_operator_type *type = &types->items[i];
		lines[i] = (struct fsl_profile_line){"operatorType", type->name, type->ms / n_ranks,
						     type->count / n_ranks, type->ms / types->ms};
	}
	return n;
}

static const struct {
	const char *name, *advice; /* if the first type is bound by it */
} bounds[FSL_BOUNDS_N] = {
	[FSL_PIPE_CUBE] = {"cube",
			   "the first does what the cores can do: only less work shortens it"},
	[FSL_PIPE_VECTOR] = {"vector",
			     "the first does what the cores can do: only less work shortens it"},
	[FSL_PIPE_SCALAR] = {"scalar",
			     "the first is bound by scalar work: vector operations in "
			     "place of loops, larger blocks, shapes known at compile time"},
	[FSL_PIPE_READ] = {"reading", "the first is bound by reading memory (mte2): fuse it with "
				      "its neighbours, larger tiles, formats without conversion"},
	[FSL_PIPE_WRITE] = {"writing", "the first is bound by writing memory: fuse it with its "
				       "neighbours, larger tiles"},
	[FSL_BOUND_BLOCKS] = {"cores",
			      "the first uses few of the device's cores: larger shapes, or "
			      "another split of the work (tiling)"},
};

/* " (scalar 99 %)", " (8 of 48 cores)" */
static void add_bound(struct fsl_phrase *list, const struct fsl_operator_type *type)
{
	size_t bound = type->bound;
	if (bound == FSL_BOUND_BLOCKS) {
		fsl_phrase_add(list, " (%.0f of %.0f cores)",
			       ceil(type->blocks_ms / type->placed_ms),
			       type->cores_ms / type->placed_ms);
	} else if (bound < FSL_BOUNDS_N) {
		fsl_phrase_add(list, " (%s ", bounds[bound].name);
		fsl_phrase_add_percent(list, type->pipe_ms[bound] / type->ms);
		fsl_phrase_add(list, ")");
	}
}

/* Tells the operators that take most time: no fault, but tuning them pays most. */
static enum fsl_status tell_top(struct fsl_profile_findings *findings,
				const struct fsl_operator_types *types, struct fsl_error *err)
{
	static const char *const places[TYPES_TOLD_MAX] = {"first", "second", "third", "fourth",
							   "fifth"};
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_TOP_OPERATORS);
	finding.is_overview = true;
	struct fsl_phrase list = {0}, what = {0};
	double sum_ms = 0.0;
	size_t n = types->n_items < TYPES_TOLD_MAX ? types->n_items : TYPES_TOLD_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_operator_type *type = &types->items[i];
		fsl_phrase_add(&list, "%s", i > 0 ? ", " : "");
		fsl_phrase_add_symbol(&list, type->name);
		fsl_phrase_add(&list, " ");
		fsl_phrase_add_percent(&list, type->ms / types->ms);
		add_bound(&list, type);
		(void)fsl_profile_finding_add_fact(&finding, places[i], type->ms / types->ms,
						   "share");
		sum_ms += type->ms;
	}
	double n_ranks = (double)types->n_ranks;
	fsl_phrase_add_count(&what, n, "type");
	fsl_phrase_add(&what, " of operators take ");
	fsl_phrase_add_ms(&what, sum_ms / n_ranks);
	fsl_phrase_add(&what, " of the ");
	fsl_phrase_add_ms(&what, types->ms / n_ranks);
	fsl_phrase_add(&what, " of all kernels in a step: %s", list.text);
	(void)fsl_profile_finding_add_fact(&finding, "kernels", types->ms / n_ranks, "ms");
	finding.what = what.text;
	size_t bound = types->items[0].bound;
	finding.advice =
		bound < FSL_BOUNDS_N
			? bounds[bound].advice
			: "where faster kernels would pay: tune, fuse or replace these first";
	struct fsl_profile_line lines[LINES_MAX];
	finding.n_lines = list_types(lines, types);
	finding.lines = lines;
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_ai_cpu(struct fsl_profile_findings *findings,
				   const struct fsl_operator_types *types, struct fsl_error *err)
{
	const struct fsl_operator_type *most = types->most_on_cpu;
	struct fsl_phrase what = {0};
	if (most == NULL) {
		return FSL_OK;
	}
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_AI_CPU);
	fsl_phrase_add(&what, "%.0f calls per step run on AI CPUs instead of AI cores and take ",
		       ceil(types->cpu_count));
	fsl_phrase_add_ms(&what, types->cpu_ms);
	fsl_phrase_add(&what, ", most of it %s with ", most->name);
	fsl_phrase_add_ms(&what, most->cpu_ms / (double)types->n_ranks);
	finding.gain_ms = types->cpu_ms;
	finding.what = what.text;
	finding.advice = "use data types that AI cores have kernels for (no INT64, DOUBLE), or "
			 "another operator";
	(void)fsl_profile_finding_add_fact(&finding, "ai_cpu", types->cpu_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "calls", types->cpu_count, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_shapes(struct fsl_profile_findings *findings,
				   const struct fsl_operator_types *types, struct fsl_error *err)
{
	const struct fsl_operator_type *first = types->first_changing;
	double share = types->changing_ms / types->ms;
	if (first == NULL) {
		return FSL_OK;
	}
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_DYNAMIC_SHAPES);
	struct fsl_phrase what = {0};
	fsl_phrase_add(&what, "input shapes change from call to call in ");
	fsl_phrase_add_count(&what, types->n_changing, "type");
	fsl_phrase_add(&what, " of operators with ");
	fsl_phrase_add_percent(&what, share);
	fsl_phrase_add(&what, " of the kernels' time; %s has %.0f shapes on one rank", first->name,
		       first->n_shapes_max);
	finding.what = what.text;
	finding.advice = "pad inputs to a few sizes, or sort them into buckets: shapes that come "
			 "back need no new tiling, compilation or memory";
	(void)fsl_profile_finding_add_fact(&finding, "types", (double)types->n_changing, "count");
	(void)fsl_profile_finding_add_fact(&finding, "shapes", first->n_shapes_max, "count");
	(void)fsl_profile_finding_add_fact(&finding, "of_kernels", share, "share");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status judge_types(struct fsl_profile_findings *findings,
				   const struct fsl_profile_case *facts, struct fsl_error *err)
{
	struct fsl_operator_types types = {0};
	enum fsl_status status = fsl_operator_types_sum(&types, facts->profile, err);
	if (status == FSL_OK && !(types.ms > 0.0)) {
		status = fsl_profile_findings_miss(findings, err, "%s",
						   fsl_profile_source_words(facts->profile)->types);
	} else if (status == FSL_OK) {
		status = tell_top(findings, &types, err);
		FSL_THEN(status, tell_ai_cpu(findings, &types, err));
		FSL_THEN(status, tell_shapes(findings, &types, err));
	}
	fsl_operator_types_fini(&types);
	return status;
}

enum fsl_status fsl_profile_judge_compute(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	FSL_TRY(miss_whole_tables(findings, facts->profile, err));
	FSL_TRY(judge_peers(findings, facts, err));
	return judge_types(findings, facts, err);
}
