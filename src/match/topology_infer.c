/*
 * Kinds of communicators from which ranks share them, how they nest and how often they are used.
 * Operators decide only what membership cannot: point-to-point and all-to-all name their groups.
 */
#include "base/log.h"
#include "match/limits.h"
#include "match/topology_shape.h"

struct infer {
	struct fsl_comms *comms;
	struct fsl_arena scratch;
	struct fsl_rank_facts facts;
	double p2p_rate; /* of the busiest pipeline; 0: none */
	double n_steps;  /* 0: unknown */
	int32_t *parent; /* union-find over rank numbers: ranks joined by pipelines */
};

static double rate_of(const struct fsl_comm *comm)
{
	return (double)comm->n_calls_all / (double)comm->n_ranks;
}

static void settle(struct fsl_comm *comm, enum fsl_group_kind kind, const char *why)
{
	comm->kind = kind;
	comm->why = why;
}

static bool is_open(const struct fsl_comm *comm)
{
	return comm->why == NULL;
}

static void settle_family(struct fsl_family *family, enum fsl_group_kind kind, const char *why)
{
	for (size_t i = 0; i < family->n_comms; i++) {
		settle(family->comms[i], kind, why);
	}
}

static bool is_mostly(const struct fsl_comm *comm, enum fsl_op_class op_class)
{
	return comm->n_calls[op_class] > 0 &&
	       comm->n_calls[op_class] * FSL_OP_CLASS_SHARE >= comm->n_calls_all;
}

/* Steps in which @rank has operators, as far as its stages number them; 0: they do not. */
static double steps_of_rank(const struct fsl_rank *rank)
{
	int64_t least = INT64_MAX, greatest = -1;
	if (rank->n_ops == 0) {
		return 0.0;
	}
	int64_t begin_ns = fsl_op_begin_ns(&rank->ops[0]);
	int64_t end_ns = fsl_op_end_ns(&rank->ops[rank->n_ops - 1]);
	for (size_t i = 0; i < rank->n_stages; i++) {
		const struct fsl_stage *stage = &rank->stages[i];
		if (stage->step >= 0 && stage->end_ns >= begin_ns && stage->begin_ns <= end_ns) {
			least = stage->step < least ? stage->step : least;
			greatest = stage->step > greatest ? stage->step : greatest;
		}
	}
	return greatest >= least ? (double)(greatest - least + 1) : 0.0;
}

static enum fsl_status gather_facts(struct infer *infer, const struct fsl_run *run,
				    struct fsl_error *err)
{
	struct fsl_rank_facts *facts = &infer->facts;
	facts->n_numbers = run->n_ranks == 0 ? 0 : (size_t)run->ranks[run->n_ranks - 1].rank + 1;
	FSL_TRY(FSL_ARENA_NEW(facts->has_ops, &infer->scratch, facts->n_numbers, "has_ops", err));
	FSL_TRY(FSL_ARENA_NEW(facts->host, &infer->scratch, facts->n_numbers, "host", err));
	FSL_TRY(FSL_ARENA_NEW(infer->parent, &infer->scratch, facts->n_numbers, "parent", err));
	for (size_t i = 0; i < facts->n_numbers; i++) {
		facts->host[i] = "";
		infer->parent[i] = (int32_t)i;
	}
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		facts->has_ops[rank->rank] = rank->n_ops > 0;
		facts->host[rank->rank] = rank->server_ip;
		facts->n_seen += rank->n_ops > 0;
		if (infer->n_steps <= 0.0) {
			infer->n_steps = steps_of_rank(rank);
		}
	}
	infer->n_steps = infer->n_steps > 0.0 ? infer->n_steps : infer->comms->n_steps;
	return FSL_OK;
}

static int32_t root_of(struct infer *infer, int32_t rank)
{
	while (infer->parent[rank] != rank) {
		infer->parent[rank] = infer->parent[infer->parent[rank]];
		rank = infer->parent[rank];
	}
	return rank;
}

static void join_ranks(struct infer *infer, const struct fsl_comm *comm)
{
	int32_t root = root_of(infer, comm->ranks[0]);
	FSL_ASSERT(comm->ranks[comm->n_ranks - 1] < (int64_t)infer->facts.n_numbers);
	for (size_t i = 1; i < comm->n_ranks; i++) {
		infer->parent[root_of(infer, comm->ranks[i])] = root;
	}
}

