/* The second look: tables of what the case tells beside its charts. */
#include "report/page/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { ROWS_MAX = 64 }; /* of the tables; the case has all */

void fsl_html_open_section(struct fsl_markup *markup, const char *id, enum fsl_html_word title)
{
	fsl_markup_put(markup, "<section id=\"%h\" class=\"card\">", id);
	fsl_html_say(markup, "h2", title);
}

void fsl_html_put_head(struct fsl_markup *markup, const int *columns)
{
	fsl_markup_raw(markup, "<div class=\"scroll\"><table><thead><tr>");
	for (; *columns != FSL_PAGE_WORDS_N; columns++) {
		bool is_number = columns[1] == FSL_PAGE_RIGHT;
		fsl_html_say(markup, is_number ? "th class=\"n\"" : "th",
			     (enum fsl_html_word)columns[0]);
		columns += is_number;
	}
	fsl_markup_raw(markup, "</tr></thead><tbody>");
}

static void close_table(struct fsl_markup *markup)
{
	fsl_markup_raw(markup, "</tbody></table></div></section>");
}

static bool has_items(const cJSON *list)
{
	return cJSON_IsArray(list) && list->child != NULL;
}

/* Keys of the marks that the grid has. */
static void put_marks(struct fsl_markup *markup, const struct fsl_html *page)
{
	if (page->n_named > 0) {
		fsl_markup_raw(markup, "</span><span><i class=\"ringed\"></i>");
		fsl_html_say(markup, "span",
			     page->n_culprits > 0 ? FSL_PAGE_CULPRIT : FSL_PAGE_NAMED);
	}
	if (page->n_victims > 0) {
		fsl_markup_raw(markup, "</span><span><i class=\"hatched\"></i>");
		fsl_html_say(markup, "span", FSL_PAGE_VICTIM);
	}
}

void fsl_html_put_chart(struct fsl_markup *markup, const struct fsl_html *page,
			const struct fsl_chart *chart, bool is_left_out)
{
	bool has = chart->has(page);
	if (!has && is_left_out) {
		return;
	}
	fsl_html_open_section(markup, chart->name, chart->title);
	if (!has) {
		bool is_one = chart == &fsl_chart_strip && page->n_steps == 1;
		fsl_html_say(markup, "p class=\"empty\"",
			     is_one ? FSL_PAGE_STRIP_ONE : chart->empty);
		fsl_markup_raw(markup, "</section>");
		return;
	}
	bool is_of_stage = chart == &fsl_chart_bars && page->is_of_stage;
	fsl_html_say(markup, "p class=\"note\"", is_of_stage ? FSL_PAGE_BARS_STAGE : chart->note);
	chart->draw(markup, page);
	if (chart == &fsl_chart_grid) {
		fsl_chart_put_scale(markup);
		put_marks(markup, page);
		fsl_markup_raw(markup, "</span><a href=\"#ranks\">");
		fsl_html_say(markup, "span", FSL_PAGE_FIGURES);
		fsl_markup_raw(markup, "</a></p><p id=\"unfolded\" role=\"status\"></p>");
	}
	if (chart->tell != NULL) {
		fsl_markup_raw(markup, "<details>");
		fsl_html_say(markup, "summary", FSL_PAGE_FIGURES);
		fsl_markup_put(markup, "<div class=\"scroll\"><table%h>",
			       chart->is_numeric ? " class=\"t\"" : "");
		chart->tell(markup, page);
		fsl_markup_raw(markup, "</table></div></details>");
	}
	fsl_markup_raw(markup, "</section>");
}

