/* File names of sysTrace's collectors, split from both ends: hosts may hold '-', '.' and ':'. */
#include "source/file_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "model/run.h"

struct text {
	const char *at;
	size_t length;
};

static bool ends_with(struct text text, const char *suffix)
{
	size_t n = strlen(suffix);
	return text.length >= n && memcmp(text.at + text.length - n, suffix, n) == 0;
}

static bool begins_with(struct text text, const char *prefix)
{
	size_t n = strlen(prefix);
	return text.length >= n && memcmp(text.at, prefix, n) == 0;
}

static bool contains(struct text text, const char *needle)
{
	return memmem(text.at, text.length, needle, strlen(needle)) != NULL;
}

static bool cut_suffix(struct text *text, const char *suffix)
{
	if (!ends_with(*text, suffix)) {
		return false;
	}
	text->length -= strlen(suffix);
	return true;
}

size_t fsl_file_name_plain(const char *name)
{
	struct text text = {name, strlen(name)};
	if (!cut_suffix(&text, ".gz")) {
		(void)cut_suffix(&text, ".zst");
	}
	return text.length;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Trailing digits of @text; cuts them off. Empty when there are none. */
static struct text cut_digits(struct text *text)
{
	size_t begin = text->length;
	while (begin > 0 && is_digit(text->at[begin - 1])) {
		begin--;
	}
	struct text digits = {text->at + begin, text->length - begin};
	text->length = begin;
	return digits;
}

static void set_rank(struct fsl_file_name *out, struct text digits, bool is_negative)
{
	int64_t rank = 0;
	if (digits.length == 0) {
		return;
	}
	out->rank_state = FSL_NAME_BAD_RANK;
	if (!is_negative && fsl_parse_i64(digits.at, digits.length, &rank) &&
	    rank < FSL_RANKS_MAX) {
		out->rank_state = FSL_NAME_HAS_RANK;
		out->rank = (int32_t)rank;
	}
}

/* Host between prefix and rank, without the separators around it. */
static void set_host(struct fsl_file_name *out, struct text host)
{
	while (host.length > 0 && (host.at[0] == '-' || host.at[0] == '.')) {
		host.at++;
		host.length--;
	}
	while (host.length > 0 &&
	       (host.at[host.length - 1] == '-' || host.at[host.length - 1] == '.')) {
		host.length--;
	}
	out->host = host.at;
	out->n_host = host.length;
}

/* True when the dot at the end of @stem cannot belong to an address: "-." or the only dot. */
static bool is_rank_dot(struct text stem)
{
	return ends_with(stem, "-.") ||
	       (ends_with(stem, ".") && memchr(stem.at, '.', stem.length - 1) == NULL);
}

/* hccl_activity-<ip>-.<rank>; a rank of -1 gives ".-1". */
static void parse_hccl_activity(struct fsl_file_name *out, struct text stem)
{
	struct text digits = cut_digits(&stem);
	bool is_negative = ends_with(stem, ".-");
	if (is_negative || is_rank_dot(stem) || ends_with(stem, "-")) {
		set_rank(out, digits, is_negative);
	} else {
		stem.length += digits.length; /* the digits belong to the host */
	}
	set_host(out, stem);
}

/* mspti-marker-<ip>-<rank>, training-step-time-<ip>-<rank>. A rank of -1 gives "--1". */
static void parse_dashed(struct fsl_file_name *out, struct text stem)
{
	struct text digits = cut_digits(&stem);
	if (!ends_with(stem, "-")) {
		stem.length += digits.length;
		set_host(out, stem);
		return;
	}
	set_rank(out, digits, ends_with(stem, "--"));
	set_host(out, stem);
}

/* <host>--<rank>, <host>--<rank>--<pid>. */
static void parse_timeline(struct fsl_file_name *out, struct text stem)
{
	struct text whole = stem;
	struct text last = cut_digits(&stem);
	bool is_negative = ends_with(stem, "---"); /* <host>---0001 */
	if (last.length == 0 || !cut_suffix(&stem, "--")) {
		set_host(out, whole);
		return;
	}
	struct text before = stem;
	struct text middle = cut_digits(&before);
	if (middle.length > 0 && ends_with(before, "--")) {
		set_rank(out, middle, ends_with(before, "---"));
		set_host(out, before);
	} else {
		set_rank(out, last, is_negative);
		set_host(out, stem);
	}
}

/* rank7, rank_7, rank-7, worker_7 anywhere in the name of a log. */
static void parse_log(struct fsl_file_name *out, struct text stem)
{
	static const char *const words[] = {"rank", "worker"};
	const char *at = NULL, *end = stem.at + stem.length;
	for (size_t i = 0; i < 2 && at == NULL; i++) {
		at = memmem(stem.at, stem.length, words[i], strlen(words[i]));
		at = at != NULL ? at + strlen(words[i]) : NULL;
	}
	if (at == NULL) {
		return;
	}
	if (at < end && (*at == '_' || *at == '-')) {
		at++;
	}
	struct text digits = {at, 0};
	while (at + digits.length < end && is_digit(at[digits.length])) {
		digits.length++;
	}
	set_rank(out, digits, false);
}

static bool is_result(struct text text)
{
	return ends_with(text, "_device.csv") || ends_with(text, "_op_launch.csv") ||
	       (text.length == 13 && begins_with(text, "step_time.csv")) ||
	       begins_with(text, "fail_slow_perception_result") ||
	       begins_with(text, "slow_node_result");
}

static bool ends_with_any(struct text text, const char *const *suffixes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ends_with(text, suffixes[i])) {
			return true;
		}
	}
	return false;
}

