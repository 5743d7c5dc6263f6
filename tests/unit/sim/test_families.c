/* Claims about families of jobs: who waits for whom, and what a fault costs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim_parts.h"

enum { JITTER_NS = 20000, STEPS = 12 };

/* A job of @family, other settings by words, and a fault (NULL: none). */
static void make(struct fsl_sim_params *params, const char *family, const char *settings,
		 const char *fault)
{
	struct fsl_error err = {0};
	char text[512], *rest = NULL;
	fsl_sim_params_init(params);
	(void)snprintf(text, sizeof(text), "family=%s steps=%d clock_ms=0 drift_ppm=0 %s", family,
		       STEPS, settings);
	for (char *word = strtok_r(text, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		assert_int_equal(fsl_sim_params_set(params, word, &err), FSL_OK);
	}
	if (fault != NULL) {
		assert_int_equal(fsl_sim_params_add_fault(params, fault, &err), FSL_OK);
	}
}

static void simulate(struct fsl_run *run, const struct fsl_sim_params *params)
{
	struct fsl_error err = {0};
	assert_int_equal(fsl_run_init(run, &err), FSL_OK);
	assert_int_equal(fsl_sim_run_in_memory(params, run, NULL, &err), FSL_OK);
}

/* Truth of a job of @family. */
static struct fsl_sim_truth foresee(const char *family, const char *settings, const char *fault)
{
	struct fsl_sim_params params;
	struct fsl_sim_truth truth;
	struct fsl_error err = {0};
	make(&params, family, settings, fault);
	assert_int_equal(fsl_sim_foresee(&params, &truth, &err), FSL_OK);
	fsl_sim_params_fini(&params);
	return truth;
}

static const char *family_name(int idx)
{
	const struct fsl_sim_preset *family = fsl_sim_family(idx);
	return family != NULL ? family->name : NULL;
}

#define EACH_FAMILY(name)                                                                          \
	int i = 1;                                                                                 \
	(name = family_name(i)) != NULL;                                                           \
	i++

static void same_seed_gives_the_same_run(void **state)
{
	const char *name = NULL;
	(void)state;
	for (EACH_FAMILY(name)) {
		struct fsl_sim_params params;
		struct fsl_run runs[3];
		make(&params, name, "", NULL);
		simulate(&runs[0], &params);
		simulate(&runs[1], &params);
		params.seed++;
		simulate(&runs[2], &params);
		const struct fsl_rank *a = &runs[0].ranks[1], *b = &runs[1].ranks[1];
		assert_int_equal(a->n_ops, b->n_ops);
		assert_memory_equal(a->ops, b->ops, a->n_ops * sizeof(*a->ops));
		assert_memory_not_equal(a->ops, runs[2].ranks[1].ops, a->n_ops * sizeof(*a->ops));
		for (size_t k = 0; k < 3; k++) {
			fsl_run_fini(&runs[k]);
		}
		fsl_sim_params_fini(&params);
	}
}

static bool is_ring_or_message(const struct fsl_run *run, const struct fsl_op *op)
{
	const char *name = fsl_strpool_text(run->names, op->op_id);
	return strstr(name, "Send") != NULL || strstr(name, "Receive") != NULL;
}

/* The @use-th operator of a rank like @op. NULL: the rank has none. */
static const struct fsl_op *like_op(const struct fsl_rank *rank, const struct fsl_op *op,
				    size_t use)
{
	for (size_t i = 0; i < rank->n_ops; i++) {
		const struct fsl_op *other = &rank->ops[i];
		bool is_like = other->op_id == op->op_id && other->group_id == op->group_id;
		if (is_like && use-- == 0) {
			return other;
		}
	}
	return NULL;
}

static size_t uses_before(const struct fsl_rank *rank, size_t idx)
{
	size_t n = 0;
	for (size_t i = 0; i < idx; i++) {
		n += rank->ops[i].op_id == rank->ops[idx].op_id &&
		     rank->ops[i].group_id == rank->ops[idx].group_id;
	}
	return n;
}

static void members_of_a_collective_end_together_behind_the_last_begin(void **state)
{
	const char *name = NULL;
	(void)state;
	for (EACH_FAMILY(name)) {
		struct fsl_sim_params params;
		struct fsl_run run;
		size_t n_compared = 0;
		make(&params, name, "steps=3", NULL);
		simulate(&run, &params);
		const struct fsl_rank *first = &run.ranks[0];
		for (size_t k = 0; k < first->n_ops; k++) {
			const struct fsl_op *ours = &first->ops[k];
			size_t use = uses_before(first, k);
			for (size_t r = 1; r < run.n_ranks && !is_ring_or_message(&run, ours);
			     r++) {
				const struct fsl_op *theirs = like_op(&run.ranks[r], ours, use);
				if (theirs != NULL) {
					int64_t apart_ns = ours->dev_end_ns - theirs->dev_end_ns;
					assert_in_range(llabs(apart_ns), 0, JITTER_NS);
					assert_true(ours->dev_end_ns > theirs->dev_begin_ns);
					n_compared++;
				}
			}
		}
		assert_true(n_compared > 0);
		fsl_run_fini(&run);
		fsl_sim_params_fini(&params);
	}
}

static void hosts_launch_before_devices_begin(void **state)
{
	const char *name = NULL;
	(void)state;
	for (EACH_FAMILY(name)) {
		struct fsl_sim_params params;
		struct fsl_run run;
		make(&params, name, "", NULL);
		simulate(&run, &params);
		for (size_t r = 0; r < run.n_ranks; r++) {
			for (size_t k = 0; k < run.ranks[r].n_ops; k++) {
				const struct fsl_op *op = &run.ranks[r].ops[k];
				assert_true(op->host_end_ns > op->host_begin_ns);
				assert_true(op->dev_begin_ns > op->host_end_ns);
			}
		}
		fsl_run_fini(&run);
		fsl_sim_params_fini(&params);
	}
}

static void the_counterfactual_is_the_job_without_its_fault(void **state)
{
	static const char *const faults[] = {"compute ranks=1 factor=1.5 onset=2",
					     "ecc ranks=2 factor=0.5 extra_ms=200 onset=3",
					     "dataloader ranks=1 extra_ms=400 onset=2"};
	const char *name = NULL;
	(void)state;
	for (EACH_FAMILY(name)) {
		struct fsl_sim_truth clean = foresee(name, "item=1", NULL);
		for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++) {
			struct fsl_sim_truth truth = foresee(name, "item=1", faults[f]);
			assert_true(truth.healthy_step_ms == clean.step_ms);
			assert_true(truth.slowdown > 1.03);
			assert_int_equal(truth.n_culprits, 1);
			double cost_ms = truth.fault_step_ms - truth.fault_healthy_ms;
			assert_true(fabs(truth.alone_ms[0] - cost_ms) < 1e-6);
			assert_true(fabs(truth.beside_ms[0] - cost_ms) < 1e-6);
			fsl_sim_truth_fini(&truth);
		}
		fsl_sim_truth_fini(&clean);
	}
}

