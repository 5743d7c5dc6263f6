/* Messages about faulty JSON files. */
#include "capture/json_file.h"

#include <inttypes.h>
#include <string.h>

/* Sets the first message of a file; later ones are ignored. @text NULL: out of memory. */
static enum fsl_status tell(const struct fsl_profile_input *input, enum fsl_file_state state,
			    const char *text, struct fsl_error *err)
{
	struct fsl_file *file = input->file;
	if (text == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", input->path);
	}
	if (file->state == FSL_FILE_READ) {
		file->state = state;
	}
	if (file->message[0] == '\0') {
		file->message = text;
	}
	return FSL_OK;
}

enum fsl_status fsl_json_file_drop(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json *json, const char *reason,
				   struct fsl_error *err)
{
	input->file->n_dropped[FSL_DROP_MALFORMED]++;
	if (input->file->message[0] != '\0') {
		return FSL_OK;
	}
	/* Packets have no tokenizer: the reader stands at them. */
	uint64_t offset = json != NULL ? fsl_json_offset(json) : fsl_reader_offset(input->reader);
	const char *text = fsl_arena_printf(
		&rank->arena, "records were left out, the first: offset=%" PRIu64 ", reason=\"%s\"",
		offset, reason);
	return tell(input, FSL_FILE_PARTIAL, text, err);
}

enum fsl_status fsl_json_file_fault(struct fsl_profile_rank *rank,
				    const struct fsl_profile_input *input, enum fsl_status status,
				    const struct fsl_error *own, struct fsl_error *err)
{
	if (status == FSL_ERR_MEMORY) {
		return FSL_FAIL(err, status, "out of memory: path=\"%s\"", input->path);
	}
	bool is_cut = strstr(fsl_error_root(own), "is cut") != NULL;
	input->file->n_dropped[is_cut ? FSL_DROP_CUT : FSL_DROP_MALFORMED]++;
	input->file->n_records++;
	return tell(input, FSL_FILE_PARTIAL,
		    fsl_arena_printf(&rank->arena,
				     "%s; what could be read is used, copy the file or parse the "
				     "capture again",
				     fsl_error_root(own)),
		    err);
}

enum fsl_status fsl_json_file_end(struct fsl_profile_rank *rank,
				  const struct fsl_profile_input *input, enum fsl_status status,
				  const struct fsl_error *own, const char *remedy,
				  struct fsl_error *err)
{
	struct fsl_file *file = input->file;
	if (status != FSL_OK) {
		bool is_empty = file->n_records == 0;
		status = fsl_json_file_fault(rank, input, status, own, err);
		file->state = is_empty ? FSL_FILE_UNUSABLE : file->state;
		return status;
	}
	bool is_told = file->n_records == 0 && input->n_steps == 0; /* with wanted steps an empty
								       result may be normal */
	return is_told ? tell(input, FSL_FILE_EMPTY, remedy, err) : FSL_OK;
}
