/* Names of verdicts and causes; initialises, extends and frees verdicts. */
#include "model/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"

static const char *const verdict_texts[] = {
	[FSL_VERDICT_NORMAL] = "normal",
	[FSL_VERDICT_SLOW_RANK] = "slow_rank",
	[FSL_VERDICT_SLOW_HOST] = "slow_host",
	[FSL_VERDICT_SLOW_LINK] = "slow_link",
	[FSL_VERDICT_STAGE_IMBALANCE] = "stage_imbalance",
	[FSL_VERDICT_WORK_IMBALANCE] = "work_imbalance",
	[FSL_VERDICT_JOB_SLOWDOWN] = "job_slowdown",
	[FSL_VERDICT_HOST_PAUSES] = "host_pauses",
	[FSL_VERDICT_STALLS] = "stalls",
	[FSL_VERDICT_HANG] = "hang",
	[FSL_VERDICT_INSUFFICIENT_EVIDENCE] = "insufficient_evidence",
	[FSL_VERDICT_HOST_BOUND] = "host_bound",
	[FSL_VERDICT_COMPUTE_BOUND] = "compute_bound",
	[FSL_VERDICT_COMMUNICATION_BOUND] = "communication_bound",
};
_Static_assert(sizeof(verdict_texts) / sizeof(verdict_texts[0]) == FSL_VERDICTS_N,
	       "every verdict has a text");

static const char *const cause_texts[] = {
	[FSL_CAUSE_COMPUTE] = "compute",       [FSL_CAUSE_HOST] = "host",
	[FSL_CAUSE_DATALOADER] = "dataloader", [FSL_CAUSE_STORAGE] = "storage",
	[FSL_CAUSE_NETWORK] = "network",
};
_Static_assert(sizeof(cause_texts) / sizeof(cause_texts[0]) == FSL_CAUSES_N,
	       "every cause has a text");

const char *fsl_verdict_text(enum fsl_verdict_kind kind)
{
	FSL_REQUIRE((size_t)kind < FSL_VERDICTS_N);
	return verdict_texts[kind];
}

const char *fsl_stall_phase_text(enum fsl_stall_phase phase)
{
	static const char *const texts[] = {
		[FSL_STALL_UNKNOWN] = "unknown",
		[FSL_STALL_LOADING] = "data loading",
		[FSL_STALL_CHECKPOINT] = "checkpoint",
		[FSL_STALL_COLLECTION] = "garbage collection",
		[FSL_STALL_EVALUATION] = "evaluation",
		[FSL_STALL_WARM_UP] = "warm-up",
		[FSL_STALL_GAP] = "gap",
		[FSL_STALL_RESTART] = "restart",
	};
	return texts[phase];
}

bool fsl_chapters_agree(const struct fsl_chapter_note *a, const struct fsl_chapter_note *b)
{
	bool agree = a->kind == b->kind && a->n_culprits == b->n_culprits;
	for (size_t i = 0; agree && i < a->n_culprits; i++) {
		size_t k = 0;
		while (k < b->n_culprits && b->culprits[k].rank != a->culprits[i].rank) {
			k++;
		}
		agree = k < b->n_culprits;
	}
	return agree;
}

bool fsl_verdict_is_quiet(enum fsl_verdict_kind kind)
{
	return kind == FSL_VERDICT_NORMAL || kind == FSL_VERDICT_INSUFFICIENT_EVIDENCE ||
	       kind == FSL_VERDICT_STAGE_IMBALANCE || kind == FSL_VERDICT_WORK_IMBALANCE ||
	       kind >= FSL_VERDICTS_OF_JOBS_N;
}

const char *fsl_shape_text(enum fsl_shape shape)
{
	static const char *const texts[FSL_SHAPES_N] = {
		[FSL_SHAPE_STEP] = "step",
		[FSL_SHAPE_DRIFT] = "drift",
		[FSL_SHAPE_RECURRING] = "recurring",
	};
	return texts[shape];
}

const char *fsl_cause_text(enum fsl_cause cause)
{
	FSL_REQUIRE((size_t)cause < FSL_CAUSES_N);
	return cause_texts[cause];
}

