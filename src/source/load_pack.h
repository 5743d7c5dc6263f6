/* One read file as a message: the facts of the file, its names and events; never its rows. */
#ifndef FSL_SOURCE_LOAD_PACK_H
#define FSL_SOURCE_LOAD_PACK_H

#include "base/pack.h"
#include "source/load.h"

/* Appends @load, which was read, to @pack. FSL_ERR_MEMORY when there is no room. */
enum fsl_status fsl_load_pack(const struct fsl_load *load, struct fsl_pack *pack,
			      struct fsl_error *err);

/* Appends @load, which was read, to load->answer in the form that the first process expects, and
 * frees its events. Check load->answer->is_failed. */
void fsl_load_pack_answer(struct fsl_load *load);

/*
 * Fills @load, started as {.input = input}, with the content of the message: the load as it was in
 * the process that read the file. End it with fsl_sink_fini(&load->sink) in any case.
 * FSL_ERR_FORMAT if a length, id or time in the message is not sound; @load then holds nothing.
 */
enum fsl_status fsl_load_unpack(struct fsl_load *load, const void *message, size_t n_message,
				struct fsl_error *err);

#endif
