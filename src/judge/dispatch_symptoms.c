/* Symptoms of the dispatch layer: how long, what it consists of, and what to do. */
#include "judge/dispatch_symptoms.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "capture/source_words.h"
#include "judge/limits.h"

static bool has_long_gaps(const struct fsl_host_view *view)
{
	double longest_ms = (double)view->gap->dur_ns / (double)FSL_NS_PER_MS;
	return longest_ms >= FSL_JUDGE_LONG_GAP_SHARE_MIN * view->free_ms;
}

/* Until what ended the longest stretches was called, launched, and begun. */
static double known_ms(const struct fsl_host_view *view)
{
	double host_ms = view->framework_ms + view->cann_ms;
	return (isnan(host_ms) ? view->host_ms : host_ms) + view->device_ms;
}

static void detail_waits(struct fsl_phrase *phrase, const struct fsl_host_view *view)
{
	const struct {
		double ms;
		const char *words;
	} waits[] = {
		{view->framework_ms, "for the framework"},
		{view->cann_ms, "for launches by CANN"},
		{view->host_ms, "for the host"},
		{view->device_ms, "for what was launched"},
	};
	double whole_ms = known_ms(view);
	if (!(whole_ms > 0.0)) {
		return;
	}
	const char *before = "; the longest stretches wait ";
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		if (isfinite(waits[i].ms)) {
			fsl_phrase_add(phrase, "%s%s (", before, waits[i].words);
			fsl_phrase_add_percent(phrase, waits[i].ms / whole_ms);
			fsl_phrase_add(phrase, ")");
			before = ", ";
		}
	}
}

/* Adds the parts of the free time. */
static void detail_free(struct fsl_phrase *phrase, const struct fsl_host_view *view)
{
	const struct fsl_profile_rank *rank = view->rank;
	if (isfinite(view->n_kernels)) {
		double before_ms = view->free_ms / view->n_kernels;
		struct fsl_phrase before = {0};
		if (before_ms < 1.0) {
			fsl_phrase_add(&before, "%.0f us", 1000.0 * before_ms);
		} else {
			fsl_phrase_add_ms(&before, before_ms);
		}
		bool is_one = fabs(view->n_kernels - 1.0) < 0.5;
		fsl_phrase_add(phrase,
			       is_one ? "; %.0f kernel per step, %s before it"
				      : "; %.0f kernels per step, %s before each",
			       view->n_kernels, before.text);
	}
	if (view->gap != NULL) {
		const char *after = fsl_strpool_text(rank->names, view->gap->after_id);
		fsl_phrase_add(phrase, "; the longest gap ");
		fsl_phrase_add_ms(phrase, (double)view->gap->dur_ns / (double)FSL_NS_PER_MS);
		if (*after != '\0') {
			fsl_phrase_add(phrase, " before ");
			fsl_phrase_add_symbol(phrase, after);
		}
	}
	detail_waits(phrase, view);
}

/* Who was late in the greater part of the longest stretches; NULL: not told. */
static const char *advise_late(const struct fsl_host_view *view)
{
	double half_ms = 0.5 * known_ms(view);
	if (!(half_ms > 0.0)) {
		return NULL;
	}
	if (view->host_ms > half_ms) {
		return "kernels are launched too late: launch fewer, larger ones (fused operators, "
		       "graph mode)";
	}
	if (view->cann_ms > half_ms) {
		return "operators are called in time and launched late: use operators of aclnn and "
		       "shapes that do not change (tiling, compilation)";
	}
	if (view->device_ms > half_ms) {
		return "kernels are launched in time and wait on the device: look at the streams and "
		       "events that they wait for, and at copies from the host";
	}
	return "the framework calls operators too late: launch fewer, larger kernels (fused "
	       "operators, graph mode)";
}

static const char *advise_free(const struct fsl_host_view *view)
{
	if (view->gap != NULL && has_long_gaps(view)) {
		return "a few long gaps: look what the host does before the operators after them "
		       "(synchronisation, data loading, garbage collection, compilation)";
	}
	const char *late = advise_late(view);
	if (late != NULL) {
		return late;
	}
	if (view->gap == NULL) {
		return fsl_profile_rank_words(view->rank)->single_pauses;
	}
	return "many short gaps: launch fewer, larger kernels (fused operators, graph mode)";
}

/* True if the variable may be set so: the capture does not tell that it is. */
static bool may_set(const struct fsl_profile_info *info, const char *name, const char *value)
{
	const char *now = fsl_profile_setting_of(info, name);
	return now == NULL || strcmp(now, value) != 0;
}

/* "set NAME=VALUE", with what it is now if that is told. */
static void add_setting(struct fsl_phrase *advice, const struct fsl_profile_info *info,
			const char *name, const char *value, const char *why)
{
	const char *now = fsl_profile_setting_of(info, name);
	fsl_phrase_add(advice, "; set %s=%s", name, value);
	if (now != NULL) {
		fsl_phrase_add(advice, " (%s%.20s)", now[0] == '\0' ? "not set" : "is ", now);
	}
	fsl_phrase_add(advice, "%s", why);
}

