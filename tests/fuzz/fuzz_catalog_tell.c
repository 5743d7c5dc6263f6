/*
 * Any bytes as a sentence that is told in Chinese: refused, or sound UTF-8 within its room if the
 * sentence is. Names in inputs are parts of sentences.
 */
#include <string.h>

#include "base/catalog.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

enum { SENTENCE_BYTES_MAX = 1024 };

static void tell(const struct fsl_catalog *catalog, const char *english, size_t size)
{
	char *out = fsl_calloc(size, 1); /* an exact block, so that a sanitizer sees more */
	FSL_REQUIRE(out != NULL);
	if (fsl_catalog_tell(catalog, english, out, size)) {
		FSL_REQUIRE(strlen(out) < size);
		FSL_REQUIRE(!fsl_utf8_is_valid(english) || fsl_utf8_is_valid(out));
	}
	fsl_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct fsl_catalog catalog;
	char english[SENTENCE_BYTES_MAX + 1] = "";
	if (catalog.items == NULL && fsl_catalog_read(&catalog, FSL_CATALOG, NULL) != FSL_OK) {
		return 0; /* built without gettext */
	}
	for (size_t i = 0; i < n_bytes && i < SENTENCE_BYTES_MAX; i++) {
		english[i] = (char)data[i];
	}
	tell(&catalog, english, 4096);
	tell(&catalog, english, 64);
	return 0;
}