static void each_of_two_faults_has_its_own_cost(void **state)
{
	struct fsl_sim_params params;
	struct fsl_sim_truth truth;
	struct fsl_error err = {0};
	(void)state;
	/* The slower of two ranks costs everything; beside it the other costs nothing. */
	make(&params, "fsdp", "noise=0 hetero=0 tails=0", "compute ranks=1 factor=1.2");
	assert_int_equal(fsl_sim_params_add_fault(&params, "compute ranks=5 factor=1.5", &err),
			 FSL_OK);
	assert_int_equal(fsl_sim_foresee(&params, &truth, &err), FSL_OK);
	assert_in_range((int64_t)truth.alone_ms[0], 45, 62);
	assert_in_range((int64_t)truth.alone_ms[1], 125, 155);
	assert_true(fabs(truth.beside_ms[0]) < 1.0);
	assert_in_range((int64_t)truth.beside_ms[1], 70, 100);
	fsl_sim_truth_fini(&truth);
	fsl_sim_params_fini(&params);
}

/* True if two operators of a rank run at the same time. */
static bool overlaps(const struct fsl_rank *rank)
{
	for (size_t i = 1; i < rank->n_ops; i++) {
		if (rank->ops[i].dev_begin_ns + JITTER_NS < rank->ops[i - 1].dev_end_ns) {
			return true;
		}
	}
	return false;
}

