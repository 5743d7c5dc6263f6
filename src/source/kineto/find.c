/* Traces of Kineto by their names and by what they hold. */
#include "source/kineto/find.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "chrome/pftrace_walk.h"
#include "source/kineto/nsys.h"

enum {
	PROBE_BYTES = 64 * 1024, /* deviceProperties of 16 devices take some kB */
	LOOK_BYTES = 256 * 1024,
	INFO_BYTES = 2048, /* of distributedInfo, in which its rank stands */
};

static bool ends(const char *name, size_t length, const char *end)
{
	size_t n = strlen(end);
	return length >= n && strncasecmp(name + length - n, end, n) == 0;
}

bool fsl_kineto_is_name(const char *name)
{
	static const char *const words[] = {"trace", "rank", "worker", "kineto", "profil"};
	size_t length = strlen(name);
	length -= ends(name, length, ".gz") ? 3 : ends(name, length, ".zst") ? 4 : 0;
	if (ends(name, length, ".sqlite") || ends(name, length, ".pftrace") ||
	    ends(name, length, ".perfetto-trace")) {
		return true;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (ends(name, length, ".json") && strcasestr(name, words[i]) != NULL) {
			return true;
		}
	}
	return false;
}

static bool has(const char *data, size_t n_bytes, const char *text)
{
	return memmem(data, n_bytes, text, strlen(text)) != NULL;
}

/* Names of categories in a trace of Perfetto, as Kineto and ACK AI Profiling have them. */
static bool has_category(const char *data, size_t n_bytes)
{
	static const char *const marks[] = {"cuda_runtime",        "cpu_op",     "python_function",
					    "gpu_user_annotation", "gpu_memcpy", "cudalib"};
	bool has_one = false;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		has_one |= has(data, n_bytes, marks[i]);
	}
	return has_one;
}

/* Texts that Kineto writes near the begin of its files, and other writers of this form do not. */
bool fsl_kineto_is_trace(const char *path, bool takes_any)
{
	static const char *const marks[] = {
		"\"schemaVersion\"",   "\"deviceProperties\"", "\"cuda_runtime\"",
		"\"cpu_op\"",          "\"python_function\"",  "\"gpu_user_annotation\"",
		"\"distributedInfo\"", "\"External id\"",      "\"external id\"",
		"\"cat\":\"python\"",  "\"cat\": \"python\"",  "\"CAT_CPU\"",
		"\"cat\":\"syscall\"", "\"cat\": \"syscall\"", "\"CAT_XPU\"",
	};
	struct fsl_reader *reader = NULL;
	const char *data = NULL;
	size_t n_bytes = 0;
	bool is_trace = false;
	if (fsl_reader_open(&reader, path, NULL) == FSL_OK &&
	    fsl_reader_peek(reader, PROBE_BYTES, &data, &n_bytes, NULL) == FSL_OK) {
		size_t n_spaces = 0;
		bool has_mark = n_bytes >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
		n_spaces = has_mark ? 3 : 0;
		while (n_spaces < n_bytes && strchr(" \t\r\n", data[n_spaces]) != NULL &&
		       data[n_spaces] != '\0') {
			n_spaces++;
		}
		if (fsl_nsys_is(data, n_bytes)) {
			fsl_reader_close(reader);
			return true;
		}
		if (fsl_pftrace_is(data, n_bytes)) {
			is_trace = takes_any || has_category(data, n_bytes);
			fsl_reader_close(reader);
			return is_trace;
		}
		bool is_json =
			n_spaces < n_bytes && (data[n_spaces] == '{' || data[n_spaces] == '[');
		is_trace = takes_any;
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]) && is_json; i++) {
			is_trace |= has(data, n_bytes, marks[i]);
		}
		/* An export of a graph has some of these words, and no events. Traces of Ascend
		 * devices that were renamed have them, too, and other kernels. */
		is_trace = is_trace && is_json && !has(data, n_bytes, "\"async_npu\"") &&
			   !has(data, n_bytes, "\"HostToDevice\"") &&
			   (has(data, n_bytes, "\"traceEvents\"") || has(data, n_bytes, "\"ph\""));
	}
	fsl_reader_close(reader);
	return is_trace;
}

