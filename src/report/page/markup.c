/* Escaping and numbers of HTML and SVG. */
#include "report/page/markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void fsl_markup_raw(struct fsl_markup *markup, const char *literal)
{
	fsl_pack_packed(&markup->pack, literal, strlen(literal));
}

/* The form of a character in markup; NULL: the character itself. */
static const char *entity_of(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void fsl_markup_text(struct fsl_markup *markup, const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	for (const char *at = text != NULL ? text : ""; *at != '\0';) {
		size_t n_bytes = fsl_utf8_sequence(at);
		const char *entity = entity_of(*at);
		if (n_bytes == 0 || fsl_utf8_is_control(at)) {
			fsl_markup_raw(markup, replacement);
			at += n_bytes > 0 ? n_bytes : 1;
			continue;
		}
		if (entity != NULL) {
			fsl_markup_raw(markup, entity);
		} else {
			fsl_pack_packed(&markup->pack, at, n_bytes);
		}
		at += n_bytes;
	}
}

void fsl_markup_number(struct fsl_markup *markup, double value, int decimals)
{
	static const double powers[] = {1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6};
	char text[48];
	if (!(fabs(value) < 1e12)) {
		return;
	}
	int64_t scale = (int64_t)powers[decimals];
	int64_t scaled = (int64_t)round(fabs(value) * powers[decimals]);
	int n = snprintf(text, sizeof(text), "%s%" PRId64, value < 0.0 && scaled > 0 ? "-" : "",
			 scaled / scale);
	int64_t rest = scaled % scale;
	if (rest > 0) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, ".%0*" PRId64, decimals, rest);
		while (text[n - 1] == '0') {
			text[--n] = '\0';
		}
	}
	fsl_markup_raw(markup, text);
}

void fsl_markup_integer(struct fsl_markup *markup, int64_t value)
{
	char text[32];
	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	fsl_markup_raw(markup, text);
}

const char *fsl_markup_figure(double value, char buffer[32])
{
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
	struct fsl_markup scratch = {{0}};
	buffer[0] = '\0';
	fsl_markup_number(&scratch, value, decimals);
	if (!scratch.pack.is_failed && scratch.pack.n_bytes < 32 && scratch.pack.n_bytes > 0) {
		memcpy(buffer, scratch.pack.bytes, scratch.pack.n_bytes);
		buffer[scratch.pack.n_bytes] = '\0';
	}
	fsl_pack_fini(&scratch.pack);
	return buffer;
}

const char *fsl_markup_span(double ms, char buffer[32])
{
	static const struct {
		double from_ms, ms;
		const char *unit;
	} units[] = {
		{36e5, 36e5, "h"}, {12e4, 6e4, "min"}, {5e3, 1e3, "s"}, {-INFINITY, 1.0, "ms"}};
	char figure[32];
	size_t i = 0;
	if (!isfinite(ms)) {
		buffer[0] = '\0';
		return buffer;
	}
	while (i + 1 < sizeof(units) / sizeof(units[0]) && !(fabs(ms) >= units[i].from_ms)) {
		i++;
	}
	(void)snprintf(buffer, 32, "%.24s %s", fsl_markup_figure(ms / units[i].ms, figure),
		       units[i].unit);
	return buffer;
}

void fsl_markup_put(struct fsl_markup *markup, const char *format, ...)
{
	char figure[32];
	va_list args;
	va_start(args, format);
	for (const char *at = format; *at != '\0';) {
		const char *percent = strchr(at, '%');
		size_t n_plain = percent != NULL ? (size_t)(percent - at) : strlen(at);
		fsl_pack_packed(&markup->pack, at, n_plain);
		if (percent == NULL) {
			break;
		}
		if (percent[1] == 's') {
			fsl_markup_text(markup, va_arg(args, const char *));
		} else if (percent[1] == 'd') {
			fsl_markup_integer(markup, va_arg(args, int64_t));
		} else if (percent[1] == 'f') {
			fsl_markup_number(markup, va_arg(args, double), 1);
		} else if (percent[1] == 'g') {
			fsl_markup_raw(markup, fsl_markup_figure(va_arg(args, double), figure));
		} else if (percent[1] == 'h') {
			fsl_markup_raw(markup, va_arg(args, const char *));
		} else {
			fsl_markup_raw(markup, "%");
			at = percent + 1;
			continue;
		}
		at = percent + 2;
	}
	va_end(args);
}
