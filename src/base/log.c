/* Log lines and error chains on a stream. The level is the only mutable global of the program. */
#include "base/log.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int log_level = FSL_LOG_WARNING;

void fsl_log_set_level(enum fsl_log_level level)
{
	atomic_store(&log_level, (int)level);
}

enum fsl_log_level fsl_log_level_get(void)
{
	return (enum fsl_log_level)atomic_load(&log_level);
}

/* Replaces control characters and broken bytes of file names: a message stays one line and moves no
 * cursor. */
static void make_plain(char *text)
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

void fsl_log(enum fsl_log_level level, const char *tag, const char *format, ...)
{
	static const char *const names[] = {"error", "warning", "info", "debug"};
	if ((int)level > atomic_load(&log_level)) {
		return;
	}
	char message[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	make_plain(message);
	/* One call, so that lines of several threads do not mix. */
	(void)fprintf(stderr, "failslow: %s: %s: %s\n", names[level], tag, message);
}

void fsl_error_print(FILE *stream, const struct fsl_error *err)
{
	if (err->n_causes == 0) {
		(void)fprintf(stream, "failslow: error: %s\n", fsl_status_text(err->status));
		return;
	}
	for (size_t i = err->n_causes; i-- > 0;) {
		const struct fsl_cause_link *link = &err->causes[i];
		const char *lead = i + 1 == err->n_causes ? "failslow: error" : "  because";
		char message[sizeof(link->message)];
		memcpy(message, link->message, sizeof(message));
		make_plain(message);
		if (fsl_log_level_get() >= FSL_LOG_INFO) {
			(void)fprintf(stream, "%s: %s (%s:%d)\n", lead, message, link->file,
				      link->line);
		} else {
			(void)fprintf(stream, "%s: %s\n", lead, message);
		}
	}
}

_Noreturn void fsl_assert_failed(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "failslow: internal error: assertion failed: %s (%s:%d)\n", condition,
		      file, line);
	abort();
}
