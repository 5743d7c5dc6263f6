/* Text, figures and classes of the HTML page. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_cannot_become_markup),
		cmocka_unit_test(figures_have_three_digits),
		cmocka_unit_test(spans_have_the_unit_that_fits),
		cmocka_unit_test(a_percent_sign_stands_for_itself),
		cmocka_unit_test(base64_comes_back),
		cmocka_unit_test(cases_of_another_schema_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
