/*
 * Load of experts: rows that each rank of an expert-parallel group feeds into its grouped matrix
 * products, from the shapes of these kernels.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "match/meetings.h"

enum { TEXT_MAX = 640 };

/* Load of the experts of one rank, per step. */
struct load {
	double n_rows, ms;
	bool is_known;
};

/* First number of a shape: "4096,1024" -> 4096; 0 without one. */
static double first_dim(const char *text, const char *end)
{
	double rows = 0.0;
	while (text < end && (*text == ' ' || *text == '"')) {
		text++;
	}
	for (; text < end && *text >= '0' && *text <= '9'; text++) {
		rows = 10.0 * rows + (*text - '0');
	}
	return rows;
}

/* Rows of all inputs but the last two (group list and weights' scale): the tokens. Shapes are
 * divided by ';' and end at '|', behind which the types stand. */
static double rows_of_shapes(const char *shapes)
{
	const char *end = shapes + strcspn(shapes, "|");
	double sum = 0.0, last = 0.0, before = 0.0;
	size_t n = 0;
	for (const char *at = shapes; at <= end; n++) {
		const char *stop = memchr(at, ';', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		sum += before;
		before = last;
		last = first_dim(at, stop);
		at = stop + 1;
	}
	return n > 2 ? sum : 0.0;
}

static bool is_grouped_product(const char *type)
{
	return strcasestr(type, "groupedmatmul") != NULL;
}

static struct load load_of(const struct fsl_profile_rank *rank)
{
	struct load load = {0};
	double n_steps = (double)fsl_profile_n_steps(rank);
	for (size_t k = 0; k < rank->n_kernels; k++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[k];
		if (is_grouped_product(fsl_strpool_text(rank->names, kernels->type_id))) {
			load.is_known = true;
			load.n_rows +=
				(double)kernels->count / n_steps *
				rows_of_shapes(fsl_strpool_text(rank->names, kernels->shape_id));
			load.ms += (double)kernels->total_ns / FSL_NS_PER_MS / n_steps;
		}
	}
	return load;
}

static enum fsl_status judge_group(struct fsl_profile_findings *findings,
				   const struct fsl_profile *profile,
				   const struct fsl_profile_group *group, struct fsl_error *err)
{
	struct load sum = {0}, most = {0};
	size_t n = 0;
	int32_t busiest = -1;
	double least = INFINITY;
	for (size_t i = 0; i < group->n_ranks; i++) {
		const struct fsl_profile_rank *rank = fsl_profile_rank_of(profile, group->ranks[i]);
		struct load load = rank != NULL ? load_of(rank) : (struct load){0};
		if (!load.is_known || load.n_rows <= 0.0) {
			continue;
		}
		n++;
		sum.n_rows += load.n_rows;
		sum.ms += load.ms;
		least = fmin(least, load.n_rows);
		if (load.n_rows > most.n_rows) {
			most = load;
			busiest = group->ranks[i];
		}
	}
	double mean = sum.n_rows / (double)n;
	if (n < 2 || most.n_rows < FSL_JUDGE_PEAK_TO_MEAN_MIN * mean) {
		return FSL_OK;
	}
	char what[TEXT_MAX];
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_EXPERT_IMBALANCE);
	(void)snprintf(
		what, sizeof(what),
		"experts of rank %d get %.0f rows a step, those of the %zu ranks of group %s "
		"%.0f on average and %.0f at least: peak to mean %.2f",
		(int)busiest, most.n_rows, n, *group->name != '\0' ? group->name : group->hash,
		mean, least, most.n_rows / mean);
	finding.rank = busiest;
	finding.gain_ms = fmax(0.0, most.ms - sum.ms / (double)n);
	finding.what = what;
	finding.advice = "balance the router (auxiliary loss, capacity factor) or move experts";
	(void)fsl_profile_finding_add_fact(&finding, "rows", most.n_rows, "count");
	(void)fsl_profile_finding_add_fact(&finding, "mean", mean, "count");
	(void)fsl_profile_finding_add_fact(&finding, "peak_to_mean", most.n_rows / mean, "ratio");
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_experts(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	for (size_t g = 0; g < facts->cluster->n_groups && status == FSL_OK; g++) {
		const struct fsl_profile_group *group = &facts->cluster->groups[g];
		if (!group->is_p2p && fsl_profile_group_kind(group->name) == FSL_GROUP_EP) {
			status = judge_group(findings, facts->profile, group, err);
		}
	}
	return status;
}
