/* How the host of each worker feeds its device, if the document tells it. */
#include "report/page/functions_parts.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 256 };

/* The figures of the document, in the order of the table. */
static const struct {
	const char *key;
	enum fsl_html_word word;
	enum { SHARE, MICROSECONDS, PLAIN, RATE } kind;
} figures[] = {
	{"hostWaitRatio", FSL_PAGE_HOST_WAIT, SHARE},
	{"launchDelayUs", FSL_PAGE_LAUNCH_DELAY, MICROSECONDS},
	{"shortWorkRatio", FSL_PAGE_SHORT_WORK, SHARE},
	{"averageQueue", FSL_PAGE_QUEUE, PLAIN},
	{"hostLinkGbPerS", FSL_PAGE_HOST_LINK, RATE},
	{"pathHostRatio", FSL_PAGE_HOST_PATH, SHARE},
};
enum { N_FIGURES = sizeof(figures) / sizeof(figures[0]) };

static bool is_unusual(const cJSON *worker, const char *key)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, fsl_html_at(worker, "unusualFigures"))
	{
		if (cJSON_IsString(item) && strcmp(item->valuestring, key) == 0) {
			return true;
		}
	}
	return false;
}

static void put_figure(struct fsl_markup *markup, const cJSON *worker, size_t f)
{
	double value = fsl_html_number(fsl_html_at(worker, "figures"), figures[f].key);
	fsl_markup_put(markup, "<td class=\"n%h\">",
		       is_unusual(worker, figures[f].key) ? " out" : "");
	if (!isfinite(value)) {
		fsl_markup_raw(markup, "–");
		return;
	}
	switch (figures[f].kind) {
	case SHARE:
		fsl_functions_put_share(markup, value);
		break;
	case MICROSECONDS:
		fsl_markup_put(markup, "%g µs", value);
		break;
	case RATE:
		fsl_markup_put(markup, "%g GB/s", value);
		break;
	case PLAIN:
		fsl_markup_put(markup, "%g", value);
		break;
	}
}

static void put_head(struct fsl_markup *markup)
{
	int columns[2 + 2 * N_FIGURES] = {FSL_PAGE_RANK};
	for (size_t f = 0; f < N_FIGURES; f++) {
		columns[1 + 2 * f] = (int)figures[f].word;
		columns[2 + 2 * f] = FSL_PAGE_RIGHT;
	}
	columns[1 + 2 * N_FIGURES] = FSL_PAGE_WORDS_N;
	fsl_html_put_head(markup, columns);
}

void fsl_functions_put_figures(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	const cJSON *worker = NULL;
	size_t n = 0;
	cJSON_ArrayForEach(worker, fsl_html_at(page->root, "workers"))
	{
		if (!cJSON_IsObject(fsl_html_at(worker, "figures")) || n == ROWS_MAX) {
			continue;
		}
		if (n++ == 0) {
			fsl_html_open_section(markup, "figures", FSL_PAGE_FEEDING);
			fsl_html_say(markup, "p class=\"note\"", FSL_PAGE_FEEDING_NOTE);
			put_head(markup);
		}
		fsl_markup_put(markup, "<tr><td>%d", fsl_html_index(worker, "rank"));
		for (size_t f = 0; f < N_FIGURES; f++) {
			put_figure(markup, worker, f);
		}
	}
	fsl_markup_raw(markup, n > 0 ? "</tbody></table></div></section>" : "");
}
