/* Fuses charges, links, suspects and perception into one verdict. */
#include "blame/fuse.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "blame/fuse_parts.h"
#include "blame/rare_transfers.h"
#include "blame/verify.h"

/* False for a run of step times, logs or timelines alone, in which no rank lacks markers. */
static bool has_markers(const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		if (run->ranks[r].has_markers_file || run->ranks[r].n_ops > 0) {
			return true;
		}
	}
	return false;
}

static bool left_data(const struct fsl_rank *rank)
{
	return rank != NULL && (rank->n_ops > 0 || rank->n_steps > 0 || rank->n_stages > 0);
}

static enum fsl_status count_ranks(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	const struct fsl_topology *topology = facts->topology;
	coverage->n_ranks_expected = topology->n_expected_ranks;
	bool needs_ops = has_markers(facts->run);
	FSL_TRY(FSL_ARENA_NEW(coverage->missing_ranks, &out->arena, topology->n_expected_ranks,
			      "missing_ranks", err));
	for (size_t i = 0; i < topology->n_expected_ranks; i++) {
		const struct fsl_rank *rank = fsl_run_rank(facts->run, topology->expected_ranks[i]);
		if (!left_data(rank) || (needs_ops && rank->n_ops == 0)) {
			coverage->missing_ranks[coverage->n_missing_ranks++] =
				topology->expected_ranks[i];
		}
	}
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		coverage->n_ranks_seen += facts->run->ranks[r].n_ops > 0;
	}
	return FSL_OK;
}

void fsl_coverage_count_files(struct fsl_coverage *coverage, const struct fsl_run *run)
{
	coverage->n_files = run->n_files;
	coverage->n_files_unusable = coverage->n_files_partial = 0;
	coverage->n_bytes = coverage->n_bytes_before = coverage->n_bytes_behind = 0;
	coverage->n_records = 0;
	memset(coverage->n_dropped, 0, sizeof(coverage->n_dropped));
	for (size_t f = 0; f < run->n_files; f++) {
		const struct fsl_file *file = &run->files[f];
		coverage->n_files_unusable += file->state == FSL_FILE_UNUSABLE ||
					      file->state == FSL_FILE_EMPTY ||
					      file->state == FSL_FILE_DUPLICATE;
		coverage->n_files_partial += file->state == FSL_FILE_PARTIAL;
		coverage->n_bytes += file->n_bytes;
		coverage->n_bytes_before += file->n_bytes_before;
		coverage->n_bytes_behind += file->n_bytes_behind;
		coverage->n_records += file->n_records;
		for (size_t d = 0; d < FSL_DROPS_N; d++) {
			coverage->n_dropped[d] += file->n_dropped[d];
		}
	}
}

static void widen(struct fsl_coverage *coverage, int64_t begin_ns, int64_t end_ns)
{
	if (coverage->begin_ns == FSL_NS_ABSENT || begin_ns < coverage->begin_ns) {
		coverage->begin_ns = begin_ns;
	}
	coverage->end_ns = end_ns > coverage->end_ns ? end_ns : coverage->end_ns;
}

static void measure_time(struct fsl_coverage *coverage, const struct fsl_run *run)
{
	coverage->begin_ns = FSL_NS_ABSENT;
	coverage->end_ns = FSL_NS_ABSENT;
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (rank->n_ops > 0) {
			widen(coverage, fsl_op_begin_ns(&rank->ops[0]),
			      fsl_op_end_ns(&rank->ops[rank->n_ops - 1]));
		}
		if (rank->n_stages > 0) {
			widen(coverage, rank->stages[0].begin_ns,
			      rank->stages[rank->n_stages - 1].end_ns);
		}
	}
}

enum fsl_status fsl_fuse_coverage(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	struct fsl_coverage *coverage = &out->coverage;
	FSL_TRY(count_ranks(out, facts, err));
	fsl_coverage_count_files(coverage, facts->run);
	measure_time(coverage, facts->run);
	coverage->n_steps = facts->steps->n_items;
	coverage->steps_source = facts->steps->source != NULL ? facts->steps->source : "";
	coverage->n_groups = facts->match->n_groups;
	coverage->n_groups_matched = facts->match->n_groups_matched;
	coverage->n_groups_disagreeing = facts->match->n_groups_disagreeing;
	coverage->ends_disagree_ms = facts->match->disagree_max_ms;
	coverage->n_p2p = facts->match->n_p2p;
	coverage->n_p2p_matched = facts->match->n_p2p_matched;
	coverage->n_instances = facts->match->n_instances;
	coverage->n_instances_matched = facts->match->n_instances_matched;
	coverage->clock_offset_max_ms = facts->match->offset_max_ms;
	coverage->clock_residual_ms = facts->match->residual_ms;
	return FSL_OK;
}

