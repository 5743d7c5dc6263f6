/* From the head of the file, its categories, its base, and the names of its calls. */
#include "source/kineto/dialect.h"

#include <string.h>

#include "base/file.h"
#include "chrome/pftrace_walk.h"
#include "source/kineto/nsys.h"

enum { PROBE_BYTES = 64 * 1024 /* as for finding traces */ };

/* Form of a file that is no JSON; NULL: JSON, or it cannot be opened again. */
static const char *form_of(const char *path)
{
	struct fsl_reader *reader = NULL;
	const char *data = NULL, *form = NULL;
	size_t n_bytes = 0;
	if (fsl_reader_open(&reader, path, NULL) == FSL_OK &&
	    fsl_reader_peek(reader, PROBE_BYTES, &data, &n_bytes, NULL) == FSL_OK) {
		form = fsl_nsys_is(data, n_bytes)      ? "nsys"
		       : fsl_pftrace_is(data, n_bytes) ? "pftrace"
						       : NULL;
	}
	fsl_reader_close(reader);
	return form;
}

const char *fsl_kineto_dialect(const struct fsl_kineto_events *events,
			       const struct fsl_kineto_intake *intake,
			       const struct fsl_profile_input *input)
{
	const char *form = form_of(input->path);
	bool has_base = events->base_ns != 0, has_hip = false;
	if (form != NULL) {
		return form;
	}
	if (input->lanes != NULL) {
		return "lanes";
	}
	if (intake->has_old_words) {
		return "kineto_2021";
	}
	if (intake->has_unknown_forms) {
		return "ack";
	}
	if (events->calls.n_blocks > 0) {
		struct fsl_kineto_calls calls;
		fsl_kineto_calls_begin(&calls, events);
		const char *call = fsl_strpool_text(events->rank->names,
						    fsl_kineto_call_at(&calls, 0).name_id);
		has_hip = strncmp(call, "hip", 3) == 0;
	}
	return has_hip ? (has_base ? "rocm_base" : "rocm_epoch")
		       : (has_base ? "kineto_base" : "kineto_epoch");
}
