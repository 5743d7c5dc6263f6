/* A verdict as bytes, to be kept and told again by another run. */
#ifndef FSL_MODEL_VERDICT_PACK_H
#define FSL_MODEL_VERDICT_PACK_H

#include "base/pack.h"
#include "model/verdict.h"

/* Appends everything in @localisation to @pack; numbers bit for bit. FSL_ERR_MEMORY when there is
 * no room. */
enum fsl_status fsl_localisation_pack(const struct fsl_localisation *localisation,
				      struct fsl_pack *pack, struct fsl_error *err);

/*
 * Makes @out, initialised by fsl_localisation_init and empty, what was packed. Texts and arrays
 * that it points to live in its arena, also those that are static elsewhere. The bytes are not
 * trusted: FSL_ERR_FORMAT when they are not exactly one sound verdict. After any failure @out is an
 * empty initialised verdict. End it with fsl_localisation_fini in any case.
 */
enum fsl_status fsl_localisation_unpack(struct fsl_localisation *out, const void *bytes,
					size_t n_bytes, struct fsl_error *err);

#endif