static bool is_joined(struct infer *infer, const struct fsl_comm *comm)
{
	int32_t root = root_of(infer, comm->ranks[0]);
	for (size_t i = 1; i < comm->n_ranks; i++) {
		if (root_of(infer, comm->ranks[i]) != root) {
			return false;
		}
	}
	return true;
}

/* Kinds that need no comparison with other communicators. */
static void settle_obvious(struct infer *infer)
{
	for (size_t i = 0; i < infer->comms->n_items; i++) {
		struct fsl_comm *comm = &infer->comms->items[i];
		if (comm->name_id == FSL_STR_NONE) {
			settle(comm, FSL_GROUP_UNKNOWN, "the input names no communicators");
		} else if (comm->n_ranks == 1) {
			settle(comm, FSL_GROUP_UNKNOWN, "only one rank with data uses it");
		} else if (!is_mostly(comm, FSL_OP_P2P) && is_mostly(comm, FSL_OP_ALLTOALL)) {
			settle(comm, FSL_GROUP_EP, "carries all-to-all operators");
		} else {
			comm->why = NULL;
		}
	}
}

/* True when open groups of collectives smaller than the job hold every rank. */
static enum fsl_status find_cover(struct infer *infer, bool *is_covered, struct fsl_error *err)
{
	bool *is_member = NULL;
	FSL_TRY(FSL_ARENA_NEW(is_member, &infer->scratch, infer->facts.n_numbers, "is_member",
			      err));
	size_t n_members = 0;
	for (size_t c = 0; c < infer->comms->n_items; c++) {
		const struct fsl_comm *comm = &infer->comms->items[c];
		if (!is_open(comm) || is_mostly(comm, FSL_OP_P2P) ||
		    comm->n_ranks == infer->facts.n_seen) {
			continue;
		}
		for (size_t i = 0; i < comm->n_ranks; i++) {
			n_members += !is_member[comm->ranks[i]];
			is_member[comm->ranks[i]] = true;
		}
	}
	*is_covered = n_members == infer->facts.n_seen;
	return FSL_OK;
}

/* True when no two members of @comm are joined; marks them as held. */
static bool is_spread(struct infer *infer, const struct fsl_comm *comm, bool *is_held)
{
	for (size_t i = 0; i < comm->n_ranks; i++) {
		is_held[comm->ranks[i]] = true;
		if (i > 0 && root_of(infer, comm->ranks[i]) == root_of(infer, comm->ranks[i - 1])) {
			return false;
		}
	}
	return true;
}

/* True when the groups of @others never have two ranks of one ring, and hold every rank of one. */
static bool are_rings(struct infer *infer, const struct fsl_family *rings,
		      const struct fsl_family *others, size_t n_others, bool *is_held)
{
	for (size_t f = 0; f < n_others; f++) {
		for (size_t c = 0; c < others[f].n_comms; c++) {
			if (!is_spread(infer, others[f].comms[c], is_held)) {
				return false;
			}
		}
	}
	for (size_t c = 0; c < rings->n_comms; c++) {
		for (size_t i = 0; i < rings->comms[c]->n_ranks; i++) {
			if (!is_held[rings->comms[c]->ranks[i]]) {
				return false;
			}
		}
	}
	return true;
}

/* Groups that pass data around a ring below the pipelines: the family of least stride. */
static enum fsl_status settle_rings(struct infer *infer, const struct fsl_families *families,
				    struct fsl_error *err)
{
	if (families->n_items < 2 || families->items[0].stride == 0) {
		return FSL_OK;
	}
	struct fsl_family *rings = &families->items[0];
	bool *is_held = NULL;
	FSL_TRY(FSL_ARENA_NEW(is_held, &infer->scratch, infer->facts.n_numbers, "is_held", err));
	for (size_t i = 0; i < rings->n_comms; i++) {
		join_ranks(infer, rings->comms[i]);
	}
	if (are_rings(infer, rings, rings + 1, families->n_items - 1, is_held)) {
		settle_family(rings, FSL_GROUP_CP,
			      "point-to-point among ranks that the pipelines keep apart");
	}
	for (size_t i = 0; i < infer->facts.n_numbers; i++) {
		infer->parent[i] = (int32_t)i;
	}
	return FSL_OK;
}