/* A text file needs a telling name: many are no logs. */
static bool is_log(struct text text)
{
	static const char *const suffixes[] = {".log",   ".out",    ".err",
					       ".jsonl", ".stdout", ".stderr"};
	static const char *const words[] = {"log", "rank", "worker", "train"};
	bool has_word = contains(text, ".log.");
	for (size_t i = 0; i < 4 && !has_word; i++) {
		has_word = ends_with(text, ".txt") && contains(text, words[i]);
	}
	return has_word || ends_with_any(text, suffixes, 6);
}

bool fsl_file_name_is_log(const char *name)
{
	return is_log((struct text){name, fsl_file_name_plain(name)});
}

bool fsl_file_name_is_table(const char *name)
{
	static const char *const suffixes[] = {".csv", ".json"};
	return ends_with_any((struct text){name, fsl_file_name_plain(name)}, suffixes, 2);
}

void fsl_file_name_take_folder(struct fsl_file_name *name, const char *folder, size_t n_folder)
{
	if (name->kind == FSL_NAME_LOG && name->rank_state == FSL_NAME_NO_RANK) {
		parse_log(name, (struct text){folder, n_folder});
	}
}

struct fsl_file_name fsl_file_name_parse(const char *name)
{
	struct fsl_file_name out = {.host = name};
	struct text text = {name, fsl_file_name_plain(name)};
	if (is_result(text)) {
		out.kind = FSL_NAME_RESULT;
		return out;
	}
	struct text stem = text;
	if (!cut_suffix(&stem, ".csv")) {
		(void)cut_suffix(&stem, ".json");
	}
	static const struct {
		const char *prefix;
		enum fsl_name_kind kind;
		void (*parse)(struct fsl_file_name *out, struct text stem);
	} prefixes[] = {
		{"hccl_activity", FSL_NAME_MARKERS, parse_hccl_activity},
		{"mspti-marker", FSL_NAME_MARKERS, parse_dashed},
		{"training-step-time", FSL_NAME_STEPS, parse_dashed},
	};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (begins_with(stem, prefixes[i].prefix)) {
			size_t n_prefix = strlen(prefixes[i].prefix);
			out.kind = prefixes[i].kind;
			prefixes[i].parse(
				&out, (struct text){stem.at + n_prefix, stem.length - n_prefix});
			return out;
		}
	}
	if (cut_suffix(&stem, ".timeline") || contains(stem, ".timeline.")) {
		out.kind = FSL_NAME_TIMELINE;
		parse_timeline(&out, stem);
	} else if (is_log(stem)) {
		out.kind = FSL_NAME_LOG;
		parse_log(&out, stem);
	} else {
		parse_timeline(&out, stem); /* a JSON build keeps <host>--<rank> */
		out.n_host = out.rank_state == FSL_NAME_NO_RANK ? 0 : out.n_host;
	}
	return out;
}
