/* The communicators of a run: one pass over all operators, ranks on threads. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "match/limits.h"
#include "match/topology_parts.h"

/* Which operators the ranks use, counted by name. */

/* splitmix64 finaliser (Steele, Lea, Flood 2014): spreads small ids over 64 bits. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint64_t fsl_op_set_with(uint64_t set, uint32_t op_id)
{
	return set + mix(op_id);
}

/* Operators of one rank, counted by name; of one thread. */
struct census {
	size_t n_names;
	uint32_t *n_uses; /* per name; 0 between two ranks */
	uint32_t *seen;   /* names in order of first use */
};

static uint64_t count_rank(const struct fsl_rank *rank, struct census *census)
{
	uint64_t set = 0;
	size_t n_seen = 0;
	for (size_t i = 0; i < rank->n_ops; i++) {
		fsl_op_fetch_ahead(&rank->ops[i]);
		uint32_t op_id = rank->ops[i].op_id;
		if (op_id < census->n_names && census->n_uses[op_id]++ == 0) {
			census->seen[n_seen++] = op_id;
		}
	}
	for (size_t k = 0; k < n_seen; k++) {
		uint32_t op_id = census->seen[k];
		if ((uint64_t)census->n_uses[op_id] * FSL_RARE_OP_SHARE >= rank->n_ops) {
			set = fsl_op_set_with(set, op_id);
		}
		census->n_uses[op_id] = 0;
	}
	return set;
}

enum fsl_status fsl_op_sets_count(uint64_t *sets, const struct fsl_run *run, struct fsl_error *err)
{
	size_t n_names = fsl_strpool_size(run->names);
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		struct fsl_arena scratch = {0};
		struct census census = {n_names,
					fsl_arena_alloc(&scratch, n_names * sizeof(uint32_t)),
					fsl_arena_alloc(&scratch, n_names * sizeof(uint32_t))};
		is_short = census.n_uses == NULL || census.seen == NULL;
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t r = 0; r < run->n_ranks; r++) {
			sets[r] = is_short ? 0 : count_rank(&run->ranks[r], &census);
		}
		fsl_arena_fini(&scratch);
	}
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_names)
			: FSL_OK;
}

enum { NAME_MAX_COMPARED = 128, CLASS_UNSEEN = UINT8_MAX };

enum fsl_op_class fsl_op_class_from_name(const char *name)
{
	/* In this order: "SendRecv" has no other class in it, every other key is unambiguous. */
	static const struct {
		const char *key;
		enum fsl_op_class op_class;
	} keys[] = {
		{"send", FSL_OP_P2P},
		{"recv", FSL_OP_P2P},
		{"receive", FSL_OP_P2P},
		{"alltoall", FSL_OP_ALLTOALL},
		{"moedistribute", FSL_OP_ALLTOALL}, /* rows of experts in a fused kernel */
		{"reducescatter", FSL_OP_REDUCESCATTER},
		{"allgather", FSL_OP_ALLGATHER},
		{"allreduce", FSL_OP_ALLREDUCE},
		{"broadcast", FSL_OP_BROADCAST},
	};
	char plain[NAME_MAX_COMPARED];
	size_t n = 0;
	for (; *name != '\0' && n + 1 < sizeof(plain); name++) {
		if (isalnum((unsigned char)*name)) {
			plain[n++] = (char)tolower((unsigned char)*name);
		}
	}
	plain[n] = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strstr(plain, keys[i].key) != NULL) {
			return keys[i].op_class;
		}
	}
	return FSL_OP_OTHER;
}

bool fsl_ranks_is_subset(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
	if (n_a > n_b) {
		return false;
	}
	size_t at = 0;
	for (size_t i = 0; i < n_a; i++) {
		while (at < n_b && b[at] < a[i]) {
			at++;
		}
		if (at == n_b || b[at] != a[i]) {
			return false;
		}
		at++;
	}
	return true;
}

