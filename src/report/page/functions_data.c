/* Figures of functions on all workers, for the script: two letters a figure. */
#include "report/page/functions_parts.h"

#include <math.h>

enum {
	BYTES_MAX = 700000, /* of all figures: a page of many workers stays below 1.2 MB */
	LEVELS = 4095,      /* of a figure, as share of the greatest one; the last means unknown */
	DIGIT_BITS = 6,
};

/* Share of the greatest value as two digits of 64. */
static void put_level(struct fsl_pack *pack, double value, double most)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned int level = LEVELS;
	if (isfinite(value)) {
		double share = most > 0.0 ? fmin(value / most, 1.0) : 0.0;
		level = (unsigned int)lround(share * (LEVELS - 1));
	}
	const char text[2] = {digits[level >> DIGIT_BITS], digits[level & ((1 << DIGIT_BITS) - 1)]};
	fsl_pack_packed(pack, text, sizeof(text));
}

static void put_function(struct fsl_markup *markup, const struct fsl_html_functions *page,
			 const struct fsl_html_function *function)
{
	size_t n_listed = 0;
	fsl_markup_raw(markup, "{\"share\":");
	fsl_markup_number(markup, function->ratio_max, 6);
	fsl_markup_raw(markup, ",\"us\":");
	fsl_markup_number(markup, fmin(function->mean_us_max, 1e11), 3);
	fsl_markup_raw(markup, ",\"usual\":");
	fsl_markup_number(markup, isfinite(function->usual_ratio) ? function->usual_ratio : 0.0, 6);
	fsl_markup_raw(markup, ",\"shares\":\"");
	for (size_t w = 0; w < page->n_workers; w++) {
		put_level(&markup->pack, function->cells[w].ratio, function->ratio_max);
	}
	fsl_markup_raw(markup, "\",\"calls\":\"");
	for (size_t w = 0; w < page->n_workers; w++) {
		put_level(&markup->pack, function->cells[w].mean_us, function->mean_us_max);
	}
	fsl_markup_raw(markup, "\",\"out\":[");
	for (size_t w = 0; w < page->n_workers; w++) {
		if (function->cells[w].is_abnormal) {
			fsl_markup_put(markup, "%h%d", n_listed++ > 0 ? "," : "", (int64_t)w);
		}
	}
	fsl_markup_raw(markup, "]}");
}

/* Number of functions that fit, of all, and of those in which somebody stands out. */
struct room {
	size_t n, n_outliers;
};

static struct room room_of(const struct fsl_html_functions *page)
{
	size_t n_bytes = 4 * page->n_workers;
	struct room room = {.n = n_bytes > 0 ? BYTES_MAX / n_bytes : page->n_items};
	for (size_t i = 0; i < page->n_items && room.n_outliers < room.n; i++) {
		room.n_outliers += page->items[i].n_abnormal > 0;
	}
	return room;
}

void fsl_functions_put_data(struct fsl_markup *markup, const struct fsl_html_functions *page)
{
	struct room room = room_of(page);
	size_t n_outliers = 0, n_others = 0;
	fsl_markup_raw(markup, "<script type=\"application/json\" id=\"data\">{\"rank\":[");
	for (size_t w = 0; w < page->n_workers; w++) {
		fsl_markup_put(markup, "%h%d", w > 0 ? "," : "", page->workers[w].rank);
	}
	fsl_markup_raw(markup, "],\"functions\":[");
	for (size_t i = 0; i < page->n_items; i++) {
		bool is_outlier = page->items[i].n_abnormal > 0;
		bool has_room = is_outlier ? n_outliers++ < room.n_outliers
					   : n_others++ < room.n - room.n_outliers;
		fsl_markup_raw(markup, i > 0 ? "," : "");
		if (has_room) {
			put_function(markup, page, &page->items[i]);
		} else {
			fsl_markup_raw(markup, "null");
		}
	}
	fsl_markup_raw(markup, "],\"texts\":");
	fsl_html_put_tables(markup, FSL_HTML_WORDS_OF_FUNCTIONS);
	fsl_markup_raw(markup, "}</script>");
}
