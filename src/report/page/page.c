/* Heads and ends of pages, and the order of the page of a case. */
#include "report/page/page.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "report/page/assets.h"
#include "report/page/functions_parts.h"
#include "report/page/hosts_parts.h"
#include "report/page/parts.h"
#include "text/base64.h"

/* Source of a policy for an inline style or script: the base64 of its SHA-256. */
static void put_source(struct fsl_markup *markup, const char *hex)
{
	unsigned char digest[32];
	for (size_t i = 0; i < sizeof(digest); i++) {
		unsigned int byte = 0;
		for (size_t k = 0; k < 2; k++) {
			char c = hex[2 * i + k];
			byte = byte << 4 | (unsigned int)(c <= '9' ? c - '0' : c - 'a' + 10);
		}
		digest[i] = (unsigned char)byte;
	}
	char *text = fsl_base64_encode(digest, sizeof(digest));
	markup->pack.is_failed |= text == NULL;
	fsl_markup_put(markup, "'sha256-%h'", text != NULL ? text : "");
	fsl_free(text);
}

static void put_head(struct fsl_markup *markup, const char *title,
		     const struct fsl_html_asset *style, const struct fsl_html_asset *script)
{
	fsl_markup_raw(markup,
		       "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		       "style-src ");
	put_source(markup, style->sha256);
	fsl_markup_raw(markup, "; script-src ");
	put_source(markup, script->sha256);
	fsl_markup_raw(markup,
		       "; base-uri 'none'; form-action 'none'\">"
		       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
		       "<meta name=\"color-scheme\" content=\"light dark\">");
	fsl_markup_put(markup, "<title>%s – failslow</title><style>", title);
	fsl_markup_raw(markup, style->text);
	fsl_markup_raw(markup, "</style></head><body>");
}

static void put_end(struct fsl_markup *markup, const struct fsl_html_asset *script)
{
	fsl_markup_raw(markup, "<script>");
	fsl_markup_raw(markup, script->text);
	fsl_markup_raw(markup, "</script></body></html>\n");
}

/* Patterns that charts refer to. */
static void put_patterns(struct fsl_markup *markup)
{
	fsl_markup_raw(markup,
		       "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" class=\"defs\"><defs>"
		       "<pattern id=\"h\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
		       "patternTransform=\"rotate(45)\"><path class=\"hl\" d=\"M0 0V5\"/></pattern>"
		       "<pattern id=\"w\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
		       "patternTransform=\"rotate(45)\"><path class=\"wl\" d=\"M0 0V5\"/></pattern>"
		       "</defs></svg>");
}

/* The picture of the cause: a hang, a link, stalls and a slower job have their own, all others the
 * two bars. */
static const struct fsl_chart *cause_of(const struct fsl_html *page)
{
	static const struct fsl_chart *const causes[] = {&fsl_chart_waits, &fsl_chart_links,
							 &fsl_chart_stalls, &fsl_chart_growth};
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i]->has(page)) {
			return causes[i];
		}
	}
	return &fsl_chart_bars;
}

static void put_body(struct fsl_markup *markup, const struct fsl_html *page)
{
	const struct fsl_chart *cause = cause_of(page);
	const struct fsl_chart *const first[] = {&fsl_chart_grid, &fsl_chart_strip, cause,
						 &fsl_chart_account};
	put_patterns(markup);
	fsl_markup_raw(markup, "<main>");
	fsl_html_put_facts(markup, page);
	fsl_markup_raw(markup, "<div class=\"first\">");
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		fsl_html_put_chart(markup, page, first[i], false);
	}
	fsl_markup_raw(markup, "</div><div class=\"second\">");
	fsl_html_put_hang(markup, page);
	if (cause != &fsl_chart_bars) {
		fsl_html_put_chart(markup, page, &fsl_chart_bars, true);
	}
	fsl_hosts_put_in_case(markup, page);
	fsl_html_put_chart(markup, page, &fsl_chart_bandwidth, true);
	fsl_html_put_chart(markup, page, &fsl_chart_band, true);
	fsl_html_put_chart(markup, page, &fsl_chart_arrival, true);
	fsl_html_put_raster(markup, page);
	fsl_html_put_capture(markup, page);
	fsl_html_put_whatif(markup, page);
	fsl_html_put_coverage(markup, page);
	fsl_html_put_ruled_out(markup, page);
	fsl_html_put_ranks(markup, page);
	fsl_html_put_files(markup, page);
	fsl_html_put_technical(markup, page);
	fsl_markup_raw(markup, "</div></main>");
}

static enum fsl_status make_functions(struct fsl_pack *out, const cJSON *document,
				      struct fsl_error *err)
{
	struct fsl_html_functions page;
	struct fsl_markup markup = {*out};
	FSL_TRY(fsl_html_functions_read(&page, document, err));
	put_head(&markup, fsl_html_text(document, "path"), &fsl_html_functions_style,
		 &fsl_html_functions_script);
	put_patterns(&markup);
	fsl_functions_put_body(&markup, &page);
	put_end(&markup, &fsl_html_functions_script);
	fsl_html_functions_fini(&page);
	*out = markup.pack;
	return !out->is_failed ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: page");
}

