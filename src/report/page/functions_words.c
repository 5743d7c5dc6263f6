/* Names and figures of functions, and the bins of workers. */
#include "report/page/functions_parts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include <failslow/stats.h>

enum { WHOLE_NAME_MAX = 600 };

/* Bytes of a text that are at most @n_most, and end between two characters. */
static size_t whole_characters(const char *text, size_t n_most)
{
	size_t n = strlen(text);
	n = n < n_most ? n : n_most;
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
		n--;
	}
	return n;
}

void fsl_functions_put_begin(struct fsl_markup *markup, const char *text, size_t n_most)
{
	char begin[WHOLE_NAME_MAX + 8];
	n_most = n_most < WHOLE_NAME_MAX ? n_most : WHOLE_NAME_MAX;
	size_t n = whole_characters(text, n_most);
	memcpy(begin, text, n);
	begin[n] = '\0';
	fsl_markup_put(markup, "%s%h", begin, text[n] != '\0' ? "…" : "");
}

/* The last two frames of a call path. */
static void put_path(struct fsl_markup *markup, const char *path, size_t n_most)
{
	const char *at = path + strlen(path), *from = path;
	for (size_t n_bars = 0; at > path && n_bars < 2; at--) {
		n_bars += at[-1] == '|';
		from = n_bars == 2 ? at : from;
	}
	bool is_short = strlen(from) <= n_most;
	fsl_markup_raw(markup, from != path && is_short ? "…" : "");
	fsl_chart_put_end(markup, from, n_most);
}

/* Bytes before the arguments or templates of a kernel. */
static size_t plain_length(const char *name)
{
	static const char inner[] = "(anonymous namespace)";
	size_t n = strcspn(name, "<(");
	while (strncmp(name + n, inner, sizeof(inner) - 1) == 0) {
		n += sizeof(inner) - 1;
		n += strcspn(name + n, "<(");
	}
	return n;
}

void fsl_functions_put_name(struct fsl_markup *markup, const struct fsl_html_function *function,
			    size_t n_most)
{
	bool is_kernel = function->section == FSL_HTML_COMPUTE ||
			 function->section == FSL_HTML_COMMUNICATION;
	const char *name = function->name;
	if (function->section == FSL_HTML_PYTHON) {
		put_path(markup, name, n_most);
		return;
	}
	name += is_kernel && strncmp(name, "void ", 5) == 0 ? 5 : 0;
	size_t n_plain = is_kernel ? plain_length(name) : 0;
	bool is_plain = n_plain > 0 && n_plain <= n_most && name[n_plain] != '\0';
	if (is_plain) {
		char plain[WHOLE_NAME_MAX] = "";
		memcpy(plain, name, n_plain < sizeof(plain) ? n_plain : sizeof(plain) - 1);
		fsl_markup_text(markup, plain);
	} else {
		fsl_functions_put_begin(markup, name, n_most);
	}
}

void fsl_functions_put_whole_name(struct fsl_markup *markup,
				  const struct fsl_html_function *function)
{
	fsl_functions_put_begin(markup, function->name, WHOLE_NAME_MAX);
	if (*function->shape != '\0') {
		fsl_markup_put(markup, " ");
		fsl_functions_put_begin(markup, function->shape, WHOLE_NAME_MAX);
	}
}

void fsl_functions_put_share(struct fsl_markup *markup, double share)
{
	if (isfinite(share)) {
		double percent = 100.0 * share;
		fsl_markup_number(markup, percent, percent < 9.95 ? 1 : 0);
		fsl_markup_raw(markup, " %");
	} else {
		fsl_markup_raw(markup, "–");
	}
}

void fsl_functions_put_us(struct fsl_markup *markup, double us)
{
	if (us >= FSL_FUNCTIONS_MS_FROM_US) {
		fsl_markup_put(markup, "%g ms", us / 1e3);
	} else if (isfinite(us)) {
		fsl_markup_put(markup, "%g µs", us);
	} else {
		fsl_markup_raw(markup, "–");
	}
}

