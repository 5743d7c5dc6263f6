/* A made-up set of captures for the tests of the judges: ranks, groups, operators, steps. */
#ifndef FSL_TESTS_PROFILE_SMALL_CAPTURE_H
#define FSL_TESTS_PROFILE_SMALL_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "blame/capture_places.h"
#include "judge/finding.h"
#include "report/report.h"

/* cmocka's own compares floats. */
#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

#define SMALL_ORIGIN_NS INT64_C(1764246877000000000)

struct small_capture {
	struct fsl_profile profile;
	struct fsl_profile_cluster cluster;
	struct fsl_profile_findings findings;
	int64_t device_bytes; /* memory of a device; 0: not known */
};

/* All judges on a capture. */
static inline enum fsl_status judge_whole(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	struct fsl_profile_meetings meetings;
	enum fsl_status status = fsl_profile_meet(&meetings, facts->profile, facts->cluster, err);
	if (status == FSL_OK) {
		status = fsl_profile_judge_all(findings, facts, &meetings, err);
		fsl_profile_meetings_fini(&meetings);
	}
	return status;
}

static inline int64_t small_ns(double ms)
{
	return (int64_t)llround(ms * 1e6);
}

static inline void small_begin(struct small_capture *small, size_t n_ranks)
{
	*small = (struct small_capture){0};
	struct fsl_profile *profile = &small->profile;
	profile->ranks = fsl_calloc(n_ranks, sizeof(*profile->ranks));
	assert_non_null(profile->ranks);
	profile->n_ranks = n_ranks;
	profile->root = "captures";
	for (size_t r = 0; r < n_ranks; r++) {
		struct fsl_profile_rank *rank = &profile->ranks[r];
		rank->rank = (int32_t)r;
		rank->info = (struct fsl_profile_info){.level = "Level1",
						       .torch_version = "",
						       .cann_version = "",
						       .host_uid = "",
						       .host_name = "",
						       .n_active_steps = -1};
		rank->names = fsl_strpool_create();
		assert_non_null(rank->names);
	}
}

static inline void small_end(struct small_capture *small)
{
	fsl_profile_findings_fini(&small->findings);
	fsl_profile_cluster_fini(&small->cluster);
	fsl_profile_fini(&small->profile);
}

static inline uint32_t small_name(struct fsl_profile_rank *rank, const char *text)
{
	uint32_t id = 0;
	assert_int_equal(fsl_strpool_intern(rank->names, text, strlen(text), &id, NULL), FSL_OK);
	return id;
}

/* An operator that begins @begin_ms after the origin; its times are all idle time. */
static inline struct fsl_profile_comm *small_comm(struct small_capture *small, size_t r,
						  int64_t step, const char *name, const char *group,
						  double begin_ms, double elapse_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->comms, rank->comms_capacity, rank->n_comms + 1, NULL),
			 FSL_OK);
	struct fsl_profile_comm *comm = &rank->comms[rank->n_comms++];
	*comm = (struct fsl_profile_comm){
		.step = step,
		.name_id = small_name(rank, name),
		.group_id = group != NULL ? small_name(rank, group) : FSL_STR_NONE,
		.is_p2p = strstr(name, "end") != NULL || strstr(name, "eceive") != NULL,
		.begin_ns = SMALL_ORIGIN_NS + small_ns(begin_ms),
		.elapse_ns = small_ns(elapse_ms),
		.idle_ns = small_ns(elapse_ms),
	};
	return comm;
}

/* A link of a group; @src and @dst are numbers inside of it. */
static inline void small_link(struct small_capture *small, size_t r, int64_t step,
			      const char *label, const char *group, int32_t src, int32_t dst,
			      double megabytes, double gb_per_s)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->links, rank->links_capacity, rank->n_links + 1, NULL),
			 FSL_OK);
	rank->links[rank->n_links++] = (struct fsl_profile_link){
		.step = step,
		.label_id = small_name(rank, label),
		.group_id = small_name(rank, group),
		.name_id = FSL_STR_NONE,
		.src = src,
		.dst = dst,
		.transport = src == dst ? FSL_TRANSPORT_LOCAL : FSL_TRANSPORT_HCCS,
		.n_bytes = (int64_t)(megabytes * 1e6),
		.time_ns = small_ns(megabytes / gb_per_s),
		.gb_per_s = gb_per_s,
	};
}

static inline void small_step(struct small_capture *small, size_t r, int64_t step,
			      double computing_ms, double exposed_ms, double free_ms)
{
	struct fsl_profile_rank *rank = &small->profile.ranks[r];
	assert_int_equal(FSL_GROW(rank->steps, rank->steps_capacity, rank->n_steps + 1, NULL),
			 FSL_OK);
	rank->steps[rank->n_steps++] = (struct fsl_profile_step){
		.step = step,
		.device_id = -1,
		.computing_ns = small_ns(computing_ms),
		.exposed_ns = small_ns(exposed_ms),
		.communication_ns = small_ns(exposed_ms),
		.free_ns = small_ns(free_ms),
		.stage_ns = small_ns(computing_ms + exposed_ms + free_ms),
		.preparing_ns = FSL_NS_ABSENT,
	};
}

