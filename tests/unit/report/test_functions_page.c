/* The page of functions: names, bins of workers, what is told, and documents that break rules. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/page/functions_parts.h"
#include "report/page/page.h"

/* Borrowed until the next call. */
static const char *name_of(enum fsl_html_section section, const char *name, size_t n_most)
{
	static char text[1024];
	struct fsl_markup markup = {{0}};
	const struct fsl_html_function function = {.section = section, .name = name, .shape = ""};
	fsl_functions_put_name(&markup, &function, n_most);
	fsl_pack_u8(&markup.pack, 0);
	(void)snprintf(text, sizeof(text), "%s", (const char *)markup.pack.bytes);
	fsl_pack_fini(&markup.pack);
	return text;
}

static void kernels_are_named_without_arguments_and_paths_by_their_end(void **state)
{
	(void)state;
	assert_string_equal(name_of(FSL_HTML_COMPUTE, "void gemm<float, 128>(float*)", 40), "gemm");
	assert_string_equal(
		name_of(FSL_HTML_COMPUTE, "void at::(anonymous namespace)::cat<int>(int)", 40),
		"at::(anonymous namespace)::cat");
	assert_string_equal(name_of(FSL_HTML_COMMUNICATION, "ncclDevKernel_AllReduce(x)", 40),
			    "ncclDevKernel_AllReduce");
	assert_string_equal(name_of(FSL_HTML_MEMORY, "Memcpy HtoD (Pinned -> Device)", 40),
			    "Memcpy HtoD (Pinned -&gt; Device)");
	assert_string_equal(name_of(FSL_HTML_RUNTIME, "cudaLaunchKernelExC", 8), "cudaLaun…");
	assert_string_equal(name_of(FSL_HTML_PYTHON, "a.py: f|b.py: g|c.py: h", 40),
			    "…b.py: g|c.py: h");
	assert_string_equal(name_of(FSL_HTML_PYTHON, "a.py: f|b.py: g", 40), "a.py: f|b.py: g");
	assert_string_equal(name_of(FSL_HTML_PYTHON, "a.py: f|b.py: g|c.py: h", 8), "…c.py: h");
	assert_string_equal(name_of(FSL_HTML_RUNTIME, "慢慢慢", 4), "慢…");
}

static void bins_hold_every_worker_once(void **state)
{
	static const size_t numbers[] = {1, 8, 127, 128, 129, 1000, 65536};
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct fsl_html_functions page = {.n_workers = numbers[i]};
		page.workers = fsl_calloc(numbers[i], sizeof(*page.workers));
		assert_non_null(page.workers);
		page.workers[numbers[i] - 1].rank = (int64_t)numbers[i] - 1;
		struct fsl_functions_bins bins = fsl_functions_bins_of(&page, 50.0, 550.0);
		assert_true(bins.n >= 1 && bins.n <= FSL_FUNCTIONS_BINS_MAX);
		assert_true(bins.n * bins.per >= numbers[i]);
		assert_true((bins.n - 1) * bins.per < numbers[i]);
		assert_true(bins.left + (double)bins.n * bins.width <= 550.01);
		assert_true(numbers[i] > FSL_FUNCTIONS_BINS_MAX || bins.per == 1);
		fsl_free(page.workers);
	}
}