static int compare_comms(const void *left, const void *right)
{
	const struct fsl_comm *a = left, *b = right;
	int order = fsl_ranks_compare(a->ranks, a->n_ranks, b->ranks, b->n_ranks);
	return order != 0 ? order : strcmp(a->name, b->name);
}

/* One rank's use of a communicator. */
struct use {
	size_t slot; /* name of the communicator; the last one: none */
	uint64_t n_calls[FSL_OP_CLASSES_N];
	uint32_t op_ids[FSL_COMM_OPS_MAX]; /* in order of first use */
	uint64_t n_uses[FSL_COMM_OPS_MAX]; /* of each of them */
	size_t n_op_ids;
};

/* The communicators of one rank, in order of first use. */
struct rank_uses {
	struct use *items;
	size_t n, capacity;
	bool has_more_ops;                 /* than FSL_COMM_OPS_MAX on one of them */
	int32_t least_step, greatest_step; /* of operators that have one; greatest -1: none */
};

/* Tables of one thread that counts the operators of a rank. */
struct collector {
	const struct fsl_run *run;
	size_t n_names;
	uint32_t *use_of;  /* by slot: the rank's use; UINT32_MAX between two ranks */
	uint8_t *class_of; /* by name */
	uint64_t *n_uses;  /* by name: of the rank; 0 between two ranks */
};

static bool collector_init(struct collector *collector, const struct fsl_run *run)
{
	size_t n_names = fsl_strpool_size(run->names);
	*collector = (struct collector){.run = run, .n_names = n_names};
	collector->use_of = fsl_calloc(n_names + 1, sizeof(*collector->use_of));
	collector->class_of = fsl_calloc(n_names + 1, sizeof(*collector->class_of));
	collector->n_uses = fsl_calloc(n_names + 1, sizeof(*collector->n_uses));
	if (collector->use_of == NULL || collector->class_of == NULL || collector->n_uses == NULL) {
		return false;
	}
	memset(collector->use_of, 0xff, (n_names + 1) * sizeof(*collector->use_of));
	memset(collector->class_of, CLASS_UNSEEN, n_names + 1);
	return true;
}

static void collector_fini(struct collector *collector)
{
	fsl_free(collector->n_uses);
	fsl_free(collector->class_of);
	fsl_free(collector->use_of);
}

static enum fsl_op_class class_of_op(const struct collector *collector, uint32_t op_id)
{
	if (op_id >= collector->n_names) {
		return FSL_OP_OTHER;
	}
	uint8_t *op_class = &collector->class_of[op_id];
	if (*op_class == CLASS_UNSEEN) {
		*op_class = (uint8_t)fsl_op_class_from_name(
			fsl_strpool_text(collector->run->names, op_id));
	}
	return (enum fsl_op_class) * op_class;
}

static void add_op_id(uint32_t op_ids[FSL_COMM_OPS_MAX], size_t *n_op_ids, uint32_t op_id)
{
	for (size_t i = 0; i < *n_op_ids; i++) {
		if (op_ids[i] == op_id) {
			return;
		}
	}
	if (*n_op_ids < FSL_COMM_OPS_MAX) {
		op_ids[(*n_op_ids)++] = op_id;
	}
}

/* One call more; true while the operator is told apart from others of the communicator. */
static bool count_call(struct use *use, uint32_t op_id)
{
	size_t k = 0;
	while (k < use->n_op_ids && use->op_ids[k] != op_id) {
		k++;
	}
	if (k == FSL_COMM_OPS_MAX) {
		return false;
	}
	if (k == use->n_op_ids) {
		use->op_ids[use->n_op_ids++] = op_id;
	}
	use->n_uses[k]++;
	return true;
}

/* The use of the communicator @slot, a new one at its first operator; NULL when out of memory. */
static struct use *use_of_slot(struct collector *collector, struct rank_uses *out, size_t slot)
{
	uint32_t *use_of = &collector->use_of[slot];
	if (*use_of == UINT32_MAX) {
		if (FSL_GROW(out->items, out->capacity, out->n + 1, NULL) != FSL_OK) {
			return NULL;
		}
		out->items[out->n] = (struct use){.slot = slot};
		*use_of = (uint32_t)out->n++;
	}
	return &out->items[*use_of];
}

