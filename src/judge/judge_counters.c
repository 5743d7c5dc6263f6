/*
 * Counters of the devices that the engine found to stand out among those of other ranks. They
 * accuse nobody: what stands out is added to a finding that names the rank already, for a cause
 * that it speaks for, else it is told alone.
 */
#include "base/try.h"
#include "blame/counters.h"
#include "judge/finding.h"
#include "text/phrase.h"

/* The fault that a counter speaks for if it stands out. */
static const struct kind {
	const char *words, *fact, *unit;
	enum fsl_cause cause;
	enum fsl_code code; /* if no finding names the rank; FSL_CODES_N: it tells nothing alone */
} kinds[FSL_COUNTERS_N] = {
#define PORT(port, name, fact)                                                                     \
	[FSL_COUNTER_##port##_ERRORS] = {"broken packets at the " name " port", fact "_errors",    \
					 "share", FSL_CAUSE_NETWORK, FSL_CODE_PORT_FAULTS},        \
	[FSL_COUNTER_##port##_DROPS] = {"lost packets at the " name " port", fact "_drops",        \
					"share", FSL_CAUSE_NETWORK, FSL_CODE_PORT_FAULTS},         \
	[FSL_COUNTER_##port##_USED] = {"bandwidth used of the " name " port", fact "_used",        \
				       "share", FSL_CAUSE_NETWORK, FSL_CODES_N}
	PORT(NIC, "NIC", "nic"),
	PORT(ROCE, "RoCE", "roce"),
	[FSL_COUNTER_CACHE_HITS] = {"hits of kernels in the L2 cache", "cache_hits", "share",
				    FSL_CAUSE_COMPUTE, FSL_CODE_CACHE_MISSES},
	[FSL_COUNTER_HCCS_PEAK] = {"fastest traffic over HCCS", "hccs_peak", "GB/s",
				   FSL_CAUSE_NETWORK, FSL_CODES_N},
	[FSL_COUNTER_PCIE_LATENCY] = {"latency of PCIe", "pcie_latency", "ms", FSL_CAUSE_HOST,
				      FSL_CODES_N},
};
#undef PORT

static void add_value(struct fsl_phrase *what, const struct kind *kind, double value)
{
	bool is_share = kind->unit[0] == 's';
	fsl_phrase_add(what, is_share ? "%.3g %%" : "%.3g %s", is_share ? 100.0 * value : value,
		       kind->unit);
}

/* "lost packets at the RoCE port 1.2 %, of its peers 0 %" */
static void describe(struct fsl_phrase *what, const struct fsl_counter_outlier *out)
{
	fsl_phrase_add(what, "%s ", kinds[out->counter].words);
	add_value(what, &kinds[out->counter], out->value);
	if (out->n_peers > 0) {
		fsl_phrase_add(what, ", of its %s ", out->n_peers == 1 ? "peer" : "peers");
		add_value(what, &kinds[out->counter], out->peers_value);
	}
}

static bool names(const struct fsl_profile_finding *finding, const struct fsl_counter_outlier *out)
{
	const struct fsl_code_row *row = fsl_code_row(finding->code);
	bool is_named = row->names == FSL_NAMES_RANK || row->names == FSL_NAMES_LINK;
	return is_named && row->cause == kinds[out->counter].cause &&
	       finding->step == FSL_STEP_ABSENT &&
	       (finding->rank == out->rank || finding->peer == out->rank);
}

/* Adds it to the findings that name the rank. *is_told is set if there is one. */
static enum fsl_status support(struct fsl_profile_findings *findings,
			       const struct fsl_counter_outlier *out, bool *is_told,
			       struct fsl_error *err)
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
		(void)fsl_profile_finding_add_fact(finding, kinds[out->counter].fact, out->value,
						   kinds[out->counter].unit);
		*is_told = true;
	}
	return FSL_OK;
}

/* Tells the outlier among three ranks and more: two ranks do not show which one is usual. */
static enum fsl_status tell(struct fsl_profile_findings *findings,
			    const struct fsl_counter_outlier *out, struct fsl_error *err)
{
	if (kinds[out->counter].code == FSL_CODES_N || !out->is_sure) {
		return FSL_OK;
	}
	struct fsl_phrase what = {0};
	struct fsl_profile_finding finding = fsl_profile_finding_of(kinds[out->counter].code);
	fsl_phrase_add(&what, "rank %d: ", (int)out->rank);
	describe(&what, out);
	finding.rank = out->rank;
	finding.what = what.text;
	finding.advice =
		kinds[out->counter].code == FSL_CODE_PORT_FAULTS
			? "look at the cable, the module and the flow control of this port; "
			  "it holds nobody up in this capture"
			: "compare the layout of inputs with the peers', and what else runs "
			  "on the device; it holds nobody up in this capture";
	(void)fsl_profile_finding_add_fact(&finding, kinds[out->counter].fact, out->value,
					   kinds[out->counter].unit);
	if (out->n_peers > 0) {
		(void)fsl_profile_finding_add_fact(&finding, "peers", out->peers_value,
						   kinds[out->counter].unit);
	}
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_counters(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	struct fsl_counter_outliers found;
	FSL_TRY(fsl_counters_compare(&found, facts->profile, err));
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < found.n_items; i++) {
		bool is_told = false;
		FSL_THEN(status, support(findings, &found.items[i], &is_told, err));
		FSL_THEN(status, is_told ? FSL_OK : tell(findings, &found.items[i], err));
	}
	fsl_counter_outliers_fini(&found);
	return status;
}
