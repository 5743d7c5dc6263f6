/* A verdict as bytes, which a later run can read and report again. */
#ifndef FSL_MODEL_VERDICT_PACK_H
#define FSL_MODEL_VERDICT_PACK_H

#include "base/pack.h"
#include "model/verdict.h"

/* Appends all of @localisation to @pack, numbers bit for bit. FSL_ERR_MEMORY only. */
enum fsl_status fsl_localisation_pack(const struct fsl_localisation *localisation,
				      struct fsl_pack *pack, struct fsl_error *err);

/*
 * Reads a packed verdict to @out, which is empty and initialised by fsl_localisation_init. All
 * texts and arrays live in its arena, also those that are static elsewhere. The bytes are not
 * trusted: FSL_ERR_FORMAT if they are not exactly one sound verdict. After a failure @out is an
 * empty initialised verdict. End it with fsl_localisation_fini in any case.
 */
enum fsl_status fsl_localisation_unpack(struct fsl_localisation *out, const void *bytes,
					size_t n_bytes, struct fsl_error *err);

#endif
