/* Fuses charges, links, suspects and perception into one verdict. */
#include "blame/fuse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "blame/fuse_parts.h"
#include "blame/verify.h"

/* Why nothing can be said, NULL when enough was seen. */
static const char *too_little(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_coverage *coverage = &out->coverage;
	if (coverage->n_ranks_seen < 2) {
		return fsl_arena_printf(
			&out->arena,
			"operators of %zu rank%s were read; comparing needs at least 2",
			coverage->n_ranks_seen, coverage->n_ranks_seen == 1 ? "" : "s");
	}
	if ((int64_t)coverage->n_steps < facts->config->steps_min) {
		return fsl_arena_printf(
			&out->arena, "%zu step%s seen; at least %" PRId64 " are needed",
			coverage->n_steps, coverage->n_steps == 1 ? " was" : "s were",
			facts->config->steps_min);
	}
	double seen_share = (double)coverage->n_ranks_seen / (double)coverage->n_ranks_expected;
	if (seen_share < facts->config->rank_coverage_min) {
		return fsl_arena_printf(&out->arena,
					"%zu of %zu ranks left data; at least %.0f %% are needed",
					coverage->n_ranks_seen, coverage->n_ranks_expected,
					100.0 * facts->config->rank_coverage_min);
	}
	return NULL;
}

/* One rank on its host. */
struct tenant {
	const char *server_ip;
	bool is_named;
};

static int compare_tenants(const void *a, const void *b)
{
	return strcmp(((const struct tenant *)a)->server_ip, ((const struct tenant *)b)->server_ip);
}

/*
 * True when the culprits are whole hosts: two or more ranks each, none of a culprit's host left
 * out, other hosts exist.
 * @tenants: one per rank; sorted here.
 */
static bool are_whole_hosts(struct tenant *tenants, size_t n_ranks)
{
	bool has_other_host = false;
	qsort(tenants, n_ranks, sizeof(*tenants), compare_tenants);
	for (size_t begin = 0, end = 0; begin < n_ranks; begin = end) {
		size_t n_named = 0;
		while (end < n_ranks && compare_tenants(&tenants[begin], &tenants[end]) == 0) {
			n_named += tenants[end++].is_named;
		}
		if (n_named == 1 || (n_named > 1 && n_named < end - begin)) {
			return false;
		}
		has_other_host |= n_named == 0;
	}
	return has_other_host;
}

/* Whole hosts or single ranks; single ranks when memory is short. */
static bool is_host_verdict(const struct fsl_localisation *out, const struct fsl_run *run)
{
	bool *is_named = fsl_fuse_named(out, run);
	struct tenant *tenants = fsl_calloc(run->n_ranks, sizeof(*tenants));
	bool is_host = is_named != NULL && tenants != NULL;
	for (size_t r = 0; r < run->n_ranks && is_host; r++) {
		tenants[r] = (struct tenant){run->ranks[r].server_ip, is_named[r]};
	}
	is_host = is_host && are_whole_hosts(tenants, run->n_ranks);
	fsl_free(tenants);
	fsl_free(is_named);
	return is_host;
}

static enum fsl_verdict_kind kind_of(const struct fsl_localisation *out, const struct fsl_run *run)
{
	size_t n_network = 0;
	for (size_t i = 0; i < out->n_culprits; i++) {
		n_network += out->culprits[i].cause == FSL_CAUSE_NETWORK;
	}
	if (n_network == out->n_culprits) {
		return FSL_VERDICT_SLOW_LINK;
	}
	bool is_host = out->n_culprits > 1 && n_network == 0 && is_host_verdict(out, run);
	return is_host ? FSL_VERDICT_SLOW_HOST : FSL_VERDICT_SLOW_RANK;
}

void fsl_fuse_conclude_named(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_culprit *worst = &out->culprits[0];
	FSL_ASSERT(out->n_culprits > 0 && worst->confidence <= 1.0);
	out->kind = kind_of(out, facts->run);
	out->confidence = worst->confidence;
	out->fault_ns = worst->onset_ns;
	for (size_t i = 1; i < out->n_culprits; i++) {
		int64_t onset_ns = out->culprits[i].onset_ns;
		out->fault_ns = onset_ns < out->fault_ns ? onset_ns : out->fault_ns;
	}
	out->reason =
		fsl_arena_printf(&out->arena, "rank %" PRId32 ": %s", worst->rank, worst->reason);
}