void fsl_html_put_capture(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const int columns[] = {FSL_PAGE_FINDING, FSL_PAGE_GAIN, FSL_PAGE_RIGHT,
				      FSL_PAGE_ADVICE, FSL_PAGE_WORDS_N};
	const cJSON *finding = NULL, *findings = fsl_html_at(page->root, "findings");
	size_t n = 0;
	if (!page->is_capture || !has_items(findings)) {
		return;
	}
	fsl_html_open_section(markup, "capture", FSL_PAGE_CAPTURE);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(finding, findings)
	{
		double gain = fsl_html_number(finding, "gainMs");
		if (n++ == ROWS_MAX) {
			break;
		}
		fsl_markup_put(markup, "<tr><td><b>%s</b> <small>%s</small><br>",
			       fsl_html_text(finding, "code"), fsl_html_text(finding, "layer"));
		fsl_html_say_sentence(markup, "span", fsl_html_text(finding, "what"));
		fsl_markup_put(markup, "<td class=\"n\">%g%h<td>", gain,
			       isfinite(gain) ? " ms" : "–");
		fsl_html_say_sentence(markup, "span", fsl_html_text(finding, "advice"));
	}
	close_table(markup);
}

static void put_list(struct fsl_markup *markup, enum fsl_html_word word, const cJSON *list)
{
	enum { SHOWN_MAX = 64 };
	const cJSON *item = NULL;
	size_t n = 0;
	if (!has_items(list)) {
		return;
	}
	fsl_markup_raw(markup, "<tr>");
	fsl_html_say(markup, "th", word);
	fsl_markup_raw(markup, "<td>");
	cJSON_ArrayForEach(item, list)
	{
		int64_t index = fsl_html_index_of(item);
		if (index >= 0 && n++ < SHOWN_MAX) {
			fsl_markup_put(markup, "%h%d", n > 1 ? ", " : "", index);
		}
	}
	fsl_markup_raw(markup, n > SHOWN_MAX ? ", …" : "");
}

void fsl_html_put_hang(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *hang = fsl_html_at(page->root, "hang");
	if (!cJSON_IsObject(hang)) {
		return;
	}
	fsl_html_open_section(markup, "hang", FSL_PAGE_HANG_TABLE);
	fsl_markup_raw(markup, "<div class=\"scroll\"><table class=\"pairs\"><tbody>");
	put_list(markup, FSL_PAGE_NOT_THERE, fsl_html_at(hang, "missing"));
	put_list(markup, FSL_PAGE_STOPPED, fsl_html_at(hang, "stopped"));
	put_list(markup, FSL_PAGE_WAITING, fsl_html_at(hang, "waiting"));
	put_list(markup, FSL_PAGE_NO_DATA, fsl_html_at(hang, "noData"));
	if (*fsl_html_text(hang, "operation") != '\0') {
		fsl_markup_raw(markup, "<tr>");
		fsl_html_say(markup, "th", FSL_PAGE_OPERATION);
		fsl_markup_put(markup, "<td>%s <small>%s</small>", fsl_html_text(hang, "operation"),
			       fsl_html_text(hang, "group"));
	}
	close_table(markup);
}

static void put_meter(struct fsl_markup *markup, enum fsl_html_word word, double part, double whole)
{
	if (!isfinite(part) || !(whole > 0.0)) {
		return;
	}
	double share = fmin(part / whole, 1.0);
	fsl_markup_raw(markup, "<div class=\"meter\">");
	fsl_html_say(markup, "span", word);
	fsl_markup_put(
		markup,
		"<svg viewBox=\"0 0 100 6\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
		"<rect class=\"a idle\" width=\"100\" height=\"6\"/><rect class=\"a good\" "
		"width=\"%f\" height=\"6\"/></svg>",
		100.0 * share);
	fsl_markup_put(markup, "<b>");
	fsl_markup_number(markup, part, 0);
	fsl_markup_raw(markup, " / ");
	fsl_markup_number(markup, whole, 0);
	fsl_markup_raw(markup, "</b></div>");
}

