/*
 * One run read by several processes. The first finds the files and deals them out, largest first;
 * the others read what they are told and answer with what it gave. Whatever is dealt to whom, the
 * run is the same, because the first puts the files together in order of path.
 */
#ifndef FSL_SOURCE_SHARE_H
#define FSL_SOURCE_SHARE_H

#include "source/batch.h"

/* Who reads, as the first process knows it. */
struct fsl_share {
	int n_places;      /* processes; 1: this one reads everything */
	bool *is_blind;    /* places that cannot see the run's files */
	uint64_t *n_bytes; /* dealt to each place so far */
};

/* Starts @share as {0}; asks the others whether they see the files of @inputs, and warns of those
 * that do not. Does nothing but count when there are no others. */
enum fsl_status fsl_share_begin(struct fsl_share *share, const struct fsl_ingest_options *options,
				const struct fsl_inputs *inputs, struct fsl_error *err);

/* Gives each of @loads a place, and tells the others what they have to read. */
enum fsl_status fsl_share_deal(struct fsl_share *share, struct fsl_load *loads, size_t n_loads,
			       struct fsl_error *err);

/* Collects those of @loads that others read, on @n_threads threads. FSL_ERR_MEMORY also when it was
 * short elsewhere. After a failure the team is broken. */
enum fsl_status fsl_share_gather(struct fsl_load *loads, size_t n_loads, int n_threads,
				 struct fsl_error *err);

void fsl_share_fini(struct fsl_share *share);

/* Tells the others that there is nothing more to read, whatever happened before. */
void fsl_share_end(void);

/* The whole work of a process that is not the first; returns when it is told to end. */
enum fsl_status fsl_share_serve(struct fsl_error *err);

#endif
