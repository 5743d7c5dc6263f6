/* Text, figures and classes of the HTML page. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/mem.h"
#include "model/matrices.h"
#include "report/page/markup.h"
#include "report/page/page.h"
#include "text/base64.h"

static void assert_text(const char *text, const char *expected)
{
	struct fsl_markup markup = {{0}};
	fsl_markup_text(&markup, text);
	fsl_pack_u8(&markup.pack, 0);
	assert_string_equal((const char *)markup.pack.bytes, expected);
	fsl_pack_fini(&markup.pack);
}

static void text_cannot_become_markup(void **state)
{
	(void)state;
	assert_text("<b title=\"x\" id='y'>&", "&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
	assert_text("a\x01z\xff", "a\xef\xbf\xbdz\xef\xbf\xbd");
	assert_text("慢 rank", "慢 rank");
	assert_text(NULL, "");
}

static void figures_have_three_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{1188.4, "1188"},  {176.453, "176"}, {17.91, "17.9"}, {9.999, "10"},
		     {0.0213, "0.021"}, {0.0, "0"},       {-2.5, "-2.5"},  {NAN, ""}};
	char buffer[32];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(fsl_markup_figure(cases[i].value, buffer), cases[i].text);
	}
}

static void spans_have_the_unit_that_fits(void **state)
{
	char buffer[32];
	(void)state;
	assert_string_equal(fsl_markup_span(176.4, buffer), "176 ms");
	assert_string_equal(fsl_markup_span(6175.0, buffer), "6.18 s");
	assert_string_equal(fsl_markup_span(600000.0, buffer), "10 min");
	assert_string_equal(fsl_markup_span(7200000.0, buffer), "2 h");
}

static void a_percent_sign_stands_for_itself(void **state)
{
	struct fsl_markup markup = {{0}};
	(void)state;
	fsl_markup_put(&markup, "%g %</b> %d%s", 12.5, (int64_t)-3, "<");
	fsl_pack_u8(&markup.pack, 0);
	assert_string_equal((const char *)markup.pack.bytes, "12.5 %</b> -3&lt;");
	fsl_pack_fini(&markup.pack);
}

static void base64_comes_back(void **state)
{
	static const char *const texts[] = {"", "Zg==", "Zm8=", "Zm9v"};
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		char *text = fsl_base64_encode("foo", n);
		size_t n_bytes = 9;
		unsigned char *bytes = fsl_base64_decode(texts[n], &n_bytes);
		assert_string_equal(text, texts[n]);
		assert_int_equal(n_bytes, n);
		assert_memory_equal(bytes, "foo", n);
		fsl_free(text);
		fsl_free(bytes);
	}
	size_t n_bytes = 0;
	assert_null(fsl_base64_decode("Zm9", &n_bytes));
	assert_null(fsl_base64_decode("Zm9!", &n_bytes));
	assert_null(fsl_base64_decode("=m9v", &n_bytes));
}

static void cases_of_another_schema_are_refused(void **state)
{
	struct fsl_pack pack = {0};
	cJSON *root = cJSON_Parse("{\"schema\": \"failslow.case/1\"}");
	(void)state;
	assert_int_equal(fsl_html_make(&pack, root, NULL), FSL_ERR_FORMAT);
	assert_int_equal(fsl_html_make_chart(&pack, root, "pie", NULL), FSL_ERR_USAGE);
	cJSON_Delete(root);
	fsl_pack_fini(&pack);
}

/* A case of @n_ranks ranks: rank r is on host r % @n_hosts, with @is_packed beside its neighbours.
 */
