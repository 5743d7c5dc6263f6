/* Ranks that wait beneath their operators seem to work: they are not named, and hide nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "judge.h"
#include "support/program.h"

enum { PATH_BYTES = 1024, WORDS_MAX = 24 };

/* A minute behind the begin of the job, whose last event is half as old. */
#define NOW_NS (INT64_C(1750000060) * 1000000000)

/* Quiet jobs of 80 steps of 0.3 s, four ranks to a host. */
static const char *const quiet[] = {
	"ranks_per_host=4", "steps=80",    "noise=0.008", "hetero=0.003",
	"tails=0.001",      "step_ms=300", NULL};
static const char *const nothing[] = {NULL};

/* Words for `failslow simulate`, first those of @base; NULL ends both. */
static void judge_words(struct judgement *out, const char *const *base, const char *const *words)
{
	char name[64], dir[PATH_BYTES], results[2 * PATH_BYTES];
	char *argv[WORDS_MAX + 4] = {FSL_PROGRAM, "simulate", dir};
	struct program_run run;
	(void)snprintf(name, sizeof(name), "waiters-%ld", (long)getpid());
	assert_true(scratch_create(FSL_BUILD_DIR, name, dir, sizeof(dir)));
	size_t n = 3;
	for (size_t i = 0; base[i] != NULL; i++) {
		argv[n++] = (char *)base[i];
	}
	for (size_t i = 0; words[i] != NULL; i++) {
		argv[n++] = (char *)words[i];
	}
	assert_true(program_run(&run, NULL, argv));
	assert_int_equal(run.exit_code, 0);
	program_run_fini(&run);
	(void)snprintf(results, sizeof(results), "%s/out", dir);
	judge_tree(out, dir, results, NOW_NS, 2);
	scratch_remove(dir);
}

static void assert_one(const struct judgement *judgement, int rank)
{
	assert_string_equal(judgement->kind, "slow_rank");
	assert_int_equal(judgement->n_culprits, 1);
	assert_int_equal(judgement->culprits[0], rank);
}

static void assert_nothing_but_network(const struct judgement *judgement)
{
	for (int k = 0; k < judgement->n_culprits; k++) {
		assert_string_equal(judgement->causes[k], "network");
	}
}

/* The host holds the group that a late rank keeps waiting; others wait for the group. */
static void mates_of_a_rank_whose_data_come_late_now_and_then_are_not_named(void **state)
{
	static const char *const faults[] = {
		"fault=dataloader period=4 on=1 ranks=1 extra_ms=471.9 onset=17",
		"fault=dataloader period=5 on=1 ranks=14 extra_ms=520 onset=12"};
	static const char *const seeds[] = {"seed=223882830782820", "seed=91192419965667"};
	static const int ranks[] = {1, 14};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=hsdp",     "tp=1",   "dp=16",   "pp=1",
					     "timelines=first", seeds[i], faults[i], NULL};
		struct judgement judgement;
		judge_words(&judgement, quiet, words);
		assert_one(&judgement, ranks[i]);
	}
}

/* Receives are posted ahead: the slower the network, the less of a wait looks like work. */
static void ranks_that_seem_faster_beside_a_slow_network_were_not_slow_before(void **state)
{
	static const char *const faults[] = {"fault=nic ranks=0-3 factor=3.4 onset=19",
					     "fault=nic ranks=0-3 factor=3.3 onset=18"};
	static const char *const seeds[] = {"seed=11", "seed=15"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=vpp",      "tp=1",   "dp=4",    "pp=2",
					     "timelines=first", seeds[i], faults[i], NULL};
		struct judgement judgement;
		judge_words(&judgement, quiet, words);
		assert_nothing_but_network(&judgement);
	}
}

static void chance_names_nobody_of_a_stage_that_waits_for_the_network_alike(void **state)
{
	static const char *const seeds[] = {"seed=88761129949660", "seed=245647355595304"};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=vpp",
					     "tp=1",
					     "dp=4",
					     "pp=2",
					     i == 0 ? "timelines=all" : "timelines=first",
					     seeds[i],
					     i == 0 ? "fault=nic ranks=4-7 factor=1.86448 onset=12"
						    : "fault=nic ranks=4-7 factor=1.86301 onset=16",
					     NULL};
		struct judgement judgement;
		judge_words(&judgement, quiet, words);
		assert_nothing_but_network(&judgement);
	}
}

static void a_rank_of_a_ring_that_throttles_now_and_then_is_named(void **state)
{
	static const char *const faults[] = {
		"fault=compute period=10 on=5 ranks=6 factor=1.408 onset=11",
		"fault=compute period=8 on=4 ranks=1 factor=1.39 onset=16"};
	static const int ranks[] = {6, 1};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=cp",
					     "tp=4",
					     "dp=2",
					     "pp=1",
					     "timelines=first",
					     i == 0 ? "seed=195117481521793" : "seed=8",
					     faults[i],
					     NULL};
		struct judgement judgement;
		judge_words(&judgement, quiet, words);
		assert_one(&judgement, ranks[i]);
	}
}

static void assert_nobody(const char *const *words)
{
	struct judgement judgement;
	judge_words(&judgement, nothing, words);
	assert_int_equal(judgement.n_culprits, 0);
}

