/* Two captures of a job: times that grew are reported, others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "judge/finding.h"

enum { RANKS = 4, STEPS = 2 };

/* A capture of RANKS ranks with STEPS steps of 60 + 30 + 10 ms. */
struct capture {
	struct fsl_profile profile;
	struct fsl_profile_rank ranks[RANKS];
	struct fsl_profile_step steps[RANKS][STEPS];
	struct fsl_profile_kernels kernels[RANKS][2];
	struct fsl_profile_comm comms[RANKS];
};

static uint32_t intern(struct fsl_profile_rank *rank, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(rank->names, text, strlen(text), &id, NULL), FSL_OK);
	return id;
}

static void capture_begin(struct capture *capture)
{
	memset(capture, 0, sizeof(*capture));
	capture->profile.ranks = capture->ranks;
	capture->profile.n_ranks = RANKS;
	for (size_t r = 0; r < RANKS; r++) {
		struct fsl_profile_rank *rank = &capture->ranks[r];
		rank->rank = (int32_t)r;
		rank->names = fsl_strpool_create();
		assert_non_null(rank->names);
		for (size_t s = 0; s < STEPS; s++) {
			capture->steps[r][s] = (struct fsl_profile_step){
				.step = (int64_t)s,
				.computing_ns = 60000000,
				.exposed_ns = 30000000,
				.free_ns = 10000000,
			};
		}
		rank->steps = capture->steps[r];
		rank->n_steps = STEPS;
		capture->kernels[r][0] = (struct fsl_profile_kernels){
			.type_id = intern(rank, "MatMulV2"),
			.shape_id = intern(rank, "8,8"),
			.core_id = intern(rank, "AI_CORE"),
			.count = 20,
			.total_ns = 40000000,
		};
		capture->kernels[r][1] = capture->kernels[r][0];
		capture->kernels[r][1].type_id = intern(rank, "Add");
		rank->kernels = capture->kernels[r];
		rank->n_kernels = 1;
		capture->comms[r] = (struct fsl_profile_comm){
			.name_id = intern(rank, "hcom_allReduce__586_0_1"),
			.group_id = FSL_STR_NONE,
			.elapse_ns = 30000000,
		};
		rank->comms = &capture->comms[r];
		rank->n_comms = 1;
	}
}

static void capture_end(struct capture *capture)
{
	for (size_t r = 0; r < RANKS; r++) {
		fsl_strpool_destroy(capture->ranks[r].names);
	}
}

static struct fsl_profile_findings judge(const struct capture *now, const struct capture *then)
{
	struct fsl_profile_findings findings = {0};
	const struct fsl_profile_cluster cluster = {0};
	const struct fsl_profile_case facts = {
		.profile = &now->profile,
		.cluster = &cluster,
		.n_threads = 1,
		.baseline = then != NULL ? &then->profile : NULL,
	};
	assert_int_equal(fsl_profile_judge_baseline(&findings, &facts, NULL), FSL_OK);
	fsl_profile_findings_sort(&findings);
	return findings;
}

static size_t count(const struct fsl_profile_findings *findings, const char *code)
{
	size_t n = 0;
	for (size_t i = 0; i < findings->n_items; i++) {
		n += strcmp(fsl_code_text(findings->items[i].code), code) == 0;
	}
	return n;
}

static struct capture now, then;

static int set_up(void **state)
{
	(void)state;
	capture_begin(&now);
	capture_begin(&then);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	capture_end(&now);
	capture_end(&then);
	return 0;
}

static void without_a_baseline_nothing_is_said(void **state)
{
	(void)state;
	struct fsl_profile_findings findings = judge(&now, NULL);
	assert_int_equal(findings.n_items + findings.n_missing, 0);
	fsl_profile_findings_fini(&findings);
}

static void equal_captures_have_no_findings(void **state)
{
	(void)state;
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items + findings.n_missing, 0);
	fsl_profile_findings_fini(&findings);
}

static void ranks_without_kernels_in_one_capture_make_no_kernel_more_frequent(void **state)
{
	(void)state;
	for (size_t n_lost = 1; n_lost < RANKS; n_lost++) {
		then.ranks[n_lost].n_kernels = 0;
		then.ranks[n_lost].n_comms = 0;
		struct fsl_profile_findings findings = judge(&now, &then);
		assert_int_equal(findings.n_items, 0);
		fsl_profile_findings_fini(&findings);
	}
}

