/* Verdicts of every kind, with known numbers, for the tests of src/report. */
#ifndef FSL_TEST_REPORT_SAMPLES_H
#define FSL_TEST_REPORT_SAMPLES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/run.h"
#include "model/topology.h"
#include "model/verdict.h"
#include "report/report.h"

/* 2025-06-15T15:06:40Z */
#define SAMPLE_START_NS INT64_C(1750000000000000000)
#define SAMPLE_NOW_NS   INT64_C(1750000093426436326)

struct sample {
	struct fsl_run run;
	struct fsl_topology topology;
	struct fsl_localisation localisation;
	struct fsl_perception perception;
	struct fsl_config config;
	struct fsl_group group;
};

static inline void sample_check(bool is_right)
{
	if (!is_right) {
		(void)fprintf(stderr, "the sample could not be made\n");
		abort();
	}
}

/* Step @n of a job whose steps take a second. */
static inline int64_t sample_step_ns(int64_t n)
{
	return SAMPLE_START_NS + n * INT64_C(1000000000);
}

static inline void sample_fill_coverage(struct fsl_coverage *coverage)
{
	coverage->n_ranks_expected = 8;
	coverage->n_ranks_seen = 8;
	coverage->n_files = 9;
	coverage->n_bytes = 4194304;
	coverage->n_records = 80412;
	coverage->begin_ns = SAMPLE_START_NS;
	coverage->end_ns = SAMPLE_NOW_NS;
	coverage->n_steps = 80;
	coverage->steps_source = "timeline";
	coverage->n_groups = 1;
	coverage->n_groups_matched = 1;
	coverage->n_instances = 4800;
	coverage->n_instances_matched = 4799;
}

