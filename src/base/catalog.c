/* Reads catalogs of gettext: header, two tables of lengths and offsets, texts. */
#include "base/catalog.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/try.h"

/* Words of the header, in the byte order of the machine that wrote it: ours, as the build makes it.
 */
enum { WORD_MAGIC, WORD_REVISION, WORD_COUNT, WORD_ENGLISH, WORD_TEXTS, WORDS_N };
enum { MESSAGES_MAX = 65536 }; /* 30 times as many as there are */
#define MAGIC UINT32_C(0x950412de)

struct file {
	const char *bytes;
	size_t length;
};

static uint32_t word_at(const struct file *file, size_t offset)
{
	uint32_t word = 0;
	memcpy(&word, file->bytes + offset, sizeof(word));
	return word;
}

/* Text @idx of the table at @table; NULL if it is not within the file. */
static const char *text_at(const struct file *file, size_t table, size_t idx)
{
	size_t entry = table + idx * 2 * sizeof(uint32_t);
	if (entry + 2 * sizeof(uint32_t) > file->length) {
		return NULL;
	}
	size_t length = word_at(file, entry), offset = word_at(file, entry + sizeof(uint32_t));
	bool is_within = offset < file->length && length < file->length - offset;
	return is_within && file->bytes[offset + length] == '\0' ? file->bytes + offset : NULL;
}

static size_t skip_directive(const char *text)
{
	size_t n = 1 + strspn(text + 1, "-+#0123456789.*hlzjtL");
	return text[n] != '\0' ? n + 1 : n;
}

static struct fsl_message message_of(const char *english, const char *text)
{
	struct fsl_message message = {.english = english, .text = text};
	for (const char *c = english; *c != '\0';) {
		bool is_directive = fsl_is_directive(c);
		message.has_directives |= is_directive;
		message.weight += is_directive || *c == ' ' ? 0 : 1;
		bool is_doubled = *c == '%' && c[1] == '%';
		c += is_directive ? skip_directive(c) : is_doubled ? 2U : 1U;
	}
	return message;
}

/* The longest first; then by text, so that the order is one. */
static int compare(const void *left, const void *right)
{
	const struct fsl_message *a = left, *b = right;
	if (a->weight != b->weight) {
		return a->weight > b->weight ? -1 : 1;
	}
	return strcmp(a->english, b->english);
}

static enum fsl_status fill(struct fsl_catalog *out, const struct file *file, struct fsl_error *err)
{
	bool is_header = file->length >= WORDS_N * sizeof(uint32_t) && word_at(file, 0) == MAGIC;
	size_t n = is_header ? word_at(file, WORD_COUNT * sizeof(uint32_t)) : 0;
	if (!is_header || n > MESSAGES_MAX) {
		return FSL_FAIL(err, FSL_ERR_FORMAT, "not a catalog of messages");
	}
	out->items = fsl_calloc(n + 1, sizeof(*out->items));
	if (out->items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: messages=%zu", n);
	}
	size_t english = word_at(file, WORD_ENGLISH * sizeof(uint32_t));
	size_t texts = word_at(file, WORD_TEXTS * sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		const char *from = text_at(file, english, i), *to = text_at(file, texts, i);
		if (from == NULL || to == NULL) {
			return FSL_FAIL(err, FSL_ERR_FORMAT, "catalog of messages is cut");
		}
		if (*from != '\0' && *to != '\0') { /* "": the header of the translation */
			out->items[out->n_items++] = message_of(from, to);
		}
	}
	qsort(out->items, out->n_items, sizeof(*out->items), compare);
	return FSL_OK;
}

enum fsl_status fsl_catalog_parse(struct fsl_catalog *out, char *bytes, size_t length,
				  struct fsl_error *err)
{
	const struct file file = {bytes, length};
	struct fsl_catalog catalog = {.bytes = bytes};
	enum fsl_status status = fill(&catalog, &file, err);
	if (status != FSL_OK) {
		fsl_catalog_fini(&catalog);
		return status;
	}
	*out = catalog;
	return FSL_OK;
}

enum fsl_status fsl_catalog_read(struct fsl_catalog *out, const char *path, struct fsl_error *err)
{
	char *bytes = NULL;
	size_t length = 0;
	FSL_TRY(fsl_file_read_text(path, &bytes, &length, err));
	return fsl_catalog_parse(out, bytes, length, err);
}

void fsl_catalog_fini(struct fsl_catalog *catalog)
{
	fsl_free(catalog->items);
	fsl_free(catalog->bytes);
	*catalog = (struct fsl_catalog){0};
}
