/*
 * Tells how much of communication is waiting for the last member and moving data, and how fast
 * links of each kind move packets of each size. These findings are no faults: the judges of ranks,
 * stages and links tell who is at fault.
 */
#include <math.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "blame/outside.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "text/phrase.h"

static const char move_less[] = "move less, in larger buckets, or beside kernels";
static const char hide[] =
	"hide transfers beneath kernels (--overlap-grad-reduce, --overlap-param-gather), move less, "
	"in larger buckets";

/* Packets of one class of size over one kind of link. */
enum size_class { SMALL, MEDIUM, LARGE, ALL, CLASSES_N };
static const char *const class_texts[] = {"below 1 MB", "1 to 16 MB", "16 MB and more"};

struct moved {
	double n_bytes, time_ns;
};

/* Kinds of links that are told. SDMA is the sum of other kinds, LOCAL is no link. */
static const struct kind {
	enum fsl_profile_transport transport;
	const char *facts[CLASSES_N];
} kinds[] = {
	{FSL_TRANSPORT_RDMA, {"rdma_small", "rdma_medium", "rdma_large", "rdma"}},
	{FSL_TRANSPORT_HCCS, {"hccs_small", "hccs_medium", "hccs_large", "hccs"}},
	{FSL_TRANSPORT_PCIE, {"pcie_small", "pcie_medium", "pcie_large", "pcie"}},
	{FSL_TRANSPORT_SIO, {"sio_small", "sio_medium", "sio_large", "sio"}},
	{FSL_TRANSPORT_HCCS_SW, {"hccs_sw_small", "hccs_sw_medium", "hccs_sw_large", "hccs_sw"}},
};
enum { KINDS_N = sizeof(kinds) / sizeof(kinds[0]) };

/* Over the ranks that tell. @of: of one rank. */
static double median_of(const struct fsl_profile *profile, double *scratch,
			double (*of)(const struct fsl_profile_rank *rank))
{
	for (size_t r = 0; r < profile->n_ranks; r++) {
		scratch[r] = of(&profile->ranks[r]);
	}
	return fsl_median(scratch, profile->n_ranks, scratch + profile->n_ranks);
}

static double communication_ms(const struct fsl_profile_rank *rank)
{
	return fsl_profile_part_ms(rank, FSL_PART_COMMUNICATION);
}

static double overlapped_ms(const struct fsl_profile_rank *rank)
{
	return fsl_profile_part_ms(rank, FSL_PART_OVERLAPPED);
}

/* " (6.1 ms on rank 0 to 105 ms on rank 2)" if the ranks differ so much that a median of them says
 * little, as the stages of a pipeline do. @values: per rank; NaN: not told. */
static void add_range(struct fsl_phrase *what, const struct fsl_profile *profile,
		      const double *values, double least_ms)
{
	size_t low = SIZE_MAX, high = SIZE_MAX;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (isfinite(values[r])) {
			low = low == SIZE_MAX || values[r] < values[low] ? r : low;
			high = high == SIZE_MAX || values[r] > values[high] ? r : high;
		}
	}
	if (low == SIZE_MAX || !(values[high] - values[low] > least_ms)) {
		return;
	}
	fsl_phrase_add(what, " (");
	fsl_phrase_add_ms(what, values[low]);
	fsl_phrase_add(what, " on rank %d to ", (int)profile->ranks[low].rank);
	fsl_phrase_add_ms(what, values[high]);
	fsl_phrase_add(what, " on rank %d)", (int)profile->ranks[high].rank);
}

/* Waits and transfers of collectives, where groups were captured whole. */
static void add_waits(struct fsl_phrase *what, struct fsl_profile_finding *finding,
		      const struct fsl_profile *profile, const struct fsl_waits *waits,
		      double *scratch, double least_ms)
{
	double wait_ms = fsl_median(waits->wait_ms, profile->n_ranks, scratch);
	double transfer_ms = fsl_median(waits->transfer_ms, profile->n_ranks, scratch);
	if (!(wait_ms + transfer_ms > 0.0)) {
		fsl_phrase_add(what, "; what of it is waiting is not known, no group is whole");
		finding->advice = "capture all ranks of a group to tell waits from transfers";
		return;
	}
	fsl_phrase_add(what, "; in collectives ranks wait ");
	fsl_phrase_add_ms(what, wait_ms);
	add_range(what, profile, waits->wait_ms, least_ms);
	fsl_phrase_add(what, " for the last member and transfer for at most ");
	fsl_phrase_add_ms(what, transfer_ms);
	(void)fsl_profile_finding_add_fact(finding, "wait", wait_ms, "ms");
	(void)fsl_profile_finding_add_fact(finding, "transfer", transfer_ms, "ms");
	finding->advice = wait_ms > transfer_ms
				  ? "waits are cured at those who come last, not in the network"
				  : move_less;
}

