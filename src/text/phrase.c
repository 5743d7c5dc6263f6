/* Numbers, times and rank lists as people read them. */
#include "text/phrase.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"

static const char ellipsis[] = "...";

void fsl_phrase_add(struct fsl_phrase *phrase, const char *format, ...)
{
	size_t room = sizeof(phrase->text) - phrase->length;
	va_list args;
	va_start(args, format);
	int wanted = vsnprintf(phrase->text + phrase->length, room, format, args);
	va_end(args);
	if (wanted < 0) {
		phrase->text[phrase->length] = '\0';
	} else if ((size_t)wanted < room) {
		phrase->length += (size_t)wanted;
	} else {
		phrase->length = sizeof(phrase->text) - 1;
		memcpy(phrase->text + sizeof(phrase->text) - sizeof(ellipsis), ellipsis,
		       sizeof(ellipsis));
	}
}

void fsl_phrase_add_ms(struct fsl_phrase *phrase, double ms)
{
	double size = fabs(ms);
	if (!isfinite(ms)) {
		fsl_phrase_add(phrase, "unknown time");
	} else if (size >= 9999.5) {
		fsl_phrase_add(phrase, "%.1f s", ms / 1000.0);
	} else if (size >= 99.95) {
		fsl_phrase_add(phrase, "%.0f ms", ms);
	} else if (size >= 9.995) {
		fsl_phrase_add(phrase, "%.1f ms", ms);
	} else {
		fsl_phrase_add(phrase, "%.2f ms", ms);
	}
}

void fsl_phrase_add_length(struct fsl_phrase *phrase, int64_t ns)
{
	double mins = (double)ns / (60.0 * FSL_NS_PER_S);
	if (mins >= 120.0) {
		fsl_phrase_add(phrase, "%d h %d min", (int)(mins / 60.0),
			       (int)(mins - 60.0 * (double)(int)(mins / 60.0)));
	} else if (mins >= 2.0) {
		fsl_phrase_add(phrase, "%.1f min", mins);
	} else {
		fsl_phrase_add_ms(phrase, (double)ns / FSL_NS_PER_MS);
	}
}

void fsl_phrase_add_words(struct fsl_phrase *phrase, const char *name)
{
	for (const char *c = name; *c != '\0'; c++) {
		fsl_phrase_add(phrase, "%c", *c == '_' ? ' ' : *c);
	}
}

void fsl_phrase_add_symbol(struct fsl_phrase *phrase, const char *name)
{
	enum { WHOLE_MAX = 40, BEGIN_MAX = 24 };
	static const char result[] = "void ";
	if (strlen(name) <= WHOLE_MAX) {
		fsl_phrase_add(phrase, "%s", name);
		return;
	}
	name += strncmp(name, result, sizeof(result) - 1) == 0 ? sizeof(result) - 1 : 0;
	size_t length = strcspn(name, "<(");
	length = length > 0 ? length : strlen(name);
	bool is_cut = length > BEGIN_MAX;
	length = is_cut ? BEGIN_MAX : length;
	while (is_cut && length > 1 && ((unsigned char)name[length] & 0xc0) == 0x80) {
		length--; /* between characters */
	}
	fsl_phrase_add(phrase, "%.*s%s", (int)length, name, is_cut ? "..." : "");
}

void fsl_phrase_add_frame(struct fsl_phrase *phrase, const char *frame)
{
	enum { LENGTH_MAX = 48 };
	const char *file = strrchr(frame, '/');
	size_t n_name = strcspn(frame, "@/");
	struct fsl_phrase text = {0};
	if (file != NULL && frame[n_name] == '@') {
		fsl_phrase_add(&text, "%.*s@", (int)n_name, frame);
	}
	fsl_phrase_add(&text, "%s", file != NULL ? file + 1 : frame);
	size_t n_cut = text.length > LENGTH_MAX ? text.length - LENGTH_MAX : 0;
	fsl_phrase_add(phrase, "%s%s", n_cut > 0 ? "..." : "", text.text + n_cut);
}

void fsl_phrase_add_percent(struct fsl_phrase *phrase, double share)
{
	double percent = 100.0 * share;
	if (!isfinite(percent)) {
		fsl_phrase_add(phrase, "unknown share");
	} else {
		fsl_phrase_add(phrase, fabs(percent) < 9.95 ? "%.1f %%" : "%.0f %%", percent);
	}
}

void fsl_phrase_add_time(struct fsl_phrase *phrase, int64_t time_ns)
{
	char text[40];
	fsl_phrase_add(phrase, "%s", fsl_format_local(time_ns, text, sizeof(text)));
}

/* Index of the end of the run of consecutive numbers that begins at @begin. */
static size_t range_end(const int32_t *ranks, size_t n_ranks, size_t begin)
{
	size_t end = begin + 1;
	while (end < n_ranks && (int64_t)ranks[end] == (int64_t)ranks[end - 1] + 1) {
		end++;
	}
	return end;
}

void fsl_phrase_add_ranks(struct fsl_phrase *phrase, const int32_t *ranks, size_t n_ranks,
			  size_t n_ranges_max)
{
	if (n_ranks == 0) {
		fsl_phrase_add(phrase, "no rank");
		return;
	}
	fsl_phrase_add(phrase, n_ranks == 1 ? "rank" : "ranks");
	size_t begin = 0;
	for (size_t n = 0; n < n_ranges_max && begin < n_ranks; n++) {
		size_t end = range_end(ranks, n_ranks, begin);
		fsl_phrase_add(phrase, "%s%d", n == 0 ? " " : ", ", ranks[begin]);
		if (end - begin > 1) {
			fsl_phrase_add(phrase, "%s%d", end - begin > 2 ? "-" : ", ",
				       ranks[end - 1]);
		}
		begin = end;
	}
	if (begin < n_ranks) {
		fsl_phrase_add(phrase, " and %zu more", n_ranks - begin);
	}
}

void fsl_phrase_add_unsorted_ranks(struct fsl_phrase *phrase, int32_t *ranks, size_t n_ranks,
				   size_t n_ranges_max)
{
	size_t n_unique = 0;
	qsort(ranks, n_ranks, sizeof(*ranks), fsl_compare_i32);
	for (size_t i = 0; i < n_ranks; i++) {
		if (n_unique == 0 || ranks[i] != ranks[n_unique - 1]) {
			ranks[n_unique++] = ranks[i];
		}
	}
	fsl_phrase_add_ranks(phrase, ranks, n_unique, n_ranges_max);
}

void fsl_phrase_add_count(struct fsl_phrase *phrase, uint64_t n, const char *noun)
{
	fsl_phrase_add(phrase, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

void fsl_phrase_add_ordinal(struct fsl_phrase *phrase, int64_t n)
{
	static const char *const ends[] = {"th", "st", "nd", "rd"};
	bool is_teen = n % 100 >= 11 && n % 100 <= 13;
	fsl_phrase_add(phrase, "%" PRId64 "%s", n, ends[!is_teen && n % 10 <= 3 ? n % 10 : 0]);
}
