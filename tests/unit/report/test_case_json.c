/* The case: its state, who is named, what was ruled out, the job's name, the headline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "report/case_json.h"
#include "report/words.h"
#include "samples.h"

static cJSON *case_of(struct sample *sample)
{
	struct fsl_report report = sample_report(sample);
	report.now_ns = SAMPLE_NOW_NS;
	cJSON *json = fsl_case_json(&report, &sample->config);
	assert_non_null(json);
	return json;
}

static enum fsl_job_state state_of(struct sample *sample, int64_t now_ns)
{
	struct fsl_report report = sample_report(sample);
	report.now_ns = now_ns;
	const struct fsl_outcome job = fsl_report_outcome(&report);
	return fsl_outcome_state(&job);
}

static int length_of(const cJSON *json, const char *key)
{
	return cJSON_GetArraySize(cJSON_GetObjectItem(json, key));
}

static void a_fault_is_active_until_all_of_it_healed(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_culprit other = sample_culprit(6, FSL_CAUSE_HOST);
	sample_add_culprit(sample, &other);
	assert_int_equal(state_of(sample, SAMPLE_NOW_NS), FSL_STATE_ACTIVE);
	sample->localisation.culprits[0].until_step = 70;
	assert_int_equal(state_of(sample, SAMPLE_NOW_NS), FSL_STATE_ACTIVE);
	sample->localisation.culprits[1].until_step = 75;
	assert_int_equal(state_of(sample, SAMPLE_NOW_NS), FSL_STATE_OVER);
	sample_destroy(sample);
}

static void a_job_that_ended_is_over_only_if_a_present_is_known(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	sample->perception.is_over = true;
	assert_int_equal(state_of(sample, SAMPLE_NOW_NS), FSL_STATE_OVER);
	assert_int_equal(state_of(sample, FSL_NS_ABSENT), FSL_STATE_ACTIVE);
	sample_destroy(sample);
}

static void advice_is_no_alarm_and_too_little_data_is_unknown(void **state)
{
	(void)state;
	static const struct {
		enum fsl_verdict_kind kind;
		enum fsl_job_state state;
	} rows[] = {
		{FSL_VERDICT_NORMAL, FSL_STATE_CLEAR},
		{FSL_VERDICT_STAGE_IMBALANCE, FSL_STATE_CLEAR},
		{FSL_VERDICT_WORK_IMBALANCE, FSL_STATE_CLEAR},
		{FSL_VERDICT_HOST_BOUND, FSL_STATE_CLEAR},
		{FSL_VERDICT_HOST_PAUSES, FSL_STATE_ACTIVE},
		{FSL_VERDICT_INSUFFICIENT_EVIDENCE, FSL_STATE_UNKNOWN},
	};
	struct sample *sample = sample_create();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sample->localisation.kind = rows[i].kind;
		assert_int_equal(state_of(sample, SAMPLE_NOW_NS), rows[i].state);
	}
	sample->localisation.kind = FSL_VERDICT_NORMAL;
	sample->localisation.result_code = 500;
	assert_int_equal(state_of(sample, SAMPLE_NOW_NS), FSL_STATE_UNKNOWN);
	sample_destroy(sample);
}

static void how_work_is_cut_is_nobodys_fault(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	sample->localisation.kind = FSL_VERDICT_STAGE_IMBALANCE;
	sample->localisation.culprits[0].stage = 1;
	cJSON *json = case_of(sample);
	assert_int_equal(length_of(json, "culprits"), 0);
	cJSON *loss = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "losses"), 0);
	assert_int_equal(cJSON_GetObjectItem(loss, "stage")->valueint, 1);
	assert_int_equal(length_of(loss, "ranks"), 1);
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(loss, "cause")));
	cJSON_Delete(json);
	sample->localisation.kind = FSL_VERDICT_SLOW_RANK;
	json = case_of(sample);
	assert_int_equal(length_of(json, "culprits"), 1);
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void who_is_above_half_of_what_counts_is_ruled_out_with_a_reason(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample->config.slow_ratio_min = 1.03; /* 28 ms of a step of 974 ms count */
	const struct fsl_suspect suspects[] = {
		{1, 20.0, "ArrivalLateness", "waits for others"},
		{2, 12.0, "ArrivalLateness", "waits for others"},
		{3, 1.0, "own_time", "its cost does not count"},
	};
	for (size_t i = 0; i < 3; i++) {
		sample_check(FSL_APPEND(&sample->localisation, unconfirmed, &suspects[i], NULL) ==
			     FSL_OK);
	}
	struct fsl_whatif whatifs[] = {
		{FSL_WHATIF_WORK, "gc", 15.0, 16.0},
		{FSL_WHATIF_WORK, "checkpoint", 9.0, 10.0},
		{FSL_WHATIF_STAGE, "1", 40.0, 50.0},
	};
	sample->localisation.replay.is_on = true;
	sample->localisation.replay.whatifs = whatifs;
	sample->localisation.replay.n_whatifs = 3;
	cJSON *json = case_of(sample), *list = cJSON_GetObjectItem(json, "ruledOut");
	assert_int_equal(cJSON_GetArraySize(list), 3);
	assert_int_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 0), "rank")->valueint, 1);
	assert_int_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 1), "rank")->valueint, 3);
	assert_string_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 2), "cause")->valuestring,
			    "gc");
	assert_int_equal(length_of(json, "whatIf"), 3);
	cJSON_Delete(json);
	sample_destroy(sample);
}