static void fsdp_has_two_streams_and_fsdp1_one(void **state)
{
	static const struct {
		const char *family;
		bool overlaps;
	} cases[] = {{"fsdp", true}, {"fsdp1", false}, {"varlen", true}, {"hsdp", true}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_sim_params params;
		struct fsl_run run;
		make(&params, cases[i].family, "", NULL);
		simulate(&run, &params);
		assert_int_equal(overlaps(&run.ranks[3]), cases[i].overlaps);
		fsl_run_fini(&run);
		fsl_sim_params_fini(&params);
	}
}

/* In a ring a rank waits for its neighbours alone. */
static void a_batched_send_of_a_ring_waits_for_two_neighbours(void **state)
{
	struct fsl_sim_params params;
	struct fsl_run run;
	size_t n_apart = 0;
	(void)state;
	make(&params, "cp", "tp=8 dp=1 hetero=0.05", NULL);
	simulate(&run, &params);
	for (size_t k = 0; k < run.ranks[0].n_ops; k++) {
		const struct fsl_op *ours = &run.ranks[0].ops[k];
		if (!is_ring_or_message(&run, ours)) {
			continue;
		}
		size_t use = uses_before(&run.ranks[0], k);
		for (size_t r = 1; r < run.n_ranks; r++) {
			const struct fsl_op *theirs = like_op(&run.ranks[r], ours, use);
			bool is_neighbour = r == 1 || r + 1 == run.n_ranks;
			assert_true(!is_neighbour || ours->dev_end_ns > theirs->dev_begin_ns);
			n_apart += llabs(ours->dev_end_ns - theirs->dev_end_ns) > JITTER_NS;
		}
	}
	assert_true(n_apart > 0);
	fsl_run_fini(&run);
	fsl_sim_params_fini(&params);
}

static void zero_bubble_waits_less_than_1f1b(void **state)
{
	static const char *const shapes[] = {"tp=1 dp=2 pp=4 micro_batches=8",
					     "tp=1 dp=4 pp=2 micro_batches=4"};
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct fsl_sim_truth plain = foresee("megatron", shapes[i], NULL);
		struct fsl_sim_truth zero = foresee("zb", shapes[i], NULL);
		assert_true(zero.step_ms < 0.97 * plain.step_ms);
		fsl_sim_truth_fini(&plain);
		fsl_sim_truth_fini(&zero);
	}
}

static void pipelines_of_other_shapes_come_to_their_end(void **state)
{
	static const struct {
		const char *family, *settings;
	} cases[] = {{"vpp", "pp=4 dp=2 micro_batches=8 layers=4"},
		     {"vpp", "pp=2 dp=4 chunks=3 micro_batches=6 evaluation=4"},
		     {"vpp", "pp=3 dp=2 tp=2 chunks=2 micro_batches=9"},
		     {"megatron", "pp=4 dp=2 micro_batches=2 evaluation=4"},
		     {"megatron", "pp=3 dp=2 schedule=gpipe micro_batches=5"},
		     {"megatron", "pp=1 dp=4"},
		     {"zb", "pp=4 dp=2 micro_batches=3 evaluation=3"}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_sim_truth truth = foresee(cases[i].family, cases[i].settings, NULL);
		assert_true(truth.step_ms > 300.0);
		fsl_sim_truth_fini(&truth);
	}
}

/* A receive begins before the work that is done ahead of it has ended: before the newest message
 * was sent. */
