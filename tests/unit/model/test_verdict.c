/* Names of verdicts; initialising, extending and freeing a verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/verdict.h"

static void every_verdict_has_its_own_name(void **state)
{
	(void)state;
	for (int a = 0; a < FSL_VERDICTS_N; a++) {
		const char *name = fsl_verdict_text((enum fsl_verdict_kind)a);
		assert_non_null(name);
		for (int b = 0; b < a; b++) {
			assert_string_not_equal(name, fsl_verdict_text((enum fsl_verdict_kind)b));
		}
	}
	assert_string_equal(fsl_verdict_text(FSL_VERDICT_NORMAL), "normal");
	assert_string_equal(fsl_verdict_text(FSL_VERDICT_SLOW_RANK), "slow_rank");
	assert_string_equal(fsl_verdict_text(FSL_VERDICT_INSUFFICIENT_EVIDENCE),
			    "insufficient_evidence");
}

static void causes_are_found_by_their_names(void **state)
{
	(void)state;
	for (int cause = 0; cause < FSL_CAUSES_N; cause++) {
		assert_int_equal(fsl_cause_from_text(fsl_cause_text((enum fsl_cause)cause)), cause);
	}
	assert_int_equal(fsl_cause_from_text("Compute"), -1);
	assert_int_equal(fsl_cause_from_text(""), -1);
}

static void empty_verdicts_know_nothing(void **state)
{
	(void)state;
	struct fsl_localisation localisation;
	struct fsl_perception perception;
	fsl_localisation_init(&localisation);
	fsl_perception_init(&perception);
	assert_int_equal(localisation.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_int_equal(localisation.result_code, 200);
	assert_true(isnan(localisation.slowdown) && isnan(localisation.confidence));
	assert_true(localisation.fault_ns == FSL_NS_ABSENT);
	assert_true(localisation.coverage.begin_ns == FSL_NS_ABSENT);
	assert_true(isnan(localisation.coverage.clock_offset_max_ms));
	assert_string_equal(localisation.error_message, "");
	assert_int_equal(perception.kind, FSL_VERDICT_INSUFFICIENT_EVIDENCE);
	assert_string_equal(perception.anomaly_type, "normal");
	assert_false(perception.is_anomaly);
	assert_true(isnan(perception.hang_mins) && perception.start_ns == FSL_NS_ABSENT);
	fsl_localisation_fini(&localisation);
	fsl_perception_fini(&perception);
}

static void culprits_are_copied_in_order(void **state)
{
	(void)state;
	struct fsl_localisation localisation;
	fsl_localisation_init(&localisation);
	for (int32_t rank = 0; rank < 100; rank++) {
		struct fsl_culprit culprit = fsl_culprit_of(rank);
		assert_int_equal(FSL_APPEND(&localisation, culprits, &culprit, NULL), FSL_OK);
	}
	assert_int_equal(localisation.n_culprits, 100);
	for (int32_t rank = 0; rank < 100; rank++) {
		assert_int_equal(localisation.culprits[rank].rank, rank);
		assert_int_equal(localisation.culprits[rank].peer, -1);
		assert_true(isnan(localisation.culprits[rank].lost_ms_per_step));
	}
	fsl_localisation_fini(&localisation);
	assert_int_equal(localisation.n_culprits, 0);
	fsl_localisation_fini(&localisation);
}

static void suspects_and_details_go_to_their_lists(void **state)
{
	(void)state;
	struct fsl_localisation localisation;
	fsl_localisation_init(&localisation);
	struct fsl_suspect suspect = {4, 1.5, "own_time", "too little"};
	struct fsl_detail bad = {.rank = 3, .is_abnormal = true};
	struct fsl_detail good = {.rank = 5, .is_abnormal = false};
	assert_int_equal(FSL_APPEND(&localisation, victims, &suspect, NULL), FSL_OK);
	suspect.rank = 9;
	assert_int_equal(FSL_APPEND(&localisation, unconfirmed, &suspect, NULL), FSL_OK);
	assert_int_equal(fsl_localisation_add_detail(&localisation, &good, NULL), FSL_OK);
	assert_int_equal(fsl_localisation_add_detail(&localisation, &bad, NULL), FSL_OK);
	assert_int_equal(localisation.n_victims, 1);
	assert_int_equal(localisation.victims[0].rank, 4);
	assert_int_equal(localisation.unconfirmed[0].rank, 9);
	assert_int_equal(localisation.n_abnormal, 1);
	assert_int_equal(localisation.abnormal[0].rank, 3);
	assert_int_equal(localisation.normal[0].rank, 5);
	fsl_localisation_fini(&localisation);
}

static void perception_lists_grow(void **state)
{
	(void)state;
	struct fsl_perception perception;
	fsl_perception_init(&perception);
	for (int64_t step = 0; step < 20; step++) {
		struct fsl_step_anomaly anomaly = {.step = step};
		struct fsl_step_episode episode = {.onset_step = step + 100};
		struct fsl_step_explained explained = {.step = step + 200};
		assert_int_equal(FSL_APPEND(&perception, anomalies, &anomaly, NULL), FSL_OK);
		assert_int_equal(FSL_APPEND(&perception, episodes, &episode, NULL), FSL_OK);
		assert_int_equal(FSL_APPEND(&perception, explained, &explained, NULL), FSL_OK);
		anomaly.step += 300;
		assert_int_equal(FSL_APPEND(&perception, slow_dataloader, &anomaly, NULL), FSL_OK);
		anomaly.step += 100;
		assert_int_equal(FSL_APPEND(&perception, slow_ckpt, &anomaly, NULL), FSL_OK);
	}
	assert_int_equal(perception.n_anomalies, 20);
	assert_int_equal(perception.anomalies[19].step, 19);
	assert_int_equal(perception.episodes[19].onset_step, 119);
	assert_int_equal(perception.explained[19].step, 219);
	assert_int_equal(perception.slow_dataloader[19].step, 319);
	assert_int_equal(perception.slow_ckpt[19].step, 419);
	fsl_perception_fini(&perception);
}

static void facts_beyond_the_limit_are_refused(void **state)
{
	(void)state;
	struct fsl_culprit culprit = fsl_culprit_of(0);
	for (int i = 0; i < FSL_FACTS_MAX; i++) {
		assert_true(fsl_culprit_add_fact(&culprit, "own", i, "ms"));
	}
	assert_false(fsl_culprit_add_fact(&culprit, "own", 99.0, "ms"));
	assert_int_equal(culprit.n_evidence, FSL_FACTS_MAX);
	assert_true(culprit.evidence[FSL_FACTS_MAX - 1].value == FSL_FACTS_MAX - 1);
}

static void skipped_detectors_are_listed_in_order(void **state)
{
	(void)state;
	struct fsl_localisation localisation;
	fsl_localisation_init(&localisation);
	struct fsl_coverage *coverage = &localisation.coverage;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(fsl_coverage_add_skipped(coverage, &localisation.arena, NULL,
							  "Detector%d: %d ranks, needs 4", i, 2),
				 FSL_OK);
	}
	assert_int_equal(coverage->n_skipped, 1000);
	assert_string_equal(coverage->skipped[0], "Detector0: 2 ranks, needs 4");
	assert_string_equal(coverage->skipped[511], "Detector511: 2 ranks, needs 4");
	assert_string_equal(coverage->skipped[999], "Detector999: 2 ranks, needs 4");
	fsl_localisation_fini(&localisation);
}

static void ranks_are_copied_into_the_arena(void **state)
{
	(void)state;
	struct fsl_arena arena = {0};
	int32_t ranks[] = {3, 1, 2};
	int32_t *copy = fsl_ranks_copy(&arena, ranks, 3);
	ranks[0] = 99;
	assert_non_null(copy);
	assert_int_equal(copy[0], 3);
	assert_int_equal(copy[2], 2);
	assert_non_null(fsl_ranks_copy(&arena, NULL, 0));
	fsl_arena_fini(&arena);
}

static void short_memory_is_an_error_and_loses_nothing(void **state)
{
	(void)state;
	struct fsl_localisation localisation;
	fsl_localisation_init(&localisation);
	struct fsl_culprit culprit = fsl_culprit_of(7);
	int32_t rank = 1;
	assert_int_equal(FSL_APPEND(&localisation, culprits, &culprit, NULL), FSL_OK);
	while (localisation.n_culprits < localisation.culprits_capacity) {
		assert_int_equal(FSL_APPEND(&localisation, culprits, &culprit, NULL), FSL_OK);
	}
	size_t n_before = localisation.n_culprits;
	struct fsl_error err = {0};
	fsl_mem_fail_at(1);
	assert_int_equal(FSL_APPEND(&localisation, culprits, &culprit, &err), FSL_ERR_MEMORY);
	assert_int_equal(fsl_coverage_add_skipped(&localisation.coverage, &localisation.arena, &err,
						  "%s", "none"),
			 FSL_ERR_MEMORY);
	assert_null(fsl_ranks_copy(&localisation.arena, &rank, 1));
	fsl_mem_fail_at(0);
	assert_int_equal(localisation.n_culprits, n_before);
	assert_int_equal(localisation.culprits[n_before - 1].rank, 7);
	assert_int_equal(localisation.coverage.n_skipped, 0);
	assert_int_equal(err.n_causes, 2);
	fsl_localisation_fini(&localisation);
}

static const char *doubt_at(int64_t begin_ns)
{
	struct fsl_coverage coverage = {.begin_ns = begin_ns};
	const struct fsl_time_unit *unit = fsl_coverage_doubted_unit(&coverage);
	return unit != NULL ? unit->name : "none";
}

static void times_of_another_unit_are_told_by_the_year_they_give(void **state)
{
	(void)state;
	assert_string_equal(doubt_at(INT64_C(1750000000000000000)), "none");
	assert_string_equal(doubt_at(INT64_C(1750000000000000)), "microseconds");
	assert_string_equal(doubt_at(INT64_C(1750000000000)), "milliseconds");
	assert_string_equal(doubt_at(INT64_C(1750000000)), "seconds");
	assert_string_equal(doubt_at(INT64_C(1262303999999999)), "none");
	assert_string_equal(doubt_at(INT64_C(1262304000000000)), "microseconds");
	assert_string_equal(doubt_at(INT64_C(2524608000000000)), "none");
	assert_string_equal(doubt_at(0), "none");
	assert_string_equal(doubt_at(FSL_NS_ABSENT), "none");
	assert_string_equal(doubt_at(INT64_MAX), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_verdict_has_its_own_name),
		cmocka_unit_test(causes_are_found_by_their_names),
		cmocka_unit_test(empty_verdicts_know_nothing),
		cmocka_unit_test(culprits_are_copied_in_order),
		cmocka_unit_test(suspects_and_details_go_to_their_lists),
		cmocka_unit_test(perception_lists_grow),
		cmocka_unit_test(facts_beyond_the_limit_are_refused),
		cmocka_unit_test(skipped_detectors_are_listed_in_order),
		cmocka_unit_test(ranks_are_copied_into_the_arena),
		cmocka_unit_test(short_memory_is_an_error_and_loses_nothing),
		cmocka_unit_test(times_of_another_unit_are_told_by_the_year_they_give),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