/* The longest operator, if it alone takes much of a step: of a rank alone nothing else names it. */
static void add_longest(struct fsl_phrase *what, struct fsl_profile_finding *finding,
			const struct fsl_profile *profile, double step_ms)
{
	const struct fsl_profile_rank *of = NULL;
	const struct fsl_profile_comm *longest = NULL;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		for (size_t i = 0; i < rank->n_comms; i++) {
			if (longest == NULL || rank->comms[i].elapse_ns > longest->elapse_ns) {
				of = rank;
				longest = &rank->comms[i];
			}
		}
	}
	double ms = longest != NULL ? (double)longest->elapse_ns / FSL_NS_PER_MS : 0.0;
	if (!(ms >= FSL_JUDGE_COMMUNICATION_SHARE_MIN * step_ms)) {
		return;
	}
	fsl_phrase_add(what, " (%s on rank %d alone ",
		       fsl_strpool_text(of->names, longest->name_id), (int)of->rank);
	fsl_phrase_add_ms(what, ms);
	fsl_phrase_add(what, ")");
	(void)fsl_profile_finding_add_fact(finding, "longest", ms, "ms");
}

static enum fsl_status tell_split(struct fsl_profile_findings *findings,
				  const struct fsl_profile *profile, const struct fsl_waits *waits,
				  double *scratch, struct fsl_error *err)
{
	double step_ms = median_of(profile, scratch, fsl_profile_step_ms);
	double all_ms = median_of(profile, scratch, communication_ms);
	double hidden_ms = median_of(profile, scratch, overlapped_ms);
	double least_ms = FSL_CAPTURE_TRANSFER_SHARE_MIN * step_ms;
	if (!(all_ms >= FSL_JUDGE_COMMUNICATION_SHARE_MIN * step_ms)) {
		return FSL_OK;
	}
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_COMMUNICATION_SPLIT);
	finding.is_overview = true;
	struct fsl_phrase what = {0};
	fsl_phrase_add(&what, "communication takes ");
	fsl_phrase_add_ms(&what, all_ms);
	fsl_phrase_add(&what, " of a step of ");
	fsl_phrase_add_ms(&what, step_ms);
	add_longest(&what, &finding, profile, step_ms);
	fsl_phrase_add(&what, ", ");
	fsl_phrase_add_percent(&what, hidden_ms / all_ms);
	fsl_phrase_add(&what, " of it beside kernels");
	(void)fsl_profile_finding_add_fact(&finding, "communication", all_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "overlapped", hidden_ms, "ms");
	add_waits(&what, &finding, profile, waits, scratch, least_ms);
	if (all_ms - hidden_ms >= FSL_JUDGE_COMMUNICATION_SHARE_MIN * step_ms &&
	    hidden_ms < FSL_OVERLAPPED_SHARE_MIN * all_ms && finding.advice == move_less) {
		finding.advice = hide;
	}
	double p2p_ms = median_of(profile, scratch, fsl_profile_p2p_ms);
	if (p2p_ms > 0.0) {
		fsl_phrase_add(&what, "; sends and receives take ");
		fsl_phrase_add_ms(&what, p2p_ms);
		add_range(&what, profile, scratch, least_ms);
		(void)fsl_profile_finding_add_fact(&finding, "p2p", p2p_ms, "ms");
	}
	fsl_phrase_add(&what, " (medians of the ranks)");
	finding.what = what.text;
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum size_class class_of(int64_t n_bytes)
{
	return n_bytes < FSL_RDMA_BYTES_MIN ? SMALL : n_bytes < FSL_SDMA_BYTES_MIN ? MEDIUM : LARGE;
}

static void add_traffic(struct moved moved[KINDS_N][CLASSES_N], const struct fsl_profile_rank *rank,
			const struct fsl_profile_traffic *traffic)
{
	size_t k = 0;
	while (k < KINDS_N && kinds[k].transport != traffic->transport) {
		k++;
	}
	if (k == KINDS_N || traffic->n_bytes <= 0 || traffic->time_ns <= 0) {
		return;
	}
	moved[k][ALL].n_bytes += (double)traffic->n_bytes;
	moved[k][ALL].time_ns += (double)traffic->time_ns;
	for (uint32_t p = 0; p < traffic->n_packets; p++) {
		const struct fsl_profile_packets *packets =
			&rank->packets[traffic->packets_begin + p];
		if (packets->n_bytes > 0 && packets->count > 0 && packets->time_ns > 0) {
			struct moved *of = &moved[k][class_of(packets->n_bytes)];
			of->n_bytes += (double)packets->n_bytes * (double)packets->count;
			of->time_ns += (double)packets->time_ns;
		}
	}
}