static cJSON *case_of_hosts(int n_ranks, int n_hosts, bool is_packed)
{
	cJSON *root = cJSON_CreateObject();
	cJSON *ranks = cJSON_AddObjectToObject(cJSON_AddObjectToObject(root, "pictures"), "ranks");
	cJSON *numbers = cJSON_AddArrayToObject(ranks, "rank");
	cJSON *hosts = cJSON_AddArrayToObject(ranks, "hosts");
	cJSON *host = cJSON_AddArrayToObject(ranks, "host");
	cJSON *cost = cJSON_AddArrayToObject(ranks, "costMs");
	cJSON_AddStringToObject(root, "schema", "failslow.case/2");
	cJSON_AddNumberToObject(root, "stepMs", 1000.0);
	for (int h = 0; h < n_hosts; h++) {
		char name[32];
		(void)snprintf(name, sizeof(name), "node%d", h);
		cJSON_AddItemToArray(hosts, cJSON_CreateString(name));
	}
	for (int r = 0; r < n_ranks; r++) {
		int at = is_packed ? r / (n_ranks / n_hosts) : r % n_hosts;
		cJSON_AddItemToArray(numbers, cJSON_CreateNumber(r));
		cJSON_AddItemToArray(host, cJSON_CreateNumber(at));
		cJSON_AddItemToArray(cost, cJSON_CreateNumber(r));
	}
	return root;
}

/* Makes a chart a text without the marks of words that have a translation. */
static const char *plain_text(struct fsl_pack *pack)
{
	fsl_pack_u8(pack, 0);
	char *to = (char *)pack->bytes;
	for (const char *at = to; *at != '\0';) {
		bool is_mark =
			strncmp(at, "<span data-t=", 13) == 0 || strncmp(at, "</span>", 7) == 0;
		if (is_mark) {
			at = strchr(at, '>') + 1;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return (const char *)pack->bytes;
}

/* Checks that the grid of a case holds a text, and deletes the case. */
static void assert_in_grid(cJSON *root, const char *expected, bool is_in)
{
	struct fsl_pack pack = {0};
	assert_int_equal(fsl_html_make_chart(&pack, root, "grid", NULL), FSL_OK);
	assert_int_equal(strstr(plain_text(&pack), expected) != NULL, is_in);
	cJSON_Delete(root);
	fsl_pack_fini(&pack);
}

static void a_folded_host_lists_its_own_ranks(void **state)
{
	(void)state;
	assert_in_grid(case_of_hosts(1024, 128, false),
		       "<g class=\"cell\" data-r=\"3,131,259,387,515,643,771,899\">", true);
	assert_in_grid(case_of_hosts(1024, 128, false),
		       "<title>8 ranks, costliest: rank 899 (node3): 899 ms per step", true);
	assert_in_grid(case_of_hosts(600, 200, false), "data-r=\"199,399,599\">", true);
	assert_in_grid(case_of_hosts(1024, 128, true), "data-r=\"24,25,26,27,28,29,30,31\">", true);
	assert_in_grid(case_of_hosts(1024, 128, true),
		       "<title>rank 24 – 31: rank 31 (node3): 31 ms per step", true);
}

static void a_cell_of_one_rank_does_not_unfold(void **state)
{
	(void)state;
	assert_in_grid(case_of_hosts(512, 64, false), "data-r", false);
	assert_in_grid(case_of_hosts(16, 2, false), "data-r", false);
	assert_in_grid(case_of_hosts(16, 2, false), "<title>rank 15 (node1): 15 ms", true);
}

/* A case of 16 ranks whose only loss is that of two stalled ranks. */
static cJSON *case_of_stalls(int first, int second)
{
	cJSON *root = case_of_hosts(16, 2, true);
	cJSON *loss = cJSON_CreateObject();
	cJSON *ranks = cJSON_AddArrayToObject(loss, "ranks");
	cJSON_AddItemToArray(ranks, cJSON_CreateNumber(first));
	cJSON_AddItemToArray(ranks, cJSON_CreateNumber(second));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "losses"), loss);
	return root;
}

