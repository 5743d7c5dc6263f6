/* Durations of all operations in all replicas and steps; replays of the graph with some of them
 * changed. */
#include "replay/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/sort.h"
#include "base/try.h"
#include "replay/limits.h"
#include "replay/op_graph.h"

/* One for each type; the transfers of a direction share one. */
static const struct {
	enum fsl_op_type first; /* of the types of its class */
	const char *text;
} classes[FSL_OP_CLASSES_N] = {
	{FSL_OP_FORWARD, "forward-compute"},
	{FSL_OP_BACKWARD, "backward-compute"},
	{FSL_OP_FORWARD_SEND, "forward-pp-comm"},
	{FSL_OP_BACKWARD_SEND, "backward-pp-comm"},
	{FSL_OP_PARAMS_GATHER, "params-all-gather"},
	{FSL_OP_GRADS_SCATTER, "grads-reduce-scatter"},
	{FSL_OP_SEPARATE_GRADS, "separate-grads-all-reduce"},
	{FSL_OP_LAYERNORM_GRADS, "layernorm-grads-all-reduce"},
	{FSL_OP_EMBEDDING_GRADS, "embedding-grads-all-reduce"},
	{FSL_OP_CLIP, "optimizer-clip-main-grad"},
	{FSL_OP_OPTIMIZER, "optimizer"},
	{FSL_OP_GC, "gc"},
};

const char *fsl_op_class_text(size_t class)
{
	return classes[class].text;
}

static size_t class_of(enum fsl_op_type type)
{
	size_t class = FSL_OP_CLASSES_N - 1;
	while (classes[class].first > type) {
		class --;
	}
	return class;
}

/* An operation of a node in one replica and step is at [node * n_cells + step * n_replicas + dp].
 */
struct job {
	const struct fsl_op_table *table;
	struct fsl_op_graph graph;
	struct fsl_what_if *out;
	size_t n_cells;
	double *begin_s, *end_s; /* as they ran; then of the newest replay */
	double *base_s;          /* duration, of members of a group from the last begin on */
	double *ideal_s;
	double *used_s; /* of the newest replay */
	bool *has;
};

static void end_job(struct job *job)
{
	fsl_op_graph_fini(&job->graph);
	fsl_free(job->begin_s);
	fsl_free(job->end_s);
	fsl_free(job->base_s);
	fsl_free(job->ideal_s);
	fsl_free(job->used_s);
	fsl_free(job->has);
}

static size_t step_at(const struct fsl_what_if *out, int32_t step)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, out->n_steps, out->steps[at] < step);
	return at;
}

/* Numbers of steps, ascending, each once; sizes of the job. */
static enum fsl_status measure(struct job *job, struct fsl_error *err)
{
	const struct fsl_op_table *table = job->table;
	struct fsl_what_if *out = job->out;
	int32_t last_dp = 0;
	FSL_TRY(FSL_NEW(out->steps, table->n_rows + 1, "rows", err));
	for (size_t i = 0; i < table->n_rows; i++) {
		out->steps[i] = table->rows[i].step;
		last_dp = table->rows[i].dp > last_dp ? table->rows[i].dp : last_dp;
	}
	qsort(out->steps, table->n_rows, sizeof(*out->steps), fsl_compare_i32);
	for (size_t i = 0; i < table->n_rows; i++) {
		if (out->n_steps == 0 || out->steps[out->n_steps - 1] != out->steps[i]) {
			out->steps[out->n_steps++] = out->steps[i];
		}
	}
	out->n_replicas = (size_t)last_dp + 1;
	job->n_cells = out->n_replicas * out->n_steps;
	return FSL_OK;
}

static enum fsl_status make_room(struct job *job, struct fsl_error *err)
{
	size_t n_nodes = job->graph.n_nodes, n_rows = job->table->n_rows;
	/* Rows that are missing are told one by one, if they are few. */
	if (job->n_cells > 2 * n_rows / n_nodes + 64) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"most operations are missing: operations=%zu, replicas=%zu, "
				"steps=%zu, rows=%zu",
				n_nodes, job->out->n_replicas, job->out->n_steps, n_rows);
	}
	size_t n = n_nodes * job->n_cells + 1;
	FSL_TRY(FSL_NEW(job->begin_s, n, "operations", err));
	FSL_TRY(FSL_NEW(job->end_s, n, "operations", err));
	FSL_TRY(FSL_NEW(job->base_s, n, "operations", err));
	FSL_TRY(FSL_NEW(job->ideal_s, n, "operations", err));
	FSL_TRY(FSL_NEW(job->used_s, n, "operations", err));
	return FSL_NEW(job->has, n, "operations", err);
}

