/* Names of counters as a table; samples of a run by binary search. */
#include "capture/link_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/try.h"

const char *const fsl_sampled_texts[FSL_SAMPLED_N] = {
	[FSL_SAMPLED_CORES] = "cores",
	[FSL_SAMPLED_NVLINK_SEND] = "nvlink send",
	[FSL_SAMPLED_NVLINK_RECEIVE] = "nvlink recv",
	[FSL_SAMPLED_PCIE_SEND] = "pcie send",
	[FSL_SAMPLED_PCIE_RECEIVE] = "pcie recv",
	[FSL_SAMPLED_NIC_SEND] = "nic send",
	[FSL_SAMPLED_NIC_RECEIVE] = "nic recv",
};

enum { NAME_BYTES_MAX = 128 };

static bool holds(const char *name, const char *word)
{
	return strcasestr(name, word) != NULL;
}

/* Percent, or a rate: "sm__cycles_active.avg" counts cycles. */
static bool tells_percent(const char *name)
{
	return holds(name, "util") || holds(name, "%") || holds(name, "percent") ||
	       holds(name, "pct") || (holds(name, "active") && !holds(name, "cycles"));
}

enum fsl_sampled fsl_sampled_of(const char *name, size_t length, struct fsl_link_source *source)
{
	/* The first that fits: what names a link, and its direction. Better sources first. Names
	 * with "__" are those of CUPTI's metrics. */
	static const struct {
		const char *word;
		enum fsl_sampled send, receive; /* the same: it has no direction */
	} links[] = {
		{"sm_util", FSL_SAMPLED_CORES, FSL_SAMPLED_CORES},
		{"sm active", FSL_SAMPLED_CORES, FSL_SAMPLED_CORES},
		{"sms active", FSL_SAMPLED_CORES, FSL_SAMPLED_CORES},
		{"sm__throughput", FSL_SAMPLED_CORES, FSL_SAMPLED_CORES},
		{"sm__cycles_active", FSL_SAMPLED_CORES, FSL_SAMPLED_CORES},
		{"nvlink", FSL_SAMPLED_NVLINK_SEND, FSL_SAMPLED_NVLINK_RECEIVE},
		{"gpu_link", FSL_SAMPLED_NVLINK_SEND, FSL_SAMPLED_NVLINK_RECEIVE},
		{"nvltx__", FSL_SAMPLED_NVLINK_SEND, FSL_SAMPLED_NVLINK_SEND},
		{"nvlrx__", FSL_SAMPLED_NVLINK_RECEIVE, FSL_SAMPLED_NVLINK_RECEIVE},
		{"pcie__read", FSL_SAMPLED_PCIE_RECEIVE, FSL_SAMPLED_PCIE_RECEIVE},
		{"pcie__write", FSL_SAMPLED_PCIE_SEND, FSL_SAMPLED_PCIE_SEND},
		{"pcie", FSL_SAMPLED_PCIE_SEND, FSL_SAMPLED_PCIE_RECEIVE},
		{"net_", FSL_SAMPLED_NIC_SEND, FSL_SAMPLED_NIC_RECEIVE},
		{"nic", FSL_SAMPLED_NIC_SEND, FSL_SAMPLED_NIC_RECEIVE},
		{"rdma", FSL_SAMPLED_NIC_SEND, FSL_SAMPLED_NIC_RECEIVE},
	};
	static const char *const sends[] = {"transmit", "tx", "send"};
	static const char *const receives[] = {"receive", "rx", "recv"};
	char text[NAME_BYTES_MAX];
	size_t n = length < sizeof(text) - 1 ? length : sizeof(text) - 1, k = 0;
	bool is_send = false, is_receive = false;
	memcpy(text, name, n);
	text[n] = '\0';
	for (k = 0; k < sizeof(sends) / sizeof(sends[0]); k++) {
		is_send |= holds(text, sends[k]);
		is_receive |= holds(text, receives[k]);
	}
	for (k = 0; k < sizeof(links) / sizeof(links[0]) && !holds(text, links[k].word); k++) {
	}
	if (k == sizeof(links) / sizeof(links[0])) {
		return FSL_SAMPLED_N;
	}
	*source =
		(struct fsl_link_source){.name_hash = fsl_hash_bytes(FSL_HASH_START, name, length),
					 .is_percent = tells_percent(text),
					 .order = (uint8_t)k};
	bool is_told = links[k].send == links[k].receive || is_send != is_receive;
	return !is_told ? FSL_SAMPLED_N : is_send ? links[k].send : links[k].receive;
}

enum fsl_status fsl_link_counters_add(struct fsl_link_counters *counters, enum fsl_sampled counter,
				      const struct fsl_link_source *source,
				      const struct fsl_link_sample *sample, struct fsl_error *err)
{
	struct fsl_link_samples *samples = &counters->of[counter];
	struct fsl_link_sample added = *sample;
	size_t k = 0;
	while (k < samples->n_sources && samples->sources[k].name_hash != source->name_hash) {
		k++;
	}
	if (k == FSL_LINK_SOURCES_MAX) {
		return FSL_OK;
	}
	if (k == samples->n_sources) {
		FSL_TRY(FSL_APPEND(samples, sources, source, err));
	}
	added.source = (uint32_t)k;
	return FSL_APPEND(samples, items, &added, err);
}

