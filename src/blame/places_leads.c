/* How long collectives waited for one suspect alone. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "blame/limits.h"
#include "blame/places_parts.h"

/* A channel, to bring those of the same members together: one group may have a communicator for
 * each type of collective. */
struct entry {
	uint64_t members; /* hash */
	size_t channel;
};

/* One rank. */
struct lead {
	size_t n_met;    /* its operators that meet others */
	double least_ns; /* wait of the group that waited least; infinity: of none */
	double sum_ns;   /* waits of all groups */
	bool is_staged;  /* it sends to other stages, which may hold the job as long */
};

struct leads {
	struct lead *ranks;    /* [n_ranks] */
	struct entry *entries; /* [n] of collectives, sorted by members */
	size_t n;
	double *wait_ns; /* [n_ranks]: scratch, per member of a group */
};

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	FSL_ORDER_BY(a->members, b->members);
	return FSL_ORDER(a->channel, b->channel);
}

static enum fsl_status list_channels(struct leads *leads, const struct fsl_place_work *work,
				     struct fsl_arena *arena, struct fsl_error *err)
{
	const struct fsl_match *match = work->job->match;
	FSL_TRY(FSL_ARENA_NEW(leads->ranks, arena, work->out->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(leads->wait_ns, arena, work->out->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(leads->entries, arena, match->n_channels + 1, "channels", err));
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		leads->ranks[r].least_ns = INFINITY;
	}
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		for (size_t i = 0; i < channel->n_instances * channel->n_members; i++) {
			leads->ranks[channel->members[i % channel->n_members]].n_met +=
				channel->dur_ns[i] >= 0;
		}
		uint32_t a = channel->members[0], b = channel->members[channel->n_members - 1];
		bool is_apart = work->job->class_of[a] != work->job->class_of[b];
		leads->ranks[a].is_staged |= channel->is_p2p && is_apart;
		leads->ranks[b].is_staged |= channel->is_p2p && is_apart;
		/* To its neighbour in a pipeline a rank is late all the time. */
		if (!channel->is_p2p) {
			uint64_t members =
				fsl_hash_bytes(FSL_HASH_START, channel->members,
					       channel->n_members * sizeof(*channel->members));
			leads->entries[leads->n++] = (struct entry){members, c};
		}
	}
	if (leads->n > 1) {
		qsort(leads->entries, leads->n, sizeof(*leads->entries), compare_entries);
	}
	return FSL_OK;
}

/* One instance: adds how long the members that are no suspects waited for each that is. */
static void add_instance(double *wait_ns, const struct fsl_place_work *work,
			 const struct fsl_channel *channel, const int64_t *dur_ns)
{
	const struct fsl_place_rank *ranks = work->out->ranks;
	int64_t next_ns = INT64_MAX, longest_ns = 0;
	for (size_t m = 0; m < channel->n_members; m++) {
		bool is_rest = dur_ns[m] >= 0 && !ranks[channel->members[m]].is_suspect;
		next_ns = is_rest && dur_ns[m] < next_ns ? dur_ns[m] : next_ns;
		longest_ns = dur_ns[m] > longest_ns ? dur_ns[m] : longest_ns;
	}
	next_ns = next_ns < longest_ns ? next_ns : longest_ns;
	for (size_t m = 0; m < channel->n_members; m++) {
		if (dur_ns[m] >= 0 && dur_ns[m] < next_ns) {
			wait_ns[m] += (double)(next_ns - dur_ns[m]);
		}
	}
}

/* Channels entries[begin, end) have the same members. */
static void add_group(const struct leads *leads, const struct fsl_place_work *work, size_t begin,
		      size_t end)
{
	const struct fsl_match *match = work->job->match;
	const struct fsl_channel *first = &match->channels[leads->entries[begin].channel];
	for (size_t m = 0; m < first->n_members; m++) {
		leads->wait_ns[m] = 0.0;
	}
	for (size_t e = begin; e < end; e++) {
		const struct fsl_channel *channel = &match->channels[leads->entries[e].channel];
		for (size_t i = 0; i < channel->n_instances; i++) {
			add_instance(leads->wait_ns, work, channel,
				     channel->dur_ns + i * channel->n_members);
		}
	}
	for (size_t m = 0; m < first->n_members; m++) {
		struct lead *lead = &leads->ranks[first->members[m]];
		lead->least_ns = fmin(lead->least_ns, leads->wait_ns[m]);
		lead->sum_ns += leads->wait_ns[m];
	}
}

enum fsl_status fsl_places_measure_leads(struct fsl_place_work *work, struct fsl_error *err)
{
	const struct fsl_places_job *job = work->job;
	struct leads leads = {.n = 0};
	FSL_TRY(list_channels(&leads, work, &work->arena, err));
	FSL_TRY(FSL_ARENA_NEW(work->alone_ms, &work->arena, work->out->n_ranks, "ranks", err));
	FSL_TRY(FSL_ARENA_NEW(work->lead_ms, &work->arena, work->out->n_ranks, "ranks", err));
	for (size_t begin = 0, end = 0; begin < leads.n; begin = end) {
		end = begin + 1;
		while (end < leads.n &&
		       leads.entries[end].members == leads.entries[begin].members) {
			end++;
		}
		add_group(&leads, work, begin, end);
	}
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		const struct lead *lead = &leads.ranks[r];
		double n_ops = (double)job->run->ranks[r].n_ops;
		bool is_told =
			(double)lead->n_met >= FSL_PLACES_MET_SHARE_MIN * n_ops &&
			!(lead->is_staged && job->bare_ns != NULL && job->bare_ns[r] != NULL);
		double ms =
			work->out->ranks[r].is_in_ring ? INFINITY : lead->least_ns / FSL_NS_PER_MS;
		work->alone_ms[r] = lead->sum_ns / FSL_NS_PER_MS / job->n_steps[r];
		work->lead_ms[r] = is_told ? ms / job->n_steps[r] : 0.0;
	}
	return FSL_OK;
}
