/* One walk over argv against a table. The messages say what would have been right. */
#include "base/opt.h"

#include <stdlib.h>
#include <string.h>

#include "base/language.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/wrap.h"

enum {
	NAME_BYTES_MAX = 63, /* longest option name in messages and in --help */
	OPTIONS_MAX = 64,    /* options of a table that a wrong name is compared with */
	CHOICES_TEXT_BYTES = 200,
	HELP_LABEL_WIDTH = 30, /* longer labels push their help to the next line */
};

/* A walk over the arguments. */
struct walk {
	const struct fsl_opt *options;
	int argc;
	char **argv;
	int next; /* index of the next argument */
};

/* An option as the user wrote it, for messages: "--jobs" or "-j". */
struct spelling {
	char text[NAME_BYTES_MAX + 3];
};

static struct spelling spell_long(const char *name, size_t length)
{
	struct spelling spelling;
	(void)snprintf(spelling.text, sizeof(spelling.text), "--%.*s", (int)length, name);
	return spelling;
}

static struct spelling spell_letter(char letter)
{
	struct spelling spelling;
	(void)snprintf(spelling.text, sizeof(spelling.text), "-%c", letter);
	return spelling;
}

/* The name of the option that was probably meant; NULL when none is near. */
static const char *nearest(const struct fsl_opt *options, const char *name, size_t length)
{
	const char *names[OPTIONS_MAX];
	size_t n_names = 0;
	for (; n_names < OPTIONS_MAX && options[n_names].name != NULL; n_names++) {
		names[n_names] = options[n_names].name;
	}
	return fsl_nearest_name(name, length, names, n_names);
}

static enum fsl_status fail_unknown(const struct walk *walk, const char *name, size_t length,
				    struct fsl_error *err)
{
	const char *meant = nearest(walk->options, name, length);
	struct spelling written = spell_long(name, length);
	if (meant == NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"unknown option: option=\"%s\", remedy=\"see --help\"",
				written.text);
	}
	return FSL_FAIL(err, FSL_ERR_USAGE, "unknown option: option=\"%s\", did_you_mean=\"--%s\"",
			written.text, meant);
}

static bool takes_value(const struct fsl_opt *option)
{
	return option->type != FSL_OPT_FLAG && option->type != FSL_OPT_COUNT &&
	       option->type != FSL_OPT_MODE;
}

/* "FILE" */
static const char *value_name(const struct fsl_opt *option)
{
	return option->value_name != NULL ? option->value_name : "VALUE";
}

/* "text, json" into @out, cut when it does not fit. */
static void join_choices(const char *const *choices, const char *separator,
			 char out[CHOICES_TEXT_BYTES])
{
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; choices[i] != NULL && n < CHOICES_TEXT_BYTES - 1; i++) {
		int added = snprintf(out + n, CHOICES_TEXT_BYTES - n, "%s%s",
				     i > 0 ? separator : "", choices[i]);
		n += added > 0 ? (size_t)added : 0;
	}
}

static bool set_int(const struct fsl_opt *option, const char *value)
{
	int64_t number = 0;
	bool is_good = fsl_parse_i64(value, strlen(value), &number) && number >= option->min &&
		       number <= option->max;
	*(int64_t *)option->target = is_good ? number : *(int64_t *)option->target;
	return is_good;
}

static bool set_real(const struct fsl_opt *option, const char *value)
{
	double number = 0.0;
	bool is_good = fsl_parse_real(value, &number) && number >= (double)option->min &&
		       number <= (double)option->max;
	*(double *)option->target = is_good ? number : *(double *)option->target;
	return is_good;
}

static bool set_choice(const struct fsl_opt *option, const char *value)
{
	for (int i = 0; option->choices[i] != NULL; i++) {
		if (strcmp(option->choices[i], value) == 0) {
			*(int *)option->target = i;
			return true;
		}
	}
	return false;
}

/* One use of an option without a value. */
static void use_flag(const struct fsl_opt *option)
{
	if (option->type == FSL_OPT_MODE) {
		*(int *)option->target = 0;
	} else if (option->type == FSL_OPT_COUNT) {
		++*(int *)option->target;
	} else {
		*(bool *)option->target = true;
	}
}

/* No option takes an empty text: with folder "", "%s/name" lies in the root of the file system. */
static enum fsl_status set_text(const struct fsl_opt *option, const char *written,
				const char *value, struct fsl_error *err)
{
	if (value[0] == '\0') {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"option has an empty value, is a shell variable not set: "
				"option=\"%s\", wanted=\"%s\"",
				written, value_name(option));
	}
	if (option->type == FSL_OPT_TEXT) {
		*(const char **)option->target = value;
		return FSL_OK;
	}
	struct fsl_opt_texts *texts = option->target;
	if (texts->n_items == FSL_OPT_TEXTS_MAX) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"option is given too often: option=\"%s\", at_most=%d", written,
				FSL_OPT_TEXTS_MAX);
	}
	texts->items[texts->n_items++] = value;
	return FSL_OK;
}

/* One use of an option with its value. */
static enum fsl_status set_value(const struct fsl_opt *option, const char *written,
				 const char *value, struct fsl_error *err)
{
	char allowed[CHOICES_TEXT_BYTES] =
		"ISO 8601 as 2025-06-15T15:07:20, or an epoch in s, ms, us or ns";
	bool is_good = false;
	switch (option->type) {
	case FSL_OPT_TEXT:
	case FSL_OPT_TEXTS:
		return set_text(option, written, value, err);
	case FSL_OPT_INT:
	case FSL_OPT_REAL:
		is_good = option->type == FSL_OPT_INT ? set_int(option, value)
						      : set_real(option, value);
		(void)snprintf(allowed, sizeof(allowed), "%s from %lld to %lld",
			       option->type == FSL_OPT_INT ? "integer" : "number",
			       (long long)option->min, (long long)option->max);
		break;
	case FSL_OPT_TIME:
		is_good = fsl_parse_time(value, option->target);
		break;
	case FSL_OPT_CHOICE:
	case FSL_OPT_MODE:
		is_good = set_choice(option, value);
		join_choices(option->choices, ", ", allowed);
		break;
	case FSL_OPT_FLAG:
	case FSL_OPT_COUNT:
		FSL_REQUIRE(takes_value(option));
	}
	return is_good ? FSL_OK
		       : FSL_FAIL(err, FSL_ERR_USAGE, "invalid value for %s: %s (%s)", written,
				  value, allowed);
}

