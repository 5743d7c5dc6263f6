/* Faults of the simulator: parses them from text, and tells the strength of each in a step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "sim/sim_parts.h"

static const struct {
	const char *name;
	bool needs_ranks;
	double factor, extra_ms; /* defaults */
} kinds[FSL_SIM_FAULT_KINDS_N] = {
	[FSL_SIM_COMPUTE] = {"compute", true, 1.3, 0},
	[FSL_SIM_HOST] = {"host", true, 1.3, 0},
	[FSL_SIM_GC] = {"gc", true, 0.3, 300},
	[FSL_SIM_DATALOADER] = {"dataloader", true, 1, 300},
	[FSL_SIM_STORAGE] = {"storage", true, 1, 5000},
	[FSL_SIM_LINK] = {"link", true, 1, 100},
	[FSL_SIM_SWITCH] = {"switch", true, 1, 100},
	[FSL_SIM_SEQUENCE] = {"sequence", false, 0.5, 0},
	[FSL_SIM_STAGE] = {"stage", true, 1.3, 0},
	[FSL_SIM_JOB_SLOW] = {"job_slow", false, 1.3, 0},
	[FSL_SIM_PAUSES] = {"pauses", false, 0.02, 500},
	[FSL_SIM_SPIKE] = {"spike", false, 1, 2000},
	[FSL_SIM_HANG] = {"hang", true, 1, 0},
	[FSL_SIM_MISSING] = {"missing", true, 1, 0},
	[FSL_SIM_EMPTY] = {"empty", true, 1, 0},
	[FSL_SIM_ECC] = {"ecc", true, 0.3, 300},
	[FSL_SIM_NIC] = {"nic", true, 4, 0},
	[FSL_SIM_CONGESTION] = {"congestion", false, 4, 0},
	[FSL_SIM_RESTART] = {"restart", false, 1, 60000},
};

const char *fsl_sim_fault_text(enum fsl_sim_fault_kind kind)
{
	return kinds[kind].name;
}

/* Adds ranks first..last to the fault, each once; false: some are not ranks of the job. */
static bool add_ranks(struct fsl_sim_fault *fault, long first, long last, int32_t n_ranks)
{
	if (first < 0 || last < first || last >= n_ranks || last >= FSL_SIM_RANKS_MAX) {
		return false;
	}
	for (long rank = first; rank <= last; rank++) {
		if (!fsl_sim_fault_strikes(fault, (int32_t)rank)) {
			fault->ranks[fault->n_ranks++] = (int32_t)rank;
		}
	}
	return true;
}

/* Parses "3,7-9". */
static bool parse_ranks(struct fsl_sim_fault *fault, const char *text, int32_t n_ranks)
{
	if (strcmp(text, "all") == 0) {
		return add_ranks(fault, 0, n_ranks - 1L, n_ranks);
	}
	while (*text != '\0') {
		char *end = NULL;
		long first = strtol(text, &end, 10), last = first;
		if (end == text) {
			return false;
		}
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
		}
		if ((*end != ',' && *end != '\0') || !add_ranks(fault, first, last, n_ranks)) {
			return false;
		}
		text = *end == ',' ? end + 1 : end;
	}
	return fault->n_ranks > 0;
}

static bool parse_int(int32_t *target, const char *text)
{
	char *end = NULL;
	long value = strtol(text, &end, 10);
	*target = (int32_t)value;
	return end != text && *end == '\0' && value >= -1 && value <= INT32_MAX;
}

static bool parse_real(double *target, const char *text)
{
	return fsl_parse_real(text, target) && *target >= 0.0;
}

/* Parses one word of a fault's text, behind its kind. */
static bool parse_word(struct fsl_sim_fault *fault, const struct fsl_sim_params *params,
		       const char *name, const char *value)
{
	const struct {
		const char *name;
		int32_t *whole;
		double *real;
	} fields[] = {{"factor", NULL, &fault->factor},    {"extra_ms", NULL, &fault->extra_ms},
		      {"onset", &fault->onset_step, NULL}, {"until", &fault->until_step, NULL},
		      {"ramp", &fault->ramp_steps, NULL},  {"period", &fault->period_steps, NULL},
		      {"on", &fault->on_steps, NULL},      {"back", &fault->back_steps, NULL}};
	int32_t n_ranks = fsl_sim_n_ranks(params), host = 0;
	if (strcmp(name, "ranks") == 0) {
		return parse_ranks(fault, value, n_ranks);
	}
	if (strcmp(name, "host") == 0) {
		long first = parse_int(&host, value) ? (long)host * params->ranks_per_host : -1;
		long last = first + params->ranks_per_host - 1;
		return add_ranks(fault, first, last < n_ranks ? last : n_ranks - 1L, n_ranks);
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strcmp(fields[i].name, name) == 0) {
			return fields[i].whole != NULL ? parse_int(fields[i].whole, value)
						       : parse_real(fields[i].real, value);
		}
	}
	return false;
}