/* Bytes per ns are GB per s. */
static void add_speed(struct fsl_phrase *what, struct fsl_profile_finding *finding,
		      const char *fact, const struct moved *moved)
{
	double gb_per_s = moved->n_bytes / moved->time_ns;
	if (gb_per_s >= 1.0) {
		fsl_phrase_add(what, " %.3g GB/s", gb_per_s);
	} else if (gb_per_s >= 1e-3) {
		fsl_phrase_add(what, " %.3g MB/s", 1e3 * gb_per_s);
	} else {
		fsl_phrase_add(what, " %.3g kB/s", 1e6 * gb_per_s);
	}
	(void)fsl_profile_finding_add_fact(finding, fact, gb_per_s, "GB/s");
}

/* "HCCS 20.9 GB/s (1 to 16 MB 20.9 GB/s)" */
static void add_kind(struct fsl_phrase *what, struct fsl_profile_finding *finding, size_t k,
		     const struct moved moved[CLASSES_N])
{
	const char *before = " (";
	fsl_phrase_add(what, "%s%s", what->text[0] != '\0' ? ", " : "",
		       fsl_profile_transport_text(kinds[k].transport));
	add_speed(what, finding, kinds[k].facts[ALL], &moved[ALL]);
	for (size_t c = SMALL; c < ALL; c++) {
		if (moved[c].time_ns > 0.0) {
			fsl_phrase_add(what, "%s%s", before, class_texts[c]);
			add_speed(what, finding, kinds[k].facts[c], &moved[c]);
			before = ", ";
		}
	}
	fsl_phrase_add(what, "%s", before[0] == ',' ? ")" : "");
}

static enum fsl_status tell_links(struct fsl_profile_findings *findings,
				  const struct fsl_profile *profile, struct fsl_error *err)
{
	struct moved moved[KINDS_N][CLASSES_N] = {{{0.0, 0.0}}};
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_LINK_SPEEDS);
	finding.is_overview = true;
	struct fsl_phrase what = {0};
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		for (size_t t = 0; t < rank->n_traffic; t++) {
			add_traffic(moved, rank, &rank->traffic[t]);
		}
	}
	for (size_t k = 0; k < KINDS_N; k++) {
		if (moved[k][ALL].time_ns > 0.0) {
			add_kind(&what, &finding, k, moved[k]);
		}
	}
	if (what.text[0] == '\0') {
		return FSL_OK;
	}
	fsl_phrase_add(&what, ", over all ranks, by size of packets");
	finding.what = what.text;
	finding.advice = "compare with what these links can do; small packets are slow everywhere";
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status tell_found(struct fsl_profile_findings *findings,
				  const struct fsl_profile *profile, struct fsl_error *err)
{
	for (size_t i = 0; profile->found != NULL && i < profile->found->n_items; i++) {
		const struct fsl_profile_found_comm *found = &profile->found->items[i];
		struct fsl_profile_finding finding =
			fsl_profile_finding_of(FSL_CODE_PROBABLE_COMMUNICATION);
		struct fsl_phrase what = {0};
		double apart_ms = (double)found->apart_ns / FSL_NS_PER_MS;
		fsl_phrase_add(&what, "%s", found->type);
		fsl_phrase_add(&what, " ends together on all ranks of its group although it begins "
				      "up to ");
		fsl_phrase_add_ms(&what, apart_ms);
		fsl_phrase_add(&what, " apart: it probably communicates, so the time that it takes "
				      "beyond the shortest of its call counts as waiting");
		finding.is_overview = true;
		finding.what = what.text;
		finding.advice = "look at what this kernel does; its name is not among those that "
				 "are known to communicate";
		(void)fsl_profile_finding_add_fact(&finding, "begins_apart", apart_ms, "ms");
		(void)fsl_profile_finding_add_fact(&finding, "ends_apart",
						   (double)found->ends_ns / FSL_NS_PER_MS, "ms");
		FSL_TRY(fsl_profile_findings_add(findings, &finding, err));
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_judge_communication(struct fsl_profile_findings *findings,
						const struct fsl_profile_case *facts,
						struct fsl_error *err)
{
	struct fsl_waits waits;
	double *scratch = NULL;
	FSL_TRY(fsl_waits_split(&waits, facts->profile, facts->cluster, facts->meetings, err));
	enum fsl_status status =
		FSL_ARENA_NEW(scratch, &waits.arena, 2 * facts->profile->n_ranks, "ranks", err);
	FSL_THEN(status, tell_split(findings, facts->profile, &waits, scratch, err));
	fsl_waits_fini(&waits);
	FSL_TRY(status);
	FSL_TRY(tell_found(findings, facts->profile, err));
	return tell_links(findings, facts->profile, err);
}