/* Calls of each class, from those of each operator. */
static void add_classes(struct collector *collector, struct rank_uses *out)
{
	for (size_t i = 0; i < out->n; i++) {
		struct use *use = &out->items[i];
		for (size_t k = 0; k < use->n_op_ids; k++) {
			use->n_calls[class_of_op(collector, use->op_ids[k])] += use->n_uses[k];
		}
	}
}

/* Calls of an operator; all operators without a name are one. */
static uint64_t *count_of(struct collector *collector, uint32_t op_id)
{
	return &collector->n_uses[op_id < collector->n_names ? op_id : collector->n_names];
}

/* The operators of a rank over all its communicators, without rare ones. */
static uint64_t op_set_of(struct collector *collector, const struct rank_uses *uses, size_t n_ops)
{
	uint64_t set = 0;
	for (size_t i = 0; i < uses->n; i++) {
		const struct use *use = &uses->items[i];
		for (size_t k = 0; k < use->n_op_ids; k++) {
			*count_of(collector, use->op_ids[k]) += use->n_uses[k];
		}
	}
	collector->n_uses[collector->n_names] = 0;
	for (size_t i = 0; i < uses->n; i++) {
		const struct use *use = &uses->items[i];
		for (size_t k = 0; k < use->n_op_ids; k++) {
			uint64_t *n = count_of(collector, use->op_ids[k]);
			bool is_usual = *n > 0 && *n * FSL_RARE_OP_SHARE >= n_ops;
			set = is_usual ? fsl_op_set_with(set, use->op_ids[k]) : set;
			*n = 0; /* each once */
		}
	}
	return set;
}

static void note_step(struct rank_uses *out, int32_t step)
{
	if (step >= 0) {
		out->least_step = step < out->least_step ? step : out->least_step;
		out->greatest_step = step > out->greatest_step ? step : out->greatest_step;
	}
}

/* False: out of memory. */
static bool collect_rank(struct collector *collector, const struct fsl_rank *rank,
			 struct rank_uses *out)
{
	bool is_short = false;
	out->least_step = INT32_MAX;
	out->greatest_step = -1;
	for (size_t i = 0; i < rank->n_ops && !is_short; i++) {
		const struct fsl_op *op = &rank->ops[i];
		fsl_op_fetch_ahead(op);
		note_step(out, op->step);
		size_t slot = op->group_id < collector->n_names ? op->group_id : collector->n_names;
		struct use *use = use_of_slot(collector, out, slot);
		is_short = use == NULL;
		if (!is_short && !count_call(use, op->op_id)) {
			use->n_calls[class_of_op(collector, op->op_id)]++;
			out->has_more_ops = true;
		}
	}
	add_classes(collector, out);
	for (size_t k = 0; k < out->n; k++) {
		collector->use_of[out->items[k].slot] = UINT32_MAX;
	}
	return !is_short;
}

/* Ranks on threads; each fills its own place. False: out of memory. */
static bool collect_ranks(struct rank_uses *uses, uint64_t *op_sets, const struct fsl_run *run)
{
	bool is_short = false;
#pragma omp parallel reduction(|| : is_short)
	{
		struct collector collector;
		is_short = !collector_init(&collector, run);
#pragma omp for schedule(dynamic, 1) nowait
		for (size_t r = 0; r < run->n_ranks; r++) {
			const struct fsl_rank *rank = &run->ranks[r];
			is_short = is_short || !collect_rank(&collector, rank, &uses[r]);
			op_sets[r] = is_short ? 0 : op_set_of(&collector, &uses[r], rank->n_ops);
		}
		collector_fini(&collector);
	}
	return !is_short;
}