/* A healthy job of eight ranks on one host; free with sample_fini. */
static inline struct sample *sample_create(void)
{
	static int32_t all_ranks[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct sample *sample = fsl_calloc(1, sizeof(*sample));
	sample_check(sample != NULL);
	sample_check(fsl_run_init(&sample->run, NULL) == FSL_OK);
	for (int32_t rank = 0; rank < 8; rank++) {
		struct fsl_rank *added = fsl_run_add_rank(&sample->run, rank, NULL);
		sample_check(added != NULL);
		added->server_ip = "10.1.0.1";
		added->last_event_ns = SAMPLE_NOW_NS;
	}
	uint32_t name_id = FSL_STR_NONE;
	sample_check(fsl_strpool_intern(sample->run.names, "group_name_1", 12, &name_id, NULL) ==
		     FSL_OK);
	sample->group = (struct fsl_group){.name_id = name_id,
					   .kind = FSL_GROUP_TP,
					   .known_by = FSL_KNOWN_INFERRED,
					   .why = "all ranks of the host share it",
					   .ranks = all_ranks,
					   .n_ranks = 8};
	sample->topology.groups = &sample->group;
	sample->topology.n_groups = 1;
	fsl_localisation_init(&sample->localisation);
	fsl_perception_init(&sample->perception);
	sample->config.now_ns = SAMPLE_NOW_NS;
	sample->localisation.kind = FSL_VERDICT_NORMAL;
	sample->localisation.confidence = 0.9;
	sample->localisation.slowdown = 1.0;
	sample->localisation.step_ms = 974.25;
	sample->localisation.lost_ms_per_step = 0.0;
	sample->perception.kind = FSL_VERDICT_NORMAL;
	sample->perception.start_ns = sample_step_ns(3);
	sample->perception.end_ns = sample_step_ns(80);
	sample_fill_coverage(&sample->localisation.coverage);
	sample_fill_coverage(&sample->perception.coverage);
	return sample;
}

static inline void sample_destroy(struct sample *sample)
{
	fsl_run_fini(&sample->run);
	fsl_localisation_fini(&sample->localisation);
	fsl_perception_fini(&sample->perception);
	fsl_free(sample);
}

static inline struct fsl_culprit sample_culprit(int32_t rank, enum fsl_cause cause)
{
	struct fsl_culprit culprit = fsl_culprit_of(rank);
	culprit.server_ip = "10.1.0.1";
	culprit.cause = cause;
	culprit.lost_ms_per_step = 194.87654;
	culprit.share_of_loss = 0.98765;
	culprit.onset_step = 60;
	culprit.onset_ns = sample_step_ns(60);
	culprit.confidence = 0.99;
	culprit.reason = "own work takes 560.0 ms per step against 465.1 ms of its peers";
	(void)fsl_culprit_add_fact(&culprit, "own", 560.0, "ms");
	(void)fsl_culprit_add_fact(&culprit, "peers", 465.1234, "ms");
	(void)fsl_culprit_add_fact(&culprit, "own_ratio", 1.20398, "ratio");
	(void)fsl_culprit_add_fact(&culprit, "high_steps", 20.0, "count");
	(void)fsl_culprit_add_fact(&culprit, "persistence", 1.0, "share");
	return culprit;
}

static inline void sample_add_culprit(struct sample *sample, const struct fsl_culprit *culprit)
{
	sample_check(FSL_APPEND(&sample->localisation, culprits, culprit, NULL) == FSL_OK);
}

static inline void sample_make_anomaly(struct sample *sample, enum fsl_verdict_kind kind)
{
	struct fsl_localisation *localisation = &sample->localisation;
	localisation->kind = kind;
	localisation->result_code = 201;
	localisation->confidence = 0.99;
	localisation->fault_ns = sample_step_ns(60);
	localisation->slowdown = 1.2002;
	localisation->step_ms = 1168.125;
	localisation->lost_ms_per_step = 194.87654;
}

/* Rank 3 computes slowly from step 60 on; the others wait. */
static inline struct sample *sample_slow_rank(void)
{
	static int32_t others[] = {0, 1, 2, 4, 5, 6, 7};
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_RANK);
	sample->localisation.compute = true;
	struct fsl_culprit culprit = sample_culprit(3, FSL_CAUSE_COMPUTE);
	sample_add_culprit(sample, &culprit);
	for (int32_t rank = 5; rank >= 4; rank--) {
		struct fsl_suspect victim = {rank, 12.5, "ArrivalLateness", "waits for rank 3"};
		sample_check(FSL_APPEND(&sample->localisation, victims, &victim, NULL) == FSL_OK);
	}
	struct fsl_detail detail = {.rank = 3,
				    .server_ip = "10.1.0.1",
				    .kpi_id = "HcclAllGather",
				    .method = FSL_METHOD_SPACE,
				    .is_abnormal = true,
				    .rela_ranks = others,
				    .n_rela_ranks = 7};
	sample_check(fsl_localisation_add_detail(&sample->localisation, &detail, NULL) == FSL_OK);
	struct fsl_step_episode episode = {
		60, -1, sample_step_ns(60), 973.25, 1168.125, 1.2e-9, 20, false, false};
	sample_check(FSL_APPEND(&sample->perception, episodes, &episode, NULL) == FSL_OK);
	sample->perception.kind = FSL_VERDICT_JOB_SLOWDOWN;
	sample->perception.is_anomaly = true;
	sample->perception.anomaly_type = "failSlow";
	struct fsl_step_anomaly anomaly = {60, sample_step_ns(60), 0.20023, 1168.0, 973.1};
	sample_check(FSL_APPEND(&sample->perception, anomalies, &anomaly, NULL) == FSL_OK);
	return sample;
}

/* Ranks 2 and 6 on two hosts have a slow link. */
static inline struct sample *sample_slow_link(void)
{
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_LINK);
	sample->localisation.network = true;
	for (int i = 0; i < 2; i++) {
		struct fsl_culprit end = sample_culprit(i == 0 ? 2 : 6, FSL_CAUSE_NETWORK);
		end.peer = i == 0 ? 6 : 2;
		end.reason = "transfers between them take longer than on like links";
		sample_add_culprit(sample, &end);
	}
	return sample;
}