static void a_kernel_that_grew_is_measured_on_the_ranks_that_have_it_in_both(void **state)
{
	(void)state;
	then.ranks[0].n_kernels = 0;
	now.ranks[3].n_kernels = 0;
	for (size_t r = 0; r < RANKS; r++) {
		now.kernels[r][0].total_ns += 2 * 15000000;
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(count(&findings, "kernel_grew"), 1);
	for (size_t i = 0; i < findings.n_items; i++) {
		assert_float_equal((float)findings.items[i].gain_ms, 15.0f, 1e-4f);
	}
	fsl_profile_findings_fini(&findings);
}

static void a_kernel_that_takes_longer_on_all_ranks_is_told_with_the_step(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		now.kernels[r][0].total_ns += 2 * 15000000;
		for (size_t s = 0; s < STEPS; s++) {
			now.steps[r][s].computing_ns += 15000000;
		}
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 2);
	assert_int_equal(count(&findings, "slower_than_baseline"), 1);
	assert_int_equal(count(&findings, "kernel_grew"), 1);
	for (size_t i = 0; i < findings.n_items; i++) {
		assert_true(findings.items[i].gain_ms > 14.99 && findings.items[i].gain_ms < 15.01);
	}
	assert_non_null(strstr(findings.items[1].what, "115.0 ms, 15.0 ms (15.0 %) more"));
	fsl_profile_findings_fini(&findings);
}

static void kernels_that_all_grew_alike_are_told_as_slower_devices(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		then.ranks[r].n_kernels = now.ranks[r].n_kernels = 2;
		now.kernels[r][0].total_ns = 52000000;
		now.kernels[r][1].total_ns = 52200000;
		for (size_t s = 0; s < STEPS; s++) {
			now.steps[r][s].computing_ns = 78000000;
		}
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(count(&findings, "kernel_grew"), 1);
	const struct fsl_profile_finding *grew = &findings.items[1];
	assert_non_null(strstr(grew->what, "all kernels take 1.30 times as long"));
	assert_non_null(strstr(grew->advice, "power limit"));
	fsl_profile_findings_fini(&findings);
	now.kernels[0][1].total_ns = now.kernels[1][1].total_ns = now.kernels[2][1].total_ns =
		80000000;
	findings = judge(&now, &then);
	assert_int_equal(count(&findings, "kernel_grew"), 2);
	assert_null(strstr(findings.items[0].what, "all kernels"));
	fsl_profile_findings_fini(&findings);
}

/* Rank 2 computes longer, and the three others wait for it in a collective. */
static void waiting_for_a_rank_that_grew_is_no_slower_communication(void **state)
{
	(void)state;
	const int64_t more_ns[] = {8000000, 21000000};
	for (size_t i = 0; i < 2; i++) {
		for (size_t r = 0; r < RANKS; r++) {
			now.comms[r].elapse_ns = 30000000 + STEPS * (r == 2 ? 0 : more_ns[i]);
			for (size_t s = 0; s < STEPS; s++) {
				now.steps[r][s].computing_ns = 60000000 + (r == 2 ? more_ns[i] : 0);
				now.steps[r][s].exposed_ns = 30000000 + (r == 2 ? 0 : more_ns[i]);
			}
		}
		struct fsl_profile_findings findings = judge(&now, &then);
		assert_int_equal(count(&findings, "rank_slower_than_baseline"), 1);
		assert_int_equal(count(&findings, "communication_grew"), 0);
		bool is_said = false;
		for (size_t f = 0; f < findings.n_items; f++) {
			is_said |= strstr(findings.items[f].what,
					  "the others wait in it for rank 2") != NULL;
		}
		assert_true(is_said);
		fsl_profile_findings_fini(&findings);
	}
}

static void one_rank_whose_computing_grew_is_named(void **state)
{
	(void)state;
	for (size_t s = 0; s < STEPS; s++) {
		now.steps[2][s].computing_ns += 8000000;
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 1);
	assert_string_equal(fsl_code_text(findings.items[0].code), "rank_slower_than_baseline");
	assert_int_equal(findings.items[0].rank, 2);
	assert_true(findings.items[0].gain_ms > 7.99 && findings.items[0].gain_ms < 8.01);
	fsl_profile_findings_fini(&findings);
}

static void a_rank_that_gained_less_than_the_others_did_not_grow(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		for (size_t s = 0; s < STEPS; s++) {
			now.steps[r][s].computing_ns -= r == 2 ? 10000000 : 30000000;
		}
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(count(&findings, "rank_slower_than_baseline"), 0);
	assert_int_equal(count(&findings, "faster_than_baseline"), 1);
	fsl_profile_findings_fini(&findings);
}

static void ranks_that_are_in_one_capture_alone_are_told(void **state)
{
	(void)state;
	then.ranks[3].rank = 100;
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 0);
	assert_int_equal(findings.n_missing, 1);
	assert_non_null(strstr(findings.missing[0], "1 of 4 ranks beside the baseline"));
	fsl_profile_findings_fini(&findings);
}

