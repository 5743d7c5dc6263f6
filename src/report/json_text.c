/* JSON documents as text, spaced as json.dump of Python does it. */
#include <string.h>

#include "base/mem.h"
#include "report/report.h"

/* The text that grows; after a failure nothing is added any more. */
struct sink {
	char *text;
	size_t length, capacity;
	bool has_failed;
};

static void put(struct sink *sink, const char *text, size_t length)
{
	size_t n_wanted = sink->length + length;
	if (sink->has_failed || FSL_GROW(sink->text, sink->capacity, n_wanted, NULL) != FSL_OK) {
		sink->has_failed = true;
		return;
	}
	memcpy(sink->text + sink->length, text, length);
	sink->length = n_wanted;
}

static void put_newline(struct sink *sink, int indent, int depth)
{
	put(sink, "\n", 1);
	for (int i = 0; i < indent * depth; i++) {
		put(sink, " ", 1);
	}
}

/* Length of the string literal at @text, quotes included. */
static size_t literal_length(const char *text)
{
	size_t length = 1;
	while (text[length] != '"') {
		length += text[length] == '\\' ? 2 : 1;
	}
	return length + 1;
}

/* Re-spaces @compact, which cJSON wrote and which therefore is well formed. */
static void put_spaced(struct sink *sink, const char *compact, int indent)
{
	int depth = 0;
	for (const char *c = compact; *c != '\0'; c++) {
		bool is_empty = (*c == '{' && c[1] == '}') || (*c == '[' && c[1] == ']');
		if (*c == '"') {
			size_t length = literal_length(c);
			put(sink, c, length);
			c += length - 1;
		} else if (is_empty) {
			put(sink, c, 2);
			c++;
		} else if (*c == '{' || *c == '[') {
			depth++;
			put(sink, c, 1);
			if (indent > 0) {
				put_newline(sink, indent, depth);
			}
		} else if (*c == '}' || *c == ']') {
			depth--;
			if (indent > 0) {
				put_newline(sink, indent, depth);
			}
			put(sink, c, 1);
		} else if (*c == ',' && indent > 0) {
			put(sink, c, 1);
			put_newline(sink, indent, depth);
		} else if (*c == ',' || *c == ':') {
			put(sink, c, 1);
			put(sink, " ", 1);
		} else {
			put(sink, c, 1);
		}
	}
}

char *fsl_json_text(const cJSON *json, int indent)
{
	char *compact = cJSON_PrintUnformatted(json);
	if (compact == NULL) {
		return NULL;
	}
	struct sink sink = {0};
	put_spaced(&sink, compact, indent);
	put(&sink, "", 1);
	cJSON_free(compact);
	if (sink.has_failed) {
		fsl_free(sink.text);
		return NULL;
	}
	return sink.text;
}