void fsl_dispatch_add_settings(struct fsl_phrase *advice, const struct fsl_host_view *view)
{
	const struct fsl_profile_info *info = &view->rank->info;
	const char *blocking = fsl_profile_setting_of(info, "ASCEND_LAUNCH_BLOCKING");
	const char *affinity = fsl_profile_setting_of(info, "CPU_AFFINITY_CONF");
	const char *preload = fsl_profile_setting_of(info, "LD_PRELOAD");
	double half_ms = 0.5 * known_ms(view);
	bool is_on_device = view->device_ms > half_ms;
	bool is_single = view->gap == NULL || has_long_gaps(view);
	if (blocking != NULL && strcmp(blocking, "1") == 0) {
		fsl_phrase_add(advice, "; unset ASCEND_LAUNCH_BLOCKING (is 1): each launch waits "
				       "for its kernel");
		return;
	}
	if (is_on_device || (is_single && !(half_ms > 0.0))) {
		return;
	}
	bool is_ascend = view->rank->folder.writer != FSL_PROFILE_KINETO; /* its own settings */
	if (is_ascend && !(view->framework_ms > half_ms) &&
	    may_set(info, "TASK_QUEUE_ENABLE", "2")) {
		add_setting(advice, info, "TASK_QUEUE_ENABLE", "2", "");
	}
	if (view->cann_ms > half_ms) {
		return;
	}
	if (is_ascend && (affinity == NULL || affinity[0] == '\0')) {
		add_setting(advice, info, "CPU_AFFINITY_CONF", "1", ", 2 to bind single threads");
	} else if (is_ascend && affinity[0] == '1') {
		add_setting(advice, info, "CPU_AFFINITY_CONF", "2", "");
	}
	bool has_allocator = preload != NULL && strstr(preload, "malloc") != NULL;
	fsl_phrase_add(advice, "; run the CPUs in performance mode%s",
		       has_allocator ? "" : ", and try tcmalloc or jemalloc (LD_PRELOAD)");
}

static const char *advise_preparing(const struct fsl_host_view *view)
{
	(void)view;
	return "load and copy the next batch while this step runs, keep work on the host out of "
	       "the begin of a step, and schedule asynchronously (serving)";
}

static const char *advise_compile(const struct fsl_host_view *view)
{
	(void)view;
	return "compile once: torch.npu.set_compile_mode(jit_compile=False), operators of aclnn, "
	       "and input shapes that do not change; leave the first steps out of captures";
}

static const char *advise_allocate(const struct fsl_host_view *view)
{
	const char *now = fsl_profile_setting_of(&view->rank->info, "PYTORCH_NPU_ALLOC_CONF");
	return now != NULL && strstr(now, "expandable_segments:True") != NULL
		       ? "keep memory with the process: no empty_cache() in steps, and sizes that "
			 "come back"
		       : "keep memory with the process: "
			 "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True, no empty_cache() in steps";
}

static const char *advise_synchronise(const struct fsl_host_view *view)
{
	(void)view;
	return "after each synchronisation the device waits until the host is ahead again: keep "
	       "item(), copies to the host and prints of tensors out of steps";
}

static const char *advise_loading(const struct fsl_host_view *view)
{
	(void)view;
	return "more workers of the data loader, pinned memory and prefetching, or faster storage";
}

static const char *advise_collecting(const struct fsl_host_view *view)
{
	(void)view;
	return "gc.disable() or gc.freeze() after the model is built, and gc.collect() between "
	       "steps at times of your own";
}

static const char *advise_pause(const struct fsl_host_view *view)
{
	(void)view;
	return "look for garbage collection, a lock, storage or another process on its cores: the "
	       "process called nothing of CANN meanwhile";
}

const struct fsl_dispatch_symptom fsl_dispatch_symptoms[FSL_SYMPTOMS_N] = {
	[FSL_SYMPTOM_IDLE] = {FSL_CODE_HOST_BOUND, "the device is idle", detail_free, advise_free},
	[FSL_SYMPTOM_PREPARING] =
		{FSL_CODE_LATE_FIRST_TASK,
		 "from the first operator of a step to its first device task pass", NULL,
		 advise_preparing},
	[FSL_SYMPTOM_COMPILING] = {FSL_CODE_OPERATOR_COMPILE,
				   "compiling operators holds the device up for", NULL,
				   advise_compile},
	[FSL_SYMPTOM_ALLOCATING] = {FSL_CODE_DEVICE_MALLOC,
				    "allocating device memory holds the device up for", NULL,
				    advise_allocate},
	[FSL_SYMPTOM_LOADING] = {FSL_CODE_DATA_LOADING,
				 "long calls of the data loader hold the device up for", NULL,
				 advise_loading},
	[FSL_SYMPTOM_COLLECTING] = {FSL_CODE_GARBAGE_COLLECTION,
				    "Python's garbage collector holds the device up for", NULL,
				    advise_collecting},
	[FSL_SYMPTOM_PAUSING] = {FSL_CODE_HOST_PAUSE,
				 "the host gives the device nothing at all for", NULL,
				 advise_pause},
	[FSL_SYMPTOM_SYNCHRONISING] = {FSL_CODE_SYNCHRONISATION,
				       "the host waits in synchronisations for", NULL,
				       advise_synchronise},
};
