/* The codes of findings: the table of codes.def. */
#ifndef FSL_JUDGE_CODES_H
#define FSL_JUDGE_CODES_H

#include "model/verdict.h"

enum fsl_judge {
#define PROFILE_JUDGE(name) FSL_JUDGE_##name,
#include "judge/judges.def"
#undef PROFILE_JUDGE
	FSL_JUDGES_N
};

enum fsl_code {
#define FINDING_CODE(code, ...) FSL_CODE_##code,
#include "judge/codes.def"
#undef FINDING_CODE
	FSL_CODES_N
};

enum fsl_profile_layer {
	FSL_LAYER_DISPATCH,      /* the host, and what it hands out */
	FSL_LAYER_COMPUTE,       /* kernels */
	FSL_LAYER_COMMUNICATION, /* collectives and links */
	FSL_LAYER_CLUSTER,       /* ranks beside each other */
	FSL_LAYERS_N
};
const char *fsl_profile_layer_text(enum fsl_profile_layer layer); /* "dispatch" */

/* Whom the verdict may name for a finding. */
enum fsl_code_names {
	FSL_NAMES_NOBODY,
	FSL_NAMES_RANK,
	FSL_NAMES_LINK,
	FSL_NAMES_STAGE,
};

/* Findings of one family about the same rank, link or stage are one thing in different words.
 * Findings are sorted by family in this order. */
enum fsl_step_family {
	FSL_FAMILY_HOST,
	FSL_FAMILY_PREPARING,
	FSL_FAMILY_KERNELS,
	FSL_FAMILY_RANK,
	FSL_FAMILY_STAGE,
	FSL_FAMILY_BUBBLE,
	FSL_FAMILY_LINK,
	FSL_FAMILY_NONE, /* single steps are not judged */
};

/* The use of single steps for a finding. */
enum fsl_code_steps {
	FSL_STEPS_NEVER, /* single steps are not judged; its family is FSL_FAMILY_NONE */
	FSL_STEPS_SHOW,  /* single steps are judged for whether they show it */
	FSL_STEPS_TELL,  /* the same, and they may tell it by themselves */
};

struct fsl_code_row {
	const char *text; /* "host_bound" */
	enum fsl_judge judge;
	enum fsl_profile_layer layer;
	enum fsl_code_names names;
	enum fsl_cause cause; /* FSL_CAUSES_N: none */
	enum fsl_step_family family;
	enum fsl_code_steps steps;
};
/* Static. */
const struct fsl_code_row *fsl_code_row(enum fsl_code code);
const char *fsl_code_text(enum fsl_code code);

/* The advice of FSL_CODE_HBM_OOM, whatever files tell of it. */
extern const char fsl_oom_advice[];

#endif
