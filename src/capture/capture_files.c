/* Files of a rank, and the choice of steps. */
#include "capture/capture_files.h"

#include "base/growth.h"
#include "base/mem.h"
#include "base/try.h"

enum fsl_status fsl_profile_add_file(struct fsl_profile_rank *rank, const char *folder,
				     const char *name, const char *format, struct fsl_file **out,
				     struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(rank->files, rank->files_capacity, rank->n_files + 1, err));
	const char *path = fsl_arena_printf(&rank->arena, "%s/%s", folder, name);
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	*out = &rank->files[rank->n_files++];
	**out = (struct fsl_file){
		.path = path, .format = format, .rank = rank->rank, .message = ""};
	return FSL_OK;
}

bool fsl_profile_wants_step(const struct fsl_profile_input *input, int64_t step)
{
	for (size_t i = 0; i < input->n_steps; i++) {
		if (input->steps[i] == step) {
			return true;
		}
	}
	return input->n_steps == 0 || step == FSL_STEP_ABSENT;
}
