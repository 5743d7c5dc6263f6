/* engine: one scan, in fixed order, without leftovers if it fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "detect/engine.h"

static const struct fsl_param no_params[] = {{.key = NULL}};

/* Reports what it is given as params: an array that ends with confidence < 0. */
static enum fsl_status scan_script(const struct fsl_view *view, const void *params,
				   struct fsl_findings *out, struct fsl_error *err)
{
	assert_non_null(fsl_view_scratch(view, 100000));
	for (const struct fsl_finding *finding = params; finding->confidence >= 0.0; finding++) {
		enum fsl_status status = fsl_findings_add(out, finding, err);
		if (status != FSL_OK) {
			return status;
		}
	}
	return FSL_OK;
}

static enum fsl_status scan_and_fail(const struct fsl_view *view, const void *params,
				     struct fsl_findings *out, struct fsl_error *err)
{
	enum fsl_status status = scan_script(view, params, out, err);
	return status != FSL_OK ? status : FSL_FAIL(err, FSL_ERR_INTERNAL, "broken on purpose");
}

static const struct fsl_detector script = {
	.abi = FSL_DETECTOR_ABI,
	.name = "Script",
	.summary = "reports what it is told",
	.needs = FSL_NEED(FSL_METRIC_OWN),
	.scope = FSL_SCOPE_GROUP,
	.params = no_params,
	.scan = scan_script,
};

#define END_OF_SCRIPT                                                                              \
	{                                                                                          \
		.confidence = -1.0                                                                 \
	}

static void make_windows(struct fsl_windows *windows)
{
	assert_int_equal(fsl_windows_init(windows, FSL_METRIC_OWN, FSL_WINDOW_STEP, 3, 10, NULL),
			 FSL_OK);
	for (size_t m = 0; m < 3; m++) {
		windows->ranks[m] = (int32_t)(10 * m);
	}
}

static void findings_come_sorted_and_after_those_already_there(void **state)
{
	(void)state;
	static const struct fsl_finding told[] = {
		{20, -1, 0, 5, 1.0, 1.0, 0.5}, {0, -1, 6, 7, 1.0, 1.0, 0.5},
		{0, -1, 2, 9, 1.0, 1.0, 0.5},  {0, 20, 2, 3, 1.0, 1.0, 0.5},
		{0, 10, 2, 3, 1.0, 1.0, 0.5},  {-1, -1, 0, 1, NAN, 1.0, 0.5},
		{-1, -1, 0, 1, 2.0, 1.0, 0.5}, END_OF_SCRIPT,
	};
	static const size_t order[] = {6, 5, 4, 3, 2, 1, 0};
	struct fsl_windows windows;
	make_windows(&windows);
	struct fsl_findings findings = {0};
	struct fsl_finding earlier = {.rank = 99};
	assert_int_equal(fsl_findings_add(&findings, &earlier, NULL), FSL_OK);
	struct fsl_detector_config config = {.detector = &script, .params = told};
	bool skipped = true;
	assert_int_equal(fsl_engine_scan(&config, &windows, &findings, &skipped, NULL), FSL_OK);
	assert_false(skipped);
	assert_int_equal(findings.n_items, 8);
	assert_int_equal(findings.items[0].rank, 99);
	for (size_t i = 0; i < 7; i++) {
		assert_memory_equal(&findings.items[i + 1], &told[order[i]],
				    sizeof(struct fsl_finding));
	}
	fsl_findings_fini(&findings);
	fsl_windows_fini(&windows);
}

static void metric_that_is_not_needed_is_skipped(void **state)
{
	(void)state;
	struct fsl_windows windows;
	make_windows(&windows);
	windows.metric = FSL_METRIC_EXEC;
	struct fsl_findings findings = {0};
	struct fsl_detector_config config = {.detector = &script, .params = NULL};
	bool skipped = false;
	assert_int_equal(fsl_engine_scan(&config, &windows, &findings, &skipped, NULL), FSL_OK);
	assert_true(skipped);
	config.detector = NULL;
	skipped = false;
	assert_int_equal(fsl_engine_scan(&config, &windows, &findings, &skipped, NULL), FSL_OK);
	assert_true(skipped);
	assert_int_equal(findings.n_items, 0);
	fsl_windows_fini(&windows);
}