/* The open communicators, point-to-point or collective ones, in @list of comms->n_items. */
static size_t list_open(const struct infer *infer, bool wants_p2p, struct fsl_comm **list)
{
	size_t n = 0;
	for (size_t i = 0; i < infer->comms->n_items; i++) {
		struct fsl_comm *comm = &infer->comms->items[i];
		if (is_open(comm) && is_mostly(comm, FSL_OP_P2P) == wants_p2p) {
			list[n++] = comm;
		}
	}
	return n;
}

static enum fsl_status settle_p2p(struct infer *infer, struct fsl_comm **list,
				  struct fsl_error *err)
{
	bool is_covered = false;
	FSL_TRY(find_cover(infer, &is_covered, err));
	struct fsl_families families = {0};
	size_t n = list_open(infer, true, list);
	for (size_t i = 0; i < n; i++) {
		if (is_covered && list[i]->n_ranks == infer->facts.n_seen) {
			settle(list[i], FSL_GROUP_WORLD,
			       "all ranks, with groups inside that hold every rank");
		}
	}
	n = list_open(infer, true, list);
	FSL_TRY(fsl_families_build(&families, &infer->scratch, list, n, &infer->facts, err));
	FSL_TRY(settle_rings(infer, &families, err));
	n = list_open(infer, true, list);
	for (size_t i = 0; i < n; i++) {
		settle(list[i], FSL_GROUP_PP, "carries point-to-point operators");
		join_ranks(infer, list[i]);
		double rate = rate_of(list[i]);
		infer->p2p_rate = rate > infer->p2p_rate ? rate : infer->p2p_rate;
	}
	return FSL_OK;
}

/* Collectives of all ranks, and those between stages of one pipeline. */
static void settle_job_wide(struct infer *infer, struct fsl_comm **list)
{
	bool has_pipeline = infer->p2p_rate > 0.0;
	double inner_rate = 0.0, best_rate = 0.0;
	size_t n = list_open(infer, false, list);
	for (size_t i = 0; i < n; i++) {
		bool is_job_wide = list[i]->n_ranks == infer->facts.n_seen;
		double rate = rate_of(list[i]);
		if (!is_job_wide && is_joined(infer, list[i])) {
			settle(list[i], FSL_GROUP_UNKNOWN,
			       "stages of one pipeline, as the embedding layers share");
		} else if (is_job_wide) {
			best_rate = rate > best_rate ? rate : best_rate;
		} else {
			inner_rate = rate > inner_rate ? rate : inner_rate;
		}
	}
	n = list_open(infer, false, list);
	for (size_t i = 0; i < n; i++) {
		double rate = rate_of(list[i]);
		if (list[i]->n_ranks != infer->facts.n_seen) {
			continue;
		}
		if (has_pipeline) {
			settle(list[i], FSL_GROUP_WORLD, "all ranks of a job with pipelines");
		} else if (rate <= FSL_SYNC_CALLS_MAX) {
			settle(list[i], FSL_GROUP_WORLD, "all ranks, used once or twice");
		} else if (rate < inner_rate || rate * FSL_RATE_RATIO < best_rate) {
			settle(list[i], FSL_GROUP_WORLD,
			       "all ranks, used less often than other groups");
		}
	}
}

/* Tensor- or data-parallel: a family that no other crosses. */
static void settle_alone(const struct infer *infer, struct fsl_family *family)
{
	bool has_steps = infer->n_steps > 0.0;
	if (has_steps && family->rate <= FSL_DP_CALLS_PER_STEP_MAX * infer->n_steps) {
		settle_family(family, FSL_GROUP_DP, "used a few times a step");
	} else if (infer->p2p_rate > 0.0 && family->rate >= infer->p2p_rate) {
		settle_family(family, FSL_GROUP_TP, "used as often as the pipelines");
	} else if (infer->p2p_rate > 0.0) {
		settle_family(family, FSL_GROUP_DP, "used less often than the pipelines");
	} else if (family->spans_hosts) {
		settle_family(family, FSL_GROUP_DP, "no other group, spans servers");
	} else if (has_steps) {
		settle_family(family, FSL_GROUP_TP, "on one server, used many times a step");
	} else if (family->only_allreduce) {
		settle_family(family, FSL_GROUP_DP,
			      "no other group and no steps; told by its operator alone");
	} else {
		settle_family(family, FSL_GROUP_TP,
			      "no other group and no steps; told by its operators alone");
	}
}