/* Two workers with two kernels and one path; @worst works longer in the section @where. */
static cJSON *document_of(int worst, const char *where)
{
	char text[2048];
	(void)snprintf(
		text, sizeof(text),
		"{\"schema\":\"failslow.functions/1\",\"workers\":["
		"{\"rank\":3,\"state\":\"%s\",\"excessRatio\":0.2,\"excessSection\":\"%s\"},"
		"{\"rank\":9,\"state\":\"%s\",\"excessRatio\":0.2,\"excessSection\":\"%s\"}],"
		"\"gpuCompute\":{\"majorKernels\":{"
		"\"long\":{\"bottleneckRatio\":0.6,\"workers\":[{\"rank\":3,\"ratio\":0.6},"
		"{\"rank\":9,\"ratio\":0.6}]},"
		"\"odd\":{\"bottleneckRatio\":0.1,\"workers\":["
		"{\"rank\":3,\"ratio\":0.3,\"isAbnormal\":%s},"
		"{\"rank\":9,\"ratio\":0.3,\"isAbnormal\":%s}]}}},"
		"\"python\":{\"a|b\":{\"averageRatio\":0.1,\"workers\":["
		"{\"rank\":3,\"ratio\":0.2,\"isAbnormal\":%s},"
		"{\"rank\":9,\"ratio\":0.2,\"isAbnormal\":%s}]}}}",
		worst == 3 ? "culprit" : "victim", where, worst == 9 ? "culprit" : "victim", where,
		worst == 3 ? "true" : "false", worst == 9 ? "true" : "false",
		worst == 3 ? "true" : "false", worst == 9 ? "true" : "false");
	cJSON *document = cJSON_Parse(text);
	assert_non_null(document);
	return document;
}

static void the_told_function_is_the_reason_of_the_culprit(void **state)
{
	static const struct {
		int worst;
		const char *where, *told;
	} cases[] = {{3, "compute", "odd"},
		     {9, "compute", "odd"},
		     {3, "python", "a|b"},
		     {9, "python", "a|b"},
		     {0, "", "long"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_html_functions page;
		cJSON *document = document_of(cases[i].worst, cases[i].where);
		assert_int_equal(fsl_html_functions_read(&page, document, NULL), FSL_OK);
		assert_true(page.told < page.n_items);
		assert_string_equal(page.items[page.told].name, cases[i].told);
		if (cases[i].worst > 0) {
			assert_int_equal(page.workers[page.worst].rank, cases[i].worst);
			assert_int_equal(page.n_culprits, 1);
		}
		fsl_html_functions_fini(&page);
		cJSON_Delete(document);
	}
}

static void documents_that_break_rules_are_refused(void **state)
{
	static const struct {
		const char *text;
		enum fsl_status status;
	} cases[] = {
		{"{\"schema\":\"failslow.functions/2\"}", FSL_ERR_FORMAT},
		{"{\"schema\":\"failslow.functions/1\",\"workers\":[{\"rank\":2},{\"rank\":1}]}",
		 FSL_ERR_FORMAT},
		{"{\"schema\":\"failslow.functions/1\",\"workers\":[{\"rank\":-1}]}",
		 FSL_ERR_FORMAT},
		{"{\"schema\":\"failslow.functions/1\",\"workers\":[{\"rank\":1},{\"rank\":2}]}",
		 FSL_OK},
		{"{\"schema\":\"failslow.functions/1\"}", FSL_OK},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_pack page = {0};
		cJSON *document = cJSON_Parse(cases[i].text);
		assert_int_equal(fsl_html_make(&page, document, NULL), cases[i].status);
		assert_true((page.n_bytes > 0) == (cases[i].status == FSL_OK));
		fsl_pack_fini(&page);
		cJSON_Delete(document);
	}
}

static cJSON *tree_of(const char *frames)
{
	char text[1024];
	(void)snprintf(text, sizeof(text),
		       "{\"schema\":\"failslow.functions/1\",\"workers\":[{\"rank\":4}],"
		       "\"python\":{\"run|g|h\":{\"workers\":[{\"rank\":4,\"ratio\":0.1}]}},"
		       "\"callTree\":{\"rank\":4,\"frames\":[%s]}}",
		       frames);
	cJSON *document = cJSON_Parse(text);
	assert_non_null(document);
	return document;
}

/* True if the page has a frame at this place, of this width and class. */
static bool has_frame(const char *page, const char *class, const char *x, int y, const char *width)
{
	char text[128];
	(void)snprintf(text, sizeof(text), "<svg class=\"%s\" x=\"%s\" y=\"%d\" width=\"%s\"",
		       class, x, y, width);
	return strstr(page, text) != NULL;
}

static void frames_lie_below_their_callers_the_widest_first(void **state)
{
	(void)state;
	struct fsl_pack page = {0};
	cJSON *document =
		tree_of("{\"name\":\"run\",\"parent\":null,\"ratio\":0.4,\"peersRatio\":0.4},"
			"{\"name\":\"g\",\"parent\":0,\"ratio\":0.1,\"peersRatio\":0.05},"
			"{\"name\":\"f\",\"parent\":0,\"ratio\":0.3,\"peersRatio\":0.295},"
			"{\"name\":\"h\",\"parent\":1,\"ratio\":0.1,\"peersRatio\":null}");
	assert_int_equal(fsl_html_make(&page, document, NULL), FSL_OK);
	fsl_pack_u8(&page, 0);
	const char *text = (const char *)page.bytes;
	assert_true(has_frame(text, "fr", "0", 0, "719"));
	assert_true(has_frame(text, "fr", "0", 19, "539"));
	assert_true(has_frame(text, "fr hot", "540", 19, "179")); /* 5 % beyond its peers */
	assert_true(has_frame(text, "fr", "540", 38, "179"));     /* no peers are known */
	assert_non_null(strstr(text, "height=\"18\" data-f=\"0\"><title>h: rank 4 10 %</title>"));
	fsl_pack_fini(&page);
	cJSON_Delete(document);
}

static void frames_without_a_caller_before_them_are_not_drawn(void **state)
{
	static const char *const lists[] = {
		"{\"name\":\"a\",\"parent\":0,\"ratio\":0.4}",
		"{\"name\":\"a\",\"parent\":7,\"ratio\":0.4}",
		"{\"name\":\"a\",\"parent\":null,\"ratio\":1e9},7,{\"parent\":1e15,\"ratio\":1}"};
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct fsl_pack page = {0};
		cJSON *document = tree_of(lists[i]);
		assert_int_equal(fsl_html_make(&page, document, NULL), FSL_OK);
		fsl_pack_u8(&page, 0);
		assert_null(strstr((const char *)page.bytes, "class=\"fr"));
		fsl_pack_fini(&page);
		cJSON_Delete(document);
	}
}