void fsl_functions_put_us_cell(struct fsl_markup *markup, double us)
{
	fsl_markup_raw(markup, "<td class=\"n\"");
	if (us >= FSL_FUNCTIONS_MS_FROM_US) {
		fsl_markup_put(markup, " data-v=\"%g\"", us);
	}
	fsl_markup_raw(markup, ">");
	fsl_functions_put_us(markup, us);
}

void fsl_functions_say_section(struct fsl_markup *markup, const char *section)
{
	fsl_html_say_of(markup, 'F', section);
}

/* Median of a member of the cells of workers that are no culprits: @offset by offsetof(). */
static double peers_median(const struct fsl_html_functions *page,
			   const struct fsl_html_function *function, size_t offset)
{
	double *values = fsl_calloc(2 * page->n_workers + 1, sizeof(*values)), median = NAN;
	size_t n = 0;
	for (size_t w = 0; values != NULL && w < page->n_workers; w++) {
		double value = NAN;
		memcpy(&value, (const char *)&function->cells[w] + offset, sizeof(value));
		if (isfinite(value) && !page->workers[w].is_culprit && w != page->worst) {
			values[n++] = value;
		}
	}
	if (n > 0) {
		median = fsl_median(values, n, values + page->n_workers);
	}
	fsl_free(values);
	return median;
}

double fsl_functions_peers_us(const struct fsl_html_functions *page,
			      const struct fsl_html_function *function)
{
	return peers_median(page, function, offsetof(struct fsl_html_cell, mean_us));
}

double fsl_functions_peers_count(const struct fsl_html_functions *page,
				 const struct fsl_html_function *function)
{
	return peers_median(page, function, offsetof(struct fsl_html_cell, count));
}

struct fsl_functions_bins fsl_functions_bins_of(const struct fsl_html_functions *page, double left,
						double right)
{
	const double digit_width = 10.0; /* of a label, as telephones have it */
	const double width_max = 64.0;   /* a single worker is no wall */
	struct fsl_functions_bins bins = {.left = left, .per = 1, .labels_every = 1};
	bins.per = (page->n_workers + FSL_FUNCTIONS_BINS_MAX - 1) / FSL_FUNCTIONS_BINS_MAX;
	bins.per = bins.per > 0 ? bins.per : 1;
	bins.n = (page->n_workers + bins.per - 1) / bins.per;
	bins.width = fmin((right - left) / fmax((double)bins.n, 1.0), width_max);
	double label_width = digit_width;
	for (int64_t n = page->n_workers > 0 ? page->workers[page->n_workers - 1].rank : 0; n > 0;
	     n /= 10) {
		label_width += digit_width;
	}
	while ((double)bins.labels_every * bins.width < label_width) {
		bins.labels_every *= 2;
	}
	return bins;
}

bool fsl_functions_bin_is_culprit(const struct fsl_html_functions *page,
				  const struct fsl_functions_bins *bins, size_t bin)
{
	for (size_t w = bin * bins->per; w < (bin + 1) * bins->per && w < page->n_workers; w++) {
		if (page->workers[w].is_culprit) {
			return true;
		}
	}
	return false;
}

void fsl_functions_put_bin_labels(struct fsl_markup *markup, const struct fsl_html_functions *page,
				  const struct fsl_functions_bins *bins, double y)
{
	size_t last = 0; /* bin of the last label, plus one */
	for (size_t b = 0; b < bins->n; b++) {
		bool is_culprit = fsl_functions_bin_is_culprit(page, bins, b);
		bool has_room = last == 0 || b + 1 - last >= bins->labels_every;
		if (!has_room || (!is_culprit && b % bins->labels_every != 0)) {
			continue;
		}
		size_t w = b * bins->per;
		for (size_t k = w; is_culprit && k < page->n_workers; k++) {
			if (page->workers[k].is_culprit) {
				w = k;
				break;
			}
		}
		fsl_markup_put(markup, "<text class=\"x%h\" x=\"%f\" y=\"%f\">%d</text>",
			       is_culprit ? " hot" : "",
			       bins->left + ((double)b + 0.5) * bins->width, y,
			       page->workers[w].rank);
		last = b + 1;
	}
}