/* The rank that comes nearest to being named for its own work; NULL: none does. */
static const struct fsl_suspect *find_nearest(const struct fsl_localisation *out)
{
	for (size_t i = 0; i < out->n_unconfirmed; i++) {
		if (strcmp(out->unconfirmed[i].detector, FSL_OWN_TIME_DETECTOR) == 0) {
			return &out->unconfirmed[i];
		}
	}
	return NULL;
}

static const char *why_nobody(struct fsl_localisation *out, const struct fsl_case *facts,
			      const struct fsl_suspect *nearest)
{
	if (nearest != NULL) {
		return fsl_arena_printf(&out->arena,
					"rank %" PRId32 " comes nearest and is not named, %s",
					nearest->rank, nearest->reason);
	}
	return fsl_arena_printf(&out->arena, "no rank's own work stands out against %s",
				fsl_fuse_has_peers(&facts->blame->peers)
					? "its peers"
					: "its own past, and no two ranks do the same work");
}

/* The next thing to look at after a slowdown that no rank explains. */
static const char *unexplained(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_coverage *coverage = &out->coverage;
	const struct fsl_perception *perception = facts->perception;
	if (perception->n_episodes > 0 && perception->episodes[0].is_of_saves) {
		return "no rank's checkpoints stand out against those of its peers: look at the "
		       "storage that all ranks share";
	}
	size_t first = 0, n_unseen = fsl_fuse_count_short(facts, &first);
	const char *of_last = n_unseen > 0 ? ", or none of the last steps" : "";
	n_unseen += coverage->n_missing_ranks;
	/* Ranks that left no data may be at fault themselves. */
	const struct fsl_suspect *nearest = n_unseen == 0 ? find_nearest(out) : NULL;
	const char *why = why_nobody(out, facts, nearest);
	if (n_unseen == 0) {
		return fsl_arena_printf(&out->arena, "%s: look %sfor what all ranks share", why,
					nearest != NULL ? "at it, then " : "");
	}
	return fsl_arena_printf(&out->arena,
				"%s, but %zu of %zu ranks left no data%s: look at these, then for "
				"what all ranks share",
				why, n_unseen, coverage->n_ranks_expected, of_last);
}

/* Verdict without culprits, in the light of perception. */
static void conclude_unnamed(struct fsl_localisation *out, const struct fsl_case *facts,
			     const char *why_too_little)
{
	const struct fsl_perception *perception = facts->perception;
	double seen = (double)out->coverage.n_ranks_seen / (double)out->coverage.n_ranks_expected;
	if (why_too_little != NULL) {
		out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
		out->reason = why_too_little;
		return;
	}
	if (perception->kind == FSL_VERDICT_JOB_SLOWDOWN) {
		out->kind = FSL_VERDICT_JOB_SLOWDOWN;
		out->confidence = FSL_CONFIDENCE_SLOWDOWN * seen;
		if (perception->n_episodes > 0) {
			out->fault_ns = perception->episodes[0].onset_ns;
		}
		out->reason = unexplained(out, facts);
		return;
	}
	const char *why_untold = fsl_fuse_alone(out, facts);
	out->lacks_peers = why_untold != NULL;
	why_untold = out->lacks_peers ? why_untold : fsl_fuse_unjudged(out, facts);
	if (why_untold != NULL) {
		out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
		out->reason = why_untold;
		return;
	}
	out->kind = FSL_VERDICT_NORMAL;
	out->confidence = FSL_CONFIDENCE_NORMAL * seen;
	out->reason =
		fsl_arena_printf(&out->arena,
				 "no rank and no link costs the job more than %.1f %% of its step "
				 "time against its peers",
				 100.0 * fsl_least_loss_ms(facts->config, 1.0));
}

static struct fsl_culprit stopped_culprit(const struct fsl_run *run, int32_t number)
{
	struct fsl_culprit culprit = fsl_culprit_of(number);
	const struct fsl_rank *rank = fsl_run_rank(run, number);
	culprit.server_ip = rank != NULL ? rank->server_ip : "localhost";
	culprit.cause = FSL_CAUSE_HOST;
	culprit.onset_ns = rank != NULL ? rank->last_event_ns : FSL_NS_ABSENT;
	culprit.confidence = FSL_CONFIDENCE_STOPPED;
	culprit.reason = "stopped before the other ranks, which wait for it";
	return culprit;
}

