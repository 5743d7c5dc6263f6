/* Which language, where its catalog lies, and the catalog of the run. */
#include "base/language.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/catalog.h"
#include "base/log.h"
#include "base/utf8.h"

/* Languages with a catalog, by the begin of the locale's name. */
static const struct language {
	const char *prefix, *name;
} languages[] = {
	{"zh_CN", "zh_CN"},
	{"zh_SG", "zh_CN"},
	{"zh_Hans", "zh_CN"},
	{"zh.", "zh_CN"},
};

/* Written before threads begin, only read later. */
static struct fsl_catalog catalog, second;
static const char *name = "";

static const char *variable(const char *variable_name)
{
	const char *value = getenv(variable_name);
	return value != NULL ? value : "";
}

static bool is_plain(const char *locale)
{
	return *locale == '\0' || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
}

/* As gettext: the locale of messages; LANGUAGE wins unless that is C. */
static const char *wanted(void)
{
	static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
	const char *locale = "";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && *locale == '\0'; i++) {
		locale = variable(names[i]);
	}
	const char *language = variable("LANGUAGE");
	return !is_plain(locale) && *language != '\0' ? language : locale;
}

static const char *language_of(const char *locale)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++) {
		if (strncmp(locale, languages[i].prefix, strlen(languages[i].prefix)) == 0) {
			return languages[i].name;
		}
	}
	return strcmp(locale, "zh") == 0 || strncmp(locale, "zh:", 3) == 0 ? "zh_CN" : "";
}

/* Folder of the program, with "/" at its end; "" if unknown. */
static void find_program(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	folder[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(folder, '/');
	if (slash != NULL) {
		slash[1] = '\0';
	}
}

static bool read_catalog(struct fsl_catalog *out, const char *folder, const char *below,
			 const char *language)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s%s/%s/LC_MESSAGES/failslow.mo", folder, below,
			      language);
	return length > 0 && (size_t)length < sizeof(path) && access(path, R_OK) == 0 &&
	       fsl_catalog_read(out, path, NULL) == FSL_OK;
}

/* Reads the catalog of a language wherever it lies. */
static bool find_catalog(struct fsl_catalog *out, const char *language)
{
	char folder[PATH_MAX];
	const char *given = getenv("FAILSLOW_LOCALEDIR");
	find_program(folder);
	return given != NULL && *given != '\0'
		       ? read_catalog(out, given, "", language)
		       : read_catalog(out, folder, "locale", language) ||
				 read_catalog(out, folder, "../share/locale", language);
}

void fsl_language_begin(void)
{
	const char *language = language_of(wanted());
	name = *language != '\0' && find_catalog(&catalog, language) ? language : "";
}

void fsl_language_add(const char *language)
{
	if (second.n_items == 0) {
		(void)find_catalog(&second, language);
	}
}

void fsl_language_end(void)
{
	fsl_catalog_fini(&catalog);
	fsl_catalog_fini(&second);
	name = "";
}

const char *fsl_language_name(void)
{
	return name;
}

const char *fsl_tell(const char *english, struct fsl_told *room)
{
	bool is_told = catalog.n_items > 0 &&
		       fsl_catalog_tell(&catalog, english, room->text, sizeof(room->text));
	return is_told ? room->text : english;
}

const char *fsl_tell_also(const char *english, struct fsl_told *room)
{
	bool is_told = second.n_items > 0 &&
		       fsl_catalog_tell(&second, english, room->text, sizeof(room->text));
	return is_told ? room->text : NULL;
}

/* Prints one line of a text, without its blanks and its end translated. */
static void print_line(FILE *stream, char *line)
{
	struct fsl_told room;
	size_t n_blanks = strspn(line, " "), n = strlen(line);
	while (n > n_blanks && line[n - 1] == ' ') {
		n--;
	}
	char blank = line[n];
	line[n] = '\0';
	const char *told = fsl_tell(line + n_blanks, &room);
	(void)fprintf(stream, "%*s%s", (int)n_blanks, "", told);
	line[n] = blank;
	(void)fputs(line + n, stream);
}

int fsl_tell_print(FILE *stream, const char *format, ...)
{
	char text[FSL_TOLD_BYTES];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(text) || *name == '\0') {
		va_start(args, format);
		length = vfprintf(stream, format, args);
		va_end(args);
		return length;
	}
	char *line = text;
	for (char *end = strchr(line, '\n'); end != NULL; end = strchr(line, '\n')) {
		*end = '\0';
		print_line(stream, line);
		(void)fputc('\n', stream);
		line = end + 1;
	}
	print_line(stream, line);
	return length;
}