static void failed_scan_leaves_the_findings_as_they_were(void **state)
{
	(void)state;
	static const struct fsl_finding told[] = {{0, -1, 0, 5, 1.0, 1.0, 0.5}, END_OF_SCRIPT};
	struct fsl_detector failing = script;
	failing.scan = scan_and_fail;
	struct fsl_windows windows;
	make_windows(&windows);
	struct fsl_findings findings = {0};
	struct fsl_finding earlier = {.rank = 99};
	assert_int_equal(fsl_findings_add(&findings, &earlier, NULL), FSL_OK);
	struct fsl_detector_config config = {.detector = &failing, .params = told};
	struct fsl_error err = {0};
	bool skipped = false;
	assert_int_equal(fsl_engine_scan(&config, &windows, &findings, &skipped, &err),
			 FSL_ERR_INTERNAL);
	assert_int_equal(findings.n_items, 1);
	assert_string_equal(fsl_error_root(&err), "broken on purpose");
	assert_non_null(strstr(err.causes[1].message, "detector=\"Script\""));
	fsl_findings_fini(&findings);
	fsl_windows_fini(&windows);
}

static void finding_outside_its_unit_is_the_detectors_fault(void **state)
{
	(void)state;
	static const struct fsl_finding told[][2] = {
		{{0, -1, 5, 5, 1.0, 1.0, 0.5}, END_OF_SCRIPT},
		{{0, -1, 6, 5, 1.0, 1.0, 0.5}, END_OF_SCRIPT},
		{{0, -1, 5, 11, 1.0, 1.0, 0.5}, END_OF_SCRIPT},
		{{7, -1, 0, 5, 1.0, 1.0, 0.5}, END_OF_SCRIPT},
	};
	struct fsl_windows windows;
	make_windows(&windows);
	for (size_t i = 0; i < 4; i++) {
		struct fsl_findings findings = {0};
		struct fsl_detector_config config = {.detector = &script, .params = told[i]};
		struct fsl_error err = {0};
		bool skipped = false;
		assert_int_equal(fsl_engine_scan(&config, &windows, &findings, &skipped, &err),
				 FSL_ERR_PLUGIN);
		assert_non_null(strstr(fsl_error_root(&err), "outside its unit"));
		assert_int_equal(findings.n_items, 0);
		fsl_findings_fini(&findings);
	}
	fsl_windows_fini(&windows);
}

static void labels_are_one_inside_findings_of_the_member(void **state)
{
	(void)state;
	struct fsl_finding items[] = {{10, -1, 2, 4, 1.0, 1.0, 0.5},
				      {10, -1, 8, 10, 1.0, 1.0, 0.5}};
	struct fsl_findings findings = {.items = items, .n_items = 2};
	static const uint8_t expected[] = {0, 0, 1, 1, 0, 0, 0, 0, 1, 1};
	struct fsl_windows windows;
	make_windows(&windows);
	uint8_t labels[30];
	memset(labels, 7, sizeof(labels));
	fsl_findings_to_labels(&findings, &windows, labels);
	assert_memory_equal(labels + 10, expected, 10);
	for (size_t i = 0; i < 10; i++) {
		assert_int_equal(labels[i], 0);
		assert_int_equal(labels[20 + i], 0);
	}
	fsl_windows_fini(&windows);
}

static void members_in_any_order_are_found(void **state)
{
	(void)state;
	static const struct fsl_finding told[] = {{0, -1, 0, 5, 1.0, 1.0, 0.5},
						  {20, -1, 5, 10, 1.0, 1.0, 0.5},
						  {0, -1, 7, 9, 1.0, 1.0, 0.5},
						  END_OF_SCRIPT};
	static const uint8_t expected[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, /* rank 20 */
					   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* rank 10 */
					   1, 1, 1, 1, 1, 0, 0, 1, 1, 0};
	struct fsl_windows windows;
	make_windows(&windows);
	windows.ranks[0] = 20;
	windows.ranks[2] = 0;
	struct fsl_findings findings = {0};
	struct fsl_detector_config config = {.detector = &script, .params = told};
	bool skipped = true;
	assert_int_equal(fsl_engine_scan(&config, &windows, &findings, &skipped, NULL), FSL_OK);
	uint8_t labels[30];
	fsl_findings_to_labels(&findings, &windows, labels);
	assert_memory_equal(labels, expected, sizeof(expected));
	assert_int_equal(windows.ranks[0], 20);
	fsl_findings_fini(&findings);
	fsl_windows_fini(&windows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_come_sorted_and_after_those_already_there),
		cmocka_unit_test(metric_that_is_not_needed_is_skipped),
		cmocka_unit_test(failed_scan_leaves_the_findings_as_they_were),
		cmocka_unit_test(finding_outside_its_unit_is_the_detectors_fault),
		cmocka_unit_test(labels_are_one_inside_findings_of_the_member),
		cmocka_unit_test(members_in_any_order_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
