/* Puts the collectives of a kind, and the steps, beside each other. */
#include "blame/long_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/limits.h"
#include "capture/step_rows.h"

/* One collective of the set: how long it took once all that are seen had come. */
struct occurrence {
	const char *type, *group, *name;
	int size_class; /* of the bytes that it moved; 0: not told */
	double ms;
	size_t n_members;
	int32_t rank; /* of the member that came last */
	int64_t step;
};

struct work {
	const struct fsl_profile *profile;
	const struct fsl_profile_meetings *meetings;
	double step_ms, n_steps; /* longest mean of a rank; most of a rank */
	struct occurrence *met;
	size_t n_met, met_capacity;
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

static enum fsl_status list_met(struct work *work, const struct fsl_channel *channel,
				struct fsl_error *err)
{
	const struct fsl_profile_meetings *meetings = work->meetings;
	uint32_t group_id = meetings->topology.groups[channel->group_idx].name_id;
	size_t n = channel->is_p2p ? 0 : channel->n_instances;
	for (size_t i = 0; i < n; i++) {
		struct occurrence item = {
			.type = fsl_strpool_text(meetings->run.names, channel->op_id),
			.group = fsl_strpool_text(meetings->run.names, group_id),
			.rank = -1};
		for (size_t m = 0; m < channel->n_members; m++) {
			const struct fsl_profile_comm *comm =
				fsl_meeting_comm(meetings, work->profile, channel, i, m);
			if (comm != NULL) {
				add_member(&item, &work->profile->ranks[channel->members[m]], comm);
			}
		}
		if (item.n_members > 0) {
			FSL_TRY(FSL_APPEND(work, met, &item, err));
		}
	}
	return FSL_OK;
}

/* Groups of which one member is seen have no channel. */
static enum fsl_status list_alone(struct work *work, const struct fsl_group *group,
				  struct fsl_error *err)
{
	const struct fsl_profile_meetings *meetings = work->meetings;
	size_t r = (size_t)group->ranks[0];
	const struct fsl_rank *rank = &meetings->run.ranks[r];
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_profile_comm *comm =
			&work->profile->ranks[r].comms[rank->ops[i].id];
		if (rank->ops[i].group_id != group->name_id || comm->is_p2p) {
			continue;
		}
		struct occurrence item = {
			.type = fsl_strpool_text(meetings->run.names, rank->ops[i].op_id),
			.group = fsl_strpool_text(meetings->run.names, group->name_id)};
		add_member(&item, &work->profile->ranks[r], comm);
		FSL_TRY(FSL_APPEND(work, met, &item, err));
	}
	return FSL_OK;
}