static enum fsl_status take_rows(struct job *job, struct fsl_error *err)
{
	const struct fsl_op_graph *graph = &job->graph;
	size_t n_replicas = job->out->n_replicas;
	for (size_t i = 0; i < job->table->n_rows; i++) {
		const struct fsl_op_row *row = &job->table->rows[i];
		uint32_t node = fsl_op_graph_find(graph, row->type, row->stage, row->seq);
		if (node == FSL_STR_NONE) {
			return FSL_FAIL(err, FSL_ERR_INPUT,
					"the first step of replica 0 lacks an operation: "
					"type=\"%s\", stage=%d, seq_id=%d, step=%d, dp_rank=%d",
					fsl_op_type_texts[row->type], (int)row->stage,
					(int)row->seq, (int)row->step, (int)row->dp);
		}
		size_t at = node * job->n_cells + step_at(job->out, row->step) * n_replicas +
			    (size_t)row->dp;
		job->has[at] = true;
		job->begin_s[at] = row->begin_s;
		job->end_s[at] = row->begin_s + row->dur_s;
		job->base_s[at] = row->dur_s;
	}
	for (size_t node = 0; node < graph->n_nodes; node++) {
		bool has_any = false, has_all = true;
		for (size_t c = 0; c < job->n_cells; c++) {
			has_any |= job->has[node * job->n_cells + c];
			has_all &= job->has[node * job->n_cells + c];
		}
		if (has_any && !has_all) { /* one that none has was added to the graph */
			return FSL_FAIL(err, FSL_ERR_INPUT,
					"a worker lacks an operation in some step: type=\"%s\", "
					"stage=%d, seq_id=%d",
					fsl_op_type_texts[graph->nodes[node].type],
					(int)graph->nodes[node].stage, (int)graph->nodes[node].seq);
		}
	}
	return FSL_OK;
}

/* Latest begin of the members of a node's group in a step: of one replica, or of all. */
static double last_begin(const struct job *job, uint32_t node, size_t step, size_t dp)
{
	const struct fsl_op_graph *graph = &job->graph;
	const struct fsl_op_node *of = &graph->nodes[node];
	size_t n_replicas = job->out->n_replicas;
	size_t from = of->is_over_replicas ? 0 : dp;
	size_t to = of->is_over_replicas ? n_replicas : dp + 1;
	double latest = (double)-INFINITY;
	for (size_t m = graph->first_members[of->group]; m < graph->first_members[of->group + 1];
	     m++) {
		const double *begins =
			job->begin_s + graph->members[m] * job->n_cells + step * n_replicas;
		for (size_t k = from; k < to; k++) {
			latest = fmax(latest, begins[k]);
		}
	}
	return latest;
}

/* The transfer itself begins when its last member has come. */
static void set_transfers(struct job *job)
{
	size_t n_replicas = job->out->n_replicas;
	for (uint32_t node = 0; node < job->graph.n_nodes; node++) {
		if (job->graph.nodes[node].group == FSL_STR_NONE) {
			continue;
		}
		for (size_t c = 0; c < job->n_cells; c++) {
			size_t at = node * job->n_cells + c;
			double own_s = job->end_s[at] -
				       last_begin(job, node, c / n_replicas, c % n_replicas);
			job->base_s[at] =
				own_s > -FSL_WHAT_IF_CLOCK_FAULT_S && job->has[at] ? own_s : 0.0;
		}
	}
}

