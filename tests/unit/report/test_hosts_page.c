/* The page of hosts: which trace and which holder are told, and parts of documents that break
 * rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/hostbound_parts.h"
#include "report/page/hosts_model.h"
#include "report/page/page.h"

/* A trace whose rank waits so long in so many steps; its holders are the quota, idle and hog. */
static int add_trace(char *text, size_t size, int rank, int wait_ms, int n_high, const char *cause)
{
	return snprintf(
		text, size,
		"{\"ranks\":[{\"rank\":%d,\"isNamed\":%s,\"cause\":\"%s\",\"waitMsPerStep\":%d,"
		"\"highSteps\":%d,\"holders\":[{\"kind\":\"idle\",\"seenMsPerStep\":3},"
		"{\"kind\":\"quota\",\"seenMsPerStep\":2},"
		"{\"kind\":\"process\",\"name\":\"hog\",\"seenMsPerStep\":1,\"likelyMsPerStep\":-4}"
		"]}],\"picture\":{\"rank\":%d,\"step\":7,\"beginNs\":5000000,\"endNs\":25000000,"
		"\"lanes\":[{\"cpu\":0,\"holders\":\"tcl\",\"waits\":\"..w\",\"waitMs\":4},"
		"{\"cpu\":1,\"holders\":\"tc\",\"waits\":\"...\"},{\"cpu\":-1,\"holders\":\"t\","
		"\"waits\":\".\"},{\"cpu\":3,\"holders\":\"\",\"waits\":\"\"}]}}",
		rank, strcmp(cause, "nothing") != 0 ? "true" : "false", cause, wait_ms, n_high,
		rank);
}

static cJSON *document_of(int first_ms, int second_ms, const char *cause)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "{\"schema\":\"failslow.hostbound/1\",\"traces\":[");
	n += add_trace(text + n, sizeof(text) - (size_t)n, 4, first_ms, 10, cause);
	n += snprintf(text + n, sizeof(text) - (size_t)n, ",");
	n += add_trace(text + n, sizeof(text) - (size_t)n, 9, second_ms, 10, cause);
	(void)snprintf(text + n, sizeof(text) - (size_t)n, "]}");
	cJSON *document = cJSON_Parse(text);
	assert_non_null(document);
	return document;
}

static void the_trace_with_the_longest_waits_is_told(void **state)
{
	static const struct {
		int first_ms, second_ms;
		int64_t rank;
	} cases[] = {{30, 20, 4}, {20, 30, 9}, {20, 20, 4}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_html_hosts page;
		cJSON *document = document_of(cases[i].first_ms, cases[i].second_ms, "cpu");
		assert_int_equal(fsl_html_hosts_read(&page, document, NULL), FSL_OK);
		assert_int_equal(page.rank, cases[i].rank);
		assert_true(page.length_ms > 19.9 && page.length_ms < 20.1);
		fsl_html_hosts_fini(&page);
		cJSON_Delete(document);
	}
}

static void the_holder_to_blame_is_somebody_or_the_quota(void **state)
{
	static const struct {
		const char *cause, *kind;
	} cases[] = {{"cpu", "process"}, {"quota", "quota"}, {"nothing", NULL}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_html_hosts page;
		cJSON *document = document_of(30, 20, cases[i].cause);
		assert_int_equal(fsl_html_hosts_read(&page, document, NULL), FSL_OK);
		assert_int_equal(page.n_holders, 3);
		assert_true(page.holders[2].likely_ms >= 0.0);
		if (cases[i].kind != NULL) {
			assert_true(page.main_holder < page.n_holders);
			assert_string_equal(page.holders[page.main_holder].kind, cases[i].kind);
		} else {
			assert_true(page.main_holder == SIZE_MAX);
		}
		fsl_html_hosts_fini(&page);
		cJSON_Delete(document);
	}
}

static void lanes_that_break_rules_are_left_out(void **state)
{
	struct fsl_html_hosts page;
	cJSON *document = document_of(30, 20, "cpu");
	(void)state;
	assert_int_equal(fsl_html_hosts_read(&page, document, NULL), FSL_OK);
	assert_int_equal(page.n_lanes, 1);
	assert_int_equal(page.lanes[0].cpu, 0);
	assert_int_equal(page.lanes[0].n, 3);
	assert_int_equal(fsl_html_class_of(page.lanes[0].holders[1]), FSL_HTML_CULPRIT);
	assert_int_equal(fsl_html_class_of('x'), FSL_HTML_UNHELD);
	fsl_html_hosts_fini(&page);
	cJSON_Delete(document);
}

static void documents_of_other_kinds_are_refused(void **state)
{
	struct fsl_html_hosts page;
	cJSON *document = cJSON_Parse("{\"schema\":\"failslow.functions/1\"}");
	(void)state;
	assert_int_equal(fsl_html_hosts_read(&page, document, NULL), FSL_ERR_FORMAT);
	cJSON_Delete(document);
}

static void ranks_that_share_a_cpu_are_parted_in_one_sentence(void **state)
{
	(void)state;
	static struct fsl_hostbound judged;
	static const int32_t pairs[][3] = {{0, 1, 4}, {0, 3, 4}, {1, 3, 4}, {5, 6, 2}};
	char text[FSL_PHRASE_MAX];
	for (size_t i = 0; i < 4; i++) {
		judged.advice[judged.n_advice++] =
			(struct fsl_hostbound_advice){.kind = FSL_ADVICE_PART_RANKS,
						      .rank = pairs[i][0],
						      .other_rank = pairs[i][1],
						      .cpu = pairs[i][2],
						      .ms_per_step = 25.0 + (double)i};
	}
	fsl_hostbound_advice_for_all(&judged, 0, text, sizeof(text));
	assert_string_equal(text, "give ranks 0, 1, 3 CPUs of their own: they share CPU 4 and wait "
				  "up to 27.0 ms of each step for each other");
	assert_false(fsl_hostbound_is_told(&judged, 0));
	assert_true(fsl_hostbound_is_told(&judged, 1));
	assert_true(fsl_hostbound_is_told(&judged, 2));
	assert_false(fsl_hostbound_is_told(&judged, 3));
	fsl_hostbound_advice_for_all(&judged, 3, text, sizeof(text));
	assert_string_equal(text, "give rank 5 and rank 6 CPUs of their own: they share CPU 2 and "
				  "wait 28.0 ms of each step for each other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_with_the_longest_waits_is_told),
		cmocka_unit_test(the_holder_to_blame_is_somebody_or_the_quota),
		cmocka_unit_test(lanes_that_break_rules_are_left_out),
		cmocka_unit_test(documents_of_other_kinds_are_refused),
		cmocka_unit_test(ranks_that_share_a_cpu_are_parted_in_one_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
