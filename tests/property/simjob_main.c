/*
 * Command-line front of the job simulator: simjob DIR [key=value ...] writes the sysTrace tree of a
 * job with a known fault below DIR. `simjob` alone lists the keys.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "support/simjob.h"

enum key_type { KEY_INT, KEY_SEED, KEY_TIME, KEY_REAL, KEY_BOOL, KEY_CHOICE };

static const char *const formats[] = {"csv", "json", NULL};
static const char *const compressions[] = {"none", "gz", "zst", NULL};
static const char *const timelines[] = {"none", "first", "all", NULL};
static const char *const faults[] = {"none",     "compute", "host", "dataloader", "storage", "link",
				     "job_slow", "spike",   "hang", "missing",    "empty",   NULL};

struct key {
	const char *name;
	enum key_type type;
	size_t offset;
	const char *const *choices;
	const char *help;
};

#define FIELD(field) offsetof(struct sim_params, field)
static const struct key keys[] = {
	{"tp", KEY_INT, FIELD(tp), NULL, "tensor-parallel ranks"},
	{"dp", KEY_INT, FIELD(dp), NULL, "data-parallel replicas"},
	{"pp", KEY_INT, FIELD(pp), NULL, "pipeline stages"},
	{"steps", KEY_INT, FIELD(steps), NULL, "steps"},
	{"pairs", KEY_INT, FIELD(pairs), NULL, "operator pairs of a pass"},
	{"seed", KEY_SEED, FIELD(seed), NULL, "seed of the noise"},
	{"segment_ms", KEY_REAL, FIELD(segment_ms), NULL, "compute before an operator"},
	{"noise", KEY_REAL, FIELD(noise_share), NULL, "deviation of each segment, share"},
	{"hetero", KEY_REAL, FIELD(hetero_share), NULL, "deviation of a rank's speed, share"},
	{"transfer_ms", KEY_REAL, FIELD(transfer_ms), NULL, "transfer of a collective"},
	{"fault", KEY_CHOICE, FIELD(fault), faults, "what goes wrong"},
	{"factor", KEY_REAL, FIELD(factor), NULL, "compute of a slow rank, times"},
	{"extra_ms", KEY_REAL, FIELD(extra_ms), NULL, "delay of one occurrence"},
	{"onset", KEY_INT, FIELD(onset_step), NULL, "first faulty step"},
	{"until", KEY_INT, FIELD(until_step), NULL, "first healthy step after it, -1: lasts"},
	{"ranks_per_host", KEY_INT, FIELD(ranks_per_host), NULL, "ranks of one host"},
	{"clock_ms", KEY_REAL, FIELD(clock_offset_ms), NULL, "greatest clock offset of a host"},
	{"drop", KEY_REAL, FIELD(drop_share), NULL, "share of marker rows that get lost"},
	{"ckpt", KEY_INT, FIELD(ckpt_period), NULL, "steps between checkpoints, 0: none"},
	{"gc", KEY_INT, FIELD(gc_period), NULL, "steps between collections, 0: none"},
	{"start_ns", KEY_TIME, FIELD(start_ns), NULL, "begin of the job, ns since 1970"},
	{"scale", KEY_REAL, FIELD(time_scale), NULL, "all durations, times"},
	{"relabel", KEY_BOOL, FIELD(relabel), NULL, "write rank r as r * relabel_by mod ranks"},
	{"relabel_by", KEY_INT, FIELD(relabel_by), NULL, "coprime to the number of ranks"},
	{"format", KEY_CHOICE, FIELD(format), formats, "of the marker files"},
	{"compression", KEY_CHOICE, FIELD(compression), compressions, "of the marker files"},
	{"timelines", KEY_CHOICE, FIELD(timelines), timelines, "which ranks have one"},
	{"timeline_json", KEY_BOOL, FIELD(timeline_json), NULL, "JSON instead of protobuf"},
	{"config", KEY_BOOL, FIELD(config_files), NULL, "write the configuration as well"},
};
enum { KEYS_N = sizeof(keys) / sizeof(keys[0]) };

static bool set_choice(int *target, const char *const *choices, const char *text)
{
	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(choices[i], text) == 0) {
			*target = i;
			return true;
		}
	}
	return false;
}

static bool set_key(struct sim_params *params, const struct key *key, const char *text)
{
	char *field = (char *)params + key->offset;
	char *end = NULL;
	switch (key->type) {
	case KEY_INT:
		*(int32_t *)(void *)field = (int32_t)strtol(text, &end, 10);
		break;
	case KEY_SEED:
		*(uint64_t *)(void *)field = strtoull(text, &end, 10);
		break;
	case KEY_TIME:
		*(int64_t *)(void *)field = strtoll(text, &end, 10);
		break;
	case KEY_REAL:
		*(double *)(void *)field = strtod(text, &end);
		break;
	case KEY_BOOL:
		*(bool *)(void *)field = strcmp(text, "true") == 0;
		return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
	case KEY_CHOICE:
		return set_choice((int *)(void *)field, key->choices, text);
	}
	return end != text && *end == '\0';
}

/* "2,6" */
static bool set_culprits(struct sim_params *params, const char *text)
{
	params->n_culprits = 0;
	while (*text != '\0' && params->n_culprits < SIM_CULPRITS_MAX) {
		char *end = NULL;
		params->culprits[params->n_culprits++] = (int32_t)strtol(text, &end, 10);
		if (end == text || (*end != ',' && *end != '\0')) {
			return false;
		}
		text = *end == ',' ? end + 1 : end;
	}
	return *text == '\0';
}