static void ranks_of_a_loss_are_ringed(void **state)
{
	(void)state;
	assert_in_grid(case_of_stalls(3, 12),
		       "rank 12 (node1): 12 ms per step, 1.2 % of a step; "
		       "named by the verdict</title>",
		       true);
	assert_in_grid(case_of_stalls(0, 7),
		       "rank 7 (node0): 7 ms per step, 0.7 % of a step; "
		       "named by the verdict</title>",
		       true);
	assert_in_grid(case_of_stalls(0, 7), "class=\"ring\"", true);
	assert_in_grid(case_of_hosts(16, 2, true), "class=\"ring\"", false);
}

/* Adds a link between two ranks to the pictures of a case. */
static void add_link(cJSON *root, int from, int to, double ms, bool is_directed)
{
	cJSON *pictures = cJSON_GetObjectItem(root, "pictures");
	cJSON *links = cJSON_GetObjectItem(pictures, "links");
	cJSON *link = cJSON_CreateObject();
	cJSON *ranks = cJSON_AddArrayToObject(link, "ranks");
	links = links != NULL ? links : cJSON_AddArrayToObject(pictures, "links");
	cJSON_AddItemToArray(links, link);
	cJSON_AddItemToArray(ranks, cJSON_CreateNumber(from));
	cJSON_AddItemToArray(ranks, cJSON_CreateNumber(to));
	cJSON_AddBoolToObject(link, "isDirected", is_directed);
	cJSON_AddStringToObject(link, "operation", "<send>");
	cJSON_AddNumberToObject(link, "ms", ms);
	cJSON_AddNumberToObject(link, "usualMs", 100.0);
}

/* Checks what is there @n times in a chart of a case, and deletes the case. */
static void assert_times(cJSON *root, const char *chart, const char *text, int n)
{
	struct fsl_pack pack = {0};
	assert_int_equal(fsl_html_make_chart(&pack, root, chart, NULL), FSL_OK);
	const char *at = strstr(plain_text(&pack), text);
	for (; at != NULL; at = strstr(at + 1, text)) {
		n--;
	}
	assert_int_equal(n, 0);
	cJSON_Delete(root);
	fsl_pack_fini(&pack);
}

static cJSON *case_of_link(int n_ranks, int from, int to, double ms, bool is_directed)
{
	cJSON *root = case_of_hosts(n_ranks, 4, true);
	cJSON *culprit = cJSON_CreateObject();
	cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "culprits"), culprit);
	cJSON_AddNumberToObject(culprit, "rank", from);
	cJSON_AddNumberToObject(culprit, "peer", to);
	add_link(root, from, to, ms, is_directed);
	for (int r = 0; r + 1 < n_ranks; r++) {
		add_link(root, r, r + 1, 100.0, is_directed);
	}
	return root;
}

static void a_slow_link_is_ringed_in_both_directions(void **state)
{
	(void)state;
	assert_times(case_of_link(16, 2, 6, 350.0, false), "links", "class=\"ring\"", 2);
	assert_times(case_of_link(16, 9, 4, 350.0, true), "links", "class=\"ring\"", 1);
	assert_times(case_of_link(16, 9, 4, 350.0, true), "links",
		     "rank 9 → 4: 350 ms per step; usual for such links 100 ms; culprit", 1);
	assert_times(case_of_link(6, 0, 4, 350.0, true), "links", ">×3.5<", 1);
	assert_times(case_of_link(6, 0, 4, 1720.0, false), "links", ">×17<", 2);
	assert_times(case_of_link(6, 0, 4, 1720.0, false), "links", "<send>", 0);
}

static void links_of_many_ranks_fold_to_hosts(void **state)
{
	(void)state;
	assert_times(case_of_link(64, 3, 40, 900.0, true), "links",
		     "<title>node0 → node2: 900 ms per step", 1);
	assert_times(case_of_link(64, 3, 40, 900.0, true), "links", "<g class=\"cell\">", 8);
	assert_times(case_of_link(32, 3, 20, 900.0, true), "links", "<title>rank", 32);
}