/* Takes @attached as the value, or else the next argument. */
static enum fsl_status take_value(struct walk *walk, const struct fsl_opt *option,
				  const char *written, const char *attached, struct fsl_error *err)
{
	const char *value = attached;
	if (value == NULL && walk->next < walk->argc) {
		value = walk->argv[walk->next++];
	}
	if (value == NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"option needs a value: option=\"%s\", value=\"%s\"", written,
				value_name(option));
	}
	return set_value(option, written, value, err);
}

/* "name" or "name=value", behind the dashes. */
static enum fsl_status parse_long(struct walk *walk, const char *text, struct fsl_error *err)
{
	size_t length = strcspn(text, "=");
	const char *attached = text[length] == '=' ? text + length + 1 : NULL;
	const struct fsl_opt *option = walk->options;
	while (option->name != NULL &&
	       (strlen(option->name) != length || strncmp(option->name, text, length) != 0)) {
		option++;
	}
	if (option->name == NULL) {
		return fail_unknown(walk, text, length, err);
	}
	struct spelling written = spell_long(text, length);
	if (takes_value(option) || (option->type == FSL_OPT_MODE && attached != NULL)) {
		return take_value(walk, option, written.text, attached, err);
	}
	if (attached != NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"option takes no value: option=\"%s\", value=\"%s\"", written.text,
				attached);
	}
	use_flag(option);
	return FSL_OK;
}

/* "qv", "ofile", "o": letters behind one dash. */
static enum fsl_status parse_letters(struct walk *walk, const char *text, struct fsl_error *err)
{
	for (; *text != '\0'; text++) {
		const struct fsl_opt *option = walk->options;
		while (option->name != NULL && option->letter != *text) {
			option++;
		}
		struct spelling written = spell_letter(*text);
		if (option->name == NULL) {
			return FSL_FAIL(err, FSL_ERR_USAGE,
					"unknown option: option=\"%s\", remedy=\"see --help\"",
					written.text);
		}
		if (takes_value(option)) {
			return take_value(walk, option, written.text,
					  text[1] != '\0' ? text + 1 : NULL, err);
		}
		use_flag(option);
	}
	return FSL_OK;
}

enum fsl_status fsl_opt_parse(const struct fsl_opt *options, int argc, char **argv, int *n_operands,
			      struct fsl_error *err)
{
	struct walk walk = {.options = options, .argc = argc, .argv = argv, .next = 1};
	enum fsl_status status = FSL_OK;
	bool is_ended = false;
	int n = 0;
	while (status == FSL_OK && walk.next < argc) {
		char *word = argv[walk.next++];
		if (word[0] == '\0') {
			status = FSL_FAIL(err, FSL_ERR_USAGE,
					  "operand is empty, is a shell variable not set: "
					  "operand=%d",
					  n + 1);
		} else if (is_ended || word[0] != '-' || word[1] == '\0') {
			argv[1 + n++] = word;
		} else if (word[1] != '-') {
			status = parse_letters(&walk, word + 1, err);
		} else if (word[2] == '\0') {
			is_ended = true;
		} else {
			status = parse_long(&walk, word + 2, err);
		}
	}
	if (status == FSL_OK) {
		*n_operands = n;
	}
	return status;
}

/* "  -o, --output DIR"; returns its width. */
static int print_label(FILE *stream, const struct fsl_opt *option)
{
	char choices[CHOICES_TEXT_BYTES] = "";
	const char *value = option->value_name;
	char letter[8] = "    ";
	bool is_mode = option->type == FSL_OPT_MODE;
	if (value == NULL && (is_mode || option->type == FSL_OPT_CHOICE)) {
		join_choices(option->choices, "|", choices);
		value = choices;
	}
	if (option->letter != 0) {
		(void)snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	}
	bool has_value = takes_value(option);
	char label[CHOICES_TEXT_BYTES + NAME_BYTES_MAX + 16];
	bool is_told = has_value || is_mode;
	int width = snprintf(label, sizeof(label), "  %s--%s%s%s%s", letter, option->name,
			     is_mode     ? "[="
			     : has_value ? " "
					 : "",
			     is_told ? (value != NULL ? value : "VALUE") : "", is_mode ? "]" : "");
	if (stream != NULL) {
		(void)fputs(label, stream);
	}
	return width;
}

void fsl_opt_print(FILE *stream, const struct fsl_opt *options, int width)
{
	int column = 0;
	for (const struct fsl_opt *option = options; option->name != NULL; option++) {
		int label = print_label(NULL, option) + 2;
		if (label > column && label <= HELP_LABEL_WIDTH) {
			column = label;
		}
	}
	for (const struct fsl_opt *option = options; option->name != NULL; option++) {
		int cursor = print_label(stream, option);
		if (cursor + 2 > column) {
			(void)fputc('\n', stream);
			cursor = 0;
		}
		(void)fprintf(stream, "%*s", column - cursor, "");
		struct fsl_told told;
		fsl_wrap(stream, fsl_tell(option->help, &told), column, column, width);
	}
}
