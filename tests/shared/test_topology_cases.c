/* Inferred groups compared with the groups from which the reference data was made. */
#include "shared/shared.h"

static bool has_data(const struct fsl_run *run, int32_t rank)
{
	const struct fsl_rank *seen = fsl_run_rank(run, rank);
	return seen != NULL && seen->n_ops > 0;
}

/* True when @domain has a list with exactly the ranks of @wanted that have data. */
static bool has_list(const struct fsl_domain *domain, const struct fsl_run *run,
		     const cJSON *wanted)
{
	for (size_t i = 0; i < domain->n_lists; i++) {
		const struct fsl_rank_list *list = &domain->lists[i];
		bool is_same = true;
		size_t n = 0;
		const cJSON *rank = NULL;
		cJSON_ArrayForEach(rank, wanted)
		{
			if (has_data(run, rank->valueint)) {
				is_same = is_same && n < list->n_ranks &&
					  list->ranks[n] == rank->valueint;
				n++;
			}
		}
		if (is_same && n == list->n_ranks) {
			return true;
		}
	}
	return false;
}

static size_t n_wrong_lists(const struct shared_job *job, const cJSON *groups,
			    enum fsl_group_kind kind)
{
	size_t n_wrong = 0, n_lists = 0;
	const struct fsl_domain *domain = &job->topology.domains[kind];
	const cJSON *wanted = NULL;
	cJSON_ArrayForEach(wanted, cJSON_GetObjectItem(groups, fsl_group_kind_text(kind)))
	{
		bool is_alone = cJSON_GetArraySize(wanted) == 1 &&
				!has_data(&job->run, cJSON_GetArrayItem(wanted, 0)->valueint);
		n_wrong += is_alone || has_list(domain, &job->run, wanted) ? 0 : 1;
		n_lists += is_alone ? 0 : 1;
	}
	return n_wrong + (n_lists == domain->n_lists ? 0 : 1);
}

static void groups_of_every_case_are_inferred(void **state)
{
	(void)state;
	size_t n_wrong = 0;
	for (size_t i = 0; i < SHARED_CASES_N; i++) {
		struct shared_job job;
		char folder[SHARED_PATH_BYTES], path[SHARED_PATH_BYTES];
		snprintf(folder, sizeof(folder), "cases/%s", shared_cases[i]);
		shared_job_load(&job, shared_path(path, folder, "model_config.json"), NULL,
				FSL_ALGORITHM_FAILSLOW);
		cJSON *truth = shared_json(folder, "truth.json");
		const cJSON *groups = cJSON_GetObjectItem(truth, "groups");
		size_t n = n_wrong_lists(&job, groups, FSL_GROUP_TP) +
			   n_wrong_lists(&job, groups, FSL_GROUP_DP) +
			   n_wrong_lists(&job, groups, FSL_GROUP_PP);
		if (n > 0) {
			printf("%s: %zu lists differ\n", shared_cases[i], n);
		}
		n_wrong += n;
		assert_int_equal(job.topology.n_expected_ranks,
				 cJSON_GetObjectItem(truth, "ranks")->valueint);
		cJSON_Delete(truth);
		shared_job_fini(&job);
	}
	assert_int_equal(n_wrong, 0);
}

/* 16 ranks, rank = stage * 4 + replica, a distributed optimizer per stage. */
static void groups_of_the_real_run_are_inferred(void **state)
{
	(void)state;
	static const struct {
		const char *prefix;
		enum fsl_group_kind kind;
	} wanted[] = {
		{"dp_stage", FSL_GROUP_DP},
		{"pp_dp", FSL_GROUP_PP},
		{"emb_dp", FSL_GROUP_UNKNOWN},
	};
	struct shared_job job;
	char path[SHARED_PATH_BYTES];
	size_t n_checked = 0;
	shared_job_load(&job, NULL, shared_path(path, "real/ar", ""), FSL_ALGORITHM_FAILSLOW);
	for (size_t g = 0; g < job.topology.n_groups; g++) {
		const struct fsl_group *group = &job.topology.groups[g];
		const char *name = fsl_strpool_text(job.run.names, group->name_id);
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
			if (strncmp(name, wanted[i].prefix, strlen(wanted[i].prefix)) == 0) {
				assert_int_equal(group->kind, wanted[i].kind);
				n_checked++;
			}
		}
	}
	assert_int_equal(n_checked, 12);
	assert_int_equal(job.topology.n_groups, 12);
	shared_job_fini(&job);
}

int main(void)
{
	if (!shared_is_there()) {
		return SHARED_SKIP;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_every_case_are_inferred),
		cmocka_unit_test(groups_of_the_real_run_are_inferred),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
