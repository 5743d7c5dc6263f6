/* Index over rank->kernels. */
#include "capture/kernel_classes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/try.h"

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
	n -= kernel->n_types == 0 ? 1 : 0; /* without types no bar */
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

static void count(struct fsl_profile_kernels *kernels, int64_t dur_ns, int64_t n_blocks)
{
	kernels->n_blocks = n_blocks > kernels->n_blocks ? n_blocks : kernels->n_blocks;
	kernels->count++;
	kernels->total_ns = fsl_sum_i64(kernels->total_ns, dur_ns);
	kernels->min_ns = dur_ns < kernels->min_ns ? dur_ns : kernels->min_ns;
	kernels->max_ns = dur_ns > kernels->max_ns ? dur_ns : kernels->max_ns;
}

/* Kernels of one class have the same key. */
struct key {
	uint64_t step, type_and_shape, core;
};

static struct key key_of(const struct fsl_profile_kernels *kernels)
{
	return (struct key){(uint64_t)kernels->step,
			    (uint64_t)kernels->type_id << 32 | kernels->shape_id, kernels->core_id};
}

static enum fsl_status begin(struct fsl_kernel_classes *classes, struct fsl_error *err)
{
	const struct fsl_profile_rank *rank = classes->rank;
	uint32_t at = 0;
	classes->keys = fsl_strpool_create();
	if (classes->keys == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: kernels=%zu", rank->n_kernels);
	}
	for (size_t i = 0; i < rank->n_kernels; i++) { /* kernels of earlier slices */
		const struct key key = key_of(&rank->kernels[i]);
		FSL_TRY(fsl_strpool_intern(classes->keys, (const char *)&key, sizeof(key), &at,
					   err));
	}
	return FSL_OK;
}

/* Index of the class in rank->kernels, FSL_STR_NONE: it is new. */
static uint32_t find(const struct fsl_kernel_classes *classes,
		     const struct fsl_profile_kernels *kernels)
{
	const struct key key = key_of(kernels);
	return fsl_strpool_find(classes->keys, (const char *)&key, sizeof(key));
}

static enum fsl_status keep_sample(struct fsl_profile_rank *rank, const struct fsl_kernel *kernel,
				   uint32_t at, struct fsl_error *err)
{
	if (rank->kernels[at].count > FSL_KERNEL_SAMPLES_MAX ||
	    rank->n_samples == FSL_KERNEL_SAMPLES_OF_RANK_MAX || kernel->dur_ns > UINT32_MAX) {
		return FSL_OK;
	}
	const struct fsl_profile_sample sample = {kernel->begin_ns, (uint32_t)kernel->dur_ns, at};
	return FSL_APPEND(rank, samples, &sample, err);
}

enum fsl_status fsl_kernel_classes_add(struct fsl_kernel_classes *classes,
				       const struct fsl_kernel *kernel, uint32_t *at,
				       struct fsl_error *err)
{
	struct fsl_profile_rank *rank = classes->rank;
	struct fsl_profile_kernels wanted = {.step = kernel->step,
					     .type_id = kernel->type_id,
					     .core_id = kernel->core_id,
					     .min_ns = INT64_MAX};
	if (classes->keys == NULL) {
		FSL_TRY(begin(classes, err));
	}
	FSL_TRY(find_shape(classes, kernel, &wanted.shape_id, err));
	*at = find(classes, &wanted);
	if (*at == FSL_STR_NONE && rank->n_kernels >= FSL_KERNEL_CLASSES_MAX) {
		classes->is_full = true;
		wanted.shape_id = FSL_STR_NONE;
		*at = find(classes, &wanted);
	}
	if (*at == FSL_STR_NONE) {
		if (rank->n_kernels >= 2 * (size_t)FSL_KERNEL_CLASSES_MAX) {
			return FSL_OK;
		}
		const struct key key = key_of(&wanted);
		FSL_TRY(FSL_GROW(rank->kernels, rank->kernels_capacity, rank->n_kernels + 1, err));
		FSL_TRY(fsl_strpool_intern(classes->keys, (const char *)&key, sizeof(key), at,
					   err));
		rank->kernels[rank->n_kernels++] = wanted;
	}
	count(&rank->kernels[*at], kernel->dur_ns, kernel->n_blocks);
	return keep_sample(rank, kernel, *at, err);
}

void fsl_kernel_classes_fini(struct fsl_kernel_classes *classes)
{
	fsl_strpool_destroy(classes->keys);
	fsl_free(classes->text);
	*classes = (struct fsl_kernel_classes){0};
}
