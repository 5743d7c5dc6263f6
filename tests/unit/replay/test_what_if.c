/* Slowdowns by stragglers in small pipelines whose durations are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/what_if.h"

enum { REPLICAS = 4, STEPS = 3, STAGES = 2 };
static const double TRANSFER_S = 0.001;

/* Duration of a pass of a worker. */
struct durations {
	double pass_s[REPLICAS][STAGES];
};

static void add(struct fsl_op_table *table, int32_t dp, int32_t stage, int32_t step,
		enum fsl_op_type type, int32_t seq, double begin_s, double end_s)
{
	const struct fsl_op_row row = {.begin_s = 100.0 * step + begin_s,
				       .dur_s = end_s - begin_s,
				       .dp = dp,
				       .stage = stage,
				       .rank = 8 * stage + dp,
				       .step = step,
				       .seq = seq,
				       .chunk = 0,
				       .global_chunk = stage,
				       .type = type};
	assert_int_equal(FSL_APPEND(table, rows, &row, NULL), FSL_OK);
}

/* Two stages, two passes forward and backward each, one after the other. Returns both ends. */
static void add_passes(struct fsl_op_table *t, int32_t dp, int32_t step,
		       const double pass_s[STAGES], double ends[STAGES])
{
	double a = pass_s[0], b = pass_s[1], x = TRANSFER_S;
	double f0 = a + x + b, b0 = f0 + b;
	double f1 = fmax(b0, 2 * a + x) + b, b1 = f1 + b;
	double back0 = fmax(2 * a, b0 + x) + a, back1 = fmax(back0, b1 + x) + a;
	add(t, dp, 0, step, FSL_OP_FORWARD, 0, 0.0, a);
	add(t, dp, 0, step, FSL_OP_FORWARD, 1, a, 2 * a);
	add(t, dp, 0, step, FSL_OP_BACKWARD, 0, back0 - a, back0);
	add(t, dp, 0, step, FSL_OP_BACKWARD, 1, back1 - a, back1);
	add(t, dp, 1, step, FSL_OP_FORWARD, 0, f0 - b, f0);
	add(t, dp, 1, step, FSL_OP_BACKWARD, 0, b0 - b, b0);
	add(t, dp, 1, step, FSL_OP_FORWARD, 1, f1 - b, f1);
	add(t, dp, 1, step, FSL_OP_BACKWARD, 1, b1 - b, b1);
	add(t, dp, 0, step, FSL_OP_FORWARD_SEND, 0, a, a + x);
	add(t, dp, 0, step, FSL_OP_FORWARD_SEND, 1, 2 * a, 2 * a + x);
	add(t, dp, 1, step, FSL_OP_FORWARD_RECEIVE, 0, 0.0, a + x);
	add(t, dp, 1, step, FSL_OP_FORWARD_RECEIVE, 1, a + x, 2 * a + x);
	add(t, dp, 1, step, FSL_OP_BACKWARD_SEND, 0, b0, b0 + x);
	add(t, dp, 1, step, FSL_OP_BACKWARD_SEND, 1, b1, b1 + x);
	add(t, dp, 0, step, FSL_OP_BACKWARD_RECEIVE, 0, 0.0, b0 + x);
	add(t, dp, 0, step, FSL_OP_BACKWARD_RECEIVE, 1, b0 + x, b1 + x);
	ends[0] = back1;
	ends[1] = b1;
}

static void fill(struct fsl_op_table *table, const struct durations *durations)
{
	double x = TRANSFER_S;
	*table = (struct fsl_op_table){0};
	for (int32_t step = 0; step < STEPS; step++) {
		double ends[REPLICAS][STAGES], last = 0.0;
		for (int32_t dp = 0; dp < REPLICAS; dp++) {
			add_passes(table, dp, step, durations->pass_s[dp], ends[dp]);
			last = fmax(last, fmax(ends[dp][0], ends[dp][1]));
		}
		for (int32_t dp = 0; dp < REPLICAS; dp++) {
			double own = fmax(ends[dp][0], ends[dp][1]);
			for (int32_t stage = 0; stage < STAGES; stage++) {
				double end = ends[dp][stage], reduced = last + 2 * x;
				add(table, dp, stage, step, FSL_OP_GC, 0, end, end);
				add(table, dp, stage, step, FSL_OP_LAYERNORM_GRADS, 0, end, end);
				add(table, dp, stage, step, FSL_OP_EMBEDDING_GRADS, 0, end,
				    own + x);
				add(table, dp, stage, step, FSL_OP_GRADS_SCATTER, 0, own + x,
				    reduced);
				add(table, dp, stage, step, FSL_OP_CLIP, 0, reduced, reduced + x);
				add(table, dp, stage, step, FSL_OP_OPTIMIZER, 0, reduced + x,
				    reduced + 5 * x);
			}
		}
	}
}

