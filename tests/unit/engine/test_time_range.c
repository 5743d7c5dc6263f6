/* Claims about the time range: options and keys first, then the newest failSlow result, then the
 * span before now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/number.h"
#include "engine/time_range.h"
#include "support/program.h"

enum { PATH_BYTES = 1024 };

static char folder[PATH_BYTES];

static int setup(void **state)
{
	(void)state;
	return scratch_create(FSL_BUILD_DIR, "time-range", folder, sizeof(folder)) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

static void write_result(const char *name, const char *text)
{
	char path[PATH_BYTES + 128];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(fsl_file_write_atomic(path, text, strlen(text), NULL), FSL_OK);
}

static struct fsl_config config_of(void)
{
	return (struct fsl_config){.fail_slow_perception_path = folder,
				   .slow_node_detection_time_span_hours = 0.5,
				   .now_ns = INT64_C(1750000000) * FSL_NS_PER_S};
}

static void without_keys_everything_is_looked_at(void **state)
{
	(void)state;
	struct fsl_config config = config_of();
	struct fsl_time_range range = fsl_time_range_of(&config);
	assert_true(range.from_ns == INT64_MIN && range.to_ns == INT64_MAX);
	assert_false(range.is_waiting_for_fail_slow);
}

static void the_span_before_now_is_in_parts_of_an_hour(void **state)
{
	(void)state;
	struct fsl_config config = config_of();
	config.filter_data_by_timestamp = true;
	struct fsl_time_range range = fsl_time_range_of(&config);
	assert_int_equal(range.to_ns, config.now_ns);
	assert_int_equal(range.from_ns, config.now_ns - INT64_C(1800) * FSL_NS_PER_S);
}

static void an_explicit_range_wins_over_all_keys(void **state)
{
	(void)state;
	struct fsl_config config = config_of();
	config.has_range = config.with_fail_slow = config.filter_data_by_timestamp = true;
	config.range_begin_ns = 5;
	config.range_end_ns = 7;
	struct fsl_time_range range = fsl_time_range_of(&config);
	assert_true(range.from_ns == 5 && range.to_ns == 7);
}

static void the_newest_usable_fail_slow_result_gives_the_range(void **state)
{
	(void)state;
	struct fsl_config config = config_of();
	config.with_fail_slow = true;
	/* 999 is older than 1000 although its name sorts behind it. */
	write_result("fail_slow_perception_result_failSlow_999.json",
		     "{\"start_time\": 1, \"end_time\": 2}");
	write_result("fail_slow_perception_result_failSlow_1000.json",
		     "{\"start_time\": 1750000003907, \"end_time\": 1750000095954}");
	write_result("fail_slow_perception_result_failSlow_1001.json", "{\"start_time\": 17500");
	write_result("fail_slow_perception_result_normal_1002.json",
		     "{\"start_time\": 3, \"end_time\": 4}");
	struct fsl_time_range range = fsl_time_range_of(&config);
	assert_int_equal(range.from_ns, INT64_C(1750000003907) * FSL_NS_PER_MS);
	assert_int_equal(range.to_ns, INT64_C(1750000095955) * FSL_NS_PER_MS - 1);
	assert_false(range.is_waiting_for_fail_slow);
}

static void without_a_fail_slow_result_the_run_waits_for_one(void **state)
{
	(void)state;
	struct fsl_config config = config_of();
	config.with_fail_slow = true;
	struct fsl_time_range range = fsl_time_range_of(&config);
	assert_true(range.is_waiting_for_fail_slow);
	assert_true(range.from_ns == INT64_MIN);
	config.fail_slow_perception_path = "/does/not/exist";
	assert_true(fsl_time_range_of(&config).is_waiting_for_fail_slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_keys_everything_is_looked_at, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_span_before_now_is_in_parts_of_an_hour, setup,
						teardown),
		cmocka_unit_test_setup_teardown(an_explicit_range_wins_over_all_keys, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_newest_usable_fail_slow_result_gives_the_range,
						setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_fail_slow_result_the_run_waits_for_one,
						setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