/* Families and the relation of each to the base, the one that is settled first. */
struct layout {
	struct fsl_families families;
	enum fsl_relation *relation;
	struct fsl_owner_map owners;
};

static bool is_open_family(const struct fsl_family *family)
{
	return is_open(family->comms[0]);
}

static enum fsl_relation relate(const struct infer *infer, const struct layout *layout,
				const struct fsl_family *base, const struct fsl_family *other)
{
	return fsl_family_relate(base, other, &layout->owners, infer->facts.n_numbers);
}

/* The busiest family of neighbouring ranks; if there is none, the busiest of all. */
static struct fsl_family *find_base(const struct layout *layout)
{
	struct fsl_family *best = NULL;
	for (size_t f = 0; f < layout->families.n_items; f++) {
		struct fsl_family *family = &layout->families.items[f];
		bool is_nearer = best != NULL && family->stride == 1 && best->stride != 1;
		bool is_farther = best != NULL && family->stride != 1 && best->stride == 1;
		if (best == NULL || is_nearer || (!is_farther && family->rate > best->rate)) {
			best = family;
		}
	}
	return best;
}

/*
 * True if some family meets each group of the base in one rank only. A base of neighbouring ranks
 * is the tensor-parallel family then, as these are placed closest; any other base must also be used
 * much more often.
 */
static bool is_crossed(const struct infer *infer, struct layout *layout,
		       const struct fsl_family *base)
{
	bool has_crossing = false;
	for (size_t f = 0; f < layout->families.n_items; f++) {
		const struct fsl_family *family = &layout->families.items[f];
		layout->relation[f] =
			family == base ? FSL_RELATION_INSIDE : relate(infer, layout, base, family);
		if (layout->relation[f] == FSL_RELATION_ORTHOGONAL && family->stride != 1) {
			has_crossing = has_crossing || base->stride == 1 ||
				       family->rate * FSL_RATE_RATIO <= base->rate;
		}
	}
	return has_crossing;
}

/* The largest open family (orthogonal to the base if asked); the rarer of equals. */
static struct fsl_family *find_dp(const struct layout *layout, bool wants_orthogonal)
{
	struct fsl_family *best = NULL;
	for (size_t f = 0; f < layout->families.n_items; f++) {
		struct fsl_family *family = &layout->families.items[f];
		bool is_wanted =
			is_open_family(family) &&
			(!wants_orthogonal || layout->relation[f] == FSL_RELATION_ORTHOGONAL);
		if (is_wanted && (best == NULL || family->size > best->size ||
				  (family->size == best->size && family->rate < best->rate))) {
			best = family;
		}
	}
	return best;
}

/* One open family against the data-parallel one. */
static void settle_against_dp(const struct fsl_family *dp, struct fsl_family *family,
			      enum fsl_relation relation, bool has_tp)
{
	bool is_busier = family->rate > dp->rate;
	if (relation == FSL_RELATION_INSIDE && !is_busier) {
		settle_family(family, FSL_GROUP_DP, "lies inside a dp group");
	} else if (relation == FSL_RELATION_INSIDE) {
		settle_family(family, FSL_GROUP_CP, "lies inside a dp group, used more often");
	} else if (relation == FSL_RELATION_ORTHOGONAL && has_tp && is_busier) {
		settle_family(family, FSL_GROUP_CP,
			      "orthogonal to tp and dp, used more often than dp");
	} else if (relation == FSL_RELATION_ORTHOGONAL && !has_tp &&
		   family->rate >= FSL_RATE_RATIO * dp->rate) {
		settle_family(family, FSL_GROUP_TP, "orthogonal to dp, used much more often");
	} else if (relation == FSL_RELATION_OUTSIDE) {
		settle_family(family, FSL_GROUP_UNKNOWN, "made of whole dp groups");
	}
}