/* Passes take the mean of their type, what communicates the median. */
static enum fsl_status set_ideal(struct job *job, struct fsl_error *err)
{
	size_t n_all = job->graph.n_nodes * job->n_cells;
	double *values = NULL, *scratch = NULL;
	enum fsl_status status = FSL_NEW(values, n_all + 1, "operations", err);
	FSL_THEN(status, FSL_NEW(scratch, n_all + 1, "operations", err));
	for (size_t type = 0; type < FSL_OP_TYPES_N && status == FSL_OK; type++) {
		size_t n = 0;
		for (size_t i = 0; i < n_all; i++) {
			if (job->has[i] && job->graph.nodes[i / job->n_cells].type == type) {
				values[n++] = job->base_s[i];
			}
		}
		double level = n == 0 ? 0.0
			       : fsl_op_is_communication((enum fsl_op_type)type)
				       ? fsl_median(values, n, scratch)
				       : fsl_sum(values, n) / (double)n;
		for (size_t i = 0; i < n_all; i++) {
			if (job->graph.nodes[i / job->n_cells].type == type) {
				job->ideal_s[i] = job->has[i] ? level : 0.0;
			}
		}
	}
	fsl_free(values);
	fsl_free(scratch);
	return status;
}

static void end_group(struct job *job, uint32_t node)
{
	const struct fsl_op_graph *graph = &job->graph;
	uint32_t group = graph->nodes[node].group;
	size_t n_replicas = job->out->n_replicas;
	for (size_t c = 0; c < job->n_cells; c++) {
		double latest = last_begin(job, node, c / n_replicas, c % n_replicas);
		for (size_t m = graph->first_members[group]; m < graph->first_members[group + 1];
		     m++) {
			size_t at = graph->members[m] * job->n_cells + c;
			job->end_s[at] = latest + job->used_s[at];
		}
	}
}

/* Replays all steps, each from 0 on, with used_s. Each operation begins when all have ended that it
 * waits for. */
static enum fsl_status replay(struct job *job, struct fsl_error *err)
{
	const struct fsl_op_graph *graph = &job->graph;
	uint32_t *n_begun = NULL;
	FSL_TRY(FSL_NEW(n_begun, graph->n_groups + 1, "groups", err));
	for (size_t i = 0; i < graph->n_nodes; i++) {
		uint32_t node = graph->order[i], group = graph->nodes[node].group;
		double *begin_s = job->begin_s + node * job->n_cells;
		double *end_s = job->end_s + node * job->n_cells;
		memset(begin_s, 0, job->n_cells * sizeof(*begin_s));
		for (size_t e = graph->first_edges[node]; e < graph->first_edges[node + 1]; e++) {
			const double *before = job->end_s + graph->edges[e].from * job->n_cells;
			for (size_t c = 0; c < job->n_cells; c++) {
				begin_s[c] = before[c] > begin_s[c] ? before[c] : begin_s[c];
			}
		}
		if (group == FSL_STR_NONE) {
			for (size_t c = 0; c < job->n_cells; c++) {
				end_s[c] = begin_s[c] + job->used_s[node * job->n_cells + c];
			}
		} else if (++n_begun[group] ==
			   graph->first_members[group + 1] - graph->first_members[group]) {
			end_group(job, node);
		}
	}
	fsl_free(n_begun);
	return FSL_OK;
}

/* Mean over the steps of the latest end; each in @by_step unless that is NULL. */
static double step_time(const struct job *job, double *by_step)
{
	size_t n_replicas = job->out->n_replicas, n_steps = job->out->n_steps;
	double sum = 0.0;
	for (size_t s = 0; s < n_steps; s++) {
		double latest = 0.0;
		for (size_t node = 0; node < job->graph.n_nodes; node++) {
			const double *ends = job->end_s + node * job->n_cells + s * n_replicas;
			for (size_t dp = 0; dp < n_replicas; dp++) {
				latest = fmax(latest, ends[dp]);
			}
		}
		sum += latest;
		if (by_step != NULL) {
			by_step[s] = latest;
		}
	}
	return sum / (double)n_steps;
}

/* Operations that are as they ran, or ideal, in a replay. */
struct choice {
	const bool *workers; /* [n_workers as stage * n_replicas + dp]; NULL: by class */
	size_t class;
};

static bool is_chosen(const struct job *job, const struct choice *choice, size_t node, size_t dp)
{
	const struct fsl_op_node *of = &job->graph.nodes[node];
	return choice->workers != NULL
		       ? choice->workers[(size_t)of->stage * job->out->n_replicas + dp]
		       : class_of(of->type) == choice->class;
}