/* Kind, name and gain of the first what-if. */
static void check_first_gain(struct sample *sample, size_t n, const char *kind, const char *name)
{
	cJSON *json = case_of(sample), *list = cJSON_GetObjectItem(json, "whatIf");
	const cJSON *first = cJSON_GetArrayItem(list, 0);
	assert_int_equal(cJSON_GetArraySize(list), (int)n);
	assert_string_equal(cJSON_GetObjectItem(first, "kind")->valuestring, kind);
	assert_string_equal(cJSON_GetObjectItem(first, "name")->valuestring, name);
	assert_true(cJSON_GetObjectItem(first, "ms")->valuedouble ==
		    sample->localisation.lost_ms_per_step);
	cJSON_Delete(json);
}

/* What each costs alone would not add up to what comes back. */
static void culprits_come_back_together(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_whatif whatifs[] = {
		{FSL_WHATIF_HOST, "10.1.0.9", 15.0, 16.0},
		{FSL_WHATIF_STAGE, "1", 40.0, 50.0},
		{FSL_WHATIF_ALL, "all", 90.0, 90.0},
	};
	struct fsl_culprit second = fsl_culprit_of(12);
	sample->localisation.replay.is_on = true;
	sample->localisation.replay.whatifs = whatifs;
	sample->localisation.replay.n_whatifs = 3;
	sample->localisation.lost_ms_per_step = 77.5;
	char name[32];
	(void)snprintf(name, sizeof(name), "%d", (int)sample->localisation.culprits[0].rank);
	check_first_gain(sample, 4, "rank", name);
	sample_check(FSL_APPEND(&sample->localisation, culprits, &second, NULL) == FSL_OK);
	(void)snprintf(name, sizeof(name), "%d, 12", (int)sample->localisation.culprits[0].rank);
	check_first_gain(sample, 4, "ranks", name);
	sample->localisation.culprits[0].server_ip = "10.1.0.9";
	sample->localisation.culprits[1].server_ip = "10.1.0.9";
	sample->localisation.kind = FSL_VERDICT_SLOW_HOST;
	check_first_gain(sample, 3, "host", "10.1.0.9"); /* once, and not as the replay says */
	sample->localisation.culprits[0].stage = 1;
	sample->localisation.kind = FSL_VERDICT_STAGE_IMBALANCE;
	check_first_gain(sample, 3, "stage", "1");
	sample->localisation.culprits[0].peer = 12;
	sample->localisation.culprits[1].peer = sample->localisation.culprits[0].rank;
	sample->localisation.kind = FSL_VERDICT_SLOW_LINK;
	(void)snprintf(name, sizeof(name), "%d-12", (int)sample->localisation.culprits[0].rank);
	check_first_gain(sample, 4, "link", name);
	sample_destroy(sample);
}

static void every_failed_allocation_gives_no_document(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_report report = sample_report(sample);
	cJSON *json = NULL;
	for (uint64_t nth = 1; json == NULL; nth++) {
		assert_true(nth < 100);
		fsl_mem_fail_at(nth);
		json = fsl_case_json(&report, &sample->config);
		fsl_mem_fail_at(0);
	}
	cJSON_Delete(json);
	sample_destroy(sample);
}