/* Each of them alone seems to cost what counts, if all others are put to the level of their peers.
 */
static void healthy_ranks_that_cost_nothing_together_are_not_named(void **state)
{
	static const char *const jobs[2][3] = {{"steps=70", "step_ms=200", "seed=170314822759491"},
					       {"steps=90", "step_ms=300", "seed=61877312639566"}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=hsdp",
					     "tp=1",
					     "dp=16",
					     "pp=1",
					     "ranks_per_host=4",
					     "hetero=0.015",
					     "tails=0.005",
					     "ckpt=25",
					     "async_ckpt=true",
					     i == 0 ? "timelines=all" : "timelines=none",
					     jobs[i][0],
					     jobs[i][1],
					     jobs[i][2],
					     NULL};
		assert_nobody(words);
	}
}

static void hosts_that_launch_just_in_time_and_differ_are_not_named(void **state)
{
	static const char *const jobs[2][3] = {{"steps=70", "step_ms=450", "seed=177010006696177"},
					       {"steps=90", "step_ms=300", "seed=202132208496531"}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=hostbound",
					     "tp=1",
					     "dp=8",
					     "pp=1",
					     "ranks_per_host=4",
					     "timelines=first",
					     i == 0 ? "item=1" : "noise=0.008",
					     i == 0 ? "evaluation=0" : "hetero=0.003",
					     i == 0 ? "ckpt=0" : "tails=0.001",
					     jobs[i][0],
					     jobs[i][1],
					     jobs[i][2],
					     NULL};
		assert_nobody(words);
	}
}

/* Posted receives let the whole stage seem to work longer, and one host holds all of it. */
static void mates_of_a_slow_rank_are_not_named_with_it(void **state)
{
	static const char *const jobs[2][3] = {
		{"step_ms=250", "seed=2", "fault=compute ranks=2 factor=1.28 onset=18"},
		{"step_ms=330", "seed=747750209838", "fault=compute ranks=1 factor=1.3 onset=16"}};
	static const int ranks[] = {2, 1};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {"family=vpp",     "tp=1",        "dp=3",
					     "pp=4",           "hetero=0.01", "noise=0.006",
					     "timelines=none", jobs[i][0],    jobs[i][1],
					     jobs[i][2],       NULL};
		struct judgement judgement;
		judge_words(&judgement, nothing, words);
		assert_one(&judgement, ranks[i]);
	}
}

/* All of its stage seems to grow, as above. */
static void a_rank_whose_stage_seems_to_grow_with_it_is_named(void **state)
{
	static const char *const jobs[2][3] = {
		{"step_ms=300", "seed=1", "fault=compute ranks=3 factor=1.4 onset=20 until=50"},
		{"step_ms=260", "seed=5", "fault=compute ranks=1 factor=1.35 onset=25 until=55"}};
	static const int ranks[] = {3, 1};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {
			"family=vpp",     "tp=1",     "dp=4",     "pp=2",     "steps=80",
			"timelines=none", jobs[i][0], jobs[i][1], jobs[i][2], NULL};
		struct judgement judgement;
		judge_words(&judgement, nothing, words);
		assert_one(&judgement, ranks[i]);
	}
}

/* From the second fault on, nobody waits for the first rank. */
static void a_rank_is_named_although_a_later_fault_hides_what_it_costs(void **state)
{
	static const char *const jobs[2][6] = {{"pairs=6", "buckets=4", "noise=0.03", "seed=3592",
						"fault=compute ranks=1 factor=1.23 onset=20",
						"fault=dataloader ranks=5 extra_ms=100 onset=52"},
					       {"pairs=3", "buckets=2", "noise=0.01", "seed=546",
						"fault=compute ranks=2 factor=1.22 onset=26",
						"fault=compute ranks=5 factor=1.56 onset=49"}};
	static const int ranks[] = {1, 2};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {
			"tp=2",        "dp=4",         "step_ms=150",
			"loader_ms=5", "hetero=0.003", i == 0 ? "steps=125" : "steps=79",
			jobs[i][0],    jobs[i][1],     jobs[i][2],
			jobs[i][3],    jobs[i][4],     jobs[i][5],
			NULL};
		struct judgement judgement;
		judge_words(&judgement, nothing, words);
		assert_string_equal(judgement.kind, "slow_rank");
		assert_int_equal(judgement.n_culprits, 2);
		assert_int_equal(judgement.culprits[0] + judgement.culprits[1], ranks[i] + 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mates_of_a_rank_whose_data_come_late_now_and_then_are_not_named),
		cmocka_unit_test(ranks_that_seem_faster_beside_a_slow_network_were_not_slow_before),
		cmocka_unit_test(chance_names_nobody_of_a_stage_that_waits_for_the_network_alike),
		cmocka_unit_test(a_rank_of_a_ring_that_throttles_now_and_then_is_named),
		cmocka_unit_test(healthy_ranks_that_cost_nothing_together_are_not_named),
		cmocka_unit_test(hosts_that_launch_just_in_time_and_differ_are_not_named),
		cmocka_unit_test(mates_of_a_slow_rank_are_not_named_with_it),
		cmocka_unit_test(a_rank_whose_stage_seems_to_grow_with_it_is_named),
		cmocka_unit_test(a_rank_is_named_although_a_later_fault_hides_what_it_costs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
