/* The presets of the matrix, and how their blocks become tasks. */
#include "eval/matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"

enum {
	WORDS_MAX = 24,
	FILTER_VALUES_MAX = 64, /* values of one property in a preset */
	ALLOWED_BYTES = 300,
};

/* Small jobs have few ranks per host, so that there are hosts to compare. Large jobs have few
 * operators, so that a job fits into memory. */
static const struct fsl_eval_topology topologies[] = {
	{"dp8", 1, 8, 1, 2, "buckets=4"},
	{"tp4dp2", 4, 2, 1, 2, "micro_batches=2"},
	{"tp2dp4pp2", 2, 4, 2, 4, "micro_batches=4 pairs=1 schedule=1f1b"},
	{"tp2dp2pp4-interleaved", 2, 2, 4, 4,
	 "micro_batches=8 pairs=1 schedule=interleaved chunks=2"},
	{"tp2dp8ep4", 2, 8, 1, 4, "micro_batches=2 pairs=1 ep=4"},
	{"dp8-overlap", 1, 8, 1, 2, "buckets=8 overlap=true"},
	{"tp2dp4-overlap", 2, 4, 1, 2, "buckets=8 overlap=true"},
	{"dp4pp2-overlap", 1, 4, 2, 2,
	 "buckets=8 overlap=true micro_batches=4 pairs=1 schedule=1f1b"},
	{"tp8dp8", 8, 8, 1, 8, "micro_batches=2 pairs=1"},
	{"tp4dp4pp4", 4, 4, 4, 8, "micro_batches=8 pairs=1 schedule=1f1b p2p=send-receive"},
	{"tp8dp16pp2", 8, 16, 2, 8, "micro_batches=4 pairs=1 schedule=1f1b"},
	{"tp8dp32pp4", 8, 32, 4, 8, "micro_batches=4 pairs=1 schedule=1f1b"},
	{"tp8dp64pp8", 8, 64, 8, 8, "micro_batches=8 pairs=1 schedule=1f1b"},
	/* Shapes as the simulator sets them with the family. */
	{"fsdp", 1, 8, 1, 4, "family=fsdp"},
	{"fsdp1", 1, 8, 1, 4, "family=fsdp1"},
	{"hsdp", 1, 16, 1, 4, "family=hsdp"},
	{"ga", 1, 8, 1, 4, "family=ga"},
	{"hostbound", 1, 8, 1, 4, "family=hostbound"},
	{"cp", 4, 2, 1, 4, "family=cp"},
	{"varlen", 1, 8, 1, 4, "family=varlen"},
	{"megatron", 2, 4, 2, 4, "family=megatron"},
	{"moe", 1, 8, 1, 4, "family=moe"},
	{"vpp", 1, 4, 2, 4, "family=vpp"},
	{"zb", 1, 4, 2, 4, "family=zb"},
};

bool fsl_eval_is_family(const struct fsl_eval_topology *topology)
{
	static const char key[] = "family=";
	return strncmp(topology->settings, key, sizeof(key) - 1) == 0;
}

/* One block; its texts are lists of words. */
struct block {
	const char *preset;
	const char *scenarios;
	const char *topologies;
	const char *magnitudes; /* percent */
	int32_t n_seeds;        /* per cell, unless the command line sets it */
	int32_t n_steps;
};

#define RANK_FAULTS                                                                                \
	"compute-one compute-two compute-host compute-half host gc dataloader storage ramp link"
#define SMALL      "dp8 tp4dp2 tp2dp4pp2 tp2dp2pp4-interleaved tp2dp8ep4"
#define MEDIUM     "tp8dp8 tp4dp4pp4"
#define OVERLAP    "dp8-overlap tp2dp4-overlap dp4pp2-overlap"
#define JOB_FAULTS "switch sequence stage job-wide pauses"
#define FAMILIES   "fsdp fsdp1 hsdp ga hostbound cp varlen megatron moe vpp zb"
#define FAMILY_FAULTS                                                                              \
	"compute-one compute-two throttle ecc heal ramp cpu dataloader loader-kth nic congestion " \
	"job-wide"

