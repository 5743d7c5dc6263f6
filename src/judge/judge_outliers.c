/*
 * Single events: a collective that takes far longer than all others like it, also for the member
 * that came last to it; a step that takes longer than the other steps.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "match/meetings.h"

enum { TOLD_MAX = 8, TEXT_MAX = 640 };

/* One collective of the set: how long it took once all that are seen had come. */
struct occurrence {
	const char *type, *group, *name;
	int size_class; /* of the bytes that it moved; 0: not told */
	double ms;
	size_t n_members;
	int32_t rank; /* of the member that came last */
	int64_t step;
};

struct occurrences {
	struct occurrence *items;
	size_t n, capacity;
};

/* Bytes over all kinds of links, each once. */
static double bytes_of(const struct fsl_profile_rank *rank, const struct fsl_profile_comm *comm)
{
	double sum = 0.0;
	for (uint32_t t = 0; t < comm->n_traffic; t++) {
		const struct fsl_profile_traffic *traffic = &rank->traffic[comm->traffic_begin + t];
		bool is_sum = traffic->transport == FSL_TRANSPORT_SDMA ||
			      traffic->transport == FSL_TRANSPORT_LOCAL;
		sum += is_sum || traffic->n_bytes < 0 ? 0.0 : (double)traffic->n_bytes;
	}
	return sum;
}

static void add_member(struct occurrence *to, const struct fsl_profile_rank *rank,
		       const struct fsl_profile_comm *comm)
{
	double ms = (double)comm->elapse_ns / FSL_NS_PER_MS;
	double n_bytes = bytes_of(rank, comm);
	int size_class = n_bytes > 1.0 ? (int)lround(log2(n_bytes)) : 0;
	to->size_class = size_class > to->size_class ? size_class : to->size_class;
	to->n_members++;
	if (to->n_members == 1 || ms < to->ms) {
		to->ms = ms;
		to->rank = rank->rank;
		to->step = comm->step;
		to->name = fsl_strpool_text(rank->names, comm->name_id);
	}
}

static enum fsl_status add(struct occurrences *list, const struct occurrence *item,
			   struct fsl_error *err)
{
	enum fsl_status status = FSL_GROW(list->items, list->capacity, list->n + 1, err);
	if (status == FSL_OK) {
		list->items[list->n++] = *item;
	}
	return status;
}

static enum fsl_status list_met(struct occurrences *list, const struct fsl_profile_case *facts,
				const struct fsl_channel *channel, struct fsl_error *err)
{
	const struct fsl_profile_meetings *meetings = facts->meetings;
	enum fsl_status status = FSL_OK;
	uint32_t group_id = meetings->topology.groups[channel->group_idx].name_id;
	size_t n = channel->is_p2p ? 0 : channel->n_instances;
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		struct occurrence item = {
			.type = fsl_strpool_text(meetings->run.names, channel->op_id),
			.group = fsl_strpool_text(meetings->run.names, group_id),
			.rank = -1};
		for (size_t m = 0; m < channel->n_members; m++) {
			const struct fsl_profile_comm *comm =
				fsl_meeting_comm(meetings, facts->profile, channel, i, m);
			if (comm != NULL) {
				add_member(&item, &facts->profile->ranks[channel->members[m]],
					   comm);
			}
		}
		status = item.n_members > 0 ? add(list, &item, err) : FSL_OK;
	}
	return status;
}

/* Groups of which one member is seen have no channel. */
static enum fsl_status list_alone(struct occurrences *list, const struct fsl_profile_case *facts,
				  const struct fsl_group *group, struct fsl_error *err)
{
	const struct fsl_profile_meetings *meetings = facts->meetings;
	size_t r = (size_t)group->ranks[0];
	const struct fsl_rank *rank = &meetings->run.ranks[r];
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < rank->n_ops && status == FSL_OK; i++) {
		const struct fsl_profile_comm *comm =
			&facts->profile->ranks[r].comms[rank->ops[i].id];
		if (rank->ops[i].group_id != group->name_id || comm->is_p2p) {
			continue;
		}
		struct occurrence item = {
			.type = fsl_strpool_text(meetings->run.names, rank->ops[i].op_id),
			.group = fsl_strpool_text(meetings->run.names, group->name_id)};
		add_member(&item, &facts->profile->ranks[r], comm);
		status = add(list, &item, err);
	}
	return status;
}

static enum fsl_status list_all(struct occurrences *list, const struct fsl_profile_case *facts,
				struct fsl_error *err)
{
	const struct fsl_profile_meetings *meetings = facts->meetings;
	enum fsl_status status = FSL_OK;
	for (size_t c = 0; c < meetings->match.n_channels && status == FSL_OK; c++) {
		status = list_met(list, facts, &meetings->match.channels[c], err);
	}
	for (size_t g = 0; g < meetings->topology.n_groups && status == FSL_OK; g++) {
		if (meetings->topology.groups[g].n_ranks == 1) {
			status = list_alone(list, facts, &meetings->topology.groups[g], err);
		}
	}
	return status;
}

