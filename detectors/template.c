/*
 * Starting point for a detector. Copy this file, then write here, in a few lines, the idea and its
 * source. This detector alarms a member while it takes at least ratio_min times the median of its
 * group. It is compiled and tested, but it is not in detectors.def.
 */
#include <failslow/detector.h>
#include <failslow/stats.h>

#include <math.h>

/*
 * 1. Parameters: a struct, and one table row per field. Write the row and nothing else: the reading
 *   of the configuration, the checks of type and range, the messages and the table in
 *   docs/users/detectors.md follow from the row. Keys carry their unit ("gap_min_ms"). A dotted key
 * is read from a nested object.
 */
struct params {
	double ratio_min;
	int64_t members_min;
};

static const struct fsl_param param_table[] = {
	/* key, type, field, default, least, greatest, help */
	{"ratio_min", FSL_PARAM_REAL, offsetof(struct params, ratio_min), 1.5, 1, 1e6,
	 .help = "Least ratio to the group's median of an alarmed window."},
	{"members_min", FSL_PARAM_INT, offsetof(struct params, members_min), 3, 2, 1e6,
	 .help = "Groups with fewer members are not judged."},
	{.key = NULL},
};

/* 2. Static helpers on plain arrays. <failslow/stats.h> has most of what a detector needs. */
static void group_medians(const struct fsl_view *view, double *row, double *scratch,
			  double *medians)
{
	size_t n_members = fsl_view_n_members(view);
	for (size_t w = 0; w < fsl_view_n_windows(view); w++) {
		for (size_t m = 0; m < n_members; m++) {
			row[m] = fsl_view_column(view, m).values[w];
		}
		medians[w] = fsl_median(row, n_members, scratch); /* leaves NaN out */
	}
}

/*
 * 3. scan(): called once per unit of work (one metric of one group), from several threads. No
 *   globals, no input or output, no clock. Values are in the metric's unit, NaN if nothing was
 *   measured. Too little data is no error: add nothing, return FSL_OK.
 */
static enum fsl_status scan(const struct fsl_view *view, const void *opaque,
			    struct fsl_findings *out, struct fsl_error *err)
{
	const struct params *params = opaque;
	size_t n_members = fsl_view_n_members(view);
	size_t n_windows = fsl_view_n_windows(view);
	if (n_members < (size_t)params->members_min || n_windows == 0) {
		return FSL_OK;
	}
	/* Zeroed, and freed after scan(). */
	double *reals = fsl_view_scratch(view, (2 * n_members + n_windows) * sizeof(*reals));
	uint8_t *labels = fsl_view_scratch(view, n_windows);
	if (reals == NULL || labels == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: members=%zu", n_members);
	}
	double *medians = reals + 2 * n_members;
	group_medians(view, reals, reals + n_members, medians);
	for (size_t m = 0; m < n_members; m++) {
		struct fsl_column column = fsl_view_column(view, m);
		for (size_t w = 0; w < n_windows; w++) {
			/* A comparison with NaN is false: a hole is never alarmed. */
			labels[w] = column.values[w] > params->ratio_min * medians[w] ? 1 : 0;
		}
		/* One finding per run of ones, with ratio and effect. Or fill a struct fsl_finding
		 * and call fsl_findings_add. */
		struct fsl_labelled series = {fsl_view_rank(view, m), n_windows, labels,
					      column.values, medians};
		FSL_TRY(fsl_findings_add_runs(out, &series, err));
	}
	return FSL_OK;
}

/* 4. The descriptor, the only name that leaves this file: fsl_detector_<file name>. */
const struct fsl_detector fsl_detector_template = {
	.abi = FSL_DETECTOR_ABI,
	.name = "template", /* file name, "type" in the configuration, test name */
	.summary = "a member takes longer than its group's median",
	.needs = FSL_NEED_ANY,    /* or FSL_NEED(FSL_METRIC_OWN) | ... */
	.scope = FSL_SCOPE_GROUP, /* members against each other */
	.params = param_table,
	.params_size = sizeof(struct params),
	.scan = scan,
};