/* Clean jobs are long, to have enough job-days for counting false alarms. */
static const struct block blocks[] = {
	{"quick", "clean", "dp8 tp4dp2 tp2dp4pp2 tp8dp8", "0", 5, 300},
	{"quick", RANK_FAULTS " " JOB_FAULTS, "tp4dp2 tp2dp4pp2", "5 10 20 50", 1, 240},
	{"quick", RANK_FAULTS " " JOB_FAULTS, "tp8dp8 tp4dp4pp4", "10", 1, 200},
	{"quick", "hang missing", "tp4dp2 tp2dp4pp2", "0", 2, 120},

	{"quick", "clean", OVERLAP, "0", 2, 300},
	{"quick", RANK_FAULTS " " JOB_FAULTS, OVERLAP, "20", 1, 200},

	{"full", "clean", SMALL " " MEDIUM, "0", 32, 720},
	{"full", "clean", OVERLAP, "0", 16, 720},
	{"full", RANK_FAULTS " " JOB_FAULTS, OVERLAP, "5 10 20 50", 2, 240},
	{"full", "clean", "tp8dp16pp2 tp8dp32pp4", "0", 6, 240},
	{"full", "clean", "tp8dp64pp8", "0", 2, 100},
	{"full", RANK_FAULTS " " JOB_FAULTS, SMALL, "2 5 10 20 50 100", 3, 300},
	{"full", RANK_FAULTS " " JOB_FAULTS, MEDIUM, "2 5 10 20 50", 2, 240},
	{"full", RANK_FAULTS " " JOB_FAULTS, "tp8dp16pp2", "5 10 50", 2, 160},
	{"full", RANK_FAULTS " " JOB_FAULTS, "tp8dp32pp4", "10", 1, 120},
	{"full", "compute-one host link stage job-wide", "tp8dp64pp8", "10", 1, 100},
	{"full", "hang missing", SMALL " " MEDIUM, "0", 5, 120},

	{"full", "clean", FAMILIES, "0", 3, 60},
	{"full", "clean", FAMILIES, "0", 3, 70},
	{"full", "clean", FAMILIES, "0", 3, 80},
	{"full", "clean", FAMILIES, "0", 3, 90},
	{"full", FAMILY_FAULTS, FAMILIES, "5 15", 1, 80},
};

/* Values that are drawn for each job; a duration of 0 lasts to the end. */
static const int32_t durations[] = {0, 50, 0, 10, 0, 500, 0};
static const enum fsl_eval_condition conditions[] = {
	FSL_EVAL_PLAIN, FSL_EVAL_RELABELLED, FSL_EVAL_CLOCKS, FSL_EVAL_PLAIN,  FSL_EVAL_DROPPED,
	FSL_EVAL_PLAIN, FSL_EVAL_LOST,       FSL_EVAL_PLAIN,  FSL_EVAL_CLOCKS,
};
static const struct fsl_eval_surroundings devices[] = {
	{"even", "noise=0.005 hetero=0.005 spikes=0"},
	{"usual", "noise=0.01 hetero=0.01 spikes=0.002 warm_up=0.5"},
	{"usual", "noise=0.01 hetero=0.01 spikes=0.002 gc=0"},
	{"uneven", "noise=0.02 hetero=0.03 spikes=0.005 warm_up=1"},
};
/* For families: how even their devices and hosts are, and what comes between their steps. */
static const struct fsl_eval_surroundings family_devices[] = {
	{"even", "noise=0.008 hetero=0.003 tails=0.001"},
	{"usual", "item=1"},
	{"usual", "evaluation=20 item=10"},
	{"uneven", "hetero=0.015 tails=0.005 ckpt=25 async_ckpt=true"},
};
static const struct fsl_eval_surroundings timelines[] = {
	{"first-rank", "timelines=first"},
	{"first-rank", "timelines=first"},
	{"all-ranks", "timelines=all"},
	{"none", "timelines=none"},
};
/* One lasting fault in so many is there from the first step on. */
enum {
	FROM_START_PERIOD = 5,
	LONG_RANKS_MAX = 16,     /* greatest job that is made longer for a long episode */
	LONG_MARGIN_STEPS = 200, /* steps beyond the episode */
	LOST_RANKS_MIN = 16,     /* a smaller job cannot spare a rank */
};