void fsl_html_put_coverage(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *coverage = fsl_html_at(page->root, "coverage"), *item = NULL;
	const cJSON *files = fsl_html_at(coverage, "files");
	double total = fsl_html_number(files, "total"), dropped = 0.0;
	double rows = fsl_html_number(coverage, "rowsRead");
	if (!cJSON_IsObject(coverage)) {
		return;
	}
	cJSON_ArrayForEach(item, fsl_html_at(coverage, "rowsDropped"))
	{
		dropped += cJSON_IsNumber(item) ? item->valuedouble : 0.0;
	}
	fsl_html_open_section(markup, "coverage", FSL_PAGE_COVERAGE);
	fsl_markup_raw(markup, "<div class=\"meters\">");
	put_meter(markup, FSL_PAGE_SEEN, fsl_html_number(coverage, "ranksSeen"),
		  fmax(fsl_html_number(coverage, "ranksExpected"),
		       fsl_html_number(coverage, "ranksSeen")));
	put_meter(markup, FSL_PAGE_FILES_USED, total - fsl_html_number(files, "unusable"), total);
	put_meter(markup, FSL_PAGE_ROWS, rows - dropped, rows);
	put_meter(markup, FSL_PAGE_GROUPS, fsl_html_number(coverage, "groupsMatched"),
		  fsl_html_number(coverage, "groups"));
	fsl_markup_raw(markup, "</div>");
	double error = fsl_html_number(fsl_html_at(page->root, "replay"), "errorMedianShare");
	if (isfinite(error)) {
		fsl_markup_raw(markup, "<p class=\"note\">");
		fsl_html_say(markup, "span", FSL_PAGE_REPLAY);
		fsl_markup_put(markup, ": %g %</p>", 100.0 * error);
	}
	cJSON_ArrayForEach(item, fsl_html_at(fsl_html_at(page->root, "capture"), "missing"))
	{
		fsl_html_say_sentence(markup, "p class=\"note\"",
				      cJSON_IsString(item) ? item->valuestring : "");
	}
	fsl_markup_raw(markup, "</section>");
}

void fsl_html_put_ruled_out(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const int columns[] = {FSL_PAGE_WHO, FSL_PAGE_EXCESS, FSL_PAGE_RIGHT,
				      FSL_PAGE_REASON, FSL_PAGE_WORDS_N};
	const cJSON *item = NULL, *list = fsl_html_at(page->root, "ruledOut");
	size_t n = 0;
	if (!has_items(list)) {
		return;
	}
	fsl_html_open_section(markup, "ruled-out", FSL_PAGE_RULED_OUT);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(item, list)
	{
		int64_t rank = fsl_html_index(item, "rank"), peer = fsl_html_index(item, "peer");
		if (n++ == ROWS_MAX) {
			break;
		}
		fsl_markup_raw(markup, "<tr><td>");
		if (rank >= 0) {
			fsl_markup_put(markup, "rank %d", rank);
		}
		if (peer >= 0) {
			fsl_markup_put(markup, " → %d", peer);
		}
		fsl_html_say_of(markup, 'P', fsl_html_text(item, "cause"));
		fsl_markup_put(markup, "<td class=\"n\">%g<td>", fsl_html_number(item, "excessMs"));
		fsl_html_say_sentence(markup, "span", fsl_html_text(item, "why"));
	}
	close_table(markup);
}

void fsl_html_put_whatif(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const int columns[] = {FSL_PAGE_WHATIF_OF, FSL_PAGE_GAIN,  FSL_PAGE_RIGHT,
				      FSL_PAGE_SHARE,     FSL_PAGE_RIGHT, FSL_PAGE_WORDS_N};
	const cJSON *item = NULL, *list = fsl_html_at(page->root, "whatIf");
	const double share_least = 0.001; /* of a step; less brings nothing back */
	bool is_worth = false;
	size_t n = 0;
	cJSON_ArrayForEach(item, list)
	{
		is_worth |= fsl_html_number(item, "share") >= share_least;
	}
	if (!is_worth) {
		return;
	}
	fsl_html_open_section(markup, "what-if", FSL_PAGE_WHATIF);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(item, list)
	{
		double share = fsl_html_number(item, "share");
		if (!(share >= share_least) || n++ >= ROWS_MAX) {
			continue;
		}
		fsl_markup_raw(markup, "<tr><td>");
		fsl_html_say_whatif(markup, "span", fsl_html_text(item, "kind"),
				    fsl_html_text(item, "name"));
		fsl_markup_put(markup, "<td class=\"n\">%g ms<td class=\"n\">%g %",
			       fsl_html_number(item, "ms"), 100.0 * share);
	}
	close_table(markup);
}

