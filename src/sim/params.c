/* Parameters of the simulator: defaults, a table of keys, and faults and presets from text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/number.h"
#include "sim/sim_parts.h"

enum key_type { KEY_INT, KEY_SEED, KEY_TIME, KEY_REAL, KEY_BOOL, KEY_CHOICE, KEY_FAMILY };

static const char *const schedules[] = {"gpipe", "1f1b", "interleaved", NULL};
static const char *const p2p_kinds[] = {"batched", "send-receive", NULL};
static const char *const p2p_groups[] = {"pairs", "pipeline", NULL};
static const char *const formats[] = {"csv", "json", NULL};
static const char *const compressions[] = {"none", "gz", "zst", NULL};
static const char *const outputs[] = {"markers", "steps", "log", NULL};
static const char *const timelines[] = {"none", "first", "all", NULL};

#define INT_MAX_32 2147483647.0
#define AT(field)  offsetof(struct fsl_sim_params, field)
static const struct fsl_sim_key keys[] = {
	{"tp", KEY_INT, AT(tp), NULL, 1, 64, "4", "tensor-parallel ranks"},
	{"dp", KEY_INT, AT(dp), NULL, 1, FSL_SIM_RANKS_MAX, "2", "data-parallel replicas"},
	{"pp", KEY_INT, AT(pp), NULL, 1, 128, "1", "pipeline stages"},
	{"ep", KEY_INT, AT(ep), NULL, 1, 1024, "1", "replicas that share the experts; divides dp"},
	{"micro_batches", KEY_INT, AT(micro_batches), NULL, 1, 4096, "1",
	 "micro-batches of a step"},
	{"chunks", KEY_INT, AT(chunks), NULL, 1, 64, "1", "virtual stages of a rank (interleaved)"},
	{"schedule", KEY_CHOICE, AT(schedule), schedules, 0, 0, NULL, "order of the passes"},
	{"p2p", KEY_CHOICE, AT(p2p), p2p_kinds, 0, 0, NULL,
	 "operators between stages (interleaved: single)"},
	{"p2p_groups", KEY_CHOICE, AT(p2p_groups), p2p_groups, 0, 0, NULL, "their communicators"},
	{"pairs", KEY_INT, AT(pairs), NULL, 1, 1024, "2",
	 "AllGather + ReduceScatter pairs of a pass"},
	{"buckets", KEY_INT, AT(buckets), NULL, 1, 64, "1", "Allreduce operators of the gradients"},
	{"overlap", KEY_BOOL, AT(overlap), NULL, 0, 0, NULL,
	 "reduce gradients under the backward pass"},
	{"family", KEY_FAMILY, AT(family), NULL, 0, 0, NULL,
	 "sets keys of the family; write it first"},
	{"layers", KEY_INT, AT(layers), NULL, 1, 64, "4", "layers of a family's step"},
	{"queue", KEY_INT, AT(queue), NULL, 1, 256, "8",
	 "pieces of work launched ahead, at most (family)"},
	{"item", KEY_INT, AT(item_period), NULL, 0, 1000000, NULL,
	 "steps until the host waits for the device, 0: never (family)"},
	{"evaluation", KEY_INT, AT(evaluation_period), NULL, 0, 1000000, NULL,
	 "steps between evaluations, 0: none"},
	{"async_ckpt", KEY_BOOL, AT(async_ckpt), NULL, 0, 0, NULL,
	 "checkpoints beside the steps (family)"},
	{"launch", KEY_REAL, AT(launch_share), NULL, 0, 10, "0.3",
	 "time to launch work, share of the work (family)"},
	{"host_spread", KEY_REAL, AT(host_spread), NULL, 0, 0.5, NULL,
	 "deviation of a host thread's speed, share (family)"},
	{"tails", KEY_REAL, AT(tail_share), NULL, 0, 1, NULL,
	 "pieces of work with a long tail, share (family)"},
	{"routing", KEY_REAL, AT(routing_share), NULL, 0, 2, NULL,
	 "spread of the work of experts, sigma (family)"},
	{"steps", KEY_INT, AT(steps), NULL, 1, 10000000, "60", "steps"},
	{"seed", KEY_SEED, AT(seed), NULL, 0, 0, "1", "seed of all random numbers"},
	{"step_ms", KEY_REAL, AT(step_ms), NULL, 1e-3, 1e9, "1000",
	 "compute of a rank in a step, ms"},
	{"transfer_ms", KEY_REAL, AT(transfer_ms), NULL, 0, 1e6, "3",
	 "transfer of a collective, ms"},
	{"hand_over_ms", KEY_REAL, AT(hand_over_ms), NULL, 0, 1e6, "5",
	 "transfer between stages, ms"},
	{"reduce_ms", KEY_REAL, AT(reduce_ms), NULL, 0, 1e6, "20", "transfer of the gradients, ms"},
	{"noise", KEY_REAL, AT(noise_share), NULL, 0, 0.5, "0.01",
	 "deviation of each piece of work, share"},
	{"noise_memory", KEY_REAL, AT(noise_memory), NULL, 0, 0.99, "0.3",
	 "AR(1) coefficient of it"},
	{"hetero", KEY_REAL, AT(hetero_share), NULL, 0, 0.5, "0.01",
	 "deviation of a rank's speed, share"},
	{"sequence", KEY_REAL, AT(sequence_share), NULL, 0, 2, NULL,
	 "spread of sequence lengths, sigma"},
	{"spikes", KEY_REAL, AT(spike_share), NULL, 0, 1, "0.002",
	 "steps of a rank with a spike, share"},
	{"warm_up", KEY_REAL, AT(warm_up_share), NULL, 0, 100, NULL,
	 "extra work of the first step, share"},
	{"loader_ms", KEY_REAL, AT(loader_ms), NULL, 0, 1e6, "2", "data loading, ms"},
	{"optimizer_ms", KEY_REAL, AT(optimizer_ms), NULL, 0, 1e6, "8", "optimizer, ms"},
	{"evaluation_ms", KEY_REAL, AT(evaluation_ms), NULL, 0, 1e7, "2000",
	 "one evaluation, ms (not of a family)"},
	{"ckpt_ms", KEY_REAL, AT(ckpt_ms), NULL, 0, 1e7, "400", "one checkpoint, ms"},
	{"gc_ms", KEY_REAL, AT(gc_ms), NULL, 0, 1e6, "3", "one planned collection, ms"},
	{"ckpt", KEY_INT, AT(ckpt_period), NULL, 0, 1000000, NULL,
	 "steps between checkpoints, 0: none"},
	{"gc", KEY_INT, AT(gc_period), NULL, 0, 1000000, "7", "steps between collections, 0: none"},
	{"ranks_per_host", KEY_INT, AT(ranks_per_host), NULL, 1, 1024, "8", "ranks of one host"},
	{"clock_ms", KEY_REAL, AT(clock_offset_ms), NULL, 0, 1e6, "1", "greatest clock offset, ms"},
	{"drift_ppm", KEY_REAL, AT(clock_drift_ppm), NULL, 0, 1000, "1",
	 "greatest clock drift, ppm"},
	{"drop", KEY_REAL, AT(drop_share), NULL, 0, 1, NULL, "share of marker rows that get lost"},
	{"lost", KEY_INT, AT(lost_period), NULL, 0, 1000000, NULL,
	 "one rank in so many has no file, 0: none"},
	{"relabel_by", KEY_INT, AT(relabel_by), NULL, 1, INT_MAX_32, "1",
	 "rank r is written as r * this mod ranks"},
	{"start_ns", KEY_TIME, AT(start_ns), NULL, 0, 0,
	 "1750000000000000000" /* 2025-06-15T15:06:40Z */, "begin of the job, ns since 1970"},
	{"scale", KEY_REAL, AT(time_scale), NULL, 1e-3, 1e3, "1", "all durations, times"},
	{"write", KEY_CHOICE, AT(output), outputs, 0, 0, NULL,
	 "markers of all ranks, or step times or log of one"},
	{"log_us", KEY_BOOL, AT(log_us), NULL, 0, 0, NULL,
	 "time stamps of the log with microseconds"},
	{"format", KEY_CHOICE, AT(format), formats, 0, 0, NULL, "of the marker files"},
	{"compression", KEY_CHOICE, AT(compression), compressions, 0, 0, NULL,
	 "of the marker files"},
	{"timelines", KEY_CHOICE, AT(timelines), timelines, 0, 0, "first", "ranks that have one"},
	{"timeline_json", KEY_BOOL, AT(timeline_json), NULL, 0, 0, NULL,
	 "JSON instead of protobuf"},
};
enum { KEYS_N = sizeof(keys) / sizeof(keys[0]) };

