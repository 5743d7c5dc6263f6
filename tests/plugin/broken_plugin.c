/* Plug-ins with one fault each, chosen by a macro when they are built. */
#include <failslow/detector.h>

static const struct fsl_param no_params[] = {{.key = NULL}};

static enum fsl_status scan(const struct fsl_view *view, const void *params,
			    struct fsl_findings *out, struct fsl_error *err)
{
	(void)params;
	struct fsl_finding beyond = {.rank = 0, .peer = -1};
	beyond.window_end = fsl_view_n_windows(view) + 1;
	return fsl_findings_add(out, &beyond, err);
}

#if defined(BROKEN_ABI)
#define PLUGIN_ABI  (FSL_DETECTOR_ABI + 1)
#define PLUGIN_NAME "WrongAbi"
#elif defined(BROKEN_NAME)
#define PLUGIN_ABI  FSL_DETECTOR_ABI
#define PLUGIN_NAME "BOCPD"
#elif defined(BROKEN_SCAN)
#define PLUGIN_ABI  FSL_DETECTOR_ABI
#define PLUGIN_NAME "NoScan"
#else
#define PLUGIN_ABI  FSL_DETECTOR_ABI
#define PLUGIN_NAME "OutOfRange"
#endif

#ifdef BROKEN_SYMBOL
#define PLUGIN_SYMBOL fsl_no_plugin
#else
#define PLUGIN_SYMBOL fsl_plugin
#endif

extern const struct fsl_detector PLUGIN_SYMBOL;
const struct fsl_detector PLUGIN_SYMBOL = {
	.abi = PLUGIN_ABI,
	.name = PLUGIN_NAME,
	.summary = "a plug-in with a fault",
	.needs = FSL_NEED_ANY,
	.scope = FSL_SCOPE_GROUP,
	.params = no_params,
#ifdef BROKEN_SCAN
	.scan = (0 ? scan : 0),
#else
	.scan = scan,
#endif
};
