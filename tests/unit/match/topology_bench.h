/* Small runs for topology tests: communicators with their ranks, operators and numbers of calls. */
#ifndef TESTS_TOPOLOGY_BENCH_H
#define TESTS_TOPOLOGY_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "match/topology_build.h"

struct bench {
	struct fsl_run run;
	struct fsl_config config;
	struct fsl_topology topology;
	int64_t now_ns; /* begin of the next operator */
};

static inline void bench_init(struct bench *bench)
{
	*bench = (struct bench){.now_ns = 1000};
	bench->config.rank_table_json = "";
	assert_int_equal(fsl_run_init(&bench->run, NULL), FSL_OK);
}

static inline void bench_fini(struct bench *bench)
{
	fsl_topology_fini(&bench->topology);
	fsl_run_fini(&bench->run);
	fsl_arena_fini(&bench->config.arena);
}

static inline uint32_t bench_name(struct bench *bench, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(bench->run.names, text, strlen(text), &id, NULL),
			 FSL_OK);
	return id;
}

/* @n_calls of @op by one rank. @group NULL: the input names no communicators. */
static inline void bench_calls(struct bench *bench, int32_t rank_number, const char *group,
			       const char *op, size_t n_calls)
{
	struct fsl_rank *rank = fsl_run_add_rank(&bench->run, rank_number, NULL);
	assert_non_null(rank);
	rank->has_markers_file = true;
	assert_int_equal(FSL_GROW(rank->ops, rank->ops_capacity, rank->n_ops + n_calls, NULL),
			 FSL_OK);
	uint32_t op_id = bench_name(bench, op);
	uint32_t group_id = group != NULL ? bench_name(bench, group) : FSL_STR_NONE;
	for (size_t i = 0; i < n_calls; i++) {
		rank->ops[rank->n_ops++] = (struct fsl_op){
			.host_begin_ns = bench->now_ns,
			.host_end_ns = bench->now_ns + 10,
			.dev_begin_ns = bench->now_ns + 20,
			.dev_end_ns = bench->now_ns + 30,
			.id = (uint64_t)bench->now_ns,
			.op_id = op_id,
			.group_id = group_id,
			.dtype_id = FSL_STR_NONE,
			.step = -1,
		};
		bench->now_ns += 100;
	}
}

/* @n_calls of @op by the @n ranks first, first + stride, ... */
static inline void bench_comm(struct bench *bench, const char *group, const char *op,
			      size_t n_calls, const int32_t ranks[3])
{
	for (int32_t i = 0; i < ranks[1]; i++) {
		bench_calls(bench, ranks[0] + i * ranks[2], group, op, n_calls);
	}
}
/* first, number, stride */
#define RANKS(first, n, stride)                                                                    \
	(const int32_t[3])                                                                         \
	{                                                                                          \
		(first), (n), (stride)                                                             \
	}

static inline void bench_build(struct bench *bench)
{
	fsl_topology_fini(&bench->topology);
	assert_int_equal(fsl_topology_build(&bench->topology, &bench->run, &bench->config, NULL),
			 FSL_OK);
}

static inline const struct fsl_group *bench_group(const struct bench *bench, const char *name)
{
	for (size_t g = 0; g < bench->topology.n_groups; g++) {
		const struct fsl_group *group = &bench->topology.groups[g];
		if (strcmp(fsl_strpool_text(bench->run.names, group->name_id), name) == 0) {
			return group;
		}
	}
	fail_msg("no such group: name=\"%s\"", name);
	return NULL;
}

static inline void assert_kind(const struct bench *bench, const char *name,
			       enum fsl_group_kind kind)
{
	const struct fsl_group *group = bench_group(bench, name);
	if (group->kind != kind) {
		fail_msg("%s is %s because: %s", name, fsl_group_kind_text(group->kind),
			 group->why);
	}
	assert_true(group->why[0] != '\0');
}

/* "[0,1][2,3]" */
static inline void assert_domain(const struct bench *bench, enum fsl_group_kind kind,
				 const char *expected)
{
	char text[1024] = "";
	size_t length = 0;
	const struct fsl_domain *domain = &bench->topology.domains[kind];
	for (size_t i = 0; i < domain->n_lists; i++) {
		for (size_t k = 0; k < domain->lists[i].n_ranks; k++) {
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%d",
						   k == 0 ? "[" : ",", domain->lists[i].ranks[k]);
		}
		length += (size_t)snprintf(text + length, sizeof(text) - length, "]");
	}
	assert_string_equal(text, expected);
}

/* A group named "<prefix><first rank>" for every run of ranks of a regular job. */
struct bench_layout {
	const char *prefix, *op;
	size_t n_calls;
	int32_t size, stride;
};

/* Groups of @layout that partition the ranks 0 .. n_ranks - 1. */
static inline void bench_partition(struct bench *bench, const struct bench_layout *layout,
				   int32_t n_ranks)
{
	int32_t block = layout->size * layout->stride;
	for (int32_t first = 0; first < n_ranks; first++) {
		if (first % block < layout->stride) {
			char name[64];
			snprintf(name, sizeof(name), "%s%d", layout->prefix, first);
			bench_comm(bench, name, layout->op, layout->n_calls,
				   RANKS(first, layout->size, layout->stride));
		}
	}
}

#endif
