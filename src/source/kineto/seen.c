/* A table of texts, bounded. */
#include "source/kineto/seen.h"

#include "base/mem.h"
#include "base/try.h"

enum { TEXTS_MAX = 1 << 16 /* traces have thousands; names with addresses may be any number */ };

static const struct fsl_kineto_seen_name nothing = {FSL_STR_NONE, FSL_STR_NONE, false};

enum fsl_status fsl_kineto_seen_find(struct fsl_kineto_seen *seen,
				     const struct fsl_trace_text *text,
				     struct fsl_kineto_seen_name **out, struct fsl_error *err)
{
	uint32_t id = 0;
	if (seen->texts == NULL && (seen->texts = fsl_strpool_create()) == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", seen->n_names);
	}
	if (seen->n_names == TEXTS_MAX) {
		id = fsl_strpool_find(seen->texts, text->text, text->length);
		seen->too_many = nothing;
		*out = id != FSL_STR_NONE ? &seen->names[id] : &seen->too_many;
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(seen->texts, text->text, text->length, &id, err));
	if (id == seen->n_names) {
		FSL_TRY(FSL_APPEND(seen, names, &nothing, err));
	}
	*out = &seen->names[id];
	return FSL_OK;
}

void fsl_kineto_seen_fini(struct fsl_kineto_seen *seen)
{
	fsl_strpool_destroy(seen->texts);
	fsl_free(seen->names);
	*seen = (struct fsl_kineto_seen){0};
}