/* Ranks that nobody else can be compared with: no other of their stage uses the same operators. */

static bool is_alone(const struct fsl_blame *blame, size_t r)
{
	return fsl_peers_n(&blame->peers, r) == 1;
}

/* How long the others of its groups waited for the latest rank of its stage besides @r, ms per
 * step; NaN if @r is the only one. */
static double latest_of_stage_ms(const struct fsl_blame *blame, size_t r)
{
	double latest_ms = NAN;
	for (size_t k = 0; k < blame->n_ranks; k++) {
		if (k != r && fsl_peers_n(&blame->peers, k) > 0 &&
		    blame->peers.stage_of[k] == blame->peers.stage_of[r]) {
			latest_ms = fmax(latest_ms, blame->charges[k].late_ms_per_step);
		}
	}
	return latest_ms;
}

/* Some two ranks do the same work, so that they could be compared. */
static bool has_peers(const struct fsl_peers *peers)
{
	for (size_t k = 0; k < peers->n_classes; k++) {
		if (peers->begin[k + 1] - peers->begin[k] > 1) {
			return true;
		}
	}
	return false;
}

/*
 * Why a job without culprits cannot be called normal: no two ranks do the same work, or others wait
 * for a rank that can be compared with nobody, by what counts more than for any other of its stage.
 * In the verdict's arena or static; NULL when it can.
 */
static const char *why_alone(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_blame *blame = facts->blame;
	double worst_ms = 0.0;
	size_t worst = SIZE_MAX;
	if (!has_peers(&blame->peers)) {
		return "no two ranks do the same work: each was compared with its own past only, "
		       "where nothing changed for good";
	}
	for (size_t r = 0; r < blame->n_ranks; r++) {
		if (!is_alone(blame, r)) {
			continue;
		}
		double more_ms = blame->charges[r].late_ms_per_step - latest_of_stage_ms(blame, r);
		if (more_ms >= fsl_least_loss_ms(facts->config, blame->step_ms) &&
		    more_ms > worst_ms) {
			worst_ms = more_ms;
			worst = r;
		}
	}
	if (worst == SIZE_MAX) {
		return NULL;
	}
	return fsl_arena_printf(
		&out->arena,
		"the others wait %.1f ms per step longer for rank %" PRId32
		" than for any other of its stage, and none of these uses the same operators: "
		"whether it is slow or has more to do cannot be told",
		worst_ms, facts->run->ranks[worst].rank);
}

/* Tells in the coverage how many ranks were compared with their own past only. */
static enum fsl_status note_alone(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	size_t n_alone = 0, first = 0;
	for (size_t r = facts->blame->n_ranks; r-- > 0;) {
		if (is_alone(facts->blame, r)) {
			n_alone++;
			first = r;
		}
	}
	if (n_alone == 0) {
		return FSL_OK;
	}
	return fsl_coverage_add_skipped(
		&out->coverage, &out->arena, err,
		"own_time: %zu of %zu ranks use operators that no other of their stage uses, "
		"compared with their own past only: the lowest is rank %" PRId32,
		n_alone, out->coverage.n_ranks_seen, facts->run->ranks[first].rank);
}

/* Data that ends while the others' goes on: of a rank, or of the steps. Nobody knows what happened
 * after that. */

bool fsl_fuse_is_short(const struct fsl_case *facts, size_t r)
{
	const struct fsl_rank *rank = &facts->run->ranks[r];
	const struct fsl_steps *steps = facts->steps;
	if (rank->n_ops == 0 || steps->n_items <= FSL_SHORT_STEPS_MIN) {
		return false;
	}
	int64_t last_ns = fsl_op_end_ns(&rank->ops[rank->n_ops - 1]) - facts->match->clock_ns[r];
	return last_ns < steps->items[steps->n_items - FSL_SHORT_STEPS_MIN].begin_ns;
}

/* How many ranks have no data of the last steps of the job; *first: the lowest of them, untouched
 * without any. */
static size_t count_short(const struct fsl_case *facts, size_t *first)
{
	size_t n = 0;
	for (size_t r = facts->run->n_ranks; r-- > 0;) {
		if (fsl_fuse_is_short(facts, r)) {
			*first = r;
			n++;
		}
	}
	return n;
}

