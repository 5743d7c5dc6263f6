/* Waits for signals, summed by group and member. */
#include "source/ascend/signal_waits.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"

enum {
	WAITS_MAX = 1 << 16, /* members of all groups of a rank */
	BESIDE_MAX = 16,     /* collectives that may run at the same time */
};

/* Begins are written to 0.1 us. */
#define ROUNDING_NS INT64_C(1000)

bool fsl_is_signal_wait(const char *name, size_t length)
{
	static const char head[] = "Notify", tail[] = "Wait";
	enum { HEAD = sizeof(head) - 1, TAIL = sizeof(tail) - 1 };
	return length >= HEAD + TAIL && memcmp(name, head, HEAD) == 0 &&
	       memcmp(name + length - TAIL, tail, TAIL) == 0;
}

enum fsl_status fsl_signal_waits_add(struct fsl_signal_waits *waits, uint32_t group_id,
				     int64_t place, int64_t wait_ns, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = waits->rank;
	if (group_id == FSL_STR_NONE || place < 0 || place >= FSL_PROFILE_RANKS_MAX ||
	    wait_ns < 0) {
		return FSL_OK;
	}
	if (waits->keys == NULL) {
		waits->keys = fsl_strpool_create();
		waits->first = rank->n_waits;
	}
	if (waits->keys == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	const uint32_t key[] = {group_id, (uint32_t)place};
	uint32_t at = fsl_strpool_find(waits->keys, (const char *)key, sizeof(key));
	if (at == FSL_STR_NONE) {
		if (rank->n_waits == WAITS_MAX) {
			return FSL_OK;
		}
		FSL_TRY(FSL_GROW(rank->waits, rank->waits_capacity, rank->n_waits + 1, err));
		FSL_TRY(fsl_strpool_intern(waits->keys, (const char *)key, sizeof(key), &at, err));
		rank->waits[rank->n_waits++] = (struct fsl_profile_signal_wait){
			.group_id = group_id, .place = (int32_t)place};
	}
	struct fsl_profile_signal_wait *wait = &rank->waits[waits->first + at];
	wait->wait_ns = fsl_sum_i64(wait->wait_ns, wait_ns);
	return FSL_OK;
}

uint32_t fsl_signal_waits_group_at(const struct fsl_profile_rank *rank, int64_t time_ns)
{
	size_t low = 0, high = rank->n_comms; /* begins rise, because steps follow each other */
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (rank->comms[middle].begin_ns <= time_ns + ROUNDING_NS) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	uint32_t group_id = FSL_STR_NONE;
	for (size_t i = 0; i < low && i < BESIDE_MAX; i++) {
		const struct fsl_profile_comm *comm = &rank->comms[low - 1 - i];
		bool is_in_it = comm->begin_ns >= 0 && comm->elapse_ns > 0 &&
				time_ns - comm->begin_ns < comm->elapse_ns;
		if (!is_in_it || comm->group_id == group_id) {
			continue;
		}
		if (group_id != FSL_STR_NONE || comm->is_p2p) {
			return FSL_STR_NONE;
		}
		group_id = comm->group_id;
	}
	return group_id;
}

void fsl_signal_waits_fini(struct fsl_signal_waits *waits)
{
	fsl_strpool_destroy(waits->keys);
	waits->keys = NULL;
}
