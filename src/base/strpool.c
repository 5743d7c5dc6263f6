/* Interned names: open-addressing hash of ids over an arena of texts. */
#include "base/strpool.h"

#include <string.h>

#include "base/mem.h"
#include "base/secret.h"

struct entry {
	const char *text; /* in the arena */
	size_t length;
	uint64_t hash;
};

struct fsl_strpool {
	struct fsl_arena arena;
	struct entry *entries;
	size_t n_entries, capacity;
	uint32_t *slots; /* id + 1; 0: free */
	size_t n_slots;  /* power of two, at most half full */
	const uint64_t *keys;
};

struct fsl_strpool *fsl_strpool_create(void)
{
	struct fsl_strpool *pool = fsl_calloc(1, sizeof(*pool));
	if (pool != NULL) {
		pool->keys = fsl_secret_keys();
	}
	return pool;
}

void fsl_strpool_destroy(struct fsl_strpool *pool)
{
	if (pool == NULL) {
		return;
	}
	fsl_arena_fini(&pool->arena);
	fsl_free(pool->entries);
	fsl_free(pool->slots);
	fsl_free(pool);
}

/* Two words become one: upper and lower half of their product. Without the keys nobody can choose
 * words with equal results. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 product_t;
	product_t product = (product_t)a * b;
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
#else
	const uint64_t half = UINT32_MAX;
	uint64_t low = (a & half) * (b & half), cross = (a >> 32) * (b & half);
	uint64_t other = (a & half) * (b >> 32), high = (a >> 32) * (b >> 32);
	uint64_t middle = (low >> 32) + (cross & half) + (other & half);
	return (high + (cross >> 32) + (other >> 32) + (middle >> 32)) ^
	       (low & half | middle << 32);
#endif
}

/* Hashes eight bytes a step; the last step may cover bytes of the step before. The keys differ in
 * every process, so that a hostile file cannot hold names that all meet in one slot. */
static uint64_t hash_text(const struct fsl_strpool *pool, const char *text, size_t length)
{
	uint64_t hash = pool->keys[0] ^ length, word = 0;
	const char *end = text + length;
	for (; end - text > 8; text += 8) {
		memcpy(&word, text, 8);
		hash = fold(hash ^ word, pool->keys[1]);
	}
	word = 0;
	if (length >= 8) {
		memcpy(&word, end - 8, 8);
	} else {
		memcpy(&word, text, length);
	}
	return fold(hash ^ word, pool->keys[2]);
}

/* Slot that holds the text, or the free slot for it. n_slots > 0. */
static size_t find_slot(const struct fsl_strpool *pool, const char *text, size_t length,
			uint64_t hash)
{
	size_t mask = pool->n_slots - 1;
	size_t slot = (size_t)hash & mask;
	for (;; slot = (slot + 1) & mask) {
		uint32_t used = pool->slots[slot];
		if (used == 0) {
			return slot;
		}
		const struct entry *entry = &pool->entries[used - 1];
		if (entry->hash == hash && entry->length == length &&
		    memcmp(entry->text, text, length) == 0) {
			return slot;
		}
	}
}

static enum fsl_status grow_slots(struct fsl_strpool *pool, struct fsl_error *err)
{
	size_t n_slots = pool->n_slots > 0 ? pool->n_slots * 2 : 64;
	uint32_t *slots = NULL;
	FSL_TRY(FSL_NEW(slots, n_slots, "names", err));
	fsl_free(pool->slots);
	pool->slots = slots;
	pool->n_slots = n_slots;
	for (size_t id = 0; id < pool->n_entries; id++) {
		size_t slot = (size_t)pool->entries[id].hash & (n_slots - 1);
		while (slots[slot] != 0) {
			slot = (slot + 1) & (n_slots - 1);
		}
		slots[slot] = (uint32_t)id + 1;
	}
	return FSL_OK;
}

enum fsl_status fsl_strpool_intern(struct fsl_strpool *pool, const char *text, size_t length,
				   uint32_t *id, struct fsl_error *err)
{
	if (pool->n_entries * 2 >= pool->n_slots) {
		FSL_TRY(grow_slots(pool, err));
	}
	uint64_t hash = hash_text(pool, text, length);
	size_t slot = find_slot(pool, text, length, hash);
	if (pool->slots[slot] != 0) {
		*id = pool->slots[slot] - 1;
		return FSL_OK;
	}
	if (pool->n_entries >= FSL_STRPOOL_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too many different names: max=%d",
				FSL_STRPOOL_MAX);
	}
	FSL_TRY(FSL_GROW(pool->entries, pool->capacity, pool->n_entries + 1, err));
	char *copy = fsl_arena_strndup(&pool->arena, text, length);
	if (copy == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", pool->n_entries);
	}
	pool->entries[pool->n_entries] = (struct entry){copy, length, hash};
	*id = (uint32_t)pool->n_entries++;
	pool->slots[slot] = *id + 1;
	return FSL_OK;
}

uint32_t fsl_strpool_find(const struct fsl_strpool *pool, const char *text, size_t length)
{
	if (pool->n_slots == 0) {
		return FSL_STR_NONE;
	}
	uint32_t used = pool->slots[find_slot(pool, text, length, hash_text(pool, text, length))];
	return used != 0 ? used - 1 : FSL_STR_NONE;
}

const char *fsl_strpool_text(const struct fsl_strpool *pool, uint32_t id)
{
	return id < pool->n_entries ? pool->entries[id].text : "";
}

size_t fsl_strpool_size(const struct fsl_strpool *pool)
{
	return pool->n_entries;
}

size_t fsl_strpool_longest_search(const struct fsl_strpool *pool)
{
	size_t longest = 0;
	for (size_t id = 0; id < pool->n_entries; id++) {
		const struct entry *entry = &pool->entries[id];
		size_t mask = pool->n_slots - 1, home = (size_t)entry->hash & mask;
		size_t slot = find_slot(pool, entry->text, entry->length, entry->hash);
		size_t n = 1 + ((slot - home) & mask);
		longest = n > longest ? n : longest;
	}
	return longest;
}
