/* Shared by the files of the baselines. */
#ifndef FSL_EVAL_BASELINE_PARTS_H
#define FSL_EVAL_BASELINE_PARTS_H

#include "blame/blame.h"
#include "eval/grade.h"

/* One rank that a baseline names; the greatest effect is named first. */
struct fsl_accused {
	int32_t rank;
	double effect;
	int64_t onset_ns; /* FSL_NS_ABSENT: unknown */
};

/* Builds the answer that names @accused (sorted here); arrays in @arena. */
enum fsl_status fsl_eval_accuse(struct fsl_eval_answer *out, struct fsl_accused *accused, size_t n,
				struct fsl_arena *arena, struct fsl_error *err);

/* The metric for a detector that judges one group: own time, else lateness; -1: neither. */
int fsl_eval_detector_metric(const struct fsl_detector *detector);

/* Names every rank in which the detector finds slowness, in any class of peers or any channel. */
enum fsl_status fsl_eval_ask_detector(struct fsl_eval_answer *out,
				      const struct fsl_detector_config *detector,
				      const struct fsl_case *facts, struct fsl_arena *arena,
				      struct fsl_error *err);

#endif
