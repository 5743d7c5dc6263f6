/*
 * COMMUNICATION_TASK_INFO: the tasks of which collectives consist. Copies give the traffic of each
 * link and its time; they are summed to the totals of analysis.db. Waits give the member for whose
 * signal a rank waited.
 */
#include "source/ascend/read_profiler_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ascend/comms.h"
#include "source/ascend/signal_waits.h"

enum {
	LINKS_MAX = 1 << 16, /* links of a rank: steps x types x far ends */
	LABEL_MAX = 128,
};
#define NOBODY INT64_C(4294967295)

enum column { BEGIN, END, DEVICE, NAME, KIND, GROUP, SRC, DST, TRANSPORT, LINK, SIZE, COLUMNS_N };

static const struct fsl_db_column columns[COLUMNS_N] = {
	[BEGIN] = {{"startNs"}, true, 0},
	[END] = {{"endNs"}, true, 0},
	[DEVICE] = {{"deviceId"}, false, 0},
	[NAME] = {{"name"}, true, 1},
	[KIND] = {{"taskType"}, true, 1},
	[GROUP] = {{"groupName"}, true, 1},
	[SRC] = {{"srcRank"}, true, 1},
	[DST] = {{"dstRank"}, true, 1},
	[TRANSPORT] = {{"transportType"}, true, 1},
	[LINK] = {{"linkType"}, false, 1},
	[SIZE] = {{"size"}, true, 1},
};

static const struct fsl_db_select select_all = {
	{"TASK", "COMMUNICATION_TASK_INFO"}, "globalTaskId", columns, COLUMNS_N, ""};

struct pass {
	struct fsl_profiler *profiler;
	struct fsl_db_rows *rows; /* the present one */
	struct fsl_signal_waits waits;
	struct fsl_strpool *keys;  /* of rank->links: the id is the index */
	bool has_links, has_waits; /* another file has them already */
	/* Names of the previous row; most rows have the same. */
	uint32_t name_id, label_id;
	bool is_p2p;
};

/* ENUM_HCCL_TRANSPORT_TYPE: 0 is SDMA, whose kind the link tells; 1 is RDMA, 2 LOCAL. */
static enum fsl_profile_transport transport_of(const struct fsl_db_rows *rows)
{
	static const enum fsl_profile_transport links[] = {
		FSL_TRANSPORT_LOCAL, FSL_TRANSPORT_HCCS,    FSL_TRANSPORT_PCIE, FSL_TRANSPORT_RDMA,
		FSL_TRANSPORT_SIO,   FSL_TRANSPORT_HCCS_SW, FSL_TRANSPORT_RDMA,
	};
	int64_t transport = -1, link = -1;
	(void)fsl_db_i64(rows, TRANSPORT, &transport);
	(void)fsl_db_i64(rows, LINK, &link);
	if (transport == 1) {
		return FSL_TRANSPORT_RDMA;
	}
	bool is_known = link >= 0 && link < (int64_t)(sizeof(links) / sizeof(links[0]));
	return transport == 0 && is_known ? links[link] : FSL_TRANSPORT_OTHER;
}

/* "hcom_allReduce__210_0_1" counts for "allreduce-total". */
static enum fsl_status take_name(struct pass *pass, struct fsl_error *err)
{
	uint32_t name_id = FSL_STR_NONE;
	struct fsl_strpool *names = pass->profiler->rank->names;
	FSL_TRY(fsl_profiler_column_name(pass->profiler, pass->rows, NAME, &name_id, err));
	if (name_id == pass->name_id) {
		return FSL_OK;
	}
	char label[LABEL_MAX];
	const char *name = fsl_strpool_text(names, name_id);
	pass->name_id = name_id;
	pass->is_p2p = fsl_profile_is_p2p(name, strlen(name));
	name += strncmp(name, "hcom_", 5) == 0 ? 5 : 0;
	int n_type = (int)fsl_profile_type_length(name);
	int length =
		snprintf(label, sizeof(label), "%.*s-total", n_type < 100 ? n_type : 100, name);
	for (int i = 0; i < length; i++) {
		label[i] = (char)tolower((unsigned char)label[i]);
	}
	return fsl_strpool_intern(names, label, (size_t)length, &pass->label_id, err);
}

/* Sum to which a copy belongs; NULL if there are too many. */
static enum fsl_status find_link(struct pass *pass, const struct fsl_profile_link *wanted,
				 struct fsl_profile_link **out, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = pass->profiler->rank;
	const uint64_t key[] = {(uint64_t)wanted->step, wanted->label_id,
				wanted->group_id,       (uint64_t)wanted->src,
				(uint64_t)wanted->dst,  (uint64_t)wanted->transport};
	uint32_t at = fsl_strpool_find(pass->keys, (const char *)key, sizeof(key));
	*out = NULL;
	if (at == FSL_STR_NONE) {
		if (rank->n_links == LINKS_MAX) {
			return FSL_OK;
		}
		FSL_TRY(FSL_GROW(rank->links, rank->links_capacity, rank->n_links + 1, err));
		FSL_TRY(fsl_strpool_intern(pass->keys, (const char *)key, sizeof(key), &at, err));
		rank->links[rank->n_links++] = *wanted;
	}
	*out = &rank->links[at];
	return FSL_OK;
}