static int compare_kind(const struct occurrence *a, const struct occurrence *b)
{
	int order = strcmp(a->type, b->type);
	if (order == 0) {
		order = strcmp(a->group, b->group);
	}
	return order != 0 ? order
			  : (a->size_class > b->size_class) - (a->size_class < b->size_class);
}

static int compare_occurrences(const void *left, const void *right)
{
	const struct occurrence *a = left, *b = right;
	int order = compare_kind(a, b);
	if (order == 0 && a->ms != b->ms) {
		order = a->ms > b->ms ? -1 : 1; /* longest first */
	}
	return order != 0 ? order : strcmp(a->name, b->name);
}

static enum fsl_status add_single(struct fsl_profile_findings *findings,
				  const struct occurrence *item, double usual_ms, size_t n_like,
				  double gain_ms, struct fsl_error *err)
{
	char what[TEXT_MAX];
	struct fsl_profile_finding finding =
		fsl_profile_finding_of(FSL_CODE_SINGLE_LONG_COLLECTIVE);
	(void)snprintf(
		what, sizeof(what),
		"%s of group %s takes %.1f ms, also for the last of the %zu members seen; half "
		"of the %zu like it take %.2f ms or less",
		item->name, item->group, item->ms, item->n_members, n_like, usual_ms);
	finding.rank = item->n_members == 1 ? item->rank : -1;
	finding.step = item->step;
	finding.gain_ms = gain_ms;
	finding.what = what;
	finding.advice =
		"look at what is different about this one: its size, a retransmission, the "
		"first use of a buffer, or a member that was not captured";
	(void)fsl_profile_finding_add_fact(&finding, "took", item->ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "usual", usual_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "like_it", (double)n_like, "count");
	return fsl_profile_findings_add(findings, &finding, err);
}

/* Judges the collectives of one kind; @items: longest first. */
static enum fsl_status judge_kind(struct fsl_profile_findings *findings,
				  const struct occurrence *items, size_t n, double step_ms,
				  size_t n_steps, size_t *n_told, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	double usual_ms = items[n / 2].ms;
	size_t n_single = 0;
	while (n_single < n && items[n_single].ms >= FSL_JUDGE_SINGLE_RATIO_MIN * usual_ms) {
		n_single++;
	}
	if (n < FSL_JUDGE_SINGLE_LIKE_MIN ||
	    (double)n_single > FSL_JUDGE_SINGLE_SHARE_MAX * (double)n + 1.0) {
		return FSL_OK;
	}
	for (size_t i = 0; i < n_single && *n_told < TOLD_MAX && status == FSL_OK; i++) {
		double gain_ms = (items[i].ms - usual_ms) / (double)n_steps;
		if (gain_ms < FSL_ALL_WAIT_SHARE_MIN * step_ms) {
			break;
		}
		(*n_told)++;
		status = add_single(findings, &items[i], usual_ms, n, gain_ms, err);
	}
	return status;
}

static enum fsl_status judge_occurrences(struct fsl_profile_findings *findings,
					 const struct fsl_profile_case *facts,
					 struct fsl_error *err)
{
	struct occurrences list = {0};
	size_t n_steps = fsl_profile_most_steps(facts->profile), n_told = 0;
	double step_ms = fsl_profile_longest_step_ms(facts->profile);
	enum fsl_status status = list_all(&list, facts, err);
	if (status == FSL_OK && list.n > 1) {
		qsort(list.items, list.n, sizeof(*list.items), compare_occurrences);
	}
	for (size_t begin = 0, end = 0; begin < list.n && status == FSL_OK; begin = end) {
		end = begin;
		while (end < list.n && compare_kind(&list.items[begin], &list.items[end]) == 0) {
			end++;
		}
		status = judge_kind(findings, list.items + begin, end - begin, step_ms, n_steps,
				    &n_told, err);
	}
	fsl_free(list.items);
	return status;
}

/* One step of one rank. */
struct rank_step {
	int64_t step;
	int32_t rank;
	double ms;
	double own_ms; /* computing and free, beyond what is usual for the rank */
};

static int compare_steps(const void *left, const void *right)
{
	const struct rank_step *a = left, *b = right;
	if (a->step != b->step) {
		return a->step < b->step ? -1 : 1;
	}
	if (a->ms != b->ms) {
		return a->ms < b->ms ? -1 : 1;
	}
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Own times of one rank become what they have above their median; @work: 2 * n. */
static void subtract_usual(struct rank_step *list, size_t n, double *work)
{
	for (size_t i = 0; i < n; i++) {
		work[i] = list[i].own_ms;
	}
	double usual_ms = n > 0 ? fsl_median(work, n, work + n) : 0.0;
	for (size_t i = 0; i < n; i++) {
		list[i].own_ms -= usual_ms;
	}
}

static size_t list_steps(struct rank_step *list, const struct fsl_profile *profile, double *work)
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n_rows = 0, n_before = n;
		const struct fsl_profile_step *rows =
			fsl_profile_step_rows(&profile->ranks[r], &n_rows);
		for (size_t i = 0; i < n_rows; i++) {
			int64_t ns = fsl_profile_step_ns(&rows[i]);
			if (rows[i].step != FSL_STEP_ABSENT && ns != FSL_NS_ABSENT) {
				list[n++] = (struct rank_step){
					rows[i].step, profile->ranks[r].rank,
					(double)ns / FSL_NS_PER_MS,
					((double)fsl_profile_part_ns(&rows[i], FSL_PART_COMPUTING) +
					 (double)rows[i].free_ns) /
						FSL_NS_PER_MS};
			}
		}
		subtract_usual(list + n_before, n - n_before, work);
	}
	if (n > 1) {
		qsort(list, n, sizeof(*list), compare_steps);
	}
	return n;
}

