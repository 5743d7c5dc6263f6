/* cluster_step_trace_time.csv: a row per rank and step, and per stage the maximum of its ranks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/try.h"
#include "capture/step_rows.h"
#include "report/msprof/parts.h"
#include "text/json_write.h"

static const char *const headings[FSL_PEER_STEP_COLUMNS] = {
	"Computing",  "Communication(Not Overlapped)",
	"Overlapped", "Communication",
	"Free",       "Stage",
	"Bubble",     "Communication(Not Overlapped and Exclude Receive)",
	"Preparing",
};

static void fill_row(struct fsl_peer_step_row *row, const struct fsl_profile_step *step,
		     size_t rank)
{
	*row = (struct fsl_peer_step_row){
		.step = step->step,
		.stage = SIZE_MAX,
		.rank = rank,
		.columns_ns = {step->computing_ns, step->exposed_ns, step->overlapped_ns,
			       step->communication_ns, step->free_ns, step->stage_ns,
			       step->bubble_ns, step->exposed_not_receive_ns, step->preparing_ns}};
}

/* Keeps the greater value of each column; unknown (FSL_NS_ABSENT) is the least. */
static void keep_greatest(struct fsl_peer_step_row *stage, const struct fsl_peer_step_row *row)
{
	for (size_t c = 0; c < FSL_PEER_STEP_COLUMNS; c++) {
		if (row->columns_ns[c] > stage->columns_ns[c]) {
			stage->columns_ns[c] = row->columns_ns[c];
		}
	}
}

/* Adds the stages behind the @n_ranks rows of ranks: steps x stages; keeps those with ranks. */
static size_t add_stages(const struct fsl_profile *profile,
			 const struct fsl_profile_cluster *cluster, struct fsl_peer_step_row *rows,
			 size_t n_ranks)
{
	struct fsl_peer_step_row *stages = rows + n_ranks;
	for (size_t i = 0; i < n_ranks; i++) {
		size_t stage = fsl_profile_stage_of(cluster, profile->ranks[rows[i].rank].rank);
		const int64_t *step = bsearch(&rows[i].step, cluster->steps, cluster->n_steps,
					      sizeof(*cluster->steps), fsl_compare_i64);
		if (stage == SIZE_MAX || step == NULL) {
			continue;
		}
		struct fsl_peer_step_row *row =
			&stages[(size_t)(step - cluster->steps) * cluster->n_stages + stage];
		bool is_new = row->stage == 0;
		if (is_new) {
			*row = rows[i];
			row->stage = stage + 1; /* 0: no row yet */
		} else {
			keep_greatest(row, &rows[i]);
		}
	}
	size_t n = 0;
	for (size_t i = 0; i < cluster->n_steps * cluster->n_stages; i++) {
		if (stages[i].stage > 0) {
			stages[n] = stages[i];
			stages[n++].stage -= 1;
		}
	}
	return n;
}

enum fsl_status fsl_peer_step_rows(const struct fsl_profile *profile,
				   const struct fsl_profile_cluster *cluster,
				   struct fsl_peer_step_row **rows, size_t *n_rows,
				   struct fsl_error *err)
{
	size_t n = 0, n_own = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		(void)fsl_profile_step_rows(&profile->ranks[r], &n_own);
		n += n_own;
	}
	size_t n_all = n + cluster->n_steps * cluster->n_stages;
	struct fsl_peer_step_row *all = fsl_calloc(n_all + 1, sizeof(*all));
	if (all == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rows=%zu", n_all);
	}
	n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_step *own =
			fsl_profile_step_rows(&profile->ranks[r], &n_own);
		for (size_t i = 0; i < n_own; i++) {
			fill_row(&all[n++], &own[i], r);
		}
	}
	bool has_stages = cluster->n_steps > 0 && cluster->n_stages > 0;
	*n_rows = n + (has_stages ? add_stages(profile, cluster, all, n) : 0);
	*rows = all;
	return FSL_OK;
}

/* The first captures of the profiler have no column Preparing. */
static size_t n_columns(const struct fsl_peer_step_row *rows, size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].columns_ns[FSL_PEER_PREPARING] != FSL_NS_ABSENT) {
			return FSL_PEER_STEP_COLUMNS;
		}
	}
	return FSL_PEER_STEP_COLUMNS - 1;
}

static enum fsl_status put_name(FILE *stream, const struct fsl_peer_index *index,
				const struct fsl_peer_step_row *row, struct fsl_error *err)
{
	if (row->step != FSL_STEP_ABSENT) {
		(void)fprintf(stream, "%" PRId64, row->step);
	}
	if (row->stage == SIZE_MAX) {
		(void)fprintf(stream, ",rank,%" PRId32, index->profile->ranks[row->rank].rank);
		return FSL_OK;
	}
	const struct fsl_profile_stage *stage = &index->cluster->stages[row->stage];
	char *ranks = fsl_peer_ranks_text(stage->ranks, stage->n_ranks, true);
	if (ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", stage->n_ranks);
	}
	(void)fprintf(stream, ",stage,\"%s\"", ranks);
	fsl_free(ranks);
	return FSL_OK;
}

static void put_place(FILE *stream, const struct fsl_peer_index *index,
		      const struct fsl_peer_step_row *row)
{
	const struct fsl_profile_place *place = &index->cluster->places[row->rank];
	if (row->stage != SIZE_MAX || place->dp < 0) {
		(void)fputs(",NA,NA,NA", stream);
	} else {
		(void)fprintf(stream, ",%" PRId32 ",%" PRId32 ",%" PRId32, place->dp, place->pp,
			      place->tp);
	}
}

static enum fsl_status put_row(FILE *stream, const struct fsl_peer_index *index,
			       const struct fsl_peer_step_row *row, size_t n_shown,
			       struct fsl_error *err)
{
	FSL_TRY(put_name(stream, index, row, err));
	for (size_t c = 0; c < n_shown; c++) {
		char text[48];
		bool is_told = row->columns_ns[c] != FSL_NS_ABSENT;
		(void)fprintf(stream, ",%s",
			      is_told ? fsl_json_write_digits(row->columns_ns[c], 3, 1, text,
							      sizeof(text))
				      : "");
	}
	if (index->cluster->has_places) {
		put_place(stream, index, row);
	}
	(void)fputs("\r\n", stream);
	return FSL_OK;
}

enum fsl_status fsl_peer_write_steps(FILE *stream, const struct fsl_peer_index *index,
				     struct fsl_error *err)
{
	struct fsl_peer_step_row *rows = NULL;
	size_t n_rows = 0;
	enum fsl_status status =
		fsl_peer_step_rows(index->profile, index->cluster, &rows, &n_rows, err);
	size_t n_shown = status == FSL_OK ? n_columns(rows, n_rows) : 0;
	(void)fputs("Step,Type,Index", stream);
	for (size_t c = 0; c < n_shown; c++) {
		(void)fprintf(stream, ",%s", headings[c]);
	}
	(void)fputs(index->cluster->has_places ? ",DP Index,PP Index,TP Index\r\n" : "\r\n",
		    stream);
	for (size_t i = 0; i < n_rows && status == FSL_OK; i++) {
		status = put_row(stream, index, &rows[i], n_shown, err);
	}
	fsl_free(rows);
	return status;
}