/* A stage of @n_stages takes longer, by the verdict. */
static cJSON *case_of_stage(int n_ranks, int n_stages, int stage)
{
	cJSON *root = case_of_hosts(n_ranks, 2, true);
	cJSON *ranks = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "pictures"), "ranks");
	cJSON *stages = cJSON_AddArrayToObject(ranks, "stage");
	cJSON *loss = cJSON_CreateObject();
	cJSON_AddStringToObject(root, "verdict", "stage_imbalance");
	cJSON_AddNumberToObject(loss, "stage", stage);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "losses"), loss);
	for (int r = 0; r < n_ranks; r++) {
		cJSON_AddItemToArray(stages, cJSON_CreateNumber(r / (n_ranks / n_stages)));
	}
	return root;
}

static void all_ranks_of_a_slow_stage_are_ringed(void **state)
{
	(void)state;
	assert_times(case_of_stage(16, 4, 2), "grid", "class=\"ring\"", 4);
	assert_times(case_of_stage(16, 4, 2), "grid", ">stage</tspan>", 4);
	assert_times(case_of_stage(24, 2, 0), "grid", "class=\"ring\"", 12);
}

/* Adds to a case that the job became slower at a step. @own_before, @own_after: codes of the own
 * time of all ranks, in 100 columns of a step each. */
static void add_growth(cJSON *root, int step, double before_ms, double after_ms, int own_before,
		       int own_after)
{
	enum { STEPS_N = 100, RANKS_N = 16 };
	static unsigned char codes[RANKS_N * STEPS_N], packed[4096];
	uLongf n_packed = sizeof(packed);
	cJSON *pictures = cJSON_GetObjectItem(root, "pictures");
	cJSON *steps = cJSON_AddObjectToObject(pictures, "steps");
	cJSON *numbers = cJSON_AddArrayToObject(steps, "step");
	cJSON *at = cJSON_AddArrayToObject(steps, "atMs"),
	      *ms = cJSON_AddArrayToObject(steps, "ms");
	cJSON *episode = cJSON_CreateObject();
	cJSON *over_time = cJSON_AddObjectToObject(pictures, "overTime");
	cJSON_AddNumberToObject(steps, "fromNs", 1e18);
	for (int i = 0; i < STEPS_N; i++) {
		cJSON_AddItemToArray(numbers, cJSON_CreateNumber(i));
		cJSON_AddItemToArray(at, cJSON_CreateNumber(1000.0 * i));
		cJSON_AddItemToArray(ms, cJSON_CreateNumber(i < step ? before_ms : after_ms));
		for (int r = 0; r < RANKS_N; r++) {
			codes[r * STEPS_N + i] = (unsigned char)(i < step ? own_before : own_after);
		}
	}
	assert_int_equal(compress(packed, &n_packed, codes, sizeof(codes)), Z_OK);
	char *text = fsl_base64_encode(packed, n_packed);
	cJSON_AddStringToObject(root, "verdict", "job_slowdown");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(pictures, "episodes"), episode);
	cJSON_AddNumberToObject(episode, "sinceStep", step);
	cJSON_AddNumberToObject(episode, "beforeMs", before_ms);
	cJSON_AddNumberToObject(episode, "afterMs", after_ms);
	cJSON_AddNumberToObject(over_time, "fromNs", 1e18);
	cJSON_AddNumberToObject(over_time, "toNs", 1e18 + 1e11);
	cJSON_AddNumberToObject(over_time, "columns", STEPS_N);
	cJSON_AddStringToObject(over_time, "own", text);
	fsl_free(text);
}

static cJSON *case_of_growth(int step, double before_ms, double after_ms, bool has_costs)
{
	cJSON *root = case_of_hosts(16, 2, true);
	uint8_t before = fsl_matrix_code(400.0F), after = fsl_matrix_code(700.0F);
	add_growth(root, step, before_ms, after_ms, before, after);
	if (!has_costs) { /* step times alone */
		cJSON *ranks = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "pictures"), "ranks");
		cJSON_DeleteItemFromObject(ranks, "costMs");
	}
	return root;
}

