/* One read file as a message: the facts of the file, its names and events; never its rows. */
#ifndef FSL_SOURCE_LOAD_PACK_H
#define FSL_SOURCE_LOAD_PACK_H

#include "base/pack.h"
#include "source/load.h"

/* Appends @load, which was read, to @pack. FSL_ERR_MEMORY when there is no room. */
enum fsl_status fsl_load_pack(const struct fsl_load *load, struct fsl_pack *pack,
			      struct fsl_error *err);

/* Appends to load->answer that @load was read, as the first process wants it, and gives its events
 * back; look at the answer's is_failed. */
void fsl_load_pack_answer(struct fsl_load *load);

/*
 * Makes @load, started as {.input = input}, what it was where the file was read. End it with
 * fsl_sink_fini(&load->sink) in any case. The message has to be sound in every length, id and time:
 * else FSL_ERR_FORMAT, and @load holds nothing.
 */
enum fsl_status fsl_load_unpack(struct fsl_load *load, const void *message, size_t n_message,
				struct fsl_error *err);

/* True when times and names of operators, what is left of some, and stages are such as a sink lets
 * pass; names are below @n_names. */
bool fsl_load_are_events_sound(const struct fsl_rank *events, size_t n_names);

#endif
