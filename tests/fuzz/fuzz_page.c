/* Any bytes as a case: refused, or drawn as one page of sound UTF-8 with no script but ours. */
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "report/page/page.h"
#include "text/json_tree.h"

static size_t count(const char *text, const char *part)
{
	size_t n = 0;
	for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
		n++;
	}
	return n;
}

/* @drawn is released. A page has one script, and may have one block of data for it. */
static void check(struct fsl_pack *drawn, enum fsl_status status, size_t n_scripts)
{
	if (status == FSL_OK) {
		fsl_pack_u8(drawn, 0);
		const char *text = (const char *)drawn->bytes;
		FSL_REQUIRE(!drawn->is_failed && strlen(text) + 1 == drawn->n_bytes);
		FSL_REQUIRE(fsl_utf8_is_valid(text));
		size_t n_data = count(text, "<script type=\"application/json\"");
		FSL_REQUIRE(n_data <= n_scripts);
		FSL_REQUIRE(count(text, "<script") == n_scripts + n_data);
		FSL_REQUIRE(count(text, "</script") == n_scripts + n_data);
	}
	fsl_pack_fini(drawn);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	bool is_short = false;
	cJSON *document = fsl_json_tree((const char *)data, n_bytes, NULL, &is_short);
	if (document == NULL) {
		return 0;
	}
	struct fsl_pack page = {0};
	check(&page, fsl_html_make(&page, document, NULL), 1);
	for (size_t i = 0; fsl_html_charts[i] != NULL; i++) {
		struct fsl_pack chart = {0};
		check(&chart, fsl_html_make_chart(&chart, document, fsl_html_charts[i], NULL), 0);
	}
	static const char *const of_others[] = {"shares", "function", "paths",  "roofline", "cpus",
						"held",   "steps",    "states", "latency"};
	for (size_t i = 0; i < sizeof(of_others) / sizeof(of_others[0]); i++) {
		struct fsl_pack chart = {0};
		check(&chart, fsl_html_make_chart(&chart, document, of_others[i], NULL), 0);
	}
	cJSON_Delete(document);
	return 0;
}
