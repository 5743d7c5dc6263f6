/* Samples while the trace is read; levels once all of it was. */
#include "source/kineto/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/number.h"
#include "base/try.h"

/* Counters that matter to functions of the device; a bit each. */
static const uint32_t masks[FSL_FUNCTION_CLASSES_N] = {
	[FSL_FUNCTION_COMPUTE] = 1U << FSL_SAMPLED_CORES,
	[FSL_FUNCTION_MEMORY] = 1U << FSL_SAMPLED_PCIE_SEND | 1U << FSL_SAMPLED_PCIE_RECEIVE,
	[FSL_FUNCTION_COLLECTIVE] = 1U << FSL_SAMPLED_NVLINK_SEND |
				    1U << FSL_SAMPLED_NVLINK_RECEIVE | 1U << FSL_SAMPLED_PCIE_SEND |
				    1U << FSL_SAMPLED_PCIE_RECEIVE | 1U << FSL_SAMPLED_NIC_SEND |
				    1U << FSL_SAMPLED_NIC_RECEIVE,
};

/* Hash of a text, as the reader of events has it for ids that are no numbers. */
static uint64_t hash_of(const char *begin, int device, const char *end)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%s%d%s", begin, device, end);
	return fsl_hash_bytes(FSL_HASH_START, text, (size_t)length);
}

/* The process tells the device in Kineto's dialect, the thread in that of ACK; -1: neither does. */
static int32_t device_of(struct fsl_kineto_devices *known, const struct fsl_trace_event *event)
{
	for (int device = 0; device < FSL_KINETO_DEVICES_MAX && !known->is_known; device++) {
		known->pids[device] = hash_of("GPU ", device, " Counters");
		known->tids[device] = hash_of("CAT_XPU_", device, "");
	}
	known->is_known = true;
	for (int32_t device = 0; device < FSL_KINETO_DEVICES_MAX; device++) {
		if (event->pid == known->pids[device] || event->tid == known->tids[device]) {
			return device;
		}
	}
	return -1;
}

/* Device in a key, as in "GPU 3"; -1: none. */
static int32_t device_of_key(const struct fsl_trace_text *key)
{
	size_t at = 3;
	int64_t device = -1;
	if (key->length <= at || strncasecmp(key->text, "gpu", at) != 0) {
		return -1;
	}
	at += strchr(" _:", key->text[at]) != NULL ? 1 : 0;
	bool is_number = at < key->length && isdigit((unsigned char)key->text[at]) != 0 &&
			 fsl_parse_i64(key->text + at, key->length - at, &device);
	return is_number && device < FSL_KINETO_DEVICES_MAX ? (int32_t)device : -1;
}

/* A value of the event: its key tells the counter, else the event's name and the key together. */
static enum fsl_status add_value(struct fsl_kineto_events *events,
				 const struct fsl_trace_event *event, struct fsl_trace_text key,
				 int64_t millionths, struct fsl_error *err)
{
	char both[FSL_TRACE_NAME_MAX + FSL_TRACE_KEYS_MAX + 1];
	const struct fsl_trace_text *name = &event->whole_name;
	struct fsl_link_source source = {0};
	enum fsl_sampled counter = fsl_sampled_of(key.text, key.length, &source);
	int32_t device = events->origin.device >= 0 ? events->origin.device : device_of_key(&key);
	if (counter == FSL_SAMPLED_N) {
		memcpy(both, name->text, name->length);
		both[name->length] = ' ';
		memcpy(both + name->length + 1, key.text, key.length);
		counter = fsl_sampled_of(both, name->length + 1 + key.length, &source);
	}
	if (counter == FSL_SAMPLED_N) {
		return FSL_OK;
	}
	const struct fsl_link_sample sample = {
		.time_ns = event->ts_ns, .value = (double)millionths / 1e6, .device = device};
	return fsl_link_counters_add(&events->counters, counter, &source, &sample, err);
}

