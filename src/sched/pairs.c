/* Open addressing with steps of one; at most half of the slots are used. */
#include "sched/pairs.h"

#include <string.h>

#include "base/mem.h"

enum { SLOTS_MIN = 256 };

static size_t hash_of(const struct fsl_sched_pair *key)
{
	uint64_t hash = (uint32_t)key->victim * UINT64_C(0x9e3779b97f4a7c15);
	hash = (hash ^ (uint32_t)key->holder) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ (uint32_t)key->step) * UINT64_C(0x94d049bb133111eb);
	hash = (hash ^ (uint32_t)key->cpu) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(hash >> 24);
}

static size_t slot_of(const struct fsl_sched_pairs *pairs, const struct fsl_sched_pair *key)
{
	size_t at = hash_of(key) & (pairs->n_slots - 1);
	while (pairs->slots[at] != 0) {
		const struct fsl_sched_pair *item = &pairs->items[pairs->slots[at] - 1];
		if (item->victim == key->victim && item->holder == key->holder &&
		    item->step == key->step && item->cpu == key->cpu) {
			break;
		}
		at = (at + 1) & (pairs->n_slots - 1);
	}
	return at;
}

static enum fsl_status widen(struct fsl_sched_pairs *pairs, struct fsl_error *err)
{
	size_t n = pairs->n_slots > 0 ? pairs->n_slots * 2 : SLOTS_MIN;
	uint32_t *slots = NULL;
	FSL_TRY(FSL_NEW(slots, n, "slots", err));
	fsl_free(pairs->slots);
	pairs->slots = slots;
	pairs->n_slots = n;
	for (size_t i = 0; i < pairs->n_items; i++) {
		slots[slot_of(pairs, &pairs->items[i])] = (uint32_t)i + 1;
	}
	return FSL_OK;
}

enum fsl_status fsl_sched_pairs_add(struct fsl_sched_pairs *pairs, const struct fsl_sched_pair *key,
				    struct fsl_error *err)
{
	if (2 * (pairs->n_items + 1) > pairs->n_slots) {
		FSL_TRY(widen(pairs, err));
	}
	size_t slot = slot_of(pairs, key);
	if (pairs->slots[slot] == 0) {
		struct fsl_sched_pair fresh = *key;
		fresh.ns = 0;
		fresh.n = 0;
		FSL_TRY(FSL_APPEND(pairs, items, &fresh, err));
		pairs->slots[slot] = (uint32_t)pairs->n_items;
	}
	struct fsl_sched_pair *item = &pairs->items[pairs->slots[slot] - 1];
	item->ns += key->ns;
	item->last_ns = key->last_ns;
	item->n++;
	return FSL_OK;
}

int64_t fsl_sched_pairs_ns(const struct fsl_sched_pairs *pairs, const struct fsl_sched_pair *key)
{
	size_t slot = pairs->n_slots > 0 ? slot_of(pairs, key) : 0;
	return pairs->n_slots > 0 && pairs->slots[slot] != 0
		       ? pairs->items[pairs->slots[slot] - 1].ns
		       : 0;
}

void fsl_sched_pairs_fini(struct fsl_sched_pairs *pairs)
{
	fsl_free(pairs->items);
	fsl_free(pairs->slots);
	*pairs = (struct fsl_sched_pairs){0};
}