static int compare_samples(const void *left, const void *right)
{
	const struct fsl_link_sample *a = left, *b = right;
	FSL_ORDER_BY(a->time_ns, b->time_ns);
	FSL_ORDER_BY(a->device, b->device);
	return FSL_ORDER(a->value, b->value);
}

/* True if @a is the better source of the two; the hash makes ranks choose alike. */
static bool is_better(const struct fsl_link_source *a, const struct fsl_link_source *b)
{
	if (a->is_percent != b->is_percent) {
		return a->is_percent;
	}
	if (a->order != b->order) {
		return a->order < b->order;
	}
	return a->max > b->max || (a->max >= b->max && a->name_hash < b->name_hash);
}

/* The source that counts; n_sources if none has a sample. */
static size_t best_source(const struct fsl_link_samples *samples)
{
	size_t best = samples->n_sources;
	for (size_t k = 0; k < samples->n_sources; k++) {
		const struct fsl_link_source *source = &samples->sources[k];
		bool is_first = best == samples->n_sources;
		if (source->max >= 0.0 &&
		    (is_first || is_better(source, &samples->sources[best]))) {
			best = k;
		}
	}
	return best;
}

static void settle(struct fsl_link_samples *samples, int32_t device)
{
	size_t n = 0;
	for (size_t k = 0; k < samples->n_sources; k++) {
		samples->sources[k].max = -1.0; /* samples are 0 or more */
	}
	for (size_t i = 0; i < samples->n_items; i++) {
		const struct fsl_link_sample *sample = &samples->items[i];
		double *max = &samples->sources[sample->source].max;
		if (sample->device == -1 || sample->device == device) {
			*max = fmax(*max, sample->value);
			samples->items[n++] = *sample;
		}
	}
	samples->n_items = n;
	size_t best = best_source(samples);
	n = 0;
	for (size_t i = 0; i < samples->n_items; i++) {
		if (samples->items[i].source == best) {
			samples->items[n++] = samples->items[i];
		}
	}
	samples->n_items = n;
	if (n > 0) {
		samples->is_percent = samples->sources[best].is_percent;
		samples->max = samples->sources[best].max;
		qsort(samples->items, n, sizeof(*samples->items), compare_samples);
	}
}

void fsl_link_counters_settle(struct fsl_link_counters *counters, int32_t device)
{
	for (size_t i = 0; i < FSL_SAMPLED_N; i++) {
		settle(&counters->of[i], device);
	}
}

void fsl_link_counters_fini(struct fsl_link_counters *counters)
{
	for (size_t i = 0; i < FSL_SAMPLED_N; i++) {
		fsl_free(counters->of[i].items);
		fsl_free(counters->of[i].sources);
	}
	*counters = (struct fsl_link_counters){0};
}

/* Index of the first sample at a time or behind it. */
static size_t first_from(const struct fsl_link_samples *samples, int64_t time_ns)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, samples->n_items, samples->items[at].time_ns < time_ns);
	return at;
}

/* The value on the line between the samples around a time; NaN outside of all samples. */
static double value_at(const struct fsl_link_samples *samples, int64_t time_ns)
{
	size_t at = first_from(samples, time_ns);
	if (at < samples->n_items && samples->items[at].time_ns == time_ns) {
		return samples->items[at].value;
	}
	if (at == 0 || at == samples->n_items) {
		return (double)NAN;
	}
	const struct fsl_link_sample *a = &samples->items[at - 1], *b = &samples->items[at];
	double part = (double)(time_ns - a->time_ns) / (double)(b->time_ns - a->time_ns);
	return a->value + part * (b->value - a->value);
}

bool fsl_link_samples_over(const struct fsl_link_samples *samples, int64_t begin_ns, int64_t end_ns,
			   double *mean, double *std)
{
	size_t from = first_from(samples, begin_ns), to = first_from(samples, end_ns);
	to += to < samples->n_items && samples->items[to].time_ns == end_ns;
	if (to >= from + FSL_SAMPLES_OF_RUN_MIN) {
		double sum = 0.0, squares = 0.0, n = (double)(to - from);
		for (size_t i = from; i < to; i++) {
			sum += samples->items[i].value;
		}
		*mean = sum / n;
		for (size_t i = from; i < to; i++) {
			double distance = samples->items[i].value - *mean;
			squares += distance * distance;
		}
		*std = sqrt(squares / n);
		return true;
	}
	double a = value_at(samples, begin_ns), b = value_at(samples, end_ns);
	*mean = (a + b) / 2.0;
	*std = fabs(a - b) / 2.0;
	return isfinite(*mean);
}

void fsl_link_level_add(struct fsl_link_level *level, double mean, double std, int64_t dur_ns)
{
	level->weight_ns += (double)dur_ns;
	level->mean_sum += mean * (double)dur_ns;
	level->variance_sum += std * std * (double)dur_ns;
}

double fsl_link_level_mean(const struct fsl_link_level *level)
{
	return level->weight_ns > 0.0 ? level->mean_sum / level->weight_ns : (double)NAN;
}

double fsl_link_level_std(const struct fsl_link_level *level)
{
	return level->weight_ns > 0.0 ? sqrt(level->variance_sum / level->weight_ns) : (double)NAN;
}
