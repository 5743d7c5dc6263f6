/* The table of codes. */
#include "judge/codes.h"

#include "base/log.h"

#define FSL_CAUSE_NONE FSL_CAUSES_N

static const struct fsl_code_row rows[] = {
#define FINDING_CODE(code, text, judge, layer, names, cause, family, steps)                        \
	[FSL_CODE_##code] = {text,                                                                 \
			     FSL_JUDGE_##judge,                                                    \
			     FSL_LAYER_##layer,                                                    \
			     FSL_NAMES_##names,                                                    \
			     FSL_CAUSE_##cause,                                                    \
			     FSL_FAMILY_##family,                                                  \
			     FSL_STEPS_##steps},
#include "judge/codes.def"
#undef FINDING_CODE
};

const char fsl_oom_advice[] =
	"the device has no memory left: smaller micro batches, recomputing of activations, or "
	"freeing of blocks that leak";

const struct fsl_code_row *fsl_code_row(enum fsl_code code)
{
	FSL_ASSERT((size_t)code < FSL_CODES_N);
	return &rows[code];
}

const char *fsl_code_text(enum fsl_code code)
{
	return fsl_code_row(code)->text;
}

const char *fsl_profile_layer_text(enum fsl_profile_layer layer)
{
	static const char *const texts[] = {"dispatch", "compute", "communication", "cluster"};
	return texts[layer];
}
