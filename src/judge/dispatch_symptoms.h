/* Symptoms of faults between host and device: each symptom is a time per step of a rank. */
#ifndef FSL_JUDGE_DISPATCH_SYMPTOMS_H
#define FSL_JUDGE_DISPATCH_SYMPTOMS_H

#include "judge/codes.h"
#include "judge/dispatch_view.h"
#include "text/phrase.h"

struct fsl_dispatch_symptom {
	enum fsl_code code;
	const char *words; /* subject and verb before the time */
	double share_max;  /* of the step; above it the symptom is told */
	bool is_gain;      /* the time is what could be won */
	/* NaN: not told. */
	double (*ms)(const struct fsl_dispatch_view *view);
	/* Adds the parts of the time. */
	void (*detail)(struct fsl_phrase *phrase, const struct fsl_dispatch_view *view);
	/* Static text. */
	const char *(*advise)(const struct fsl_dispatch_view *view);
};
enum { FSL_DISPATCH_SYMPTOMS_N = 8 };
extern const struct fsl_dispatch_symptom fsl_dispatch_symptoms[FSL_DISPATCH_SYMPTOMS_N];

/* True if the free time is more than in a healthy job. */
bool fsl_dispatch_is_host_bound(const struct fsl_dispatch_view *view);

/* Adds settings of the job that help a host that does not keep up, except those that the capture
 * tells to be set already. */
void fsl_dispatch_add_settings(struct fsl_phrase *advice, const struct fsl_dispatch_view *view);

#endif