const char *fsl_eval_condition_text(enum fsl_eval_condition condition)
{
	static const char *const texts[FSL_EVAL_CONDITIONS_N] = {
		[FSL_EVAL_PLAIN] = "plain",     [FSL_EVAL_RELABELLED] = "relabelled",
		[FSL_EVAL_CLOCKS] = "clocks",   [FSL_EVAL_DROPPED] = "dropped",
		[FSL_EVAL_LOST] = "ranks-lost",
	};
	return texts[condition];
}

/* A list of words, cut in a copy of the text. */
struct words {
	char *items[WORDS_MAX];
	size_t n;
};

static bool cut_words(struct words *words, const char *text, struct fsl_arena *arena)
{
	char *copy = fsl_arena_strdup(arena, text);
	char *rest = copy;
	words->n = 0;
	for (char *word = copy; word != NULL && words->n < WORDS_MAX; word = rest) {
		rest = strchr(word, ' ');
		if (rest != NULL) {
			*rest++ = '\0';
		}
		words->items[words->n++] = word;
	}
	return copy != NULL;
}

/* FNV-1a over the cell's text, then the finaliser of splitmix64, so that jobs of different cells
 * are unrelated. 48 bits, so that the seed is exact in JSON. */
static uint64_t random_of(const struct fsl_eval_task *task)
{
	char text[160];
	uint64_t hash = UINT64_C(14695981039346656037);
	snprintf(text, sizeof(text), "%s %s %g %d %d", task->scenario->name, task->topology->name,
		 task->magnitude, (int)task->n_steps, (int)task->seed);
	for (const char *c = text; *c != '\0'; c++) {
		hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
	}
	hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
	return (hash ^ hash >> 31) >> 16;
}

/* Uses a part of the job's random number to choose from a table of @n. */
static size_t draw(uint64_t *random, size_t n)
{
	size_t choice = *random % n;
	*random /= n;
	return choice;
}

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

/*
 * True if only the time before the fault shows it: records of a job that had always been like that
 * would look the same. The link of the only group has no other to compare with. A host that holds a
 * whole pipeline stage looks like a stage with more work.
 */
static bool needs_past(const struct fsl_eval_task *task)
{
	const struct fsl_eval_scenario *scenario = task->scenario;
	const struct fsl_eval_topology *topology = task->topology;
	bool is_only_group = topology->tp == 1 && topology->pp == 1;
	bool is_whole_stage =
		topology->pp > 1 && topology->ranks_per_host >= topology->tp * topology->dp;
	return scenario->is_relative || (scenario->spread == FSL_EVAL_PAIR && is_only_group) ||
	       (scenario->spread == FSL_EVAL_HOST && is_whole_stage);
}

/* Draws duration, onset, condition and surroundings by the job's random number. */
static void deal(struct fsl_eval_task *task)
{
	const struct fsl_eval_scenario *scenario = task->scenario;
	task->random = random_of(task);
	uint64_t random = task->random;
	task->condition = conditions[draw(&random, LENGTH(conditions))];
	bool is_family = fsl_eval_is_family(task->topology);
	task->devices = is_family ? &family_devices[draw(&random, LENGTH(family_devices))]
				  : &devices[draw(&random, LENGTH(devices))];
	task->timelines = &timelines[draw(&random, LENGTH(timelines))];
	int32_t duration_steps = durations[draw(&random, LENGTH(durations))];
	bool is_early = draw(&random, FROM_START_PERIOD) == 0;
	if (scenario->is_constant) {
		task->is_from_start = true;
	} else if (!scenario->is_endless) {
		task->duration_steps = is_family ? scenario->duration_steps : duration_steps;
		duration_steps = task->duration_steps;
		task->is_from_start = duration_steps == 0 && is_early && !needs_past(task);
	}
	/* An episode needs healthy steps on both sides; only small jobs get long ones. */
	if (task->duration_steps >= task->n_steps && task->n_ranks <= LONG_RANKS_MAX) {
		task->n_steps = task->duration_steps + LONG_MARGIN_STEPS;
	} else if (task->duration_steps >= task->n_steps) {
		task->duration_steps = 0;
	}
	if (is_family && task->condition > FSL_EVAL_CLOCKS) {
		task->condition = FSL_EVAL_PLAIN;
	}
	if (task->condition == FSL_EVAL_LOST && task->n_ranks < LOST_RANKS_MIN) {
		task->condition = FSL_EVAL_PLAIN;
	}
}