static void a_job_is_named_by_the_folder_that_holds_its_files(void **state)
{
	(void)state;
	static const struct {
		const char *root, *name;
	} rows[] = {
		{"/absent/train 7/mspti", "train_7"},
		{"/absent/job/node0_123_ascend_pt/ASCEND_PROFILER_OUTPUT/", "job"},
		{"/absent/a/b", "b"},
		{"/absent/x/PROF_000001_2026", "x"},
		{"/", "job"},
		{NULL, "job"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fsl_job_identity job = fsl_job_identity_of(rows[i].root, NULL);
		assert_string_equal(job.name, rows[i].name);
		assert_int_equal(strncmp(job.id, job.name, strlen(job.name)), 0);
		assert_int_equal(strlen(job.id), strlen(job.name) + 9);
	}
	struct fsl_job_identity a = fsl_job_identity_of("/absent/a/job", NULL),
				b = fsl_job_identity_of("/absent/b/job", NULL);
	assert_string_equal(a.name, b.name);
	assert_string_not_equal(a.id, b.id);
}

static void a_name_that_is_long_or_odd_fits_a_file_name(void **state)
{
	(void)state;
	char root[400] = "/absent/";
	memset(root + 8, 'n', 300);
	assert_int_equal(strlen(fsl_job_identity_of(root, NULL).name), FSL_JOB_NAME_MAX - 1);
	assert_string_equal(fsl_job_identity_of("/absent/a\n\xff;b", NULL).name, "a___b");
	assert_string_equal(fsl_job_identity_of("/absent/a", "../of <user>").name, ".._of__user_");
	assert_string_equal(fsl_job_identity_of("/absent/a", NULL).id + 1,
			    fsl_job_identity_of("/absent/a", "name").id + 4);
}

static void headline_of(struct fsl_phrase *headline, struct sample *sample)
{
	struct fsl_report report = sample_report(sample);
	*headline = (struct fsl_phrase){0};
	fsl_words_headline(headline, &report);
	assert_true(fsl_utf8_points(headline->text) <= FSL_HEADLINE_MAX);
	assert_null(strchr(headline->text, '\n'));
}

static void a_headline_is_one_line_that_ends_with_a_clause(void **state)
{
	(void)state;
	struct fsl_phrase headline;
	struct sample *sample = sample_missing(4);
	sample->localisation.reason =
		"nobody is slow among the captured ranks, but a group is incomplete and its other "
		"ranks were not captured; more of them would tell";
	headline_of(&headline, sample);
	assert_string_equal(headline.text, "INSUFFICIENT EVIDENCE: nobody is slow among the "
					   "captured ranks, but a group is incomplete and its "
					   "other ranks were ...");
	sample->localisation.reason =
		"operators of one rank were read\nand no others; this is a second clause that is "
		"much too long for a headline of any screen";
	headline_of(&headline, sample);
	assert_string_equal(headline.text, "INSUFFICIENT EVIDENCE: operators of one rank were "
					   "read?and no others");
	sample->localisation.reason =
		"4 single steps take 183.5 to 203.2 ms longer inside a transfer (the worst in "
		"HcclBatchSendRecv), and nobody is late in it: look for lost packets on the network";
	headline_of(&headline, sample);
	assert_string_equal(headline.text,
			    "INSUFFICIENT EVIDENCE: 4 single steps take 183.5 to 203.2 ms longer "
			    "inside a transfer (the worst in HcclBatchSendRecv)");
	sample_destroy(sample);
	sample = sample_slow_rank();
	sample->run.ranks[3].server_ip = "a-host-with-a-name-that-is-as-long-as-they-get.example";
	headline_of(&headline, sample);
	assert_non_null(strstr(headline.text, "slows the job by 20 %"));
	assert_null(strstr(headline.text, "..."));
	sample_destroy(sample);
}

/* A slow link between ranks a and b, and one between c and d. */
static struct sample *sample_two_links(int a, int b, int c, int d)
{
	struct sample *sample = sample_slow_link();
	const int ends[] = {a, b, c, d};
	for (size_t i = 0; i < 8; i++) {
		sample->run.ranks[i].server_ip = i < 4 ? "n1" : "n2";
	}
	sample->localisation.n_culprits = 0;
	for (size_t i = 0; i < 4; i++) {
		struct fsl_culprit end = sample_culprit(ends[i], FSL_CAUSE_NETWORK);
		end.peer = ends[i ^ 1];
		sample_add_culprit(sample, &end);
	}
	return sample;
}

static void several_links_are_told_by_the_hosts_that_they_join(void **state)
{
	(void)state;
	struct fsl_phrase headline;
	struct sample *sample = sample_two_links(2, 6, 3, 7);
	headline_of(&headline, sample);
	assert_non_null(strstr(headline.text, "2 links between hosts n1 and n2 slow the job by"));
	sample_destroy(sample);
	sample = sample_two_links(2, 6, 0, 1);
	headline_of(&headline, sample);
	assert_non_null(strstr(headline.text,
			       "2 links, first between rank 2 (n1) and rank 6 (n2), slow the job"));
	sample_destroy(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fault_is_active_until_all_of_it_healed),
		cmocka_unit_test(a_job_that_ended_is_over_only_if_a_present_is_known),
		cmocka_unit_test(advice_is_no_alarm_and_too_little_data_is_unknown),
		cmocka_unit_test(how_work_is_cut_is_nobodys_fault),
		cmocka_unit_test(who_is_above_half_of_what_counts_is_ruled_out_with_a_reason),
		cmocka_unit_test(culprits_come_back_together),
		cmocka_unit_test(every_failed_allocation_gives_no_document),
		cmocka_unit_test(a_job_is_named_by_the_folder_that_holds_its_files),
		cmocka_unit_test(a_name_that_is_long_or_odd_fits_a_file_name),
		cmocka_unit_test(a_headline_is_one_line_that_ends_with_a_clause),
		cmocka_unit_test(several_links_are_told_by_the_hosts_that_they_join),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