static void receives_of_vpp_are_posted_ahead(void **state)
{
	struct fsl_sim_params params;
	struct fsl_run run;
	(void)state;
	make(&params, "vpp", "", NULL);
	simulate(&run, &params);
	for (size_t r = 0; r < run.n_ranks; r++) {
		const struct fsl_rank *rank = &run.ranks[r];
		size_t n_ahead = 0, n_receives = 0;
		for (size_t k = 0; k < rank->n_ops; k++) {
			const char *name = fsl_strpool_text(run.names, rank->ops[k].op_id);
			bool is_ahead = false;
			for (size_t i = k + 1; i < rank->n_ops; i++) {
				const char *other = fsl_strpool_text(run.names, rank->ops[i].op_id);
				is_ahead |= strcmp(other, "HcclSend") == 0 &&
					    rank->ops[i].dev_begin_ns < rank->ops[k].dev_end_ns;
			}
			n_receives += strcmp(name, "HcclReceive") == 0;
			n_ahead += strcmp(name, "HcclReceive") == 0 && is_ahead;
		}
		assert_true(3 * n_ahead > n_receives);
	}
	fsl_run_fini(&run);
	fsl_sim_params_fini(&params);
}

static void uneven_routing_makes_steps_of_moe_longer(void **state)
{
	struct fsl_sim_truth even, uneven, very;
	(void)state;
	even = foresee("moe", "routing=0", NULL);
	uneven = foresee("moe", "routing=0.15", NULL);
	very = foresee("moe", "routing=0.4", NULL);
	assert_true(uneven.step_ms > 1.03 * even.step_ms);
	assert_true(very.step_ms > 1.1 * uneven.step_ms);
	fsl_sim_truth_fini(&even);
	fsl_sim_truth_fini(&uneven);
	fsl_sim_truth_fini(&very);
}

static void a_slow_nic_costs_only_what_leaves_its_host(void **state)
{
	/* Eight ranks of one host have no traffic that leaves it. */
	static const char fault[] = "nic host=1 factor=6 onset=2";
	struct fsl_sim_truth apart, together;
	(void)state;
	apart = foresee("hsdp", "ranks_per_host=4", fault);
	together = foresee("fsdp", "ranks_per_host=8", "nic host=0 factor=6 onset=2");
	assert_true(apart.slowdown > 1.02);
	assert_int_equal(apart.kind, FSL_VERDICT_SLOW_HOST);
	assert_true(together.slowdown == 1.0);
	fsl_sim_truth_fini(&apart);
	fsl_sim_truth_fini(&together);
}

static void a_host_with_other_work_costs_if_it_launches_too_late(void **state)
{
	struct fsl_sim_truth hidden, felt;
	(void)state;
	hidden = foresee("fsdp", "launch=0.2 steps=20", "host ranks=2 factor=1.5 onset=4");
	felt = foresee("fsdp", "launch=0.2 steps=20", "host ranks=2 factor=8 onset=4");
	assert_true(hidden.slowdown < 1.01);
	assert_true(felt.slowdown > 1.2);
	fsl_sim_truth_fini(&hidden);
	fsl_sim_truth_fini(&felt);
}

static void a_host_bound_job_feels_a_slower_host_and_others_do_not(void **state)
{
	static const char fault[] = "host ranks=5 factor=1.3 onset=3";
	struct fsl_sim_truth bound, ahead;
	(void)state;
	bound = foresee("hostbound", "", fault);
	ahead = foresee("ga", "", fault);
	assert_true(bound.slowdown > 1.15);
	assert_true(ahead.slowdown < 1.01);
	fsl_sim_truth_fini(&bound);
	fsl_sim_truth_fini(&ahead);
}

static void gradients_of_ga_are_reduced_once_in_a_step_in_buckets(void **state)
{
	static const struct {
		const char *settings;
		size_t n_ops;
	} cases[] = {{"steps=4", 4 * 3}, {"steps=5 buckets=2 micro_batches=6", 5 * 2}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_sim_params params;
		struct fsl_run run;
		make(&params, "ga", cases[i].settings, NULL);
		simulate(&run, &params);
		assert_int_equal(run.ranks[2].n_ops, cases[i].n_ops);
		fsl_run_fini(&run);
		fsl_sim_params_fini(&params);
	}
}