static const char *const property_names[FSL_EVAL_PROPERTIES_N] = {
	[FSL_EVAL_BY_FAULT] = "fault",         [FSL_EVAL_BY_TOPOLOGY] = "topology",
	[FSL_EVAL_BY_RANKS] = "ranks",         [FSL_EVAL_BY_STEPS] = "steps",
	[FSL_EVAL_BY_MAGNITUDE] = "magnitude", [FSL_EVAL_BY_DURATION] = "duration",
	[FSL_EVAL_BY_CONDITION] = "condition", [FSL_EVAL_BY_DEVICES] = "devices",
	[FSL_EVAL_BY_TIMELINES] = "timelines",
};

void fsl_eval_task_put(char *out, size_t size, const struct fsl_eval_task *task,
		       enum fsl_eval_property property)
{
	const char *const texts[FSL_EVAL_PROPERTIES_N] = {
		[FSL_EVAL_BY_FAULT] = task->scenario->name,
		[FSL_EVAL_BY_TOPOLOGY] = task->topology->name,
		[FSL_EVAL_BY_CONDITION] = fsl_eval_condition_text(task->condition),
		[FSL_EVAL_BY_DEVICES] = task->devices->name,
		[FSL_EVAL_BY_TIMELINES] = task->timelines->name,
	};
	const double numbers[FSL_EVAL_PROPERTIES_N] = {
		[FSL_EVAL_BY_RANKS] = task->n_ranks,
		[FSL_EVAL_BY_STEPS] = task->n_steps,
		[FSL_EVAL_BY_MAGNITUDE] = 100.0 * task->magnitude,
		[FSL_EVAL_BY_DURATION] = task->duration_steps,
	};
	if (texts[property] != NULL) {
		(void)snprintf(out, size, "%s", texts[property]);
	} else {
		(void)snprintf(out, size, "%g", numbers[property]);
	}
}

/* One filter: "fault=compute-one|host". */
struct filter {
	const char *wanted; /* text behind the "="; borrowed from the selection */
	enum fsl_eval_property property;
	/* Values of the property among the jobs of the preset, each once. */
	char values[FILTER_VALUES_MAX][FSL_EVAL_TEXT_MAX];
	size_t n_values;
};

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* True if @word is one of "compute-one|host". */
static bool holds_word(const char *words, const char *word)
{
	while (*words != '\0') {
		size_t length = strcspn(words, "|");
		if (is_word(words, length, word)) {
			return true;
		}
		words += length + (words[length] == '|');
	}
	return false;
}

static enum fsl_status read_filters(struct filter **out, const struct fsl_eval_selection *selection,
				    struct fsl_arena *arena, struct fsl_error *err)
{
	struct filter *filters = NULL;
	FSL_TRY(FSL_ARENA_NEW(filters, arena, selection->n_filters, "filters", err));
	for (size_t i = 0; i < selection->n_filters; i++) {
		const char *text = selection->filters[i];
		size_t n_key = strcspn(text, "="), property = 0;
		while (property < FSL_EVAL_PROPERTIES_N &&
		       (text[n_key] == '\0' || !is_word(text, n_key, property_names[property]))) {
			property++;
		}
		if (property == FSL_EVAL_PROPERTIES_N) {
			return FSL_FAIL(
				err, FSL_ERR_USAGE,
				"a filter is KEY=VALUE, with fault, topology, ranks, "
				"steps, magnitude, duration, condition, devices or timelines: filter=\"%s\"",
				text);
		}
		filters[i].wanted = text + n_key + 1;
		filters[i].property = (enum fsl_eval_property)property;
	}
	*out = filters;
	return FSL_OK;
}