static void figures_that_are_unlike_the_peers_are_marked(void **state)
{
	static const char text[] =
		"{\"schema\":\"failslow.functions/1\",\"workers\":[{\"rank\":1,\"figures\":"
		"{\"hostWaitRatio\":0.25,\"launchDelayUs\":12.5,\"averageQueue\":null},"
		"\"unusualFigures\":[\"launchDelayUs\"]},{\"rank\":2}]}";
	(void)state;
	struct fsl_pack page = {0};
	cJSON *document = cJSON_Parse(text);
	assert_int_equal(fsl_html_make(&page, document, NULL), FSL_OK);
	fsl_pack_u8(&page, 0);
	assert_non_null(strstr((const char *)page.bytes,
			       "<tr><td>1<td class=\"n\">25 %<td class=\"n out\">12.5 µs<td "
			       "class=\"n\">–<td class=\"n\">–"));
	fsl_pack_fini(&page);
	cJSON_Delete(document);
	document = cJSON_Parse("{\"schema\":\"failslow.functions/1\",\"workers\":[{\"rank\":1}]}");
	assert_int_equal(fsl_html_make(&page, document, NULL), FSL_OK);
	fsl_pack_u8(&page, 0);
	assert_null(strstr((const char *)page.bytes, "<section id=\"figures\""));
	fsl_pack_fini(&page);
	cJSON_Delete(document);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_named_without_arguments_and_paths_by_their_end),
		cmocka_unit_test(bins_hold_every_worker_once),
		cmocka_unit_test(the_told_function_is_the_reason_of_the_culprit),
		cmocka_unit_test(documents_that_break_rules_are_refused),
		cmocka_unit_test(frames_lie_below_their_callers_the_widest_first),
		cmocka_unit_test(frames_without_a_caller_before_them_are_not_drawn),
		cmocka_unit_test(figures_that_are_unlike_the_peers_are_marked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
