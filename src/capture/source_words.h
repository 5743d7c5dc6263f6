/* Words for what captures of one profiler lack, which name its files: one table for all judges. */
#ifndef FSL_CAPTURE_SOURCE_WORDS_H
#define FSL_CAPTURE_SOURCE_WORDS_H

#include "capture/capture.h"

/* A thing that is not known, "for want of" what; NULL: captures of this profiler never tell it. */
struct fsl_source_words {
	const char *steps;      /* where the time of a step goes */
	const char *statistics; /* what the host does */
	const char *gaps;       /* when the device is free */
	const char *kernels;    /* whether kernels are slower than on other ranks */
	const char *types;      /* which operators take the time */
	const char *clock;      /* at which clock the cores work */
	const char *links;      /* slow links */
	/* Whole reasons of a verdict that names nobody. */
	const char *no_comms, *no_steps;
	const char *single_pauses; /* advice if gaps are not known */
	const char *capture_again; /* advice if evidence is short */
	const char *capture_comms; /* advice if ranks lack their collectives */
};

/* The words of the profiler that wrote most of the set; static. */
const struct fsl_source_words *fsl_profile_source_words(const struct fsl_profile *profile);
/* The words of the profiler that wrote the rank's files; static. */
const struct fsl_source_words *fsl_profile_rank_words(const struct fsl_profile_rank *rank);

/* True if the set holds traces of PyTorch's profiler for other devices than Ascend's. */
bool fsl_profile_is_kineto(const struct fsl_profile *profile);

#endif
