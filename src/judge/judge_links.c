/*
 * Single links of each kind: how many there are, how fast the slowest, the middle and the fastest
 * of them are, and which two ranks the slowest one joins. No fault: blame/bandwidth.h
 * compares those that are alike.
 */
#include <stdio.h>
#include <stdlib.h>

#include "blame/capture_places.h"
#include "blame/limits.h"
#include "judge/finding.h"
#include "text/phrase.h"

static const struct kind {
	enum fsl_profile_transport transport;
	const char *count, *slowest, *middle, *fastest;
} kinds[] = {
	{FSL_TRANSPORT_RDMA, "rdma_links", "rdma_slowest", "rdma_median", "rdma_fastest"},
	{FSL_TRANSPORT_HCCS, "hccs_links", "hccs_slowest", "hccs_median", "hccs_fastest"},
	{FSL_TRANSPORT_PCIE, "pcie_links", "pcie_slowest", "pcie_median", "pcie_fastest"},
	{FSL_TRANSPORT_SIO, "sio_links", "sio_slowest", "sio_median", "sio_fastest"},
};

/* Slowest first; of equal ones as in the table. */
static int compare_bandwidths(const void *left, const void *right)
{
	const struct fsl_link_row *a = *(const struct fsl_link_row *const *)left;
	const struct fsl_link_row *b = *(const struct fsl_link_row *const *)right;
	double of_a = fsl_link_gb_per_s(a), of_b = fsl_link_gb_per_s(b);
	return of_a != of_b ? (of_a > of_b ? 1 : -1) : (a > b) - (a < b);
}

/* "HCCS: 24 links from 15.1 GB/s (rank 2 to rank 3, allreduce) to 20.3 GB/s, median 19 GB/s" */
static void add_kind(struct fsl_phrase *what, struct fsl_profile_finding *finding,
		     const struct kind *kind, const struct fsl_link_row **rows, size_t n)
{
	char far[64];
	const struct fsl_link_row *slowest = rows[0];
	double least = fsl_link_gb_per_s(slowest), most = fsl_link_gb_per_s(rows[n - 1]);
	double middle =
		0.5 * (fsl_link_gb_per_s(rows[(n - 1) / 2]) + fsl_link_gb_per_s(rows[n / 2]));
	(void)snprintf(far, sizeof(far), slowest->dst >= 0 ? "rank %d" : "member %d of its group",
		       (int)(slowest->dst >= 0 ? slowest->dst : slowest->dst_number));
	fsl_phrase_add(what, "%s%s: ", what->length > 0 ? "; " : "",
		       fsl_profile_transport_text(kind->transport));
	fsl_phrase_add_count(what, n, "link");
	fsl_phrase_add(what, " from %.3g GB/s (rank %d to %s, %s) to %.3g GB/s, median %.3g GB/s",
		       least, (int)slowest->src, far, slowest->type, most, middle);
	(void)fsl_profile_finding_add_fact(finding, kind->count, (double)n, "count");
	(void)fsl_profile_finding_add_fact(finding, kind->slowest, least, "GB/s");
	(void)fsl_profile_finding_add_fact(finding, kind->middle, middle, "GB/s");
	(void)fsl_profile_finding_add_fact(finding, kind->fastest, most, "GB/s");
}

static enum fsl_status tell(struct fsl_profile_findings *findings,
			    const struct fsl_link_table *table, const struct fsl_link_row **rows,
			    struct fsl_error *err)
{
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_LINK_RANGE);
	finding.is_overview = true;
	struct fsl_phrase what = {0};
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		size_t n = 0;
		for (size_t i = 0; i < table->n_rows; i++) {
			const struct fsl_link_row *row = &table->rows[i];
			if (row->transport == kinds[k].transport &&
			    row->n_bytes / (int64_t)row->n_steps >= FSL_BANDWIDTH_BYTES_MIN) {
				rows[n++] = row;
			}
		}
		if (n > 0) {
			qsort(rows, n, sizeof(*rows), compare_bandwidths);
			add_kind(&what, &finding, &kinds[k], rows, n);
		}
	}
	if (what.length == 0) {
		return FSL_OK;
	}
	finding.what = what.text;
	finding.advice = "links that move the same over the same kind of connection should be "
			 "equally fast";
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_links(struct fsl_profile_findings *findings,
					const struct fsl_profile_case *facts, struct fsl_error *err)
{
	const struct fsl_link_table *table = &facts->places->links;
	const struct fsl_link_row **rows = NULL;
	FSL_TRY(FSL_NEW(rows, table->n_rows + 1, "links", err));
	enum fsl_status status = tell(findings, table, rows, err);
	fsl_free(rows);
	return status;
}