/* The remaining families, by their relation to the tensor-parallel one. */
static void settle_rest(struct layout *layout, const struct fsl_family *tp)
{
	for (size_t f = 0; f < layout->families.n_items; f++) {
		struct fsl_family *family = &layout->families.items[f];
		enum fsl_relation relation = tp != NULL ? layout->relation[f] : FSL_RELATION_MIXED;
		if (!is_open_family(family)) {
			continue;
		}
		if (relation == FSL_RELATION_APART && family->stride == tp->stride &&
		    family->stride > 0) {
			settle_family(family, FSL_GROUP_TP,
				      "placed as the tp groups of other ranks");
		} else if (relation == FSL_RELATION_OUTSIDE) {
			settle_family(family, FSL_GROUP_UNKNOWN, "made of whole tp groups");
		} else if (relation == FSL_RELATION_INSIDE) {
			settle_family(family, FSL_GROUP_UNKNOWN, "lies inside a tp group");
		} else {
			settle_family(family, FSL_GROUP_UNKNOWN,
				      "neither crosses the other groups nor nests with them");
		}
	}
}

static void settle_families(struct infer *infer, struct layout *layout)
{
	struct fsl_family *base = find_base(layout);
	if (base == NULL) {
		return;
	}
	bool is_tp = is_crossed(infer, layout, base);
	if (is_tp) {
		settle_family(base, FSL_GROUP_TP,
			      base->stride == 1
				      ? "neighbouring ranks, crossed by other groups"
				      : "used most often, crossed by groups used less often");
	} else if (base->stride == 1 || layout->families.n_items == 1) {
		settle_alone(infer, base);
		is_tp = base->comms[0]->kind == FSL_GROUP_TP;
	}
	struct fsl_family *dp = base;
	if (is_tp || is_open_family(base)) {
		dp = find_dp(layout, is_tp);
	}
	if (dp != NULL && is_open_family(dp)) {
		settle_family(dp, FSL_GROUP_DP,
			      is_tp ? "meets each tp group in at most one rank"
				    : "the largest groups; none of neighbouring ranks");
	}
	for (size_t f = 0; f < layout->families.n_items && dp != NULL; f++) {
		struct fsl_family *family = &layout->families.items[f];
		if (is_open_family(family) &&
		    (!is_tp || layout->relation[f] == FSL_RELATION_ORTHOGONAL)) {
			settle_against_dp(dp, family, relate(infer, layout, dp, family), is_tp);
		}
	}
	settle_rest(layout, is_tp ? base : NULL);
}

static enum fsl_status settle_partitions(struct infer *infer, struct fsl_comm **list,
					 struct fsl_error *err)
{
	struct layout layout = {0};
	size_t n = list_open(infer, false, list);
	FSL_TRY(fsl_families_build(&layout.families, &infer->scratch, list, n, &infer->facts, err));
	FSL_TRY(fsl_owner_map_init(&layout.owners, &infer->scratch, infer->facts.n_numbers, n,
				   err));
	FSL_TRY(FSL_ARENA_NEW(layout.relation, &infer->scratch, layout.families.n_items, "relation",
			      err));
	settle_families(infer, &layout);
	return FSL_OK;
}

static enum fsl_status settle_all(struct infer *infer, const struct fsl_run *run,
				  struct fsl_error *err)
{
	struct fsl_comm **list = NULL;
	FSL_TRY(gather_facts(infer, run, err));
	FSL_TRY(FSL_ARENA_NEW(list, &infer->scratch, infer->comms->n_items, "list", err));
	settle_obvious(infer);
	FSL_TRY(settle_p2p(infer, list, err));
	settle_job_wide(infer, list);
	return settle_partitions(infer, list, err);
}

enum fsl_status fsl_comms_infer(struct fsl_comms *comms, const struct fsl_run *run,
				struct fsl_error *err)
{
	struct infer infer = {.comms = comms};
	enum fsl_status status = settle_all(&infer, run, err);
	fsl_arena_fini(&infer.scratch);
	return status;
}
