/* Small jobs for tests of the classical localisation: operators at regular times, groups by hand.
 */
#ifndef TESTS_CLASSICAL_BENCH_H
#define TESTS_CLASSICAL_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"
#include "detect/classical.h"
#include "plugin/registry.h"

#define BENCH_START_NS INT64_C(1750000000000000000)

struct bench {
	struct fsl_run run;
	struct fsl_topology topology;
	struct fsl_config config;
	struct fsl_registry *registry;
	struct fsl_localisation verdict;
	struct fsl_error err;
};

static inline void bench_init(struct bench *bench)
{
	*bench = (struct bench){0};
	assert_int_equal(fsl_run_init(&bench->run, NULL), FSL_OK);
	bench->registry = fsl_registry_create();
	assert_non_null(bench->registry);
	assert_int_equal(fsl_config_load(&bench->config, NULL, bench->registry, NULL), FSL_OK);
	bench->config.enable_cal = false;
}

static inline void bench_fini(struct bench *bench)
{
	fsl_localisation_fini(&bench->verdict);
	fsl_topology_fini(&bench->topology);
	fsl_run_fini(&bench->run);
	fsl_config_fini(&bench->config);
	fsl_registry_destroy(bench->registry);
}

static inline uint32_t bench_name(struct bench *bench, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(bench->run.names, text, strlen(text), &id, NULL),
			 FSL_OK);
	return id;
}

static inline struct fsl_rank *bench_rank(struct bench *bench, int32_t number)
{
	struct fsl_rank *rank = fsl_run_add_rank(&bench->run, number, NULL);
	assert_non_null(rank);
	rank->has_markers_file = true;
	return rank;
}

/* Duration of the i-th operator of a rank, ms. */
typedef double bench_duration(int32_t rank, size_t i);

/* One operator a second; it ends 900 ms into its second, as its duration says it began. */
static inline void bench_ops(struct bench *bench, int32_t number, const char *group, const char *op,
			     size_t n, bench_duration *duration_ms)
{
	struct fsl_rank *rank = bench_rank(bench, number);
	uint32_t op_id = bench_name(bench, op), group_id = bench_name(bench, group);
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + n, NULL), FSL_OK);
	for (size_t i = 0; i < n; i++) {
		int64_t end_ns = BENCH_START_NS + (int64_t)i * FSL_NS_PER_S + 900 * FSL_NS_PER_MS;
		int64_t begin_ns = end_ns - (int64_t)(duration_ms(number, i) * FSL_NS_PER_MS);
		rank->ops[rank->n_ops++] = (struct fsl_op){
			.host_begin_ns = begin_ns - 20 * FSL_NS_PER_MS,
			.host_end_ns = begin_ns - 10 * FSL_NS_PER_MS,
			.dev_begin_ns = begin_ns,
			.dev_end_ns = end_ns,
			.id = rank->n_ops + 1,
			.op_id = op_id,
			.group_id = group_id,
			.dtype_id = FSL_STR_NONE,
			.step = -1,
		};
	}
}

/* A group of @kind with the ranks first, first + stride ...; its list is added to the domain. */
static inline void bench_group(struct bench *bench, const char *name, enum fsl_group_kind kind,
			       const int32_t ranks[3])
{
	struct fsl_arena *arena = &bench->topology.arena;
	struct fsl_topology *topology = &bench->topology;
	size_t n = (size_t)ranks[1];
	int32_t *members = fsl_arena_alloc(arena, n * sizeof(*members));
	struct fsl_group *groups =
		fsl_arena_alloc(arena, (topology->n_groups + 1) * sizeof(*groups));
	struct fsl_domain *domain = &topology->domains[kind];
	struct fsl_rank_list *lists =
		fsl_arena_alloc(arena, (domain->n_lists + 1) * sizeof(*lists));
	assert_true(members != NULL && groups != NULL && lists != NULL);
	for (int32_t i = 0; i < ranks[1]; i++) {
		members[i] = ranks[0] + i * ranks[2];
	}
	if (topology->n_groups > 0) {
		memcpy(groups, topology->groups, topology->n_groups * sizeof(*groups));
	}
	if (domain->n_lists > 0) {
		memcpy(lists, domain->lists, domain->n_lists * sizeof(*lists));
	}
	groups[topology->n_groups] = (struct fsl_group){
		.name_id = bench_name(bench, name),
		.kind = kind,
		.why = "",
		.ranks = members,
		.n_ranks = n,
		.n_op_kinds = 1,
		.n_calls = 1,
	};
	lists[domain->n_lists] = (struct fsl_rank_list){.ranks = members, .n_ranks = n};
	topology->groups = groups;
	topology->n_groups++;
	domain->lists = lists;
	domain->n_lists++;
}
/* first, number, stride */
#define RANKS(first, n, stride)                                                                    \
	(const int32_t[3])                                                                         \
	{                                                                                          \
		(first), (n), (stride)                                                             \
	}

static inline void bench_expect_ranks(struct bench *bench, int32_t n)
{
	bench->topology.expected_ranks =
		fsl_arena_alloc(&bench->topology.arena, (size_t)n * sizeof(int32_t));
	assert_non_null(bench->topology.expected_ranks);
	for (int32_t i = 0; i < n; i++) {
		bench->topology.expected_ranks[i] = i;
	}
	bench->topology.n_expected_ranks = (size_t)n;
}

static inline enum fsl_status bench_try(struct bench *bench)
{
	fsl_localisation_fini(&bench->verdict);
	fsl_localisation_init(&bench->verdict);
	return fsl_classical_run(&bench->verdict, &bench->run, &bench->topology, &bench->config,
				 &bench->err);
}

static inline void bench_run(struct bench *bench)
{
	assert_int_equal(bench_try(bench), FSL_OK);
}

/* "3 HcclAllGather SPACE;" per abnormal entry. */
static inline void assert_abnormal(const struct bench *bench, const char *expected)
{
	static const char *const methods[] = {"SPACE", "TIME", "LACK"};
	char text[1024] = "";
	size_t length = 0;
	for (size_t i = 0; i < bench->verdict.n_abnormal; i++) {
		const struct fsl_detail *detail = &bench->verdict.abnormal[i];
		assert_true(detail->is_abnormal);
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%d %s %s;",
					   (int)detail->rank, detail->kpi_id,
					   methods[detail->method]);
	}
	assert_string_equal(text, expected);
	assert_int_equal(bench->verdict.result_code, expected[0] != '\0' ? 201 : 200);
}

static inline void assert_skipped(const struct bench *bench, const char *expected)
{
	for (size_t i = 0; i < bench->verdict.coverage.n_skipped; i++) {
		if (strcmp(bench->verdict.coverage.skipped[i], expected) == 0) {
			return;
		}
	}
	for (size_t i = 0; i < bench->verdict.coverage.n_skipped; i++) {
		print_message("skipped: %s\n", bench->verdict.coverage.skipped[i]);
	}
	fail_msg("no such line in coverage.skipped: \"%s\"", expected);
}

#endif