/* "report_3.sqlite": nsys puts what variables of the environment tell at the end of the name. */
static int64_t trailing_number(const char *name)
{
	size_t n = strlen(name), end = n;
	int64_t rank = -1;
	if (!ends(name, n, ".sqlite")) {
		return -1;
	}
	end -= strlen(".sqlite");
	for (n = end; n > 0 && isdigit((unsigned char)name[n - 1]) != 0;) {
		n--;
	}
	bool is_apart = n < end && n > 0 && strchr("._-", name[n - 1]) != NULL;
	return is_apart && fsl_parse_i64(name + n, end - n, &rank) ? rank : -1;
}

int64_t fsl_kineto_rank_by_word(const char *name)
{
	static const char *const words[] = {"rank", "worker"};
	enum { RANK_MAX = 1 << 20 };
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		const char *at = name;
		while ((at = strcasestr(at, words[w])) != NULL) {
			at += strlen(words[w]);
			const char *digits = at + (*at != '\0' && strchr("-_[=", *at) != NULL);
			int64_t rank = 0;
			size_t n = strspn(digits, "0123456789");
			for (size_t i = 0; i < n && rank < RANK_MAX; i++) {
				rank = rank * 10 + (digits[i] - '0');
			}
			if (n > 0) {
				return rank;
			}
		}
	}
	return -1;
}

int64_t fsl_kineto_rank_of_name(const char *name)
{
	int64_t rank = fsl_kineto_rank_by_word(name);
	return rank >= 0 ? rank : trailing_number(name);
}

/* Rank in the text of distributedInfo, which begins at @text. */
static int64_t rank_in(const char *text, size_t n_bytes)
{
	static const char key[] = "\"rank\"";
	const char *end = text + (n_bytes < INFO_BYTES ? n_bytes : INFO_BYTES);
	const char *at = memmem(text, (size_t)(end - text), key, sizeof(key) - 1);
	int64_t rank = -1;
	if (at == NULL) {
		return -1;
	}
	at += sizeof(key) - 1;
	while (at < end && (*at == ' ' || *at == ':' || *at == '\n' || *at == '"')) {
		at++;
	}
	size_t n = 0;
	while (at + n < end && at[n] >= '0' && at[n] <= '9') {
		n++;
	}
	return n > 0 && fsl_parse_i64(at, n, &rank) ? rank : -1;
}

enum fsl_status fsl_kineto_rank_of_content(const char *path, int64_t *rank, struct fsl_error *err)
{
	static const char key[] = "\"distributedInfo\"";
	struct fsl_reader *reader = NULL;
	struct fsl_error own = {0};
	*rank = -1;
	enum fsl_status status = fsl_reader_open(&reader, path, &own);
	while (status == FSL_OK) {
		const char *data = NULL;
		size_t n_bytes = 0;
		status = fsl_reader_peek(reader, LOOK_BYTES, &data, &n_bytes, &own);
		if (status != FSL_OK || n_bytes == 0) {
			break;
		}
		bool is_last = n_bytes < LOOK_BYTES;
		const char *at = memmem(data, n_bytes, key, sizeof(key) - 1);
		size_t n_left = at != NULL ? n_bytes - (size_t)(at - data) : 0;
		if (at != NULL && (n_left >= INFO_BYTES || is_last)) {
			*rank = rank_in(at, n_left);
			break;
		}
		size_t n_kept = at != NULL ? n_left : sizeof(key);
		fsl_reader_skip(reader, is_last || n_bytes <= n_kept ? n_bytes : n_bytes - n_kept);
	}
	fsl_reader_close(reader);
	return status == FSL_ERR_MEMORY ? FSL_FAIL(err, status, "out of memory: path=\"%s\"", path)
					: FSL_OK;
}

bool fsl_kineto_form_at(size_t idx, const char **name, const char **summary)
{
	static const struct {
		const char *name, *summary;
	} forms[] = {
		{"kineto_json", "trace of PyTorch's profiler (Kineto), JSON; one a rank"},
		{"kineto_pftrace", "the same as packets of Perfetto (.pftrace)"},
		{"nsys_sqlite", "export of Nsight Systems, SQLite (nsys export --type sqlite)"},
		{"ack_json", "trace of ACK AI Profiling, JSON: not verified with real exports"},
	};
	if (idx >= sizeof(forms) / sizeof(forms[0])) {
		return false;
	}
	*name = forms[idx].name;
	*summary = forms[idx].summary;
	return true;
}