static const struct fsl_sim_preset presets[] = {
	{"small", "8 ranks, 60 steps of a second: to try things out", ""},
	{"gpt-7b", "16 ranks, tensor parallel: steps of 5 s",
	 "tp=8 dp=2 pairs=4 step_ms=4600 transfer_ms=8 reduce_ms=120 steps=300"},
	{"gpt-22b", "64 ranks, 1F1B over 2 stages: steps of 12 s",
	 "tp=8 dp=4 pp=2 schedule=1f1b micro_batches=8 pairs=1 step_ms=9000 transfer_ms=10 "
	 "hand_over_ms=6 reduce_ms=300 steps=300"},
	{"gpt-175b", "1,024 ranks, interleaved over 8 stages: steps of 25 s",
	 "tp=8 dp=16 pp=8 schedule=interleaved chunks=2 micro_batches=16 pairs=1 step_ms=18000 "
	 "transfer_ms=4 hand_over_ms=4 reduce_ms=500 p2p=send-receive p2p_groups=pipeline steps=100"},
	{"moe-64", "64 ranks, experts over 8 replicas: steps of 6 s",
	 "tp=4 dp=8 pp=2 ep=8 schedule=1f1b micro_batches=4 pairs=1 step_ms=5000 transfer_ms=6 "
	 "hand_over_ms=5 reduce_ms=150 steps=200"},
};