/* Tells them in the coverage. */
static enum fsl_status note_short(struct fsl_localisation *out, const struct fsl_case *facts,
				  struct fsl_error *err)
{
	size_t first = 0, n = count_short(facts, &first);
	if (n == 0) {
		return FSL_OK;
	}
	return fsl_coverage_add_skipped(
		&out->coverage, &out->arena, err,
		"own_time: data of %zu of %zu ranks ends %d steps or more before the others', what "
		"they did then is not known: the lowest is rank %" PRId32,
		n, out->coverage.n_ranks_seen, (int)FSL_SHORT_STEPS_MIN,
		facts->run->ranks[first].rank);
}

/* Why a job without culprits cannot be called normal: its steps are known for a part of the time
 * only. In the verdict's arena; NULL when they are known to the end. */
static const char *why_unjudged(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_coverage *coverage = &out->coverage;
	const struct fsl_steps *steps = facts->steps;
	if (steps->n_items == 0) {
		return NULL;
	}
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	double left_ns = (double)(coverage->end_ns - last->begin_ns - last->dur_ns);
	double share = left_ns / (double)(coverage->end_ns - coverage->begin_ns);
	if (!(share > FSL_UNJUDGED_SHARE_MAX)) {
		return NULL;
	}
	return fsl_arena_printf(
		&out->arena,
		"nothing is wrong in %zu steps (%s), but operators go on behind the "
		"last of them for %.0f %% of the time, which was not judged",
		steps->n_items, coverage->steps_source, 100.0 * share);
}