static int find_kind(const char *name, size_t length)
{
	for (int i = 0; i < FSL_SIM_FAULT_KINDS_N; i++) {
		if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, name, length) == 0) {
			return i;
		}
	}
	return -1;
}

enum fsl_status fsl_sim_params_add_fault(struct fsl_sim_params *params, const char *text,
					 struct fsl_error *err)
{
	size_t length = strcspn(text, " ");
	int kind = find_kind(text, length);
	if (kind < 0 || params->n_faults == FSL_SIM_FAULTS_MAX) {
		return FSL_FAIL(
			err, FSL_ERR_USAGE,
			"%s: fault=\"%.200s\", kinds=\"compute host gc dataloader storage link "
			"switch sequence stage job_slow pauses spike hang missing empty ecc nic "
			"congestion restart\"",
			kind < 0 ? "no such kind of fault" : "too many faults", text);
	}
	struct fsl_sim_fault fault = {.kind = (enum fsl_sim_fault_kind)kind,
				      .factor = kinds[kind].factor,
				      .extra_ms = kinds[kind].extra_ms,
				      .until_step = -1,
				      .on_steps = 1};
	int32_t n_ranks = fsl_sim_n_ranks(params);
	size_t n_most = (size_t)(n_ranks < FSL_SIM_RANKS_MAX ? n_ranks : FSL_SIM_RANKS_MAX);
	fault.ranks = fsl_arena_alloc(&params->arena, n_most * sizeof(*fault.ranks));
	if (fault.ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: fault=\"%.200s\"", text);
	}
	for (const char *rest = text + length; *rest != '\0';) {
		char name[32], value[4096];
		rest += strspn(rest, " ");
		size_t n_word = strcspn(rest, " "), n_name = strcspn(rest, "= ");
		if (n_word == 0) {
			break;
		}
		bool fits = n_name < n_word && n_name < sizeof(name) &&
			    n_word - n_name - 1 < sizeof(value);
		if (fits) {
			(void)snprintf(name, sizeof(name), "%.*s", (int)n_name, rest);
			(void)snprintf(value, sizeof(value), "%.*s", (int)(n_word - n_name - 1),
				       rest + n_name + 1);
		}
		if (!fits || !parse_word(&fault, params, name, value)) {
			return FSL_FAIL(
				err, FSL_ERR_USAGE,
				"wrong word in a fault: word=\"%.*s\", fault=\"%.200s\", "
				"words=\"ranks=3,7-9 host=2 factor= extra_ms= onset= until= ramp= "
				"period= on= back=\"",
				(int)(n_word < 100 ? n_word : 100), rest, text);
		}
		rest += n_word;
	}
	if (kinds[kind].needs_ranks && fault.n_ranks == 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a fault needs ranks=, for instance ranks=3,7-9: fault=\"%.200s\"",
				text);
	}
	params->faults[params->n_faults++] = fault;
	return FSL_OK;
}

double fsl_sim_fault_size(const struct fsl_sim_fault *fault, int32_t step)
{
	if (step < fault->onset_step || (fault->until_step >= 0 && step >= fault->until_step)) {
		return 0.0;
	}
	int32_t age = step - fault->onset_step;
	if (fault->period_steps > 0 && age % fault->period_steps >= fault->on_steps) {
		return 0.0;
	}
	return age < fault->ramp_steps ? (double)(age + 1) / (double)(fault->ramp_steps + 1) : 1.0;
}

int32_t fsl_sim_step_number(const struct fsl_sim_params *params, uint32_t active, int32_t step)
{
	int32_t number = step;
	for (size_t f = 0; f < params->n_faults; f++) {
		const struct fsl_sim_fault *fault = &params->faults[f];
		bool is_over = fault->kind == FSL_SIM_RESTART && fault->onset_step <= step &&
			       (active >> f & 1) != 0;
		number -= is_over ? fault->back_steps : 0;
	}
	return number;
}

bool fsl_sim_fault_strikes(const struct fsl_sim_fault *fault, int32_t rank)
{
	for (size_t i = 0; i < fault->n_ranks; i++) {
		if (fault->ranks[i] == rank) {
			return true;
		}
	}
	return false;
}

