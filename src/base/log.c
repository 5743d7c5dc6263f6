/* Log lines and error chains on a stream. Level, form and stream of the log are the only mutable
 * globals of the program, with the deadline. */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/language.h"
#include "base/log_line.h"
#include "base/number.h"
#include "base/utf8.h"

enum { MESSAGE_BYTES = 1024, CHAIN_BYTES = 1500 };

static _Atomic int log_level = FSL_LOG_WARNING;
static _Atomic int log_form = FSL_LOG_TEXT;
static _Atomic bool is_journal;

const char *const fsl_log_forms[] = {"text", "logfmt", "json", NULL};

void fsl_log_set_form(enum fsl_log_form form)
{
	atomic_store(&log_form, (int)form);
}

/* $JOURNAL_STREAM is "device:inode" of the stream that journald reads. */
void fsl_log_look_at_stream(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat facts;
	char own[64];
	bool is_same = false;
	if (stream != NULL && fstat(STDERR_FILENO, &facts) == 0) {
		(void)snprintf(own, sizeof(own), "%llu:%llu", (unsigned long long)facts.st_dev,
			       (unsigned long long)facts.st_ino);
		is_same = strcmp(stream, own) == 0;
	}
	atomic_store(&is_journal, is_same);
}

void fsl_log_set_level(enum fsl_log_level level)
{
	atomic_store(&log_level, (int)level);
}

enum fsl_log_level fsl_log_level_get(void)
{
	return (enum fsl_log_level)atomic_load(&log_level);
}

void fsl_log_make_plain(char *text)
{
	while (*text != '\0') {
		size_t n_bytes = fsl_utf8_sequence(text);
		if (n_bytes == 0 || fsl_utf8_is_control(text)) {
			n_bytes = n_bytes == 0 ? 1 : n_bytes;
			memset(text, '?', n_bytes);
		}
		text += n_bytes;
	}
}

static size_t make_line(char *line, enum fsl_log_level level, const char *word, const char *tag,
			const char *message)
{
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_REALTIME, &now);
	const struct fsl_log_entry entry = {
		.form = (enum fsl_log_form)atomic_load(&log_form),
		.has_priority = atomic_load(&is_journal),
		.time_ns = (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec,
		.level = level,
		.word = word,
		.tag = tag,
		.message = message,
	};
	return fsl_log_line(line, &entry);
}

const char *fsl_log_tell(const char *english, struct fsl_told *room)
{
	bool is_text = atomic_load(&log_form) == FSL_LOG_TEXT;
	return is_text ? fsl_tell(english, room) : english;
}

void fsl_log(enum fsl_log_level level, const char *tag, const char *format, ...)
{
	static const char *const words[] = {N_("error"), N_("warning"), N_("info"), N_("debug")};
	char message[MESSAGE_BYTES], line[FSL_LOG_LINE_BYTES];
	if ((int)level > atomic_load(&log_level)) {
		return;
	}
	va_list args;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fsl_log_make_plain(message);
	struct fsl_told told, word;
	size_t length = make_line(line, level, fsl_log_tell(words[level], &word), tag,
				  fsl_log_tell(message, &told));
	/* One call, so that lines of several threads do not mix. */
	(void)fwrite(line, 1, length, stderr);
}

void fsl_log_from_handler(const char *tag, const char *word, const char *message)
{
	char line[FSL_LOG_LINE_BYTES];
	size_t length = make_line(line, FSL_LOG_ERROR, word, tag, message);
	ssize_t n_written = write(STDERR_FILENO, line, length);
	(void)n_written; /* nobody is left to be told */
}

/* One link of a chain as it is shown, made plain. */
static void show_link(const struct fsl_cause_link *link, char *out, size_t size)
{
	struct fsl_told told;
	const char *message = fsl_log_tell(link->message, &told);
	if (fsl_log_level_get() >= FSL_LOG_INFO) {
		(void)snprintf(out, size, "%s (%s:%d)", message, link->file, link->line);
	} else {
		(void)snprintf(out, size, "%s", message);
	}
	fsl_log_make_plain(out);
}

/* The whole chain as one line, for programs. */
static void print_chain(FILE *stream, const struct fsl_error *err)
{
	char message[CHAIN_BYTES] = "", line[FSL_LOG_LINE_BYTES];
	size_t n = 0;
	for (size_t i = err->n_causes; i-- > 0 && n < sizeof(message) - 1;) {
		char shown[CHAIN_BYTES];
		show_link(&err->causes[i], shown, sizeof(shown));
		int length = snprintf(message + n, sizeof(message) - n, "%s%s",
				      n > 0 ? "; because: " : "", shown);
		n += length > 0 ? (size_t)length : 0;
	}
	fsl_log_make_plain(message); /* the end may be half of a character */
	size_t length = make_line(line, FSL_LOG_ERROR, NULL, "failslow", message);
	(void)fwrite(line, 1, length, stream);
}

void fsl_error_print(FILE *stream, const struct fsl_error *err)
{
	const char *priority = atomic_load(&is_journal) ? "<3>" : "";
	struct fsl_error plain = *err;
	if (err->n_causes == 0) {
		(void)fsl_error_add(&plain, err->status, __FILE__, __LINE__, "%s",
				    fsl_status_text(err->status));
	}
	if (atomic_load(&log_form) != FSL_LOG_TEXT) {
		print_chain(stream, &plain);
		return;
	}
	for (size_t i = plain.n_causes; i-- > 0;) {
		const char *lead =
			i + 1 == plain.n_causes ? N_("failslow: error") : N_("  because");
		char shown[CHAIN_BYTES];
		show_link(&plain.causes[i], shown, sizeof(shown));
		struct fsl_told told;
		(void)fprintf(stream, "%s%s: %s\n", priority, fsl_tell(lead, &told), shown);
	}
}

_Noreturn void fsl_assert_failed(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "failslow: internal error: assertion failed: %s (%s:%d)\n", condition,
		      file, line);
	abort();
}
