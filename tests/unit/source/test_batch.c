/* In which order the files of a batch are read: who begins last decides when all is done. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <setjmp.h>

#include <cmocka.h>

#include "source/batch.h"

enum { N_FILES = 6 };

static const struct fsl_input inputs[N_FILES] = {
	{.name = "hccl_activity.0.csv", .n_bytes = 300},
	{.name = "host--00000.timeline", .n_bytes = 10},
	{.name = "hccl_activity.1.csv", .n_bytes = 900},
	{.name = "hccl_activity.2.csv.gz", .n_bytes = 90},
	{.name = "hccl_activity.3.json", .n_bytes = 100},
	{.name = "hccl_activity.4.csv", .n_bytes = 300},
};

static void fill(struct fsl_load *loads)
{
	for (size_t i = 0; i < N_FILES; i++) {
		loads[i] = (struct fsl_load){.input = &inputs[i]};
	}
}

static void assert_order(const size_t *order, const size_t *expected)
{
	for (size_t i = 0; i < N_FILES; i++) {
		assert_int_equal(order[i], expected[i]);
	}
}

static void the_largest_file_is_first_and_equal_ones_keep_their_places(void **state)
{
	(void)state;
	static const size_t expected[N_FILES] = {2, 0, 5, 4, 3, 1};
	struct fsl_load loads[N_FILES];
	size_t order[FSL_BATCH_FILES];
	fill(loads);
	fsl_batch_order(loads, N_FILES, order);
	assert_order(order, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_file_is_first_and_equal_ones_keep_their_places),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
