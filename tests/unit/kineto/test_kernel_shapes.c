/* Kernels of a trace are one class if name, grid and block are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "capture/capture.h"

static void read_trace(struct fsl_profile *set, const char *events)
{
	char folder[] = "/tmp/kernel-shapes-XXXXXX", path[64];
	size_t size = strlen(events) + 128;
	char *text = fsl_calloc(size, 1);
	assert_non_null(text);
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/rank0.trace.json", folder);
	int length = snprintf(
		text, size,
		"{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 0}, \"traceEvents\": [%s]}",
		events);
	assert_int_equal(fsl_file_write_atomic(path, text, (size_t)length, NULL), FSL_OK);
	const struct fsl_profile_options options = {.path = path};
	assert_int_equal(fsl_profile_read(set, &options, NULL), FSL_OK);
	assert_int_equal(set->n_ranks, 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	fsl_free(text);
}

/* The class of this shape ("": none). */
static const struct fsl_profile_kernels *find(const struct fsl_profile *set, const char *shape)
{
	const struct fsl_profile_rank *rank = &set->ranks[0];
	for (size_t i = 0; i < rank->n_kernels; i++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[i];
		assert_string_equal(fsl_strpool_text(rank->names, kernels->type_id),
				    "void gemm<float>");
		const char *own = kernels->shape_id != FSL_STR_NONE
					  ? fsl_strpool_text(rank->names, kernels->shape_id)
					  : "";
		if (strcmp(own, shape) == 0) {
			return kernels;
		}
	}
	fail_msg("no class of the shape \"%s\"", shape);
	return NULL;
}

#define KERNEL(ts, dur, name, args)                                                                \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm<float>(" name                  \
	")\", \"pid\": 0, \"tid\": 7, \"ts\": " #ts ", \"dur\": " #dur                             \
	", \"args\": {\"stream\": 7" args "}}"
#define SHAPE(x, y, threads) ", \"grid\": [" #x ", " #y ", 1], \"block\": [" #threads ", 1, 1]"

static void grid_and_block_tell_kernels_of_one_name_apart(void **state)
{
	(void)state;
	struct fsl_profile set;
	read_trace(&set, KERNEL(1000, 10, "int", SHAPE(8, 4, 256)) "," KERNEL(
				 1020, 30, "long", SHAPE(64, 1, 256)) "," KERNEL(1060, 12, "long",
										 SHAPE(8, 4, 256)));
	assert_int_equal(set.ranks[0].n_kernels, 2);
	const struct fsl_profile_kernels *small = find(&set, "8_4_1|256_1_1");
	assert_int_equal(small->count, 2);
	assert_int_equal(small->total_ns, 22000);
	const struct fsl_profile_kernels *large = find(&set, "64_1_1|256_1_1");
	assert_int_equal(large->count, 1);
	assert_int_equal(large->max_ns, 30000);
	fsl_profile_fini(&set);
}

static void without_them_a_name_is_one_class(void **state)
{
	(void)state;
	struct fsl_profile set;
	read_trace(&set, KERNEL(1000, 10, "int", "") "," KERNEL(1020, 30, "long", "") "," KERNEL(
				 1060, 5, "int", SHAPE(3, 1, 32)));
	assert_int_equal(set.ranks[0].n_kernels, 2);
	assert_int_equal(find(&set, "")->count, 2);
	assert_int_equal(find(&set, "3_1_1|32_1_1")->count, 1);
	fsl_profile_fini(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grid_and_block_tell_kernels_of_one_name_apart),
		cmocka_unit_test(without_them_a_name_is_one_class),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
