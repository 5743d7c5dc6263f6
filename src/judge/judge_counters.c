/*
 * Counters of the devices beside those of other ranks. They accuse nobody: what stands out is added
 * to a finding that names the rank already, for a cause that it speaks for, else it is told alone.
 */
#include <math.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/try.h"
#include "blame/limits.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "text/phrase.h"

/* How a counter stands out, and what that speaks for. */
static const struct kind {
	const char *words, *fact, *unit;
	double least; /* difference to the peers, in the counter's unit */
	double ratio; /* the same, as a share of the peers' value */
	double from;  /* lower values are no fault */
	double sound; /* value of sound devices; NaN: the peers alone tell it */
	enum fsl_cause cause;
	enum fsl_code code; /* if no finding names the rank; FSL_CODES_N: it tells nothing alone */
	bool is_less;       /* less is worse */
} kinds[FSL_COUNTERS_N] = {
#define PORT(port, name, fact)                                                                     \
	[FSL_COUNTER_##port##_ERRORS] =                                                            \
		LOST("broken packets at the " name " port", fact "_errors"),                       \
	[FSL_COUNTER_##port##_DROPS] = LOST("lost packets at the " name " port", fact "_drops"),   \
	[FSL_COUNTER_##port##_USED] = {"bandwidth used of the " name " port",                      \
				       fact "_used",                                               \
				       "share",                                                    \
				       FSL_JUDGE_PORT_MORE_MIN,                                    \
				       0.0,                                                        \
				       FSL_JUDGE_PORT_FULL,                                        \
				       NAN,                                                        \
				       FSL_CAUSE_NETWORK,                                          \
				       FSL_CODES_N,                                                \
				       false}
#define LOST(words, fact)                                                                          \
	{                                                                                          \
		words, fact, "share", FSL_JUDGE_PACKETS_LOST_MIN, 1.0, 0.0, 0.0,                   \
			FSL_CAUSE_NETWORK, FSL_CODE_PORT_FAULTS, false                             \
	}
	PORT(NIC, "NIC", "nic"),
	PORT(ROCE, "RoCE", "roce"),
	[FSL_COUNTER_CACHE_HITS] = {"hits of kernels in the L2 cache", "cache_hits", "share",
				    FSL_JUDGE_CACHE_HITS_LACK_MIN, 0.0, 0.0, NAN, FSL_CAUSE_COMPUTE,
				    FSL_CODE_CACHE_MISSES, true},
	[FSL_COUNTER_HCCS_PEAK] = {"fastest traffic over HCCS", "hccs_peak", "GB/s", 0.0,
				   FSL_BANDWIDTH_LACK_MIN, 0.0, NAN, FSL_CAUSE_NETWORK, FSL_CODES_N,
				   true},
	[FSL_COUNTER_PCIE_LATENCY] = {"latency of PCIe", "pcie_latency", "ms", 0.0,
				      FSL_JUDGE_PCIE_MORE_MIN, 0.0, NAN, FSL_CAUSE_HOST,
				      FSL_CODES_N, false},
};
#undef PORT
#undef LOST

/* One counter of one rank beside its peers. */
struct outlier {
	const struct kind *kind;
	int32_t rank;
	double value, peers;
	size_t n_peers;
};

static double value_of(const struct fsl_profile_rank *rank, size_t c)
{
	const struct fsl_profile_reading *reading = &rank->counters[c];
	return reading->n > 0 ? reading->sum / (double)reading->n : (double)NAN;
}

/* Hits in the cache can be compared if the same kernels ran. */
static bool is_peer(const struct fsl_profile_rank *a, const struct fsl_profile_rank *b, size_t c)
{
	return a != b && !isnan(value_of(b, c)) &&
	       (c != FSL_COUNTER_CACHE_HITS ||
		(a->cached_kernels == b->cached_kernels && a->counters[c].n == b->counters[c].n));
}

/* @scratch: 2 per rank. */
static bool stands_out(struct outlier *out, const struct fsl_profile *profile, size_t r, size_t c,
		       double *scratch)
{
	const struct fsl_profile_rank *rank = &profile->ranks[r];
	*out = (struct outlier){&kinds[c], rank->rank, value_of(rank, c), kinds[c].sound, 0};
	for (size_t i = 0; i < profile->n_ranks; i++) {
		if (is_peer(rank, &profile->ranks[i], c)) {
			scratch[out->n_peers++] = value_of(&profile->ranks[i], c);
		}
	}
	if (out->n_peers > 0) {
		out->peers = fsl_median(scratch, out->n_peers, scratch + out->n_peers);
	}
	double more = kinds[c].is_less ? out->peers - out->value : out->value - out->peers;
	return out->value >= kinds[c].from && more > 0.0 && more >= kinds[c].least &&
	       more >= kinds[c].ratio * out->peers;
}

static void add_value(struct fsl_phrase *what, const struct kind *kind, double value)
{
	bool is_share = kind->unit[0] == 's';
	fsl_phrase_add(what, is_share ? "%.3g %%" : "%.3g %s", is_share ? 100.0 * value : value,
		       kind->unit);
}

/* "lost packets at the RoCE port 1.2 %, of its peers 0 %" */
static void describe(struct fsl_phrase *what, const struct outlier *out)
{
	fsl_phrase_add(what, "%s ", out->kind->words);
	add_value(what, out->kind, out->value);
	if (out->n_peers > 0) {
		fsl_phrase_add(what, ", of its %s ", out->n_peers == 1 ? "peer" : "peers");
		add_value(what, out->kind, out->peers);
	}
}

static bool names(const struct fsl_profile_finding *finding, const struct outlier *out)
{
	const struct fsl_code_row *row = fsl_code_row(finding->code);
	bool is_named = row->names == FSL_NAMES_RANK || row->names == FSL_NAMES_LINK;
	return is_named && row->cause == out->kind->cause && finding->step == FSL_STEP_ABSENT &&
	       (finding->rank == out->rank || finding->peer == out->rank);
}

/* Adds it to the findings that name the rank. *is_told is set if there is one. */
static enum fsl_status support(struct fsl_profile_findings *findings, const struct outlier *out,
			       bool *is_told, struct fsl_error *err)
{
	for (size_t i = 0; i < findings->n_items; i++) {
		struct fsl_profile_finding *finding = &findings->items[i];
		struct fsl_phrase what = {0};
		if (!names(finding, out)) {
			continue;
		}
		fsl_phrase_add(&what, "%s; ", finding->what);
		if (finding->peer >= 0) {
			fsl_phrase_add(&what, "rank %d: ", (int)out->rank);
		}
		describe(&what, out);
		finding->what = fsl_arena_strdup(&findings->arena, what.text);
		if (finding->what == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"counters\"");
		}
		(void)fsl_profile_finding_add_fact(finding, out->kind->fact, out->value,
						   out->kind->unit);
		*is_told = true;
	}
	return FSL_OK;
}

/* Tells the outlier among three ranks and more: two ranks do not show which one is usual. */
static enum fsl_status tell(struct fsl_profile_findings *findings, const struct outlier *out,
			    struct fsl_error *err)
{
	bool is_known = out->n_peers >= FSL_JUDGE_COUNTER_PEERS_MIN || !isnan(out->kind->sound);
	if (out->kind->code == FSL_CODES_N || !is_known) {
		return FSL_OK;
	}
	struct fsl_phrase what = {0};
	struct fsl_profile_finding finding = fsl_profile_finding_of(out->kind->code);
	fsl_phrase_add(&what, "rank %d: ", (int)out->rank);
	describe(&what, out);
	finding.rank = out->rank;
	finding.what = what.text;
	finding.advice =
		out->kind->code == FSL_CODE_PORT_FAULTS
			? "look at the cable, the module and the flow control of this port; "
			  "it holds nobody up in this capture"
			: "compare the layout of inputs with the peers', and what else runs "
			  "on the device; it holds nobody up in this capture";
	(void)fsl_profile_finding_add_fact(&finding, out->kind->fact, out->value, out->kind->unit);
	if (out->n_peers > 0) {
		(void)fsl_profile_finding_add_fact(&finding, "peers", out->peers, out->kind->unit);
	}
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_counters(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	const struct fsl_profile *profile = facts->profile;
	double *scratch = fsl_calloc(2 * profile->n_ranks + 1, sizeof(*scratch));
	enum fsl_status status = scratch != NULL
					 ? FSL_OK
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
						    profile->n_ranks);
	for (size_t i = 0; i < profile->n_ranks * FSL_COUNTERS_N && status == FSL_OK; i++) {
		struct outlier out;
		bool is_told = false;
		if (stands_out(&out, profile, i / FSL_COUNTERS_N, i % FSL_COUNTERS_N, scratch)) {
			status = support(findings, &out, &is_told, err);
			FSL_THEN(status, is_told ? FSL_OK : tell(findings, &out, err));
		}
	}
	fsl_free(scratch);
	return status;
}