static bool apply(struct sim_params *params, const char *argument)
{
	const char *equals = strchr(argument, '=');
	if (equals == NULL) {
		return false;
	}
	size_t n_name = (size_t)(equals - argument);
	if (n_name == strlen("culprits") && strncmp(argument, "culprits", n_name) == 0) {
		return set_culprits(params, equals + 1);
	}
	for (size_t i = 0; i < KEYS_N; i++) {
		if (strlen(keys[i].name) == n_name &&
		    strncmp(argument, keys[i].name, n_name) == 0) {
			return set_key(params, &keys[i], equals + 1);
		}
	}
	return false;
}

static void print_usage(FILE *stream)
{
	(void)fprintf(stream, "usage: simjob DIR [key=value ...]\n");
	(void)fprintf(stream, "  %-15s %s\n", "culprits", "ranks at fault, \"2,6\"");
	for (size_t i = 0; i < KEYS_N; i++) {
		(void)fprintf(stream, "  %-15s %s", keys[i].name, keys[i].help);
		for (size_t k = 0; keys[i].choices != NULL && keys[i].choices[k] != NULL; k++) {
			(void)fprintf(stream, "%s%s", k == 0 ? ": " : "|", keys[i].choices[k]);
		}
		(void)fprintf(stream, "\n");
	}
}

int main(int argc, char **argv)
{
	struct sim_params params;
	sim_params_init(&params);
	if (argc < 2) {
		print_usage(stdout);
		return 0;
	}
	for (int i = 2; i < argc; i++) {
		if (!apply(&params, argv[i])) {
			(void)fprintf(stderr, "simjob: wrong argument: \"%s\"\n", argv[i]);
			print_usage(stderr);
			return 2;
		}
	}
	struct sim_truth truth;
	struct fsl_error err = {0};
	if (sim_write(&params, argv[1], &truth, &err) != FSL_OK) {
		fsl_error_print(stderr, &err);
		return 3;
	}
	(void)printf("%s: fault=%s, ranks=%d, ops=%" PRIu64 ", step_ms=%.1f", argv[1],
		     sim_fault_text(params.fault), sim_n_ranks(&params), truth.n_ops,
		     truth.step_ms_before);
	if (!isnan(truth.step_ms_after)) {
		(void)printf(" then %.1f", truth.step_ms_after);
	}
	(void)printf(", now_ns=%" PRId64 "\n", truth.now_ns);
	return 0;
}
