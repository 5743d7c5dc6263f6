/* Open-addressing hash over rank->kernels. */
#include "source/ascend/kernel_classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/try.h"

static uint64_t hash_class(int64_t step, uint32_t type_id, uint32_t shape_id, uint32_t core_id)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
	uint64_t hash = ((uint64_t)type_id << 32 | shape_id) * factor;
	hash = (hash ^ (hash >> 29) ^ (uint64_t)step) * factor;
	hash = (hash ^ (hash >> 32) ^ core_id) * factor;
	return hash ^ (hash >> 32);
}

static bool is_same(const struct fsl_profile_kernels *a, const struct fsl_profile_kernels *b)
{
	return a->step == b->step && a->type_id == b->type_id && a->shape_id == b->shape_id &&
	       a->core_id == b->core_id;
}

/* Slot that holds the class, or the free slot for it. */
static uint32_t *find_slot(const struct fsl_kernel_classes *classes,
			   const struct fsl_profile_kernels *key)
{
	size_t mask = classes->n_slots - 1;
	size_t slot =
		(size_t)hash_class(key->step, key->type_id, key->shape_id, key->core_id) & mask;
	while (classes->slots[slot] != 0 &&
	       !is_same(&classes->rank->kernels[classes->slots[slot] - 1], key)) {
		slot = (slot + 1) & mask;
	}
	return &classes->slots[slot];
}

static enum fsl_status grow_slots(struct fsl_kernel_classes *classes, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = classes->rank;
	size_t n_slots = classes->n_slots > 0 ? classes->n_slots * 2 : 256;
	while (n_slots <= rank->n_kernels * 2) { /* kernels of earlier slices */
		n_slots *= 2;
	}
	uint32_t *slots = fsl_calloc(n_slots, sizeof(*slots));
	if (slots == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: kernels=%zu", rank->n_kernels);
	}
	fsl_free(classes->slots);
	classes->slots = slots;
	classes->n_slots = n_slots;
	for (size_t i = 0; i < rank->n_kernels; i++) {
		*find_slot(classes, &rank->kernels[i]) = (uint32_t)i + 1;
	}
	return FSL_OK;
}

/* Joins "32,3,224,224;8|FLOAT;INT64" in classes->text; *length is 0 if the kernel has no shapes. */
static enum fsl_status join(struct fsl_kernel_classes *classes, const struct fsl_kernel *kernel,
			    size_t *length, struct fsl_error *err)
{
	*length = 0;
	if (kernel->n_shapes == 0 && kernel->n_types == 0) {
		return FSL_OK;
	}
	size_t n = kernel->n_shapes + 1 + kernel->n_types;
	FSL_TRY(FSL_GROW(classes->text, classes->text_capacity, n + 1, err));
	memcpy(classes->text, kernel->shapes, kernel->n_shapes);
	classes->text[kernel->n_shapes] = '|';
	memcpy(classes->text + kernel->n_shapes + 1, kernel->types, kernel->n_types);
	if (n > FSL_KERNEL_SHAPE_BYTES_MAX) {
		enum { TAIL_BYTES = 19 }; /* "..." and 16 digits */
		uint64_t hash = fsl_hash_bytes(FSL_HASH_START, classes->text, n);
		n = FSL_KERNEL_SHAPE_BYTES_MAX;
		(void)snprintf(classes->text + n - TAIL_BYTES, TAIL_BYTES + 1, "...%016" PRIx64,
			       hash);
	}
	*length = n;
	return FSL_OK;
}

/* Id of the kernel's shape. If there are too many classes, new shapes are no longer told apart. */
static enum fsl_status find_shape(struct fsl_kernel_classes *classes,
				  const struct fsl_kernel *kernel, uint32_t *id,
				  struct fsl_error *err)
{
	struct fsl_strpool *names = classes->rank->names;
	size_t length = 0;
	*id = FSL_STR_NONE;
	FSL_TRY(join(classes, kernel, &length, err));
	if (length == 0) {
		return FSL_OK;
	}
	if (classes->rank->n_kernels >= FSL_KERNEL_CLASSES_MAX ||
	    fsl_strpool_size(names) >= FSL_STRPOOL_MAX) {
		*id = fsl_strpool_find(names, classes->text, length);
		classes->is_full = classes->is_full || *id == FSL_STR_NONE;
		return FSL_OK;
	}
	return fsl_strpool_intern(names, classes->text, length, id, err);
}

static void count(struct fsl_profile_kernels *kernels, int64_t dur_ns)
{
	kernels->count++;
	kernels->total_ns = fsl_sum_i64(kernels->total_ns, dur_ns);
	kernels->min_ns = dur_ns < kernels->min_ns ? dur_ns : kernels->min_ns;
	kernels->max_ns = dur_ns > kernels->max_ns ? dur_ns : kernels->max_ns;
}

static enum fsl_status make_room(struct fsl_kernel_classes *classes, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = classes->rank;
	if (rank->n_kernels * 2 >= classes->n_slots) {
		FSL_TRY(grow_slots(classes, err));
	}
	return FSL_GROW(rank->kernels, rank->kernels_capacity, rank->n_kernels + 1, err);
}

enum fsl_status fsl_kernel_classes_add(struct fsl_kernel_classes *classes,
				       const struct fsl_kernel *kernel, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = classes->rank;
	struct fsl_profile_kernels key = {.step = kernel->step,
					  .type_id = kernel->type_id,
					  .core_id = kernel->core_id,
					  .min_ns = INT64_MAX};
	FSL_TRY(make_room(classes, err));
	FSL_TRY(find_shape(classes, kernel, &key.shape_id, err));
	uint32_t *slot = find_slot(classes, &key);
	if (*slot == 0 && rank->n_kernels >= FSL_KERNEL_CLASSES_MAX) {
		classes->is_full = true;
		key.shape_id = FSL_STR_NONE;
		slot = find_slot(classes, &key);
	}
	if (*slot == 0 && rank->n_kernels >= 2 * (size_t)FSL_KERNEL_CLASSES_MAX) {
		return FSL_OK;
	}
	if (*slot == 0) {
		rank->kernels[rank->n_kernels++] = key;
		*slot = (uint32_t)rank->n_kernels;
	}
	count(&rank->kernels[*slot - 1], kernel->dur_ns);
	return FSL_OK;
}

void fsl_kernel_classes_fini(struct fsl_kernel_classes *classes)
{
	fsl_free(classes->slots);
	fsl_free(classes->text);
	*classes = (struct fsl_kernel_classes){0};
}