static inline int32_t *small_ranks(struct small_capture *small, int32_t first, size_t n,
				   int32_t stride)
{
	int32_t *ranks = fsl_arena_alloc(&small->cluster.arena, n * sizeof(*ranks));
	assert_non_null(ranks);
	for (size_t i = 0; i < n; i++) {
		ranks[i] = first + (int32_t)i * stride;
	}
	return ranks;
}

/* @n_stages stages of neighbouring ranks, equally many each. */
static inline void small_stages(struct small_capture *small, size_t n_stages)
{
	struct fsl_profile_cluster *cluster = &small->cluster;
	size_t n_each = small->profile.n_ranks / n_stages;
	cluster->stages = fsl_arena_alloc(&cluster->arena, n_stages * sizeof(*cluster->stages));
	assert_non_null(cluster->stages);
	cluster->n_stages = n_stages;
	for (size_t s = 0; s < n_stages; s++) {
		cluster->stages[s].ranks = small_ranks(small, (int32_t)(s * n_each), n_each, 1);
		cluster->stages[s].n_ranks = n_each;
	}
}

/* A group that has @n_seen members in the set, neighbours from @first on, and @size in all. */
static inline struct fsl_profile_group *small_group(struct small_capture *small, const char *hash,
						    const char *name, bool is_p2p, int32_t first,
						    size_t n_seen, size_t size)
{
	struct fsl_profile_cluster *cluster = &small->cluster;
	enum { GROUPS_MAX = 8 };
	if (cluster->groups == NULL) {
		cluster->groups =
			fsl_arena_alloc(&cluster->arena, GROUPS_MAX * sizeof(*cluster->groups));
		assert_non_null(cluster->groups);
	}
	assert_true(cluster->n_groups < GROUPS_MAX);
	struct fsl_profile_group *group = &cluster->groups[cluster->n_groups++];
	*group = (struct fsl_profile_group){
		.hash = hash,
		.id = "",
		.name = name,
		.is_p2p = is_p2p,
		.ranks = small_ranks(small, first, n_seen, 1),
		.n_ranks = n_seen,
		.seen = small_ranks(small, first, n_seen, 1),
		.n_seen = n_seen,
		.size = size,
		.is_size_known = true,
	};
	return group;
}

/* Asks one judge; findings are sorted as for the report. */
static inline void small_judge(struct small_capture *small, fsl_profile_judge judge)
{
	struct fsl_error err = {0};
	struct fsl_profile_meetings meetings;
	assert_int_equal(fsl_profile_meet(&meetings, &small->profile, &small->cluster, &err),
			 FSL_OK);
	struct fsl_capture_places places;
	struct fsl_profile_case facts = {.profile = &small->profile,
					 .cluster = &small->cluster,
					 .n_threads = 1,
					 .device_bytes = small->device_bytes,
					 .meetings = &meetings};
	assert_int_equal(fsl_capture_places_find(&places, &small->profile, &small->cluster,
						 &facts.look, &meetings, &err),
			 FSL_OK);
	facts.places = &places;
	assert_int_equal(judge(&small->findings, &facts, &err), FSL_OK);
	fsl_capture_places_fini(&places);
	fsl_profile_meetings_fini(&meetings);
	fsl_profile_findings_sort(&small->findings);
}

/* Asks a judge while one allocation after the other fails: each costs the judgement and nothing
 * else, and in the end there are findings. */
static inline void small_judge_short_of_memory(struct small_capture *small, fsl_profile_judge judge)
{
	enum fsl_status status = FSL_ERR_MEMORY;
	const struct fsl_profile_case facts = {
		.profile = &small->profile, .cluster = &small->cluster, .n_threads = 1};
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		struct fsl_error err = {0};
		fsl_profile_findings_fini(&small->findings);
		fsl_mem_fail_at(nth);
		status = judge(&small->findings, &facts, &err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
	}
	assert_true(small->findings.n_items > 0);
}

/* The first finding of this code, and of this rank unless that is -2; NULL: none. */
static inline const struct fsl_profile_finding *
small_finding(const struct fsl_profile_findings *findings, const char *code, int32_t rank)
{
	for (size_t i = 0; i < findings->n_items; i++) {
		const struct fsl_profile_finding *finding = &findings->items[i];
		if (strcmp(fsl_code_text(finding->code), code) == 0 &&
		    (rank == -2 || finding->rank == rank)) {
			return finding;
		}
	}
	return NULL;
}

/* Value of a fact; fails without it. */
static inline double small_fact(const struct fsl_profile_finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->n_facts; i++) {
		if (strcmp(finding->facts[i].name, name) == 0) {
			return finding->facts[i].value;
		}
	}
	fail_msg("no fact \"%s\" in: %s", name, finding->what);
	return NAN;
}

/* The summary on a screen of @width columns; free with free(). */
static inline char *small_text(const struct small_capture *small, struct fsl_localisation *verdict,
			       int width)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	const struct fsl_report report = {.profile = &small->profile,
					  .cluster = &small->cluster,
					  .findings = &small->findings,
					  .localisation = verdict,
					  .now_ns = FSL_NS_ABSENT,
					  .is_long = true,
					  .width = width};
	fsl_report_text(stream, &report);
	assert_int_equal(fclose(stream), 0);
	return text;
}

#endif
