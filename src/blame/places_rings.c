/* Ranks that pass blocks of data round a ring. */
#include "base/try.h"
#include "blame/places_parts.h"

/* One rank. */
struct end {
	uint64_t sequence;  /* of its operators in a step */
	uint32_t neighbour; /* the first rank of its like that it meets; UINT32_MAX: none yet */
};

/* Rank @r meets @other, which does the same. */
static void note_neighbour(struct fsl_place_rank *rank, struct end *end, uint32_t other)
{
	rank->is_in_ring |= end->neighbour != UINT32_MAX && end->neighbour != other;
	end->neighbour = other;
}

enum fsl_status fsl_places_find_rings(struct fsl_place_work *work, struct fsl_error *err)
{
	const struct fsl_match *match = work->job->match;
	const uint32_t *class_of = work->job->class_of;
	struct fsl_place_rank *ranks = work->out->ranks;
	struct end *ends = NULL;
	FSL_TRY(FSL_ARENA_NEW(ends, &work->arena, work->out->n_ranks, "ranks", err));
	for (size_t r = 0; r < work->out->n_ranks; r++) {
		ends[r].neighbour = UINT32_MAX;
	}
	for (size_t b = 0; b < work->n_blocks; b++) {
		ends[work->blocks[b].rank_idx].sequence = work->blocks[b].sequence;
	}
	for (size_t c = 0; c < match->n_channels; c++) {
		const struct fsl_channel *channel = &match->channels[c];
		uint32_t a = channel->members[0], b = channel->members[channel->n_members - 1];
		if (channel->is_p2p && a != b && class_of[a] == class_of[b] &&
		    ends[a].sequence == ends[b].sequence) {
			note_neighbour(&ranks[a], &ends[a], b);
			note_neighbour(&ranks[b], &ends[b], a);
		}
	}
	return FSL_OK;
}
