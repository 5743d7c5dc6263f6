/*
 * Names of functions for frames of call paths: libdw looks them up in the libraries of the job, or
 * in copies of them.
 */
#ifndef FSL_SOURCE_SYSTRACE_FRAME_SYMBOLS_H
#define FSL_SOURCE_SYSTRACE_FRAME_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "source/systrace/memory_pb.h"

struct fsl_frame_symbols; /* opaque */

/* A library whose frames, or some of them, keep their addresses. */
struct fsl_frame_note {
	const char *library; /* "" if it is about all of them; as long as the symbols live */
	const char *reason;  /* static */
};

/* @folders: where libraries lie, separated by ':'; borrowed. FSL_ERR_MEMORY. */
enum fsl_status fsl_frame_symbols_create(struct fsl_frame_symbols **out, const char *folders,
					 struct fsl_error *err);
void fsl_frame_symbols_destroy(struct fsl_frame_symbols *symbols);

/*
 * Writes "function (library)" in the place of "library+0xaddress" in all call paths of @memory. A
 * frame stays as it is if no library tells its function. Records keep their order; ids of paths
 * change. FSL_ERR_MEMORY, FSL_ERR_LIMIT.
 */
enum fsl_status fsl_frame_symbols_apply(struct fsl_frame_symbols *symbols,
					struct fsl_memory *memory, struct fsl_error *err);

/* The note with this number, in the order of the frames; false: there are no more. */
bool fsl_frame_symbols_note(const struct fsl_frame_symbols *symbols, size_t number,
			    struct fsl_frame_note *note);

/* Takes the first folder of a list off it and writes it to @out; false: there is none. Folders that
 * do not fit are passed over. */
bool fsl_folder_list_next(const char **list, char *out, size_t size);

/* Version of libdw for `failslow version`; "no": it is not there. Static. */
const char *fsl_frame_symbols_version(void);

#endif