int fsl_cause_from_text(const char *text)
{
	for (int cause = 0; cause < FSL_CAUSES_N; cause++) {
		if (strcmp(cause_texts[cause], text) == 0) {
			return cause;
		}
	}
	return -1;
}

static struct fsl_coverage empty_coverage(void)
{
	return (struct fsl_coverage){
		.begin_ns = FSL_NS_ABSENT,
		.end_ns = FSL_NS_ABSENT,
		.steps_source = "",
		.clock_offset_max_ms = NAN,
		.clock_residual_ms = NAN,
	};
}

static const char *const whatif_texts[FSL_WHATIFS_N] = {
	[FSL_WHATIF_HOST] = "host",         [FSL_WHATIF_STAGE] = "stage",
	[FSL_WHATIF_REPLICA] = "replica",   [FSL_WHATIF_WORK] = "work",
	[FSL_WHATIF_TRANSFER] = "transfer", [FSL_WHATIF_ALL] = "all",
};

const char *fsl_whatif_text(enum fsl_whatif_kind kind)
{
	FSL_REQUIRE((size_t)kind < FSL_WHATIFS_N);
	return whatif_texts[kind];
}

void fsl_replay_summary_init(struct fsl_replay_summary *summary)
{
	*summary = (struct fsl_replay_summary){.doubt = "",
					       .error_median = NAN,
					       .error_p95 = NAN,
					       .error_mean = NAN,
					       .slowdown_all = NAN,
					       .worst_ranks_share = NAN,
					       .last_stage_share = NAN,
					       .culprits_share = NAN};
}

void fsl_localisation_init(struct fsl_localisation *localisation)
{
	*localisation = (struct fsl_localisation){
		.result_code = 200,
		.error_message = "",
		.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE,
		.confidence = NAN,
		.fault_ns = FSL_NS_ABSENT,
		.slowdown = NAN,
		.step_ms = NAN,
		.lost_ms_per_step = NAN,
		.reason = "",
		.coverage = empty_coverage(),
		.algorithm = "failslow",
		.suppressed_since_ns = FSL_NS_ABSENT,
	};
	fsl_replay_summary_init(&localisation->replay);
}

void fsl_perception_init(struct fsl_perception *perception)
{
	*perception = (struct fsl_perception){
		.anomaly_type = "normal",
		.start_ns = FSL_NS_ABSENT,
		.end_ns = FSL_NS_ABSENT,
		.error_message = "",
		.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE,
		.reason = "",
		.hang_mins = NAN,
		.hang_since_ns = FSL_NS_ABSENT,
		.coverage = empty_coverage(),
	};
}

void fsl_localisation_fini(struct fsl_localisation *localisation)
{
	fsl_free(localisation->abnormal);
	fsl_free(localisation->normal);
	fsl_free(localisation->culprits);
	fsl_free(localisation->victims);
	fsl_free(localisation->unconfirmed);
	fsl_arena_fini(&localisation->arena);
	*localisation = (struct fsl_localisation){0};
}

void fsl_perception_fini(struct fsl_perception *perception)
{
	fsl_free(perception->anomalies);
	fsl_free(perception->episodes);
	fsl_free(perception->explained);
	fsl_free(perception->slow_dataloader);
	fsl_free(perception->slow_ckpt);
	fsl_free(perception->stalls);
	fsl_arena_fini(&perception->arena);
	*perception = (struct fsl_perception){0};
}

struct fsl_culprit fsl_culprit_of(int32_t rank)
{
	return (struct fsl_culprit){
		.rank = rank,
		.peer = -1,
		.stage = -1,
		.every_steps = -1,
		.server_ip = "localhost",
		.cause = FSL_CAUSE_COMPUTE,
		.other_cause = FSL_CAUSES_N,
		.lost_ms_per_step = NAN,
		.share_of_loss = NAN,
		.onset_step = -1,
		.onset_ns = FSL_NS_ABSENT,
		.until_step = -1,
		.confidence = NAN,
		.reason = "",
	};
}

static const struct {
	const char *name, *unit;
} fact_names[] = {
#define FACT(fact, name, unit) [FSL_FACT_##fact] = {name, unit},
#include "model/facts.def"
#undef FACT
};

struct fsl_fact fsl_fact_of(enum fsl_fact_name name, double value)
{
	return (struct fsl_fact){fact_names[name].name, value, fact_names[name].unit};
}