static void note(struct filter *filter, const char *value)
{
	for (size_t i = 0; i < filter->n_values; i++) {
		if (strcmp(filter->values[i], value) == 0) {
			return;
		}
	}
	FSL_REQUIRE(filter->n_values < FILTER_VALUES_MAX);
	(void)snprintf(filter->values[filter->n_values++], FSL_EVAL_TEXT_MAX, "%s", value);
}

/* True if all filters accept the job; notes the job's values. */
static bool pass_filters(struct filter *filters, size_t n_filters, const struct fsl_eval_task *task)
{
	bool passes = true;
	for (size_t i = 0; i < n_filters; i++) {
		char value[FSL_EVAL_TEXT_MAX];
		fsl_eval_task_put(value, sizeof(value), task, filters[i].property);
		note(&filters[i], value);
		passes = holds_word(filters[i].wanted, value) && passes;
	}
	return passes;
}

/* "8, 16, 64", cut if it does not fit. */
static void join_values(char out[ALLOWED_BYTES], const struct filter *filter)
{
	size_t n = 0;
	out[0] = '\0';
	for (size_t i = 0; i < filter->n_values && n < ALLOWED_BYTES - 1; i++) {
		int added = snprintf(out + n, ALLOWED_BYTES - n, "%s%s", i > 0 ? ", " : "",
				     filter->values[i]);
		n += added > 0 ? (size_t)added : 0;
	}
}

static enum fsl_status fail_value(const struct filter *filter, const char *value, size_t length,
				  struct fsl_error *err)
{
	const char *names[FILTER_VALUES_MAX];
	const char *key = property_names[filter->property];
	char allowed[ALLOWED_BYTES];
	for (size_t i = 0; i < filter->n_values; i++) {
		names[i] = filter->values[i];
	}
	const char *meant = fsl_nearest_name(value, length, names, filter->n_values);
	if (meant != NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"no job of the preset has this value: filter=\"%s\", "
				"value=\"%.*s\", did_you_mean=\"%s\"",
				key, (int)length, value, meant);
	}
	join_values(allowed, filter);
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"no job of the preset has this value: filter=\"%s\", value=\"%.*s\", "
			"allowed=\"%s\"",
			key, (int)length, value, allowed);
}

/* True if some job has the value, one of "compute-one|host". */
static bool is_known(const struct filter *filter, const char *value, size_t length)
{
	for (size_t i = 0; i < filter->n_values; i++) {
		if (is_word(value, length, filter->values[i])) {
			return true;
		}
	}
	return false;
}

/* Call after all jobs: FSL_ERR_USAGE for a value that no job has. */
static enum fsl_status check_filters(const struct filter *filters, size_t n_filters,
				     struct fsl_error *err)
{
	for (size_t i = 0; i < n_filters; i++) {
		const char *value = filters[i].wanted;
		for (;;) {
			size_t length = strcspn(value, "|");
			if (!is_known(&filters[i], value, length)) {
				return fail_value(&filters[i], value, length, err);
			}
			if (value[length] == '\0') {
				break;
			}
			value += length + 1;
		}
	}
	return FSL_OK;
}

/* Tasks while they are collected. */
struct list {
	struct fsl_eval_task *items;
	size_t n, capacity;
	size_t n_seen; /* number of tasks before filters */
	const struct fsl_eval_selection *selection;
	struct filter *filters; /* the selection's, parsed */
};

static enum fsl_status add_cell(struct list *list, const struct block *block,
				struct fsl_eval_task task, struct fsl_error *err)
{
	const struct fsl_eval_selection *selection = list->selection;
	int64_t last = selection->seed_to >= 0 ? selection->seed_to
					       : selection->seed_from + block->n_seeds - 1;
	/* If the seed range is longer, a block with fewer seeds per cell keeps its share. */
	for (int64_t seed = selection->seed_from; seed <= last; seed++) {
		task.seed = seed;
		task.idx = list->n_seen++;
		deal(&task);
		if (!pass_filters(list->filters, selection->n_filters, &task)) {
			continue;
		}
		FSL_TRY(FSL_GROW(list->items, list->capacity, list->n + 1, err));
		list->items[list->n++] = task;
	}
	return FSL_OK;
}