enum fsl_status fsl_kineto_add_sample(struct fsl_kineto_events *events,
				      const struct fsl_trace_event *event, struct fsl_error *err)
{
	int64_t millionths = event->args[FSL_KINETO_VALUE];
	struct fsl_kineto_origin *last = &events->origin;
	if (events->rank->functions == NULL || event->ts_ns == FSL_NS_ABSENT) {
		return FSL_OK;
	}
	if (!last->is_known || last->pid != event->pid || last->tid != event->tid) {
		*last = (struct fsl_kineto_origin){true, event->pid, event->tid,
						   device_of(&events->devices, event)};
	}
	if (millionths >= 0) {
		FSL_TRY(add_value(events, event, (struct fsl_trace_text){"", 0}, millionths, err));
	}
	for (size_t i = 0; i < event->n_counters; i++) {
		FSL_TRY(add_value(events, event, event->counters[i].key,
				  event->counters[i].millionths, err));
	}
	return FSL_OK;
}

/* The device on which most works ran. */
static int32_t own_device(const struct fsl_kineto_events *events)
{
	size_t n_works[FSL_KINETO_DEVICES_MAX] = {0};
	int32_t most = -1;
	struct fsl_kineto_works works;
	fsl_kineto_bare_works_begin(&works, events);
	for (size_t i = 0; i < events->works.n; i++) {
		int32_t device = fsl_kineto_work_at(&works, i).device;
		if (device < 0 || device >= FSL_KINETO_DEVICES_MAX) {
			continue;
		}
		n_works[device]++;
		most = most < 0 || n_works[device] > n_works[most] ? device : most;
	}
	return most;
}

void fsl_kineto_settle_samples(struct fsl_kineto_events *events)
{
	struct fsl_functions *functions = events->rank->functions;
	fsl_link_counters_settle(&events->counters, own_device(events));
	for (size_t i = 0; i < FSL_SAMPLED_N; i++) {
		const struct fsl_link_samples *samples = &events->counters.of[i];
		functions->sampled[i] =
			(struct fsl_function_sampled){.n = samples->n_items,
						      .is_percent = samples->is_percent,
						      .max = samples->max};
	}
}

enum fsl_status fsl_kineto_levels_add(struct fsl_kineto_levels *levels,
				      const struct fsl_kineto_events *events,
				      enum fsl_function_class class, uint32_t function,
				      int64_t begin_ns, int64_t end_ns, struct fsl_error *err)
{
	for (uint32_t i = 0; i < FSL_SAMPLED_N; i++) {
		const struct fsl_link_samples *samples = &events->counters.of[i];
		double mean = 0.0, std = 0.0;
		if ((masks[class] & 1U << i) == 0 || samples->n_items == 0 ||
		    !fsl_link_samples_over(samples, begin_ns, end_ns, &mean, &std)) {
			continue;
		}
		FSL_TRY(FSL_GROW(levels->items, levels->items_capacity, (size_t)function + 1, err));
		for (; levels->n_items <= function; levels->n_items++) {
			memset(levels->items[levels->n_items], 0, sizeof(levels->items[0]));
		}
		fsl_link_level_add(&levels->items[function][i], mean, std, end_ns - begin_ns);
	}
	return FSL_OK;
}

/* The highest rate counts; percent are compared with percent alone, and before rates. */
static void tell_level(struct fsl_function *function,
		       const struct fsl_link_level levels[FSL_SAMPLED_N],
		       const struct fsl_link_counters *counters)
{
	bool has_percent = false;
	function->level = function->level_spread = (double)NAN;
	function->sampled = FSL_SAMPLED_N;
	for (size_t i = 0; i < FSL_SAMPLED_N; i++) {
		double mean = fsl_link_level_mean(&levels[i]);
		bool is_percent = counters->of[i].is_percent;
		if (!isfinite(mean) || (has_percent && !is_percent)) {
			continue;
		}
		if (function->sampled == FSL_SAMPLED_N || mean > function->level ||
		    is_percent != has_percent) {
			function->sampled = (enum fsl_sampled)i;
			function->level = mean;
			function->level_spread = fsl_link_level_std(&levels[i]);
		}
		has_percent |= is_percent;
	}
}

void fsl_kineto_levels_tell(const struct fsl_kineto_levels *levels,
			    const struct fsl_kineto_events *events,
			    struct fsl_function_times *times)
{
	static const struct fsl_link_level none[FSL_SAMPLED_N] = {{0}};
	for (size_t i = 0; i < times->n_built; i++) {
		tell_level(&times->built[i].function, i < levels->n_items ? levels->items[i] : none,
			   &events->counters);
	}
}

void fsl_kineto_levels_fini(struct fsl_kineto_levels *levels)
{
	fsl_free(levels->items);
	*levels = (struct fsl_kineto_levels){0};
}