static void a_slower_job_stands_beside_itself(void **state)
{
	(void)state;
	assert_times(case_of_growth(20, 500.0, 800.0, true), "growth", ">+300 ms<", 1);
	assert_times(case_of_growth(20, 500.0, 800.0, true), "growth", "class=\"s0\"", 2);
	assert_times(case_of_growth(70, 600.0, 1010.0, true), "growth", ">+410 ms<", 1);
	assert_times(case_of_growth(70, 600.0, 1010.0, true), "growth", "before step</tspan> 70<",
		     1);
	assert_times(case_of_growth(70, 600.0, 1010.0, false), "growth", "class=\"s0\"", 0);
	assert_times(case_of_growth(70, 600.0, 1010.0, false), "growth", "class=\"a good\"", 2);
}

static void a_job_that_did_not_become_slower_has_no_such_picture(void **state)
{
	(void)state;
	struct fsl_pack pack = {0};
	cJSON *root = case_of_growth(20, 800.0, 500.0, true);
	assert_int_equal(fsl_html_make_chart(&pack, root, "growth", NULL), FSL_ERR_INPUT);
	cJSON_Delete(root);
	fsl_pack_fini(&pack);
}

/* Gains of a slow rank: it, its host, and everything. */
static cJSON *case_of_gains(double rank_ms, double host_ms, double all_ms)
{
	static const char *const kinds[] = {"rank", "host", "all"};
	static const char *const names[] = {"5", "node0", "all"};
	const double gains[] = {rank_ms, host_ms, all_ms};
	cJSON *root = case_of_hosts(16, 2, true), *list = cJSON_AddArrayToObject(root, "whatIf");
	cJSON *part = cJSON_CreateObject();
	cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "account"), part);
	cJSON_AddStringToObject(part, "part", "slow_rank");
	cJSON_AddNumberToObject(part, "share", 0.2);
	for (size_t i = 0; i < 3; i++) {
		cJSON *gain = cJSON_CreateObject();
		cJSON_AddItemToArray(list, gain);
		cJSON_AddStringToObject(gain, "kind", kinds[i]);
		cJSON_AddStringToObject(gain, "name", names[i]);
		cJSON_AddNumberToObject(gain, "ms", gains[i]);
	}
	return root;
}

static void the_ladder_ends_with_all_at_the_level_of_their_peers(void **state)
{
	(void)state;
	static const char all[] = "all at the level of their peers";
	assert_times(case_of_gains(200.0, 205.0, 220.0), "account", all, 1);
	assert_times(case_of_gains(200.0, 205.0, 220.0), "account", "saves</tspan> 220 ms", 1);
	assert_times(case_of_gains(200.0, 205.0, 220.0), "account", ">780 ms<",
		     2); /* and its title */
	assert_times(case_of_gains(200.0, 205.0, 220.0), "account", "node0", 0);
	assert_times(case_of_gains(100.0, 150.0, 160.0), "account", "node0", 1);
	assert_times(case_of_gains(200.0, 150.0, 160.0), "account", all, 0); /* of other peers */
}

/* A hang of 8 ranks: one is not there. */
static cJSON *case_of_hang(int missing)
{
	cJSON *root = case_of_hosts(8, 2, true);
	cJSON *ranks = cJSON_GetObjectItem(cJSON_GetObjectItem(root, "pictures"), "ranks");
	cJSON *last = cJSON_AddArrayToObject(ranks, "lastEvent");
	cJSON *hang = cJSON_AddObjectToObject(root, "hang");
	cJSON *waiting = cJSON_AddArrayToObject(hang, "waiting");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(hang, "missing"), cJSON_CreateNumber(missing));
	for (int r = 0; r < 8; r++) {
		cJSON_AddItemToArray(last,
				     cJSON_CreateString(r == missing ? "2025-06-15T15:07:10.000Z"
								     : "2025-06-15T15:07:12.500Z"));
		if (r != missing) {
			cJSON_AddItemToArray(waiting, cJSON_CreateNumber(r));
		}
	}
	return root;
}