void fsl_html_put_files(struct fsl_markup *markup, const struct fsl_html *page)
{
	static const int columns[] = {FSL_PAGE_KIND, FSL_PAGE_COUNT, FSL_PAGE_RIGHT,
				      FSL_PAGE_SIZE, FSL_PAGE_RIGHT, FSL_PAGE_WORDS_N};
	const cJSON *item = NULL;
	const cJSON *sources = fsl_html_at(fsl_html_at(page->root, "job"), "sources");
	size_t n = 0;
	if (!has_items(sources)) {
		return;
	}
	fsl_html_open_section(markup, "files", FSL_PAGE_FILES);
	fsl_html_put_head(markup, columns);
	cJSON_ArrayForEach(item, sources)
	{
		fsl_markup_put(markup, "<tr><td>%s<td class=\"n\">%d<td class=\"n\">%g MB",
			       fsl_html_text(item, "kind"), fsl_html_index(item, "files"),
			       fsl_html_number(item, "bytes") / 1e6);
	}
	fsl_markup_raw(markup, "</tbody></table></div>");
	cJSON_ArrayForEach(item,
			   fsl_html_at(fsl_html_at(page->root, "coverage"), "filesWithProblems"))
	{
		const char *path = fsl_html_text(item, "path");
		if (n++ < ROWS_MAX) {
			fsl_markup_put(markup, "<p class=\"note\">%s: %s %s</p>",
				       *path != '\0' ? path : fsl_html_text(item, "file"),
				       fsl_html_text(item, "state"),
				       fsl_html_text(item, "message"));
		}
	}
	fsl_markup_raw(markup, "</section>");
}

static void put_pair(struct fsl_markup *markup, enum fsl_html_word word, const char *text)
{
	fsl_markup_raw(markup, "<tr>");
	fsl_html_say(markup, "th", word);
	fsl_markup_put(markup, "<td><code>%s</code>", text);
}

/* The command that tells the same of the same files. */
static void put_command(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *job = fsl_html_at(page->root, "job");
	const char *root = fsl_html_text(job, "root"), *now = fsl_html_text(job, "now");
	const char *quote = strpbrk(root, " \t$&;|<>()*?[]\"\\`") != NULL ? "'" : "";
	if (*root == '\0' || strchr(root, '\'') != NULL) {
		return;
	}
	fsl_markup_raw(markup, "<tr>");
	fsl_html_say(markup, "th", FSL_PAGE_COMMAND);
	fsl_markup_put(markup, "<td><code>failslow %h %h%s%h",
		       page->is_capture ? "profile" : "detect", quote, root, quote);
	if (!page->is_capture && *now != '\0') {
		fsl_markup_put(markup, " --now %s", now);
	}
	fsl_markup_raw(markup, " --report FILE.html</code>");
}

void fsl_html_put_technical(struct fsl_markup *markup, const struct fsl_html *page)
{
	const cJSON *job = fsl_html_at(page->root, "job");
	fsl_html_open_section(markup, "technical", FSL_PAGE_TECHNICAL);
	fsl_markup_raw(markup, "<div class=\"scroll\"><table class=\"pairs\"><tbody>");
	put_pair(markup, FSL_PAGE_JOB, fsl_html_text(job, "id"));
	put_pair(markup, FSL_PAGE_FOLDER, fsl_html_text(job, "root"));
	put_command(markup, page);
	put_pair(markup, FSL_PAGE_FROM, fsl_html_text(job, "from"));
	put_pair(markup, FSL_PAGE_TO, fsl_html_text(job, "to"));
	put_pair(markup, FSL_PAGE_VERSION, "failslow " FSL_VERSION ", failslow.case/2");
	close_table(markup);
}
