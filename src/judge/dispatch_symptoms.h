/* How symptoms of faults between host and device are told. */
#ifndef FSL_JUDGE_DISPATCH_SYMPTOMS_H
#define FSL_JUDGE_DISPATCH_SYMPTOMS_H

#include "blame/host_losses.h"
#include "judge/codes.h"
#include "text/phrase.h"

struct fsl_dispatch_symptom {
	enum fsl_code code;
	const char *words; /* subject and verb before the time */
	/* Adds the parts of the time; NULL: none. */
	void (*detail)(struct fsl_phrase *phrase, const struct fsl_host_view *view);
	/* Static text. */
	const char *(*advise)(const struct fsl_host_view *view);
};
extern const struct fsl_dispatch_symptom fsl_dispatch_symptoms[FSL_SYMPTOMS_N];

/* Adds settings of the job that help a host that does not keep up, except those that the capture
 * tells to be set already. */
void fsl_dispatch_add_settings(struct fsl_phrase *advice, const struct fsl_host_view *view);

#endif