static void communication_that_is_new_is_told(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		now.comms[r].name_id = intern(&now.ranks[r], "hcom_allGather__586_0_1");
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 1);
	assert_string_equal(fsl_code_text(findings.items[0].code), "communication_grew");
	assert_non_null(strstr(findings.items[0].what, "hcom_allGather: 15.00 ms"));
	assert_non_null(strstr(findings.items[0].what, "new"));
	fsl_profile_findings_fini(&findings);
}

static void a_faster_job_is_no_loss(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		for (size_t s = 0; s < STEPS; s++) {
			now.steps[r][s].free_ns = 0;
		}
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 1);
	assert_string_equal(fsl_code_text(findings.items[0].code), "faster_than_baseline");
	assert_true(findings.items[0].gain_ms != findings.items[0].gain_ms);
	fsl_profile_findings_fini(&findings);
}

static void captures_without_common_ranks_are_not_compared(void **state)
{
	(void)state;
	for (size_t r = 0; r < RANKS; r++) {
		then.ranks[r].rank += 100;
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 0);
	assert_int_equal(findings.n_missing, 1);
	fsl_profile_findings_fini(&findings);
}

/* Another name and shape for the kernels of a capture. */
static void rename_kernels(struct capture *capture, const char *type, const char *shape)
{
	for (size_t r = 0; r < RANKS; r++) {
		capture->kernels[r][0].type_id = intern(&capture->ranks[r], type);
		capture->kernels[r][0].shape_id = intern(&capture->ranks[r], shape);
	}
}

/* Makes the steps of now longer, so that there is something to be told. */
static void slow_down(void)
{
	for (size_t r = 0; r < RANKS; r++) {
		for (size_t s = 0; s < STEPS; s++) {
			now.steps[r][s].free_ns += 20000000;
		}
	}
}

static void another_model_is_refused(void **state)
{
	(void)state;
	slow_down();
	rename_kernels(&then, "FlashAttentionScore", "16,16");
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 0);
	assert_int_equal(findings.n_missing, 1);
	assert_non_null(strstr(findings.missing[0], "it ran another model, 0 %"));
	fsl_profile_findings_fini(&findings);
}

static void another_model_of_the_same_operators_is_refused(void **state)
{
	(void)state;
	slow_down();
	rename_kernels(&then, "MatMulV2", "16,16");
	for (size_t r = 0; r < RANKS; r++) {
		then.kernels[r][0].count = 30; /* more layers */
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(findings.n_items, 0);
	assert_int_equal(findings.n_missing, 1);
	fsl_profile_findings_fini(&findings);
}

static void another_batch_of_the_same_model_is_compared(void **state)
{
	(void)state;
	slow_down();
	rename_kernels(&then, "MatMulV2", "16,16");
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(count(&findings, "slower_than_baseline"), 1);
	assert_int_equal(findings.n_missing, 0);
	fsl_profile_findings_fini(&findings);
}

static void a_new_kernel_that_takes_most_of_the_time_makes_no_other_model(void **state)
{
	(void)state;
	slow_down();
	for (size_t r = 0; r < RANKS; r++) {
		now.ranks[r].n_kernels = 2;
		now.kernels[r][1].total_ns = 400000000;
	}
	struct fsl_profile_findings findings = judge(&now, &then);
	assert_int_equal(count(&findings, "slower_than_baseline"), 1);
	assert_int_equal(count(&findings, "kernel_grew"), 1);
	assert_int_equal(findings.n_missing, 0);
	fsl_profile_findings_fini(&findings);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(without_a_baseline_nothing_is_said),
		CASE(equal_captures_have_no_findings),
		CASE(ranks_without_kernels_in_one_capture_make_no_kernel_more_frequent),
		CASE(a_kernel_that_grew_is_measured_on_the_ranks_that_have_it_in_both),
		CASE(a_kernel_that_takes_longer_on_all_ranks_is_told_with_the_step),
		CASE(kernels_that_all_grew_alike_are_told_as_slower_devices),
		CASE(waiting_for_a_rank_that_grew_is_no_slower_communication),
		CASE(one_rank_whose_computing_grew_is_named),
		CASE(a_rank_that_gained_less_than_the_others_did_not_grow),
		CASE(ranks_that_are_in_one_capture_alone_are_told),
		CASE(communication_that_is_new_is_told),
		CASE(a_faster_job_is_no_loss),
		CASE(captures_without_common_ranks_are_not_compared),
		CASE(another_model_is_refused),
		CASE(another_model_of_the_same_operators_is_refused),
		CASE(another_batch_of_the_same_model_is_compared),
		CASE(a_new_kernel_that_takes_most_of_the_time_makes_no_other_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
