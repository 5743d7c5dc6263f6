/* Shared by the files about what is kept. */
#ifndef FSL_ENGINE_KEPT_PARTS_H
#define FSL_ENGINE_KEPT_PARTS_H

#include "engine/kept.h"

/* All but the newest of @chapters, with kept->ranks and kept->now. FSL_ERR_MEMORY only. */
enum fsl_status fsl_kept_pack(const struct fsl_kept *kept, const struct fsl_chapters *chapters,
			      struct fsl_pack *pack, struct fsl_error *err);

/* Fills chapters, ranks and before of an empty @out. The bytes are not trusted: FSL_ERR_FORMAT when
 * they are not sound. After a failure only fsl_kept_fini() is of use. */
enum fsl_status fsl_kept_unpack(struct fsl_kept *out, const void *bytes, size_t n_bytes,
				struct fsl_error *err);

#endif