/* @list: the @n ranks of one step. */
static enum fsl_status add_step(struct fsl_profile_findings *findings, const struct rank_step *list,
				size_t n, double usual_ms, size_t n_steps, struct fsl_error *err)
{
	char what[TEXT_MAX];
	double step_ms = list[n / 2].ms, most_ms = -INFINITY;
	int32_t who = -1;
	for (size_t i = 0; i < n; i++) {
		if (list[i].own_ms > most_ms) {
			most_ms = list[i].own_ms;
			who = list[i].rank;
		}
	}
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_LONG_STEP);
	bool is_own = most_ms >= FSL_JUDGE_LONG_STEP_OWN_SHARE_MIN * (step_ms - usual_ms);
	int length = snprintf(what, sizeof(what),
			      "step %" PRId64 " takes %.1f ms, the %zu others %.1f ms; ",
			      list[0].step, step_ms, n_steps - 1, usual_ms);
	size_t at = length > 0 && (size_t)length < sizeof(what) ? (size_t)length : 0;
	if (is_own) {
		(void)snprintf(what + at, sizeof(what) - at,
			       "computing and free time grew most on rank %d, by %.1f ms", (int)who,
			       most_ms);
	} else {
		(void)snprintf(what + at, sizeof(what) - at,
			       "computing and free time grew by %.1f ms and less, so that "
			       "communication took the rest",
			       most_ms);
	}
	finding.step = list[0].step;
	finding.gain_ms = (step_ms - usual_ms) / (double)n_steps;
	finding.what = what;
	finding.advice = is_own ? "leave the first step of a capture out, else look at what that "
				  "rank did in this one"
				: "look at the longest collectives of this step";
	(void)fsl_profile_finding_add_fact(&finding, "took", step_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "usual", usual_ms, "ms");
	(void)fsl_profile_finding_add_fact(&finding, "own_grew", most_ms, "ms");
	if (is_own) {
		(void)fsl_profile_finding_add_fact(&finding, "grew_on_rank", (double)who, "count");
	}
	return fsl_profile_findings_add(findings, &finding, err);
}

static size_t end_of_step(const struct rank_step *list, size_t n, size_t begin)
{
	size_t end = begin;
	while (end < n && list[end].step == list[begin].step) {
		end++;
	}
	return end;
}

static enum fsl_status tell_long_steps(struct fsl_profile_findings *findings,
				       const struct rank_step *list, size_t n, double *work,
				       struct fsl_error *err)
{
	size_t n_steps = 0, n_told = 0;
	enum fsl_status status = FSL_OK;
	for (size_t begin = 0; begin < n; begin = end_of_step(list, n, begin)) {
		size_t end = end_of_step(list, n, begin);
		work[n_steps++] = list[begin + (end - begin) / 2].ms;
	}
	double usual_ms = fsl_median(work, n_steps, work + n);
	for (size_t begin = 0; begin < n && n_steps >= FSL_JUDGE_STEPS_MIN && status == FSL_OK;
	     begin = end_of_step(list, n, begin)) {
		size_t end = end_of_step(list, n, begin);
		if (list[begin + (end - begin) / 2].ms >= FSL_JUDGE_LONG_STEP_RATIO * usual_ms &&
		    n_told++ < TOLD_MAX) {
			status = add_step(findings, list + begin, end - begin, usual_ms, n_steps,
					  err);
		}
	}
	return status;
}

static enum fsl_status judge_steps(struct fsl_profile_findings *findings,
				   const struct fsl_profile *profile, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	size_t n_max = 1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_max += profile->ranks[r].n_steps + profile->ranks[r].n_rebuilt;
	}
	struct rank_step *list = fsl_arena_alloc(&scratch, n_max * sizeof(*list));
	double *work = fsl_arena_alloc(&scratch, 2 * n_max * sizeof(*work));
	enum fsl_status status =
		list == NULL || work == NULL
			? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n_max)
			: FSL_OK;
	size_t n = status == FSL_OK ? list_steps(list, profile, work) : 0;
	if (n > 0) {
		status = tell_long_steps(findings, list, n, work, err);
	}
	fsl_arena_fini(&scratch);
	return status;
}

enum fsl_status fsl_profile_judge_outliers(struct fsl_profile_findings *findings,
					   const struct fsl_profile_case *facts,
					   struct fsl_error *err)
{
	FSL_TRY(judge_occurrences(findings, facts, err));
	return judge_steps(findings, facts->profile, err);
}