static void a_rank_that_is_not_there_stands_first(void **state)
{
	(void)state;
	assert_times(case_of_hang(5), "waits", "class=\"ring\"", 1);
	assert_times(case_of_hang(5), "waits", "class=\"hatch\"", 7);
	assert_times(case_of_hang(5), "waits", "y=\"17\">rank 5</text>", 1);
	assert_times(case_of_hang(0), "waits", "<title>rank 7: last event +2500 ms", 1);
}

/* Checks that the page of a case holds a text, and deletes the case. */
static void assert_in_page(cJSON *root, const char *expected, bool is_in)
{
	struct fsl_pack pack = {0};
	assert_int_equal(fsl_html_make(&pack, root, NULL), FSL_OK);
	fsl_pack_u8(&pack, 0);
	assert_int_equal(strstr((const char *)pack.bytes, expected) != NULL, is_in);
	cJSON_Delete(root);
	fsl_pack_fini(&pack);
}

static cJSON *case_of_headline(const char *headline)
{
	cJSON *root = case_of_hosts(4, 2, true);
	cJSON_AddStringToObject(root, "headline", headline);
	return root;
}

static void a_figure_keeps_its_unit(void **state)
{
	(void)state;
	assert_in_page(case_of_headline("costs 176 ms of it"),
		       "costs <span class=\"w\">176 ms</span> of it</h1>", true);
	assert_in_page(case_of_headline("by 9.4 %, then"),
		       "by <span class=\"w\">9.4 %,</span> then", true);
	assert_in_page(case_of_headline("of 2025-06-15 so"),
		       "of <span class=\"w\">2025-06-15</span> so", true);
	assert_in_page(case_of_headline("ranks 4 small"), ">ranks 4 small</h1>", true);
}

static void the_table_has_the_figures_that_ranks_have(void **state)
{
	(void)state;
	assert_in_page(case_of_hosts(8, 2, true), ">costs</th>", true);
	assert_in_page(case_of_hosts(8, 2, true), ">waited for</th>", false);
	cJSON *late = case_of_hosts(8, 2, true);
	cJSON *ranks = cJSON_GetObjectItem(cJSON_GetObjectItem(late, "pictures"), "ranks");
	cJSON_AddItemToArray(cJSON_AddArrayToObject(ranks, "lateMs"), cJSON_CreateNumber(3.0));
	assert_in_page(late, ">waited for</th>", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_cannot_become_markup),
		cmocka_unit_test(figures_have_three_digits),
		cmocka_unit_test(spans_have_the_unit_that_fits),
		cmocka_unit_test(a_percent_sign_stands_for_itself),
		cmocka_unit_test(base64_comes_back),
		cmocka_unit_test(cases_of_another_schema_are_refused),
		cmocka_unit_test(a_folded_host_lists_its_own_ranks),
		cmocka_unit_test(a_cell_of_one_rank_does_not_unfold),
		cmocka_unit_test(ranks_of_a_loss_are_ringed),
		cmocka_unit_test(a_slow_link_is_ringed_in_both_directions),
		cmocka_unit_test(links_of_many_ranks_fold_to_hosts),
		cmocka_unit_test(all_ranks_of_a_slow_stage_are_ringed),
		cmocka_unit_test(a_slower_job_stands_beside_itself),
		cmocka_unit_test(a_job_that_did_not_become_slower_has_no_such_picture),
		cmocka_unit_test(the_ladder_ends_with_all_at_the_level_of_their_peers),
		cmocka_unit_test(a_rank_that_is_not_there_stands_first),
		cmocka_unit_test(a_figure_keeps_its_unit),
		cmocka_unit_test(the_table_has_the_figures_that_ranks_have),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