static void set_all(struct durations *durations, double pass_s)
{
	for (size_t dp = 0; dp < REPLICAS; dp++) {
		for (size_t stage = 0; stage < STAGES; stage++) {
			durations->pass_s[dp][stage] = pass_s;
		}
	}
}

static struct fsl_what_if ask(const struct durations *durations)
{
	struct fsl_op_table table;
	struct fsl_what_if found;
	struct fsl_error err = {0};
	fill(&table, durations);
	if (fsl_what_if_ask(&found, &table, &err) != FSL_OK) {
		fail_msg("%s", fsl_error_root(&err));
	}
	assert_int_equal(found.n_replicas, REPLICAS);
	assert_int_equal(found.n_stages, STAGES);
	assert_int_equal(found.n_steps, STEPS);
	fsl_op_table_fini(&table);
	return found;
}

static void a_job_of_equal_workers_is_ideal(void **state)
{
	(void)state;
	struct durations durations;
	set_all(&durations, 0.1);
	struct fsl_what_if found = ask(&durations);
	/* Five passes and two transfers, then the end of the step. */
	assert_true(fabs(found.step_s - (0.6 + 2 * TRANSFER_S + 7 * TRANSFER_S)) < 1e-9);
	assert_true(fabs(found.slowdown - 1.0) < 1e-9);
	assert_true(isnan(found.slowest_share) && isnan(found.by_replica[0]));
	fsl_what_if_fini(&found);
}

static void one_slow_worker_explains_what_is_lost(void **state)
{
	(void)state;
	for (int32_t slow = 0; slow < REPLICAS * STAGES; slow += 3) {
		struct durations durations;
		int32_t dp = slow / STAGES, stage = slow % STAGES;
		set_all(&durations, 0.1);
		durations.pass_s[dp][stage] = 0.2;
		struct fsl_what_if found = ask(&durations);
		assert_true(found.slowdown > 1.1);
		assert_int_equal(found.n_slowest, 1);
		assert_int_equal(found.workers[0].dp, dp);
		assert_int_equal(found.workers[0].stage, stage);
		assert_int_equal(found.workers[0].rank, 8 * stage + dp);
		assert_true(found.slowest_share > 0.9 && found.slowest_share < 1.6);
		assert_true((found.last_stage_share > 0.9) == (stage == 1));
		assert_true(fabs(found.by_replica[dp] - found.slowdown) < 0.01);
		assert_true(found.by_replica[(dp + 1) % REPLICAS] < 1.03);
		fsl_what_if_fini(&found);
	}
}

static void a_slow_last_stage_is_no_slow_worker(void **state)
{
	(void)state;
	struct durations durations;
	set_all(&durations, 0.1);
	for (size_t dp = 0; dp < REPLICAS; dp++) {
		durations.pass_s[dp][1] = 0.15;
	}
	struct fsl_what_if found = ask(&durations);
	assert_true(found.slowdown > 1.03);
	assert_true(found.last_stage_share > 0.9);
	assert_true(found.slowest_share < 0.1);
	assert_true(found.by_stage[1] > 1.1 && found.by_stage[0] < 1.0);
	assert_true(found.by_class[0] > 1.0 && found.by_class[1] > 1.0); /* both passes */
	assert_true(fabs(found.by_class[2] - 1.0) < 1e-3);               /* no transfer */
	assert_true(isnan(found.by_class[6]));                           /* it has none */
	fsl_what_if_fini(&found);
}

static void expect_refusal(struct fsl_op_table *table, const char *reason)
{
	struct fsl_what_if found;
	struct fsl_error err = {0};
	assert_int_equal(fsl_what_if_ask(&found, table, &err), FSL_ERR_INPUT);
	if (strstr(fsl_error_root(&err), reason) == NULL) {
		fail_msg("%s", fsl_error_root(&err));
	}
	fsl_what_if_fini(&found);
	fsl_op_table_fini(table);
}

static void operations_that_do_not_fit_together_are_refused(void **state)
{
	(void)state;
	struct durations durations;
	struct fsl_op_table table;
	set_all(&durations, 0.1);
	fill(&table, &durations);
	table.rows[table.n_rows - 1].step = STEPS; /* a step of one operation */
	expect_refusal(&table, "a worker lacks an operation in some step");
	fill(&table, &durations);
	table.rows[8].type = FSL_OP_BACKWARD_SEND; /* the first send of stage 0 */
	expect_refusal(&table, "a transfer has no peer");
	fill(&table, &durations);
	table.rows[19].dp = 1 << 29; /* of replica 1 */
	expect_refusal(&table, "most operations are missing");
	fill(&table, &durations);
	table.rows[19].stage = 1 << 29;
	expect_refusal(&table, "does not tell a pipeline");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_of_equal_workers_is_ideal),
		cmocka_unit_test(one_slow_worker_explains_what_is_lost),
		cmocka_unit_test(a_slow_last_stage_is_no_slow_worker),
		cmocka_unit_test(operations_that_do_not_fit_together_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