static enum fsl_status make_hosts(struct fsl_pack *out, const cJSON *document,
				  struct fsl_error *err)
{
	struct fsl_html_hosts page;
	struct fsl_markup markup = {*out};
	FSL_TRY(fsl_html_hosts_read(&page, document, err));
	const cJSON *files = fsl_html_at(page.trace, "files");
	const cJSON *file = cJSON_IsArray(files) ? files->child : NULL;
	put_head(&markup, cJSON_IsString(file) ? file->valuestring : "", &fsl_html_hosts_style,
		 &fsl_html_hosts_script);
	put_patterns(&markup);
	fsl_hosts_put_body(&markup, &page);
	put_end(&markup, &fsl_html_hosts_script);
	fsl_html_hosts_fini(&page);
	*out = markup.pack;
	return !out->is_failed ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: page");
}

enum fsl_status fsl_html_make(struct fsl_pack *out, const cJSON *document, struct fsl_error *err)
{
	struct fsl_html page;
	struct fsl_markup markup = {*out};
	if (fsl_html_is_functions(document)) {
		return make_functions(out, document, err);
	}
	if (fsl_html_is_hosts(document)) {
		return make_hosts(out, document, err);
	}
	FSL_TRY(fsl_html_read(&page, document, err));
	bool has_host = fsl_html_host_trace(&page) != NULL;
	put_head(&markup, fsl_html_text(fsl_html_at(document, "job"), "name"),
		 has_host ? &fsl_html_hosts_style : &fsl_html_style, &fsl_html_script);
	put_body(&markup, &page);
	fsl_html_put_data(&markup, &page);
	put_end(&markup, &fsl_html_script);
	fsl_html_fini(&page);
	*out = markup.pack;
	return !out->is_failed ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: page");
}

static const struct fsl_chart *const charts[] = {
	&fsl_chart_grid,      &fsl_chart_strip, &fsl_chart_bars,    &fsl_chart_links,
	&fsl_chart_bandwidth, &fsl_chart_waits, &fsl_chart_stalls,  &fsl_chart_growth,
	&fsl_chart_account,   &fsl_chart_band,  &fsl_chart_arrival,
};
const char *const fsl_html_charts[] = {"grid",   "strip",  "bars",    "links", "bandwidth", "waits",
				       "stalls", "growth", "account", "band",  "arrival",   NULL};

/* The picture in what was drawn, with its own style and patterns, and without what the page has
 * around it. False if there is none. Releases @drawn. */
static bool put_alone(struct fsl_markup *markup, struct fsl_markup *drawn,
		      const struct fsl_html_asset *style)
{
	static const char close[] = "</svg>";
	fsl_pack_u8(&drawn->pack, 0);
	markup->pack.is_failed |= drawn->pack.is_failed;
	const char *text = drawn->pack.is_failed ? "" : (const char *)drawn->pack.bytes;
	const char *begin = strstr(text, "<svg"), *end = NULL;
	for (const char *at = begin; at != NULL; at = strstr(at + 1, close)) {
		end = at; /* of the outermost one */
	}
	const char *inside = begin != NULL ? strchr(begin, '>') : NULL;
	bool has_picture = inside != NULL && end > inside;
	if (has_picture) {
		fsl_pack_packed(&markup->pack, begin, (size_t)(inside + 1 - begin));
		fsl_markup_raw(markup, "<style>");
		fsl_markup_raw(markup, style->text);
		fsl_markup_raw(markup, "svg{font-family:system-ui,sans-serif}</style>");
		put_patterns(markup);
		fsl_pack_packed(&markup->pack, inside + 1, (size_t)(end - inside - 1));
		fsl_markup_raw(markup, "</svg>\n");
	}
	fsl_pack_fini(&drawn->pack);
	return has_picture;
}

/* Appends a chart of a page that was read, and releases the page. */
static enum fsl_status append_alone(struct fsl_pack *out, struct fsl_html *page,
				    const struct fsl_chart *chart, struct fsl_error *err)
{
	struct fsl_markup markup = {*out};
	if (!chart->has(page)) {
		fsl_html_fini(page);
		return FSL_FAIL(err, FSL_ERR_INPUT, "nothing to draw: chart=\"%s\", reason=\"%s\"",
				chart->name, fsl_html_word(chart->empty));
	}
	struct fsl_markup drawn = {{0}};
	chart->draw(&drawn, page);
	markup.pack.is_failed |= !put_alone(&markup, &drawn, &fsl_html_style);
	fsl_html_fini(page);
	*out = markup.pack;
	return !out->is_failed ? FSL_OK : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chart");
}

enum { N_FUNCTION_CHARTS = 4 };

