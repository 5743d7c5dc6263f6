/* The communicators of a run: one pass over all operators. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "match/topology_parts.h"

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

/* Lookup tables by name id; the last slot of comm_of belongs to operators without a communicator.
 */
struct collector {
	const struct fsl_run *run;
	struct fsl_comms *comms;
	size_t n_names;
	uint32_t *comm_of;
	uint8_t *class_of;
};

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

/* The communicator of @op, added when it is new. */
static enum fsl_status comm_of_op(const struct collector *collector, const struct fsl_op *op,
				  struct fsl_comm **out, struct fsl_error *err)
{
	struct fsl_comms *comms = collector->comms;
	size_t slot = op->group_id < collector->n_names ? op->group_id : collector->n_names;
	if (collector->comm_of[slot] == UINT32_MAX) {
		enum fsl_status status =
			FSL_GROW(comms->items, comms->capacity, comms->n_items + 1, err);
		if (status != FSL_OK) {
			return status;
		}
		uint32_t name_id = slot < collector->n_names ? (uint32_t)slot : FSL_STR_NONE;
		comms->items[comms->n_items] = (struct fsl_comm){
			.name_id = name_id,
			.name = fsl_strpool_text(collector->run->names, name_id),
			.kind = FSL_GROUP_UNKNOWN,
			.why = "",
		};
		collector->comm_of[slot] = (uint32_t)comms->n_items++;
	}
	*out = &comms->items[collector->comm_of[slot]];
	return FSL_OK;
}

static void count_op(struct fsl_comm *comm, uint32_t op_id, enum fsl_op_class op_class)
{
	comm->n_calls[op_class]++;
	comm->n_calls_all++;
	for (size_t i = 0; i < comm->n_op_ids; i++) {
		if (comm->op_ids[i] == op_id) {
			return;
		}
	}
	if (comm->n_op_ids < FSL_COMM_OPS_MAX) {
		comm->op_ids[comm->n_op_ids++] = op_id;
	}
}

/* Ranks are visited in rising order, so a member is new when it is not the last one. */
static enum fsl_status collect_rank(const struct collector *collector, const struct fsl_rank *rank,
				    struct fsl_error *err)
{
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *op = &rank->ops[i];
		struct fsl_comm *comm;
		enum fsl_status status = comm_of_op(collector, op, &comm, err);
		if (status != FSL_OK) {
			return status;
		}
		if (comm->n_ranks == 0 || comm->ranks[comm->n_ranks - 1] != rank->rank) {
			status =
				FSL_GROW(comm->ranks, comm->ranks_capacity, comm->n_ranks + 1, err);
			if (status != FSL_OK) {
				return status;
			}
			comm->ranks[comm->n_ranks++] = rank->rank;
		}
		count_op(comm, op->op_id, class_of_op(collector, op->op_id));
	}
	return FSL_OK;
}

enum fsl_status fsl_comms_collect(struct fsl_comms *comms, const struct fsl_run *run,
				  struct fsl_error *err)
{
	struct collector collector = {
		.run = run,
		.comms = comms,
		.n_names = fsl_strpool_size(run->names),
	};
	enum fsl_status status = FSL_OK;
	collector.comm_of = fsl_calloc(collector.n_names + 1, sizeof(*collector.comm_of));
	collector.class_of = fsl_calloc(collector.n_names + 1, sizeof(*collector.class_of));
	if (collector.comm_of == NULL || collector.class_of == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: names=%zu",
				  collector.n_names);
		goto out;
	}
	memset(collector.comm_of, 0xff, (collector.n_names + 1) * sizeof(*collector.comm_of));
	memset(collector.class_of, CLASS_UNSEEN, collector.n_names + 1);
	for (size_t r = 0; r < run->n_ranks && status == FSL_OK; r++) {
		status = collect_rank(&collector, &run->ranks[r], err);
	}
	if (comms->n_items > 1) {
		qsort(comms->items, comms->n_items, sizeof(*comms->items), compare_comms);
	}
out:
	fsl_free(collector.class_of);
	fsl_free(collector.comm_of);
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