static void evaluations_and_checkpoints_make_their_steps_longer(void **state)
{
	struct fsl_sim_truth plain, evaluated, saved, beside;
	(void)state;
	plain = foresee("fsdp", "steps=20", NULL);
	evaluated = foresee("fsdp", "steps=20 evaluation=5", NULL);
	saved = foresee("fsdp", "steps=20 ckpt=5 ckpt_ms=1000", NULL);
	beside = foresee("fsdp", "steps=20 ckpt=5 ckpt_ms=1000 async_ckpt=true", NULL);
	assert_true(evaluated.step_ms > 1.1 * plain.step_ms);
	assert_true(saved.step_ms > plain.step_ms + 190.0);
	assert_true(beside.step_ms > plain.step_ms && beside.step_ms < plain.step_ms + 30.0);
	fsl_sim_truth_fini(&plain);
	fsl_sim_truth_fini(&evaluated);
	fsl_sim_truth_fini(&saved);
	fsl_sim_truth_fini(&beside);
}

static void the_rank_that_hangs_stops_its_group(void **state)
{
	struct fsl_sim_truth truth = foresee("fsdp", "", "hang ranks=3 onset=4");
	(void)state;
	assert_int_equal(truth.kind, FSL_VERDICT_HANG);
	assert_true(truth.end_ns == FSL_NS_ABSENT || truth.end_ns < truth.now_ns);
	fsl_sim_truth_fini(&truth);
}

static void an_unknown_family_is_refused(void **state)
{
	struct fsl_sim_params params;
	struct fsl_error err = {0};
	(void)state;
	fsl_sim_params_init(&params);
	assert_int_equal(fsl_sim_params_set(&params, "family=fsdp9", &err), FSL_ERR_USAGE);
	assert_non_null(strstr(fsl_error_root(&err), "fsdp1"));
	fsl_sim_params_fini(&params);
}

static void shards_that_do_not_fill_their_hosts_are_refused(void **state)
{
	struct fsl_sim_params params;
	struct fsl_error err = {0};
	(void)state;
	make(&params, "hsdp", "dp=10", NULL);
	assert_int_equal(fsl_sim_params_check(&params, &err), FSL_ERR_USAGE);
	params.ranks_per_host = 5;
	assert_int_equal(fsl_sim_params_check(&params, &err), FSL_OK);
	fsl_sim_params_fini(&params);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_seed_gives_the_same_run),
		cmocka_unit_test(members_of_a_collective_end_together_behind_the_last_begin),
		cmocka_unit_test(hosts_launch_before_devices_begin),
		cmocka_unit_test(the_counterfactual_is_the_job_without_its_fault),
		cmocka_unit_test(each_of_two_faults_has_its_own_cost),
		cmocka_unit_test(fsdp_has_two_streams_and_fsdp1_one),
		cmocka_unit_test(a_batched_send_of_a_ring_waits_for_two_neighbours),
		cmocka_unit_test(zero_bubble_waits_less_than_1f1b),
		cmocka_unit_test(pipelines_of_other_shapes_come_to_their_end),
		cmocka_unit_test(receives_of_vpp_are_posted_ahead),
		cmocka_unit_test(uneven_routing_makes_steps_of_moe_longer),
		cmocka_unit_test(a_slow_nic_costs_only_what_leaves_its_host),
		cmocka_unit_test(a_host_with_other_work_costs_if_it_launches_too_late),
		cmocka_unit_test(a_host_bound_job_feels_a_slower_host_and_others_do_not),
		cmocka_unit_test(gradients_of_ga_are_reduced_once_in_a_step_in_buckets),
		cmocka_unit_test(evaluations_and_checkpoints_make_their_steps_longer),
		cmocka_unit_test(the_rank_that_hangs_stops_its_group),
		cmocka_unit_test(an_unknown_family_is_refused),
		cmocka_unit_test(shards_that_do_not_fill_their_hosts_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