const struct fsl_sim_preset *fsl_sim_presets(size_t *n_presets)
{
	*n_presets = sizeof(presets) / sizeof(presets[0]);
	return presets;
}

const struct fsl_sim_key *fsl_sim_keys(size_t *n_keys)
{
	*n_keys = KEYS_N;
	return keys;
}

void fsl_sim_params_fini(struct fsl_sim_params *params)
{
	fsl_arena_fini(&params->arena);
	*params = (struct fsl_sim_params){0};
}

int32_t fsl_sim_n_ranks(const struct fsl_sim_params *params)
{
	return params->tp * params->dp * params->pp;
}

int32_t fsl_sim_label(const struct fsl_sim_params *params, int32_t rank)
{
	return (int32_t)((int64_t)rank * params->relabel_by % fsl_sim_n_ranks(params));
}

enum fsl_status fsl_sim_params_fit_ranks(struct fsl_sim_params *params, int32_t n_ranks,
					 struct fsl_error *err)
{
	int64_t unit = (int64_t)params->tp * params->pp * params->ep;
	if (n_ranks <= 0 || n_ranks % unit != 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the number of ranks must be a multiple of tp * pp * ep: ranks=%d, "
				"tp=%d, pp=%d, ep=%d",
				(int)n_ranks, (int)params->tp, (int)params->pp, (int)params->ep);
	}
	params->dp = n_ranks / (params->tp * params->pp);
	return FSL_OK;
}

int64_t fsl_sim_scaled_ns(const struct fsl_sim_params *params, int64_t job_ns)
{
	return params->time_scale == 1.0 ? job_ns : (int64_t)((double)job_ns * params->time_scale);
}

int64_t fsl_sim_written_ns(const struct fsl_sim_params *params, int64_t job_ns)
{
	return params->start_ns + fsl_sim_scaled_ns(params, job_ns);
}

static bool set_choice(int *target, const struct fsl_sim_key *key, const char *text)
{
	for (int i = 0; key->choices[i] != NULL; i++) {
		if (strcmp(key->choices[i], text) == 0) {
			*target = i;
			return true;
		}
	}
	return false;
}

/* False if @text is no value of the key. */
static bool set_value(void *field, const struct fsl_sim_key *key, const char *text)
{
	char *end = NULL;
	double number = 0.0;
	bool is_number = fsl_parse_real(text, &number);
	bool is_inside = is_number && number >= key->min && number <= key->max;
	switch ((enum key_type)key->type) {
	case KEY_INT:
		if (is_inside && number == floor(number)) {
			*(int32_t *)field = (int32_t)number;
			return true;
		}
		return false;
	case KEY_REAL:
		if (is_inside) {
			*(double *)field = number;
		}
		return is_inside;
	case KEY_SEED:
		*(uint64_t *)field = strtoull(text, &end, 10);
		return end != text && *end == '\0' && text[0] != '-';
	case KEY_TIME:
		*(int64_t *)field = strtoll(text, &end, 10);
		return end != text && *end == '\0' && *(int64_t *)field >= 0;
	case KEY_BOOL:
		*(bool *)field = strcmp(text, "true") == 0;
		return *(bool *)field || strcmp(text, "false") == 0;
	case KEY_CHOICE:
		return set_choice(field, key, text);
	case KEY_FAMILY:
		break; /* sets other keys, too: set_family() */
	}
	return false;
}

void fsl_sim_params_init(struct fsl_sim_params *params)
{
	*params = (struct fsl_sim_params){0};
	for (size_t i = 0; i < KEYS_N; i++) {
		if (keys[i].fallback != NULL) {
			(void)set_value((char *)params + keys[i].offset, &keys[i],
					keys[i].fallback);
		}
	}
}