/* Pictures of functions; each part of the page holds one. */
static const struct {
	const char *name;
	void (*put)(struct fsl_markup *markup, const struct fsl_html_functions *page);
} function_charts[N_FUNCTION_CHARTS] = {
	{"shares", fsl_functions_put_shares},
	{"function", fsl_functions_put_one},
	{"paths", fsl_functions_put_flame},
	{"roofline", fsl_functions_put_roofline},
};

static enum fsl_status end_chart(const struct fsl_pack *out, bool has_picture, const char *name,
				 struct fsl_error *err)
{
	if (out->is_failed) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: chart");
	}
	return has_picture ? FSL_OK
			   : FSL_FAIL(err, FSL_ERR_INPUT,
				      "the document does not tell what this chart shows: "
				      "chart=\"%s\"",
				      name);
}

static enum fsl_status make_function_chart(struct fsl_pack *out, const cJSON *document,
					   const char *name, struct fsl_error *err)
{
	struct fsl_html_functions page;
	struct fsl_markup markup = {*out}, drawn = {{0}};
	size_t at = 0;
	while (at < N_FUNCTION_CHARTS && strcmp(function_charts[at].name, name) != 0) {
		at++;
	}
	if (at == N_FUNCTION_CHARTS) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no such chart, functions have shares, function, paths and "
				"roofline: name=\"%s\"",
				name);
	}
	FSL_TRY(fsl_html_functions_read(&page, document, err));
	function_charts[at].put(&drawn, &page);
	bool has_picture = put_alone(&markup, &drawn, &fsl_html_functions_style);
	fsl_html_functions_fini(&page);
	*out = markup.pack;
	return end_chart(out, has_picture, name, err);
}

enum { N_HOST_CHARTS = 5 };

/* Pictures of hosts; each part of the page holds one. */
static const struct {
	const char *name;
	void (*put)(struct fsl_markup *markup, const struct fsl_html_hosts *page);
} host_charts[N_HOST_CHARTS] = {
	{"cpus", fsl_hosts_put_cpus},       {"held", fsl_hosts_put_held},
	{"steps", fsl_hosts_put_steps},     {"states", fsl_hosts_put_states},
	{"latency", fsl_hosts_put_latency},
};

static enum fsl_status make_host_chart(struct fsl_pack *out, const cJSON *document,
				       const char *name, struct fsl_error *err)
{
	struct fsl_html_hosts page;
	struct fsl_markup markup = {*out}, drawn = {{0}};
	size_t at = 0;
	while (at < N_HOST_CHARTS && strcmp(host_charts[at].name, name) != 0) {
		at++;
	}
	if (at == N_HOST_CHARTS) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no such chart, hosts have cpus, held, steps, states and latency: "
				"name=\"%s\"",
				name);
	}
	FSL_TRY(fsl_html_hosts_read(&page, document, err));
	host_charts[at].put(&drawn, &page);
	bool has_picture = put_alone(&markup, &drawn, &fsl_html_hosts_style);
	fsl_html_hosts_fini(&page);
	*out = markup.pack;
	return end_chart(out, has_picture, name, err);
}

enum fsl_status fsl_html_make_chart(struct fsl_pack *out, const cJSON *document, const char *name,
				    struct fsl_error *err)
{
	struct fsl_html page;
	const struct fsl_chart *chart = NULL;
	if (fsl_html_is_functions(document)) {
		return make_function_chart(out, document, name, err);
	}
	if (fsl_html_is_hosts(document)) {
		return make_host_chart(out, document, name, err);
	}
	for (size_t i = 0; i < sizeof(charts) / sizeof(charts[0]); i++) {
		chart = strcmp(charts[i]->name, name) == 0 ? charts[i] : chart;
	}
	if (chart == NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "no such chart: name=\"%s\"", name);
	}
	FSL_TRY(fsl_html_read(&page, document, err));
	return append_alone(out, &page, chart, err);
}

enum fsl_status fsl_html_make_rank(struct fsl_pack *out, const cJSON *document, int64_t rank,
				   struct fsl_error *err)
{
	struct fsl_html page;
	FSL_TRY(fsl_html_read(&page, document, err));
	page.worst = fsl_html_find(&page, rank);
	return append_alone(out, &page, &fsl_chart_band, err);
}

enum fsl_status fsl_html_write(const char *path, const cJSON *document, struct fsl_error *err)
{
	struct fsl_pack pack = {0};
	enum fsl_status status = fsl_html_make(&pack, document, err);
	FSL_THEN(status, fsl_file_write_atomic(path, (const char *)pack.bytes, pack.n_bytes, err));
	fsl_pack_fini(&pack);
	return status;
}

enum fsl_status fsl_html_report(const char *path, cJSON *document, struct fsl_error *err)
{
	enum fsl_status status = document != NULL ? fsl_html_write(path, document, err)
						  : FSL_FAIL(err, FSL_ERR_MEMORY,
							     "out of memory: document=\"page\"");
	cJSON_Delete(document);
	return status != FSL_OK
		       ? FSL_CAUSE(err, status,
				   "cannot write the page, give another file: file=\"%s\", "
				   "option=\"--report\"",
				   path)
		       : FSL_OK;
}
