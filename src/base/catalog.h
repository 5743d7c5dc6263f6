/* A catalog of translated messages, as msgfmt writes it (.mo), and sentences read back against it.
 */
#ifndef FSL_BASE_CATALOG_H
#define FSL_BASE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include <failslow/error.h>

/* True for the begin of a directive. "%%" and the sign of "3 % of a step", in a text that is no
 * format, are none. */
static inline bool fsl_is_directive(const char *text)
{
	return text[0] == '%' && text[1] != '%' && text[1] != ' ' && text[1] != '\0';
}

/* One message: a sentence or a piece of one, as the program's sources have it. */
struct fsl_message {
	const char *english, *text; /* live in the catalog; directives as those of printf */
	size_t weight;              /* bytes of @english that stand for themselves */
	bool has_directives;
};

struct fsl_catalog {
	char *bytes;               /* the file; owned */
	struct fsl_message *items; /* [n_items], the longest first; owned */
	size_t n_items;
};

/* Reads the file @path. FSL_ERR_IO: it cannot be read; FSL_ERR_FORMAT: it is no catalog. */
enum fsl_status fsl_catalog_read(struct fsl_catalog *out, const char *path, struct fsl_error *err);
/* The same from memory. @bytes (fsl_malloc) belongs to the catalog from then on; on failure it is
 * freed. A NUL follows its @length bytes. */
enum fsl_status fsl_catalog_parse(struct fsl_catalog *out, char *bytes, size_t length,
				  struct fsl_error *err);
void fsl_catalog_fini(struct fsl_catalog *catalog);

/*
 * Writes @english in the language of @catalog into @out. The sentence is read back: a message that
 * fits it from begin to end stands for it, with what its directives stood for put into the
 * translation; otherwise the messages that fit one behind the other do. Facts behind a sentence
 * (": name=value") stay as they are, except those that are sentences (reason="..."). False, with
 * @out undefined: nothing of it is in the catalog, or it is longer than @size.
 */
bool fsl_catalog_tell(const struct fsl_catalog *catalog, const char *english, char *out,
		      size_t size);

#endif