/* True if some operator has both ranks: in a tensor or data group, or between stages. */
static bool are_linked(const struct fsl_sim_params *params, int32_t a, int32_t b)
{
	int32_t width = params->dp * params->tp, stages = abs(a / width - b / width);
	bool is_same_shard = a % params->tp == b % params->tp;
	bool is_same_replica = a / params->tp % params->dp == b / params->tp % params->dp;
	if (stages == 0) {
		return a != b && (is_same_shard || is_same_replica);
	}
	/* With several chunks per rank, the last stage sends to the first. */
	bool is_round = params->chunks > 1 && stages == params->pp - 1;
	return is_same_shard && is_same_replica && (stages == 1 || is_round);
}

static enum fsl_status check_fault(const struct fsl_sim_params *params,
				   const struct fsl_sim_fault *fault, struct fsl_error *err)
{
	const char *name = kinds[fault->kind].name;
	if (fault->kind == FSL_SIM_STORAGE && params->ckpt_period == 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a storage fault needs checkpoints, set ckpt: fault=\"%s\"", name);
	}
	if (fault->kind == FSL_SIM_LINK && fault->n_ranks < 2) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a link has two ends, name two ranks: fault=\"%s\"", name);
	}
	if (fault->kind == FSL_SIM_LINK && !are_linked(params, fault->ranks[0], fault->ranks[1])) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"these ranks never talk to each other, name two of one tensor or "
				"data group or of neighbouring stages: fault=\"%s\", ranks=%d,%d",
				name, (int)fault->ranks[0], (int)fault->ranks[1]);
	}
	if (fault->kind == FSL_SIM_STAGE && fault->ranks[0] >= params->pp) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"ranks= of a stage fault is the stage, below pp: stage=%d, pp=%d",
				(int)fault->ranks[0], (int)params->pp);
	}
	bool is_of_job = fault->kind == FSL_SIM_RESTART ||
			 (fault->kind == FSL_SIM_SPIKE && fault->n_ranks == 0);
	if (is_of_job && params->family != FSL_SIM_SYNCHRONOUS) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a job of a family does not stand as a whole, leave family out or "
				"name ranks: fault=\"%s\"",
				name);
	}
	if (fault->kind == FSL_SIM_RESTART &&
	    (fault->back_steps < 0 ||
	     fsl_sim_step_number(params, FSL_SIM_ALL_FAULTS, fault->onset_step) < 0)) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a restart goes back to a step of the job: fault=\"%s\", onset=%d, "
				"back=%d",
				name, (int)fault->onset_step, (int)fault->back_steps);
	}
	if (fault->onset_step < 0 || fault->onset_step >= params->steps ||
	    (fault->until_step >= 0 && fault->until_step <= fault->onset_step)) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a fault begins inside the job and before it ends: fault=\"%s\", "
				"onset=%d, until=%d, steps=%d",
				name, (int)fault->onset_step, (int)fault->until_step,
				(int)params->steps);
	}
	return FSL_OK;
}

static int64_t gcd(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

enum fsl_status fsl_sim_params_check(const struct fsl_sim_params *params, struct fsl_error *err)
{
	int64_t n_ranks = (int64_t)params->tp * params->dp * params->pp;
	if (n_ranks > FSL_SIM_RANKS_MAX) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"too many ranks, make tp, dp or pp less: ranks=%lld, most=%d",
				(long long)n_ranks, FSL_SIM_RANKS_MAX);
	}
	if (params->dp % params->ep != 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "ep must divide dp: ep=%d, dp=%d",
				(int)params->ep, (int)params->dp);
	}
	bool is_interleaved = params->schedule == FSL_SIM_INTERLEAVED;
	if (is_interleaved && (params->pp < 2 || params->micro_batches % params->pp != 0)) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the interleaved schedule needs pp of 2 or more that divides "
				"micro_batches: pp=%d, micro_batches=%d",
				(int)params->pp, (int)params->micro_batches);
	}
	if (!is_interleaved && params->chunks > 1) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"chunks belong to schedule=interleaved: chunks=%d",
				(int)params->chunks);
	}
	if (gcd(params->relabel_by, n_ranks) != 1 && n_ranks > 1) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"relabel_by must have no common factor with the number of ranks: "
				"relabel_by=%d, ranks=%lld",
				(int)params->relabel_by, (long long)n_ranks);
	}
	bool is_hsdp = strcmp(fsl_sim_family(params->family)->name, "hsdp") == 0;
	if (is_hsdp && n_ranks % params->ranks_per_host != 0) {
		return FSL_FAIL(
			err, FSL_ERR_USAGE,
			"shards of family hsdp fill whole hosts, so ranks_per_host divides the "
			"number of ranks: ranks=%lld, ranks_per_host=%d",
			(long long)n_ranks, (int)params->ranks_per_host);
	}
	for (size_t i = 0; i < params->n_faults; i++) {
		FSL_TRY(check_fault(params, &params->faults[i], err));
	}
	return FSL_OK;
}