/* Ranks that stopped before the others hold them up, whatever the reason: they come before those
 * that were slow until then. */
static enum fsl_status name_stopped(struct fsl_localisation *out, const struct fsl_case *facts,
				    struct fsl_error *err)
{
	const struct fsl_perception *perception = facts->perception;
	size_t n_slow = out->n_culprits, n_stopped = perception->n_stopped_first;
	struct fsl_culprit *slow = fsl_calloc(n_slow + 1, sizeof(*slow));
	if (slow == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: culprits=%zu", n_slow);
	}
	for (size_t i = 0; i < n_slow; i++) {
		slow[i] = out->culprits[i];
	}
	enum fsl_status status = FSL_OK;
	out->n_culprits = 0;
	for (size_t i = 0; i < n_stopped && status == FSL_OK; i++) {
		struct fsl_culprit culprit =
			stopped_culprit(facts->run, perception->stopped_first[i]);
		status = FSL_APPEND(out, culprits, &culprit, err);
	}
	bool *has_stopped = fsl_fuse_named(out, facts->run);
	if (has_stopped == NULL && status == FSL_OK) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: culprits=%zu", n_slow);
	}
	for (size_t i = 0; i < n_slow && status == FSL_OK; i++) {
		if (!has_stopped[fsl_run_rank_idx(facts->run, slow[i].rank)]) {
			status = FSL_APPEND(out, culprits, &slow[i], err);
		}
	}
	fsl_free(has_stopped);
	fsl_free(slow);
	return status;
}

/* If all ranks that were seen stopped together, they may wait for one that was not. */
static const char *tell_hang(struct fsl_localisation *out, const struct fsl_perception *perception)
{
	const struct fsl_coverage *coverage = &out->coverage;
	if (perception->n_stopped_first > 0 || coverage->n_missing_ranks == 0) {
		return fsl_arena_strdup(&out->arena, perception->reason);
	}
	return fsl_arena_printf(
		&out->arena, "%s; %zu of %zu ranks left no data: look at these first",
		perception->reason, coverage->n_missing_ranks, coverage->n_ranks_expected);
}

/* A job that stands still has no greater trouble, whoever was slow before. */
static enum fsl_status conclude_hang(struct fsl_localisation *out, const struct fsl_case *facts,
				     struct fsl_error *err)
{
	out->kind = FSL_VERDICT_HANG;
	out->confidence = FSL_CONFIDENCE_HANG;
	out->fault_ns = facts->perception->hang_since_ns;
	out->reason = tell_hang(out, facts->perception);
	if (out->reason == NULL) {
		out->reason = "";
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
	}
	return name_stopped(out, facts, err);
}

enum fsl_status fsl_fuse(struct fsl_localisation *out, const struct fsl_case *facts,
			 struct fsl_error *err)
{
	enum fsl_status status = fsl_fuse_coverage(out, facts, err);
	if (status != FSL_OK) {
		return status;
	}
	if (facts->verification != NULL) {
		out->replay = facts->verification->summary;
	}
	const char *why_too_little = too_little(out, facts);
	if (why_too_little == NULL) {
		status = fsl_fuse_culprits(out, facts, err);
	}
	if (why_too_little == NULL) {
		if (facts->verification != NULL) {
			/* Detectors take its place. */
			fsl_verification_drop_graph(facts->verification);
		}
		if (status == FSL_OK && !facts->is_brief) {
			status = fsl_fuse_suspects(out, facts, err);
		}
		if (status == FSL_OK) {
			status = fsl_fuse_note_alone(out, facts, err);
		}
		if (status == FSL_OK) {
			status = fsl_fuse_note_short(out, facts, err);
		}
	}
	if (status != FSL_OK) {
		return status;
	}
	if (facts->perception->kind == FSL_VERDICT_HANG) {
		status = conclude_hang(out, facts, err);
	} else if (out->n_culprits > 0) {
		fsl_fuse_conclude_named(out, facts);
	} else {
		bool is_found = false;
		conclude_unnamed(out, facts, why_too_little);
		if (out->kind == FSL_VERDICT_NORMAL || out->kind == FSL_VERDICT_JOB_SLOWDOWN) {
			status = fsl_fuse_imbalance(out, facts, &is_found, err);
		}
	}
	return status == FSL_OK && !facts->is_brief ? fsl_fuse_details(out, facts, err) : status;
}