/* Describes the allowed values of a key, for messages. */
static void describe(char *out, size_t size, const struct fsl_sim_key *key)
{
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; key->choices != NULL && key->choices[i] != NULL && n < size; i++) {
		n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? ", " : "",
				      key->choices[i]);
	}
	if (key->choices == NULL && (key->type == KEY_INT || key->type == KEY_REAL)) {
		(void)snprintf(out, size, "between %g and %g", key->min, key->max);
	} else if (key->choices == NULL) {
		(void)snprintf(out, size, "%s",
			       key->type == KEY_BOOL ? "true or false" : "an integer of 0 or more");
	}
}

static enum fsl_status set_family(struct fsl_sim_params *params, const char *name,
				  struct fsl_error *err);

enum fsl_status fsl_sim_params_set(struct fsl_sim_params *params, const char *setting,
				   struct fsl_error *err)
{
	const char *equals = strchr(setting, '=');
	const char *names[KEYS_N + 1] = {0};
	size_t n_name = equals != NULL ? (size_t)(equals - setting) : strlen(setting);
	char name[64], allowed[128];
	(void)snprintf(name, sizeof(name), "%.*s", (int)(n_name < 63 ? n_name : 63), setting);
	for (size_t i = 0; i < KEYS_N; i++) {
		names[i] = keys[i].name;
		if (strcmp(keys[i].name, name) != 0) {
			continue;
		}
		if (keys[i].type == KEY_FAMILY) {
			return set_family(params, equals != NULL ? equals + 1 : "", err);
		}
		describe(allowed, sizeof(allowed), &keys[i]);
		if (equals == NULL ||
		    !set_value((char *)params + keys[i].offset, &keys[i], equals + 1)) {
			return FSL_FAIL(
				err, FSL_ERR_USAGE,
				"wrong value of a job's key: setting=\"%.200s\", allowed=\"%s\"",
				setting, allowed);
		}
		return FSL_OK;
	}
	const char *nearest = fsl_nearest_name(name, strlen(name), names, KEYS_N);
	return FSL_FAIL(err, FSL_ERR_USAGE, "a job has no such key: key=\"%s\"%s%s%s", name,
			nearest != NULL ? ", did_you_mean=\"" : "", nearest != NULL ? nearest : "",
			nearest != NULL ? "\"" : "");
}

/* Sets every word of @words. */
static enum fsl_status set_words(struct fsl_sim_params *params, const char *words,
				 struct fsl_error *err)
{
	for (const char *rest = words; *rest != '\0';) {
		char word[64];
		size_t length = strcspn(rest, " ");
		(void)snprintf(word, sizeof(word), "%.*s", (int)length, rest);
		FSL_TRY(fsl_sim_params_set(params, word, err));
		rest += length + (rest[length] == ' ');
	}
	return FSL_OK;
}

/* Adds a known name to the list of a message. */
static void list_known(char *known, size_t size, const char *name)
{
	size_t n = strlen(known);
	(void)snprintf(known + n, size - n, "%s%s", n > 0 ? ", " : "", name);
}

static enum fsl_status set_family(struct fsl_sim_params *params, const char *name,
				  struct fsl_error *err)
{
	/* Settings of all families. */
	static const char common[] =
		"ranks_per_host=4 layers=4 step_ms=300 optimizer_ms=6 loader_ms=1.5 gc=0 spikes=0 "
		"noise=0.012 hetero=0.01 host_spread=0.03 tails=0.003 steps=80";
	char known[256] = "";
	const struct fsl_sim_preset *family = NULL;
	for (int i = 0; (family = fsl_sim_family(i)) != NULL; i++) {
		list_known(known, sizeof(known), family->name);
		if (strcmp(family->name, name) == 0) {
			params->family = i;
			FSL_TRY(set_words(params, i == FSL_SIM_SYNCHRONOUS ? "" : common, err));
			return set_words(params, family->settings, err);
		}
	}
	return FSL_FAIL(err, FSL_ERR_USAGE, "no such family: name=\"%.60s\", known=\"%s\"", name,
			known);
}

enum fsl_status fsl_sim_params_preset(struct fsl_sim_params *params, const char *name,
				      struct fsl_error *err)
{
	char known[256] = "";
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		list_known(known, sizeof(known), presets[i].name);
		if (strcmp(presets[i].name, name) == 0) {
			return set_words(params, presets[i].settings, err);
		}
	}
	return FSL_FAIL(err, FSL_ERR_USAGE, "no such preset: name=\"%.60s\", known=\"%s\"", name,
			known);
}
