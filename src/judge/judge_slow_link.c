/* Tells the links that the engine found slower than those like them, and what they cost. */
#include <stdio.h>

#include "base/try.h"
#include "blame/capture_places.h"
#include "judge/finding.h"

enum { LINKS_TOLD_MAX = 8, TEXT_MAX = 640 };

static enum fsl_status add_rank(struct fsl_profile_findings *findings,
				const struct fsl_slow_port *port, int32_t rank,
				struct fsl_error *err)
{
	char what[TEXT_MAX];
	struct fsl_profile_finding finding = fsl_profile_finding_of(
		port->is_named ? FSL_CODE_SLOW_RANK_NETWORK : FSL_CODE_SLOW_LINKS);
	(void)snprintf(what, sizeof(what),
		       "%zu of %zu links of rank %d are slower than links like them, which costs "
		       "up to %.1f ms a step",
		       port->n_slow, port->n_links, (int)rank, port->cost_ms);
	finding.rank = rank;
	finding.gain_ms = port->cost_ms;
	finding.what = what;
	finding.advice = "look at the network port of this device (speed, errors, retransmissions) "
			 "and at what else uses it";
	(void)fsl_profile_finding_add_fact(&finding, "slow_links", (double)port->n_slow, "count");
	(void)fsl_profile_finding_add_fact(&finding, "links", (double)port->n_links, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

static enum fsl_status add_link(struct fsl_profile_findings *findings,
				const struct fsl_slow_link *slow, struct fsl_error *err)
{
	char what[TEXT_MAX], far[64];
	const struct fsl_link_row *row = slow->row;
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_SLOW_LINK);
	(void)snprintf(far, sizeof(far), row->dst >= 0 ? "rank %d" : "member %d of its group",
		       (int)(row->dst >= 0 ? row->dst : row->dst_number));
	(void)snprintf(what, sizeof(what),
		       "the %s link from rank %d to %s moves %.2f GB/s in %s, %.0f %% of the %.2f "
		       "GB/s of %zu links like it, which costs %.1f ms a step",
		       fsl_profile_transport_text(row->transport), (int)row->src, far,
		       slow->gb_per_s, row->type, 100.0 * slow->gb_per_s / slow->usual_gb_per_s,
		       slow->usual_gb_per_s, slow->n_alike, slow->cost_ms);
	finding.rank = row->src;
	finding.peer = row->dst;
	finding.gain_ms = slow->cost_ms;
	finding.what = what;
	finding.advice = "look at both ends and the cable or switch between them (errors, "
			 "retransmissions, reduced width), and at what else uses them";
	(void)fsl_profile_finding_add_fact(&finding, "bandwidth", slow->gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "links_like_it", slow->usual_gb_per_s, "GB/s");
	(void)fsl_profile_finding_add_fact(&finding, "n_like_it", (double)slow->n_alike, "count");
	(void)fsl_profile_finding_add_fact(&finding, "moved", (double)row->n_bytes / 1e6, "MB");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Ranks of which most links are slow, then the links of others. */
enum fsl_status fsl_profile_judge_slow_link(struct fsl_profile_findings *findings,
					    const struct fsl_profile_case *facts,
					    struct fsl_error *err)
{
	const struct fsl_bandwidths *found = &facts->places->bandwidths;
	size_t n_told = 0;
	for (size_t p = 0; p < found->n_ports; p++) {
		const struct fsl_slow_port *port = &found->ports[p];
		FSL_TRY(add_rank(findings, port, facts->profile->ranks[port->rank_idx].rank, err));
	}
	for (size_t i = 0; i < found->n_links && n_told < LINKS_TOLD_MAX; i++) {
		if (!found->links[i].is_of_port) {
			FSL_TRY(add_link(findings, &found->links[i], err));
			n_told++;
		}
	}
	if (facts->places->links.n_rows > 0) {
		return FSL_OK;
	}
	return fsl_profile_findings_miss(
		findings, err,
		"slow links: no communication_matrix.json, or database, with links between ranks");
}