/* Why nothing can be said, NULL when enough was seen. */
static const char *too_little(struct fsl_localisation *out, const struct fsl_case *facts)
{
	const struct fsl_coverage *coverage = &out->coverage;
	if (!has_markers(facts->run) && facts->run->n_ranks > 0) {
		return fsl_arena_printf(&out->arena,
					"%s; step times alone tell no rank from another",
					facts->perception->reason);
	}
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
static bool is_host_verdict(struct fsl_localisation *out, const struct fsl_run *run)
{
	bool *is_named = NULL;
	struct tenant *tenants = NULL;
	if (fsl_fuse_named(&is_named, out, run, NULL) != FSL_OK ||
	    FSL_ARENA_NEW(tenants, &out->arena, run->n_ranks, "tenants", NULL) != FSL_OK) {
		return false;
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		tenants[r] = (struct tenant){run->ranks[r].server_ip, is_named[r]};
	}
	return are_whole_hosts(tenants, run->n_ranks);
}

static enum fsl_verdict_kind kind_of(struct fsl_localisation *out, const struct fsl_run *run)
{
	size_t n_network = 0;
	for (size_t i = 0; i < out->n_culprits; i++) {
		n_network += out->culprits[i].cause == FSL_CAUSE_NETWORK;
	}
	if (n_network == out->n_culprits) {
		return out->culprits[0].is_uplink ? FSL_VERDICT_SLOW_HOST : FSL_VERDICT_SLOW_LINK;
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
				has_peers(&facts->blame->peers)
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
	size_t first = 0, n_unseen = count_short(facts, &first);
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

/* A slowdown of the transfers of all ranks. */
static void conclude_common(struct fsl_localisation *out, const struct fsl_case *facts,
			    const struct fsl_link *link, const struct fsl_network *network,
			    double seen)
{
	const struct fsl_channel *channel = &facts->match->channels[link->channel_idx];
	const char *op = fsl_strpool_text(facts->run->names, channel->op_id);
	out->kind = FSL_VERDICT_JOB_SLOWDOWN;
	out->confidence = FSL_CONFIDENCE_SLOWDOWN * seen;
	out->fault_ns = facts->steps->items[link->episode.begin].begin_ns;
	switch (network->kind) {
	case FSL_NETWORK_MOVES:
		out->reason = fsl_arena_printf(
			&out->arena,
			"transfer in %s takes %.1f ms per step against %.1f ms, for a while in one "
			"group and then in another, and nobody is late in it: look for traffic of "
			"other jobs on the network that they share",
			op, link->transfer_ms, link->peers_ms);
		break;
	case FSL_NETWORK_LINKS:
	case FSL_NETWORK_ALL:
	case FSL_NETWORK_HOST:
		out->reason = fsl_arena_printf(
			&out->arena,
			"transfer in %s among %s%zu ranks takes %.1f ms per step against %.1f ms "
			"%s, and nobody is late in it: look at the network that they share",
			op, network->kind == FSL_NETWORK_ALL ? "groups that hold all " : "all ",
			network->kind == FSL_NETWORK_ALL ? fsl_ranks_seen(facts->run)
							 : channel->n_members,
			link->transfer_ms, link->peers_ms,
			link->n_peers == 0 ? "of its own past" : "of like groups");
		break;
	}
}

/* Verdict without culprits, in the light of perception. @link: of all ranks; NULL: none. */
static void conclude_unnamed(struct fsl_localisation *out, const struct fsl_case *facts,
			     const char *why_too_little, const struct fsl_link *link,
			     const struct fsl_network *network)
{
	const struct fsl_perception *perception = facts->perception;
	double seen = (double)out->coverage.n_ranks_seen / (double)out->coverage.n_ranks_expected;
	if (why_too_little != NULL) {
		bool is_normal = perception->kind == FSL_VERDICT_NORMAL &&
				 facts->run->n_ranks > 0 && !has_markers(facts->run);
		out->kind = is_normal ? FSL_VERDICT_NORMAL : FSL_VERDICT_INSUFFICIENT_EVIDENCE;
		out->confidence = is_normal ? FSL_CONFIDENCE_NORMAL : 0.0;
		out->reason = why_too_little;
		return;
	}
	if (link != NULL) {
		conclude_common(out, facts, link, network, seen);
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
	const char *why_untold = why_alone(out, facts);
	out->lacks_peers = why_untold != NULL;
	why_untold = out->lacks_peers ? why_untold : why_unjudged(out, facts);
	if (why_untold != NULL) {
		out->kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
		out->reason = why_untold;
		return;
	}
	out->kind = FSL_VERDICT_NORMAL;
	out->confidence = (fsl_blame_work_may_hide(facts) ? FSL_CONFIDENCE_NORMAL_HIDDEN
							  : FSL_CONFIDENCE_NORMAL) *
			  seen;
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
	struct fsl_culprit *slow = NULL;
	bool *has_stopped = NULL;
	FSL_TRY(FSL_ARENA_NEW(slow, &out->arena, n_slow, "slow", err));
	for (size_t i = 0; i < n_slow; i++) {
		slow[i] = out->culprits[i];
	}
	out->n_culprits = 0;
	for (size_t i = 0; i < n_stopped; i++) {
		struct fsl_culprit culprit =
			stopped_culprit(facts->run, perception->stopped_first[i]);
		FSL_TRY(FSL_APPEND(out, culprits, &culprit, err));
	}
	FSL_TRY(fsl_fuse_named(&has_stopped, out, facts->run, err));
	for (size_t i = 0; i < n_slow; i++) {
		if (!has_stopped[fsl_run_rank_idx(facts->run, slow[i].rank)]) {
			FSL_TRY(FSL_APPEND(out, culprits, &slow[i], err));
		}
	}
	return FSL_OK;
}

/* If all ranks that were seen stopped together, they may wait for one that was not. Step times and
 * logs are no ground for that: nobody has to leave them. */
static const char *tell_hang(struct fsl_localisation *out, const struct fsl_perception *perception)
{
	const struct fsl_coverage *coverage = &out->coverage;
	if (perception->n_stopped_first > 0 || coverage->n_missing_ranks == 0 ||
	    coverage->n_ranks_seen == 0) {
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
	FSL_TRY(fsl_fuse_coverage(out, facts, err));
	if (facts->verification != NULL) {
		out->replay = facts->verification->summary;
	}
	const char *why_too_little = too_little(out, facts);
	if (why_too_little == NULL) {
		FSL_TRY(fsl_fuse_culprits(out, facts, err));
		if (facts->verification != NULL) {
			/* Detectors take its place. */
			fsl_verification_drop_graph(facts->verification);
		}
		if (!facts->is_brief) {
			FSL_TRY(fsl_fuse_suspects(out, facts, err));
		}
		FSL_TRY(note_alone(out, facts, err));
		FSL_TRY(note_short(out, facts, err));
	}
	if (facts->perception->kind == FSL_VERDICT_HANG) {
		FSL_TRY(conclude_hang(out, facts, err));
	} else if (out->n_culprits > 0) {
		fsl_fuse_conclude_named(out, facts);
	} else {
		const struct fsl_link *link = NULL;
		struct fsl_network network = {FSL_NETWORK_LINKS, NULL};
		if (why_too_little == NULL) {
			FSL_TRY(fsl_fuse_common_link(&link, &network, out, facts, err));
		}
		conclude_unnamed(out, facts, why_too_little, link, &network);
		if (out->kind == FSL_VERDICT_NORMAL || out->kind == FSL_VERDICT_JOB_SLOWDOWN) {
			FSL_TRY(fsl_fuse_imbalance(out, facts, err));
		}
		if (out->kind == FSL_VERDICT_NORMAL) {
			FSL_TRY(fsl_rare_transfers_tell(out, facts, err));
		}
	}
	return facts->is_brief ? FSL_OK : fsl_fuse_details(out, facts, err);
}