static enum fsl_status list_all(struct work *work, struct fsl_error *err)
{
	const struct fsl_profile_meetings *meetings = work->meetings;
	for (size_t c = 0; c < meetings->match.n_channels; c++) {
		FSL_TRY(list_met(work, &meetings->match.channels[c], err));
	}
	for (size_t g = 0; g < meetings->topology.n_groups; g++) {
		if (meetings->topology.groups[g].n_ranks == 1) {
			FSL_TRY(list_alone(work, &meetings->topology.groups[g], err));
		}
	}
	return FSL_OK;
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

/* Judges the collectives of one kind; @items: longest first. */
static enum fsl_status judge_kind(struct fsl_long_events *out, const struct work *work,
				  const struct occurrence *items, size_t n, struct fsl_error *err)
{
	double usual_ms = items[n / 2].ms;
	size_t n_long = 0;
	while (n_long < n && items[n_long].ms >= FSL_LONG_COLLECTIVE_RATIO_MIN * usual_ms) {
		n_long++;
	}
	if (n < FSL_LONG_COLLECTIVE_LIKE_MIN ||
	    (double)n_long > FSL_LONG_COLLECTIVE_SHARE_MAX * (double)n + 1.0) {
		return FSL_OK;
	}
	for (size_t i = 0; i < n_long; i++) {
		const struct occurrence *item = &items[i];
		const struct fsl_long_collective found = {.group = item->group,
							  .name = item->name,
							  .step = item->step,
							  .rank = item->rank,
							  .n_members = item->n_members,
							  .n_like = n,
							  .ms = item->ms,
							  .usual_ms = usual_ms,
							  .cost_ms = (item->ms - usual_ms) /
								     work->n_steps};
		if (found.cost_ms < FSL_ALL_WAIT_SHARE_MIN * work->step_ms) {
			break;
		}
		FSL_TRY(FSL_APPEND(out, collectives, &found, err));
	}
	return FSL_OK;
}

static enum fsl_status find_collectives(struct fsl_long_events *out, struct work *work,
					struct fsl_error *err)
{
	FSL_TRY(list_all(work, err));
	if (work->n_met > 1) {
		qsort(work->met, work->n_met, sizeof(*work->met), compare_occurrences);
	}
	for (size_t begin = 0, end = 0; begin < work->n_met; begin = end) {
		while (end < work->n_met && compare_kind(&work->met[begin], &work->met[end]) == 0) {
			end++;
		}
		FSL_TRY(judge_kind(out, work, work->met + begin, end - begin, err));
	}
	return FSL_OK;
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
	FSL_ORDER_BY(a->step, b->step);
	FSL_ORDER_BY(a->ms, b->ms);
	return FSL_ORDER(a->rank, b->rank);
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
static struct fsl_long_step long_step_of(const struct rank_step *list, size_t n, double usual_ms,
					 size_t n_steps)
{
	struct fsl_long_step found = {.step = list[0].step,
				      .rank = -1,
				      .n_others = n_steps - 1,
				      .ms = list[n / 2].ms,
				      .usual_ms = usual_ms,
				      .grown_ms = -INFINITY};
	for (size_t i = 0; i < n; i++) {
		if (list[i].own_ms > found.grown_ms) {
			found.grown_ms = list[i].own_ms;
			found.rank = list[i].rank;
		}
	}
	double more_ms = found.ms - usual_ms;
	bool is_own = found.grown_ms >= FSL_LONG_STEP_OWN_SHARE_MIN * more_ms;
	found.rank = is_own ? found.rank : -1;
	found.cost_ms = more_ms / (double)n_steps;
	return found;
}

static size_t end_of_step(const struct rank_step *list, size_t n, size_t begin)
{
	size_t end = begin;
	while (end < n && list[end].step == list[begin].step) {
		end++;
	}
	return end;
}

/* @list: the @n steps of all ranks; @work: 2 * n. */
static enum fsl_status compare_all_steps(struct fsl_long_events *out, const struct rank_step *list,
					 size_t n, double *work, struct fsl_error *err)
{
	size_t n_steps = 0;
	for (size_t begin = 0; begin < n; begin = end_of_step(list, n, begin)) {
		size_t end = end_of_step(list, n, begin);
		work[n_steps++] = list[begin + (end - begin) / 2].ms;
	}
	double usual_ms = fsl_median(work, n_steps, work + n);
	for (size_t begin = 0, end = 0; begin < n && n_steps >= FSL_USUAL_STEPS_MIN; begin = end) {
		end = end_of_step(list, n, begin);
		const struct fsl_long_step found =
			long_step_of(list + begin, end - begin, usual_ms, n_steps);
		if (found.ms >= FSL_LONG_STEP_RATIO * usual_ms) {
			FSL_TRY(FSL_APPEND(out, steps, &found, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status find_steps(struct fsl_long_events *out, const struct fsl_profile *profile,
				  struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct rank_step *list = NULL;
	double *work = NULL;
	size_t n_max = 1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		n_max += profile->ranks[r].n_steps + profile->ranks[r].n_rebuilt;
	}
	enum fsl_status status = FSL_ARENA_NEW(list, &scratch, n_max, "steps", err);
	FSL_THEN(status, FSL_ARENA_NEW(work, &scratch, 2 * n_max, "steps", err));
	size_t n = status == FSL_OK ? list_steps(list, profile, work) : 0;
	if (n > 0) {
		status = compare_all_steps(out, list, n, work, err);
	}
	fsl_arena_fini(&scratch);
	return status;
}

enum fsl_status fsl_long_events_find(struct fsl_long_events *out, const struct fsl_profile *profile,
				     const struct fsl_profile_meetings *meetings,
				     struct fsl_error *err)
{
	struct work work = {.profile = profile,
			    .meetings = meetings,
			    .step_ms = fsl_profile_longest_step_ms(profile),
			    .n_steps = (double)fsl_profile_most_steps(profile)};
	*out = (struct fsl_long_events){0};
	enum fsl_status status = find_collectives(out, &work, err);
	FSL_THEN(status, find_steps(out, profile, err));
	fsl_free(work.met);
	if (status != FSL_OK) {
		fsl_long_events_fini(out);
	}
	return status;
}

void fsl_long_events_fini(struct fsl_long_events *events)
{
	fsl_free(events->collectives);
	fsl_free(events->steps);
	*events = (struct fsl_long_events){0};
}