static enum fsl_status add_copy(struct pass *pass, uint32_t group_id, int64_t step, int64_t src,
				int64_t dst, int64_t n_bytes, int64_t dur_ns, struct fsl_error *err)
{
	struct fsl_profile_link *link = NULL;
	enum fsl_status status = take_name(pass, err);
	if (status != FSL_OK || pass->name_id == FSL_STR_NONE) {
		return status;
	}
	const struct fsl_profile_link wanted = {.step = step,
						.label_id = pass->label_id,
						.group_id = group_id,
						.name_id = FSL_STR_NONE,
						.is_p2p = pass->is_p2p,
						.src = (int32_t)src,
						.dst = (int32_t)(dst == NOBODY ? src : dst),
						.transport = transport_of(pass->rows)};
	status = find_link(pass, &wanted, &link, err);
	if (status == FSL_OK && link == NULL) {
		fsl_db_drop(pass->rows, "more than 65536 links; further ones are left out");
	}
	if (link != NULL) {
		link->n_bytes = fsl_sum_i64(link->n_bytes, n_bytes);
		link->time_ns = fsl_sum_i64(link->time_ns, dur_ns);
		link->gb_per_s =
			link->time_ns > 0 ? (double)link->n_bytes / (double)link->time_ns : 0.0;
	}
	return status;
}

static bool is_wait(struct pass *pass, enum fsl_status *status, struct fsl_error *err)
{
	uint32_t kind_id = FSL_STR_NONE;
	*status = fsl_profiler_column_name(pass->profiler, pass->rows, KIND, &kind_id, err);
	const char *kind = fsl_strpool_text(pass->profiler->rank->names, kind_id);
	return *status == FSL_OK && fsl_is_signal_wait(kind, strlen(kind));
}

static enum fsl_status add_task(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct pass *pass = context;
	int64_t begin_ns = 0, end_ns = 0, step = 0, src = -1, dst = -1, n_bytes = 0;
	uint32_t group_id = FSL_STR_NONE;
	enum fsl_status status = FSL_OK;
	pass->rows = rows;
	if (!fsl_profiler_times(rows, BEGIN, END, &begin_ns, &end_ns) ||
	    !fsl_profiler_is_own(pass->profiler, rows, DEVICE) ||
	    !fsl_profiler_step_at(pass->profiler, begin_ns, &step) ||
	    !fsl_profile_wants_step(pass->profiler->input, step) || !fsl_db_i64(rows, SRC, &src) ||
	    src < 0 || src >= FSL_PROFILE_RANKS_MAX || !fsl_db_i64(rows, DST, &dst) || dst < 0 ||
	    (dst >= FSL_PROFILE_RANKS_MAX && dst != NOBODY)) {
		return FSL_OK;
	}
	status = fsl_profiler_group(pass->profiler, rows, GROUP, &group_id, err);
	if (status != FSL_OK || group_id == FSL_STR_NONE) {
		return status;
	}
	bool is_copy = fsl_db_i64(rows, SIZE, &n_bytes) && n_bytes > 0;
	if (is_copy && !pass->has_links) {
		return add_copy(pass, group_id, step, src, dst, n_bytes, end_ns - begin_ns, err);
	}
	bool waits = !is_copy && !pass->has_waits && dst != src && dst != NOBODY &&
		     is_wait(pass, &status, err);
	return waits ? fsl_signal_waits_add(&pass->waits, group_id, dst, end_ns - begin_ns, err)
		     : status;
}

enum fsl_status fsl_profiler_read_links(struct fsl_profiler *profiler, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = profiler->rank;
	struct fsl_file *file = profiler->input->file;
	uint64_t n_records = file->n_records; /* rows of TASK are counted with the kernels */
	struct pass pass = {.profiler = profiler,
			    .waits = {.rank = rank},
			    .has_links = rank->n_links > 0,
			    .has_waits = rank->n_waits > 0,
			    .name_id = FSL_STR_NONE};
	if (pass.has_links && pass.has_waits) {
		return FSL_OK;
	}
	pass.keys = fsl_strpool_create();
	if (pass.keys == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	}
	enum fsl_status status = fsl_db_read(profiler->db, &select_all, add_task, &pass, err);
	file->n_records = n_records;
	fsl_signal_waits_fini(&pass.waits);
	fsl_strpool_destroy(pass.keys);
	return status;
}
