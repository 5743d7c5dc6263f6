/* The table of formats, from formats.def. */
#include <string.h>

#include "source/ingest.h"

#define FORMAT(name) extern const struct fsl_format fsl_format_##name;
#include "source/formats.def"
#undef FORMAT

static const struct fsl_format *const formats[] = {
#define FORMAT(name) &fsl_format_##name,
#include "source/formats.def"
#undef FORMAT
};

size_t fsl_formats_size(void)
{
	return sizeof(formats) / sizeof(formats[0]);
}

const struct fsl_format *fsl_formats_at(size_t idx)
{
	return idx < fsl_formats_size() ? formats[idx] : NULL;
}

const struct fsl_format *fsl_format_by_name(const char *name)
{
	for (size_t i = 0; i < fsl_formats_size(); i++) {
		if (strcmp(formats[i]->name, name) == 0) {
			return formats[i];
		}
	}
	return NULL;
}