/* Mean step time with the chosen operations at one level and all others at another. */
static enum fsl_status ask(struct job *job, const struct choice *choice, const double *chosen_s,
			   const double *others_s, double *mean_s, struct fsl_error *err)
{
	size_t n_replicas = job->out->n_replicas;
	for (size_t node = 0; node < job->graph.n_nodes; node++) {
		for (size_t c = 0; c < job->n_cells; c++) {
			size_t at = node * job->n_cells + c;
			bool is_one =
				choice != NULL && is_chosen(job, choice, node, c % n_replicas);
			job->used_s[at] = is_one ? chosen_s[at] : others_s[at];
		}
	}
	FSL_TRY(replay(job, err));
	*mean_s = step_time(job, NULL);
	return FSL_OK;
}

/* Slowdown by the operations of some workers alone: a replica if @stage is SIZE_MAX, else a stage.
 */
static enum fsl_status ask_workers(struct job *job, bool *workers, size_t dp, size_t stage,
				   double *slowdown, struct fsl_error *err)
{
	struct fsl_what_if *out = job->out;
	const struct choice choice = {.workers = workers};
	for (size_t w = 0; w < out->n_stages * out->n_replicas; w++) {
		workers[w] = stage != SIZE_MAX ? w / out->n_replicas == stage
					       : w % out->n_replicas == dp;
	}
	FSL_TRY(ask(job, &choice, job->base_s, job->ideal_s, slowdown, err));
	*slowdown /= out->ideal_s;
	return FSL_OK;
}

static int compare_workers(const void *left, const void *right)
{
	const struct fsl_what_if_worker *a = left, *b = right;
	FSL_ORDER_BY(b->slowdown, a->slowdown);
	return FSL_ORDER(a->rank, b->rank);
}

/* Share of the lost time that is won if these workers are ideal. */
static enum fsl_status ask_share(struct job *job, const bool *workers, double *share,
				 struct fsl_error *err)
{
	struct fsl_what_if *out = job->out;
	const struct choice choice = {.workers = workers};
	double without_s = 0.0;
	FSL_TRY(ask(job, &choice, job->ideal_s, job->base_s, &without_s, err));
	*share = (out->step_s - without_s) / (out->step_s - out->ideal_s);
	return FSL_OK;
}

static void list_workers(struct job *job)
{
	struct fsl_what_if *out = job->out;
	out->n_workers = out->n_stages * out->n_replicas;
	for (size_t w = 0; w < out->n_workers; w++) {
		out->workers[w] =
			(struct fsl_what_if_worker){.dp = (int32_t)(w % out->n_replicas),
						    .stage = (int32_t)(w / out->n_replicas),
						    .rank = -1,
						    .slowdown = (double)NAN};
	}
	for (size_t i = job->table->n_rows; i-- > 0;) {
		const struct fsl_op_row *row = &job->table->rows[i];
		out->workers[(size_t)row->stage * out->n_replicas + (size_t)row->dp].rank =
			row->rank;
	}
	out->n_slowest = (out->n_workers * FSL_WHAT_IF_SLOWEST_PERCENT + 99) / 100;
}

/* Replicas, stages, classes, and what is won without the slowest workers or the last stage. */
static enum fsl_status ask_parts(struct job *job, bool *chosen, struct fsl_error *err)
{
	struct fsl_what_if *out = job->out;
	for (size_t dp = 0; dp < out->n_replicas; dp++) {
		FSL_TRY(ask_workers(job, chosen, dp, SIZE_MAX, &out->by_replica[dp], err));
	}
	for (size_t stage = 0; stage < out->n_stages; stage++) {
		FSL_TRY(ask_workers(job, chosen, 0, stage, &out->by_stage[stage], err));
	}
	for (size_t class = 0; class < FSL_OP_CLASSES_N; class ++) {
		const struct choice choice = {.class = class};
		bool has_any = false;
		for (size_t i = 0; i < job->table->n_rows && !has_any; i++) {
			has_any = class_of(job->table->rows[i].type) == class;
		}
		if (has_any) {
			FSL_TRY(ask(job, &choice, job->base_s, job->ideal_s, &out->by_class[class],
				    err));
			out->by_class[class] /= out->ideal_s;
		}
	}
	for (size_t w = 0; w < out->n_workers; w++) {
		struct fsl_what_if_worker *worker = &out->workers[w];
		worker->slowdown = fmin(out->by_replica[worker->dp], out->by_stage[worker->stage]);
	}
	qsort(out->workers, out->n_workers, sizeof(*out->workers), compare_workers);
	memset(chosen, 0, out->n_workers * sizeof(*chosen));
	for (size_t i = 0; i < out->n_slowest; i++) {
		const struct fsl_what_if_worker *worker = &out->workers[i];
		chosen[(size_t)worker->stage * out->n_replicas + (size_t)worker->dp] = true;
	}
	FSL_TRY(ask_share(job, chosen, &out->slowest_share, err));
	for (size_t w = 0; w < out->n_workers; w++) {
		chosen[w] = w / out->n_replicas == out->n_stages - 1;
	}
	return ask_share(job, chosen, &out->last_stage_share, err);
}