/* Never fails: the blocks name only topologies of the table. */
static const struct fsl_eval_topology *topology_find(const char *name)
{
	size_t i = 0;
	while (i + 1 < LENGTH(topologies) && strcmp(topologies[i].name, name) != 0) {
		i++;
	}
	FSL_REQUIRE(strcmp(topologies[i].name, name) == 0);
	return &topologies[i];
}

/* Stage faults need a pipeline. */
static bool is_possible(const struct fsl_eval_task *task)
{
	return task->scenario->spread != FSL_EVAL_STAGE || task->topology->pp > 1;
}

static enum fsl_status add_block(struct list *list, const struct block *block,
				 struct fsl_arena *arena, struct fsl_error *err)
{
	struct words faults, names, magnitudes;
	if (!cut_words(&faults, block->scenarios, arena) ||
	    !cut_words(&names, block->topologies, arena) ||
	    !cut_words(&magnitudes, block->magnitudes, arena)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"matrix\"");
	}
	size_t n_cells = names.n * magnitudes.n * faults.n;
	for (size_t cell = 0; cell < n_cells; cell++) {
		size_t rest = cell / faults.n;
		struct fsl_eval_task task = {
			.scenario = fsl_eval_scenario_find(faults.items[cell % faults.n]),
			.topology = topology_find(names.items[rest / magnitudes.n]),
			.n_steps = block->n_steps,
			.magnitude = strtod(magnitudes.items[rest % magnitudes.n], NULL) / 100.0,
		};
		FSL_REQUIRE(task.scenario != NULL);
		task.n_ranks = task.topology->tp * task.topology->dp * task.topology->pp;
		if (is_possible(&task)) {
			FSL_TRY(add_cell(list, block, task, err));
		}
	}
	return FSL_OK;
}

/* Keeps every k-th task, so that few jobs still come from the whole matrix. */
static void thin_out(struct list *list, size_t limit)
{
	if (limit == 0 || limit >= list->n) {
		return;
	}
	for (size_t i = 0; i < limit; i++) {
		list->items[i] = list->items[i * list->n / limit];
	}
	list->n = limit;
}

/* Families are the part of "full" that stands for itself. */
static bool is_chosen(const struct block *block, const char *preset)
{
	return strcmp(block->preset, preset) == 0 ||
	       (strcmp(preset, "families") == 0 && strcmp(block->topologies, FAMILIES) == 0);
}

enum fsl_status fsl_eval_matrix(struct fsl_eval_task **tasks, size_t *n_tasks,
				const struct fsl_eval_selection *selection, struct fsl_arena *arena,
				struct fsl_error *err)
{
	struct list list = {.selection = selection};
	bool is_known = false;
	enum fsl_status status = read_filters(&list.filters, selection, arena, err);
	for (size_t i = 0; status == FSL_OK && i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (is_chosen(&blocks[i], selection->preset)) {
			is_known = true;
			status = add_block(&list, &blocks[i], arena, err);
		}
	}
	if (status == FSL_OK && !is_known) {
		status = FSL_FAIL(
			err, FSL_ERR_USAGE,
			"unknown preset, quick, full and families are known: preset=\"%s\"",
			selection->preset);
	}
	FSL_THEN(status, check_filters(list.filters, selection->n_filters, err));
	if (status == FSL_OK && list.n == 0) {
		status = FSL_FAIL(err, FSL_ERR_USAGE,
				  "no job fits all filters together, leave one out: preset=\"%s\", "
				  "filters=%zu",
				  selection->preset, selection->n_filters);
	}
	thin_out(&list, selection->limit);
	FSL_THEN(status, FSL_ARENA_NEW(*tasks, arena, list.n, "tasks", err));
	if (status == FSL_OK) {
		memcpy(*tasks, list.items, list.n * sizeof(**tasks));
		*n_tasks = list.n;
	}
	fsl_free(list.items);
	return status;
}
