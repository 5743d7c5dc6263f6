/*
 * Several processes read one run. The first process finds the files and deals them out, largest
 * first. The other processes read the files that they are told and answer with the content. The run
 * is the same whichever process read a file, because the first process merges the files in order of
 * path.
 */
#ifndef FSL_SOURCE_SHARE_H
#define FSL_SOURCE_SHARE_H

#include "source/batch.h"

/* The processes that read, as the first process knows them. */
struct fsl_share {
	int n_places;      /* processes; 1: this one reads everything */
	bool *is_blind;    /* places that cannot see the run's files */
	uint64_t *n_bytes; /* dealt to each place so far */
};

/* Sets @share up: asks the other processes whether they see the files of @inputs, and warns of each
 * that does not. With one process it only sets the counts. End @share with fsl_share_fini(). */
enum fsl_status fsl_share_begin(struct fsl_share *share, const struct fsl_ingest_options *options,
				const struct fsl_inputs *inputs, struct fsl_error *err);

/* Gives each of @loads a place, and tells the other processes what they have to read. */
enum fsl_status fsl_share_deal(struct fsl_share *share, struct fsl_load *loads, size_t n_loads,
			       struct fsl_error *err);

/* Collects the @loads that other processes read, on @n_threads threads. FSL_ERR_MEMORY also if
 * memory was short in another process. After a failure the team of processes cannot be used any
 * more. */
enum fsl_status fsl_share_gather(struct fsl_load *loads, size_t n_loads, int n_threads,
				 struct fsl_error *err);

void fsl_share_fini(struct fsl_share *share);

/* Tells the other processes that there is nothing more to read. Call it whatever happened
 * before. */
void fsl_share_end(void);

/* The whole work of a process that is not the first. Returns when the first process tells it to
 * end. */
enum fsl_status fsl_share_serve(struct fsl_error *err);

#endif