bool fsl_fact_is(const struct fsl_fact *fact, enum fsl_fact_name name)
{
	return strcmp(fact->name, fact_names[name].name) == 0 &&
	       strcmp(fact->unit, fact_names[name].unit) == 0;
}

double fsl_facts_value(const struct fsl_fact *facts, size_t n_facts, enum fsl_fact_name name)
{
	double value = NAN;
	for (size_t f = 0; f < n_facts; f++) {
		value = fsl_fact_is(&facts[f], name) ? facts[f].value : value;
	}
	return value;
}

bool fsl_culprit_add_fact(struct fsl_culprit *culprit, const char *name, double value,
			  const char *unit)
{
	if (culprit->n_evidence >= FSL_FACTS_MAX) {
		return false;
	}
	culprit->evidence[culprit->n_evidence++] = (struct fsl_fact){name, value, unit};
	return true;
}

bool fsl_culprit_add_known(struct fsl_culprit *culprit, enum fsl_fact_name name, double value)
{
	return fsl_culprit_add_fact(culprit, fact_names[name].name, value, fact_names[name].unit);
}

enum fsl_status fsl_localisation_add_detail(struct fsl_localisation *localisation,
					    const struct fsl_detail *detail, struct fsl_error *err)
{
	return detail->is_abnormal ? FSL_APPEND(localisation, abnormal, detail, err)
				   : FSL_APPEND(localisation, normal, detail, err);
}

void fsl_coverage_share(struct fsl_coverage *out, const struct fsl_coverage *from)
{
	const struct fsl_coverage own = *out;
	*out = *from;
	out->n_ranks_seen = own.n_ranks_seen;
	out->n_steps = own.n_steps;
	out->steps_source = own.steps_source;
	out->begin_ns = own.begin_ns;
	out->end_ns = own.end_ns;
	out->skipped = own.skipped;
	out->n_skipped = own.n_skipped;
}

const struct fsl_time_unit *fsl_coverage_doubted_unit(const struct fsl_coverage *coverage)
{
	static const int64_t earliest_s = 1262304000,
			     latest_s = 2524608000; /* seconds since 1970 of
						       the years 2010 and 2050 */
	static const struct fsl_time_unit units[] = {
		{"microseconds", FSL_NS_PER_US},
		{"milliseconds", FSL_NS_PER_MS},
		{"seconds", FSL_NS_PER_S},
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		int64_t n_per_s = FSL_NS_PER_S / units[i].ns;
		if (coverage->begin_ns >= earliest_s * n_per_s &&
		    coverage->begin_ns < latest_s * n_per_s) {
			return &units[i];
		}
	}
	return NULL;
}

/* The array doubles in the arena whenever its length is a power of two. The old copy stays in the
 * arena, which wastes at most as much again. */
static bool make_room_for_skipped(struct fsl_coverage *coverage, struct fsl_arena *arena)
{
	size_t n = coverage->n_skipped;
	if ((n & (n - 1)) != 0) {
		return true;
	}
	const char **moved = fsl_arena_calloc(arena, n > 0 ? 2 * n : 1, sizeof(*moved));
	if (moved == NULL) {
		return false;
	}
	if (n > 0) {
		memcpy(moved, coverage->skipped, n * sizeof(*moved));
	}
	coverage->skipped = moved;
	return true;
}

enum fsl_status fsl_coverage_add_skipped(struct fsl_coverage *coverage, struct fsl_arena *arena,
					 struct fsl_error *err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = fsl_arena_vprintf(arena, format, args);
	va_end(args);
	if (text == NULL || !make_room_for_skipped(coverage, arena)) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: detectors_skipped=%zu",
				coverage->n_skipped);
	}
	coverage->skipped[coverage->n_skipped++] = text;
	return FSL_OK;
}

int32_t *fsl_ranks_copy(struct fsl_arena *arena, const int32_t *ranks, size_t n_ranks)
{
	int32_t *copy = fsl_arena_calloc(arena, n_ranks, sizeof(*copy));
	if (copy != NULL && n_ranks > 0) {
		memcpy(copy, ranks, n_ranks * sizeof(*copy));
	}
	return copy;
}