/* Rank 3 stopped an hour ago inside an operator, the others a little later. */
static inline struct sample *sample_hang(void)
{
	static int32_t stopped[] = {3};
	struct sample *sample = sample_create();
	struct fsl_perception *perception = &sample->perception;
	perception->kind = FSL_VERDICT_HANG;
	perception->is_anomaly = true;
	perception->anomaly_type = "hang";
	perception->hang_mins = 60.004;
	perception->hang_since_ns = SAMPLE_NOW_NS - INT64_C(3600240000000);
	perception->stopped_first = stopped;
	perception->n_stopped_first = 1;
	sample->run.ranks[3].last_event_ns = perception->hang_since_ns;
	sample_check(fsl_strpool_intern(sample->run.names, "HcclAllReduce", 13,
					&sample->run.ranks[3].open_op_id, NULL) == FSL_OK);
	return sample;
}

/* All steps take longer from step 40 on; nobody is to blame. */
static inline struct sample *sample_job_slowdown(void)
{
	struct sample *sample = sample_create();
	struct fsl_perception *perception = &sample->perception;
	perception->kind = FSL_VERDICT_JOB_SLOWDOWN;
	perception->is_anomaly = true;
	perception->anomaly_type = "failSlow";
	struct fsl_step_episode episode = {
		40, -1, sample_step_ns(40), 974.0, 1459.5, 2e-12, 40, false, false};
	sample_check(FSL_APPEND(perception, episodes, &episode, NULL) == FSL_OK);
	struct fsl_step_explained explained = {20,     sample_step_ns(20), 2974.0, 974.25,
					       2000.0, "checkpoint"};
	sample_check(FSL_APPEND(perception, explained, &explained, NULL) == FSL_OK);
	for (int64_t step = 40; step < 42; step++) {
		struct fsl_step_anomaly anomaly = {step, sample_step_ns(step), 0.4935, 1459.0,
						   977.1};
		sample_check(FSL_APPEND(perception, anomalies, &anomaly, NULL) == FSL_OK);
		sample_check(FSL_APPEND(perception, slow_dataloader, &anomaly, NULL) == FSL_OK);
		sample_check(FSL_APPEND(perception, slow_ckpt, &anomaly, NULL) == FSL_OK);
	}
	return sample;
}

/* Every second one of @n_missing * 2 ranks left nothing. */
static inline struct sample *sample_missing(size_t n_missing)
{
	struct sample *sample = sample_create();
	struct fsl_coverage *coverage = &sample->localisation.coverage;
	sample->localisation.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	sample->localisation.confidence = NAN;
	sample->localisation.slowdown = NAN;
	sample->localisation.step_ms = NAN;
	sample->localisation.lost_ms_per_step = NAN;
	sample->localisation.reason = "half of the ranks left no marker file";
	coverage->missing_ranks =
		fsl_arena_alloc(&sample->localisation.arena, n_missing * sizeof(int32_t));
	sample_check(coverage->missing_ranks != NULL);
	for (size_t i = 0; i < n_missing; i++) {
		coverage->missing_ranks[i] = (int32_t)(2 * i);
	}
	coverage->n_missing_ranks = n_missing;
	coverage->n_ranks_expected = 2 * n_missing;
	coverage->n_ranks_seen = n_missing;
	return sample;
}

static inline struct fsl_report sample_report(struct sample *sample)
{
	return (struct fsl_report){.perception = &sample->perception,
				   .localisation = &sample->localisation,
				   .topology = &sample->topology,
				   .run = &sample->run,
				   .perception_path = "/result/perception.json",
				   .localisation_path = "/result/verdict.json",
				   .width = 80};
}

/* Leaves a document for the schema test: <build>/report-samples/<name>.<kind>.json. */
static inline void sample_save(const char *name, const char *kind, const char *text)
{
	char path[4096];
	sample_check(fsl_dir_create(FSL_BUILD_DIR "/report-samples", NULL) == FSL_OK);
	(void)snprintf(path, sizeof(path), "%s/report-samples/%s.%s.json", FSL_BUILD_DIR, name,
		       kind);
	sample_check(fsl_file_write_atomic(path, text, strlen(text), NULL) == FSL_OK);
}

#endif