/* The communicator of a use, added when it is new. @comm_of: by slot. */
static enum fsl_status comm_of_use(struct fsl_comms *comms, const struct fsl_run *run,
				   uint32_t *comm_of, size_t slot, struct fsl_error *err)
{
	if (comm_of[slot] != UINT32_MAX) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(comms->items, comms->capacity, comms->n_items + 1, err));
	uint32_t name_id = slot < fsl_strpool_size(run->names) ? (uint32_t)slot : FSL_STR_NONE;
	comms->items[comms->n_items] = (struct fsl_comm){
		.name_id = name_id,
		.name = fsl_strpool_text(run->names, name_id),
		.kind = FSL_GROUP_UNKNOWN,
		.why = "",
	};
	comm_of[slot] = (uint32_t)comms->n_items++;
	return FSL_OK;
}

static enum fsl_status add_use(struct fsl_comm *comm, const struct use *use, int32_t rank,
			       struct fsl_error *err)
{
	FSL_TRY(FSL_GROW(comm->ranks, comm->ranks_capacity, comm->n_ranks + 1, err));
	FSL_ASSERT(comm->n_ranks == 0 || comm->ranks[comm->n_ranks - 1] < rank);
	comm->ranks[comm->n_ranks++] = rank;
	for (size_t k = 0; k < FSL_OP_CLASSES_N; k++) {
		comm->n_calls[k] += use->n_calls[k];
		comm->n_calls_all += use->n_calls[k];
	}
	for (size_t k = 0; k < use->n_op_ids; k++) {
		add_op_id(comm->op_ids, &comm->n_op_ids, use->op_ids[k]);
	}
	return FSL_OK;
}

/* Steps that the operators of a rank number; 0: they do not. */
static double count_steps(const struct rank_uses *uses)
{
	return uses->greatest_step < 0
		       ? 0.0
		       : (double)uses->greatest_step - (double)uses->least_step + 1.0;
}

/* Ranks in rising order, so that members are. */
static enum fsl_status merge_uses(struct fsl_comms *comms, const struct fsl_run *run,
				  const struct rank_uses *uses, uint32_t *comm_of,
				  struct fsl_error *err)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		comms->has_more_ops |= uses[r].has_more_ops;
		comms->n_steps = comms->n_steps > 0.0 ? comms->n_steps : count_steps(&uses[r]);
		for (size_t k = 0; k < uses[r].n; k++) {
			const struct use *use = &uses[r].items[k];
			FSL_TRY(comm_of_use(comms, run, comm_of, use->slot, err));
			FSL_TRY(add_use(&comms->items[comm_of[use->slot]], use, run->ranks[r].rank,
					err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_comms_collect(struct fsl_comms *comms, uint64_t *op_sets,
				  const struct fsl_run *run, struct fsl_error *err)
{
	size_t n_slots = fsl_strpool_size(run->names) + 1;
	enum fsl_status status = FSL_OK;
	struct rank_uses *uses = fsl_calloc(run->n_ranks, sizeof(*uses));
	uint32_t *comm_of = fsl_calloc(n_slots, sizeof(*comm_of));
	if (uses == NULL || comm_of == NULL || !collect_ranks(uses, op_sets, run)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu", n_slots);
		goto out;
	}
	memset(comm_of, 0xff, n_slots * sizeof(*comm_of));
	status = merge_uses(comms, run, uses, comm_of, err);
	if (comms->n_items > 1) {
		qsort(comms->items, comms->n_items, sizeof(*comms->items), compare_comms);
	}
out:
	for (size_t r = 0; r < run->n_ranks && uses != NULL; r++) {
		fsl_free(uses[r].items);
	}
	fsl_free(comm_of);
	fsl_free(uses);
	return status;
}

void fsl_comms_fini(struct fsl_comms *comms)
{
	for (size_t i = 0; i < comms->n_items; i++) {
		fsl_free(comms->items[i].ranks);
	}
	fsl_free(comms->items);
	*comms = (struct fsl_comms){0};
}
