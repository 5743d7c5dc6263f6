/* Claims about the index over findings: the same results as comparing with each finding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "judge/by_step_index.h"

enum { N = 400, N_RANKS = 12 };

static uint32_t next_random(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

static struct fsl_profile_finding any_finding(uint64_t *seed)
{
	static const enum fsl_code codes[] = {FSL_CODE_SLOW_LINK,  FSL_CODE_SLOW_RANK_NETWORK,
					      FSL_CODE_MORE_WORK,  FSL_CODE_SLOW_RANK_COMPUTE,
					      FSL_CODE_HOST_BOUND, FSL_CODE_CORE_CLOCK};
	size_t n_codes = sizeof(codes) / sizeof(codes[0]);
	struct fsl_profile_finding finding =
		fsl_profile_finding_of(codes[next_random(seed, (uint32_t)n_codes)]);
	finding.rank = (int32_t)next_random(seed, N_RANKS + 1) - 1;
	finding.peer = (int32_t)next_random(seed, 2 * N_RANKS) - N_RANKS;
	finding.peer = finding.peer < 0 ? -1 : finding.peer;
	return finding;
}

static void findings_about_the_same_are_found_each_once_in_order(void **state)
{
	(void)state;
	struct fsl_profile_finding items[N];
	uint64_t seed = 1;
	for (size_t i = 0; i < N; i++) {
		items[i] = any_finding(&seed);
	}
	struct fsl_profile_findings findings = {.items = items, .n_items = N};
	struct fsl_subjects subjects;
	struct fsl_subject_hits hits = {0};
	assert_int_equal(fsl_subjects_init(&subjects, &findings, NULL), FSL_OK);
	for (size_t k = 0; k < N; k++) {
		struct fsl_profile_finding wanted = any_finding(&seed);
		size_t n = 0;
		assert_int_equal(fsl_subjects_find(&hits, &subjects, &wanted, NULL), FSL_OK);
		for (size_t i = 0; i < N; i++) {
			if (fsl_by_step_is_same(&items[i], &wanted)) {
				assert_true(n < hits.n_items);
				assert_int_equal(hits.items[n++], i);
			}
		}
		assert_int_equal(hits.n_items, n);
		assert_int_equal(fsl_subjects_has(&subjects, &wanted), n > 0);
	}
	fsl_free(hits.items);
	fsl_subjects_fini(&subjects);
}

static void nothing_is_found_among_none(void **state)
{
	(void)state;
	struct fsl_profile_findings findings = {0};
	struct fsl_subjects subjects;
	struct fsl_subject_hits hits = {0};
	uint64_t seed = 1;
	struct fsl_profile_finding wanted = any_finding(&seed);
	assert_int_equal(fsl_subjects_init(&subjects, &findings, NULL), FSL_OK);
	assert_int_equal(fsl_subjects_find(&hits, &subjects, &wanted, NULL), FSL_OK);
	assert_int_equal(hits.n_items, 0);
	assert_false(fsl_subjects_has(&subjects, &wanted));
	fsl_free(hits.items);
	fsl_subjects_fini(&subjects);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_about_the_same_are_found_each_once_in_order),
		cmocka_unit_test(nothing_is_found_among_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