static enum fsl_status begin_answer(struct fsl_what_if *out, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(out->by_step, out->n_steps + 1, "steps", err));
	FSL_TRY(FSL_NEW(out->by_replica, out->n_replicas + 1, "replicas", err));
	FSL_TRY(FSL_NEW(out->by_stage, out->n_stages + 1, "stages", err));
	FSL_TRY(FSL_NEW(out->workers, out->n_stages * out->n_replicas + 1, "workers", err));
	for (size_t i = 0; i < out->n_replicas; i++) {
		out->by_replica[i] = (double)NAN;
	}
	for (size_t i = 0; i < out->n_stages; i++) {
		out->by_stage[i] = (double)NAN;
	}
	for (size_t i = 0; i < FSL_OP_CLASSES_N; i++) {
		out->by_class[i] = (double)NAN;
	}
	out->slowest_share = out->last_stage_share = (double)NAN;
	return FSL_OK;
}

static enum fsl_status ask_all(struct job *job, struct fsl_error *err)
{
	struct fsl_what_if *out = job->out;
	bool *chosen = NULL;
	double *ideal_s = NULL;
	FSL_TRY(measure(job, err));
	FSL_TRY(fsl_op_graph_build(&job->graph, job->table, out->steps[0], err));
	out->n_stages = (size_t)job->graph.n_stages;
	out->n_operations = job->table->n_rows;
	FSL_TRY(make_room(job, err));
	FSL_TRY(take_rows(job, err));
	set_transfers(job);
	FSL_TRY(set_ideal(job, err));
	FSL_TRY(begin_answer(out, err));
	list_workers(job);
	FSL_TRY(ask(job, NULL, NULL, job->base_s, &out->step_s, err));
	out->step_s = step_time(job, out->by_step);
	FSL_TRY(ask(job, NULL, NULL, job->ideal_s, &out->ideal_s, err));
	enum fsl_status status = FSL_NEW(ideal_s, out->n_steps + 1, "steps", err);
	FSL_THEN(status, FSL_NEW(chosen, out->n_workers + 1, "workers", err));
	if (status == FSL_OK) {
		(void)step_time(job, ideal_s);
		for (size_t s = 0; s < out->n_steps; s++) {
			out->by_step[s] =
				ideal_s[s] > 0.0 ? out->by_step[s] / ideal_s[s] : (double)NAN;
		}
		out->slowdown = out->ideal_s > 0.0 ? out->step_s / out->ideal_s : (double)NAN;
	}
	if (status == FSL_OK && out->slowdown >= FSL_WHAT_IF_SLOWDOWN_MIN) {
		status = ask_parts(job, chosen, err);
	}
	fsl_free(ideal_s);
	fsl_free(chosen);
	return status;
}

enum fsl_status fsl_what_if_ask(struct fsl_what_if *out, const struct fsl_op_table *table,
				struct fsl_error *err)
{
	struct job job = {.table = table, .out = out};
	*out = (struct fsl_what_if){0};
	enum fsl_status status = ask_all(&job, err);
	end_job(&job);
	return status;
}

void fsl_what_if_fini(struct fsl_what_if *what_if)
{
	fsl_free(what_if->steps);
	fsl_free(what_if->by_step);
	fsl_free(what_if->by_replica);
	fsl_free(what_if->by_stage);
	fsl_free(what_if->workers);
	*what_if = (struct fsl_what_if){0};
}
