/* Parts of the job simulator that only its own files use: model to writers. */
#ifndef TESTS_SUPPORT_SIM_INTERNAL_H
#define TESTS_SUPPORT_SIM_INTERNAL_H

#include <stddef.h>

#include "support/sim_random.h"
#include "support/simjob.h"

enum { SIM_GROUP_TEXT_MAX = 32, SIM_PATH_MAX = 4096 };
#define SIM_ABSENT INT64_MAX /* an event that never came */

/* A file being written, compressed or not. Failures are kept until sim_out_close reports them. */
struct sim_out;
enum fsl_status sim_out_open(struct sim_out **out, const char *path,
			     enum sim_compression compression, struct fsl_error *err);
void sim_out_bytes(struct sim_out *out, const void *data, size_t n_bytes);
void sim_out_printf(struct sim_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* NULL is fine. */
enum fsl_status sim_out_close(struct sim_out *out, struct fsl_error *err);

/* One communication operator of one rank, times as they stand in the file. */
struct sim_op {
	uint64_t id;
	const char *name; /* static: "HcclAllGather" */
	char group[SIM_GROUP_TEXT_MAX];
	uint64_t n_elements;
	int64_t host_begin_ns, host_end_ns, dev_begin_ns, dev_end_ns; /* SIM_ABSENT: not seen */
};

/* Marker file of one rank: host rows at once, device rows later in batches, as a profiler does. */
struct sim_markers;
enum fsl_status sim_markers_open(struct sim_markers **out, const struct sim_params *params,
				 const char *dir, int32_t rank, struct fsl_error *err);
void sim_markers_put(struct sim_markers *markers, const struct sim_op *op);
enum fsl_status sim_markers_close(struct sim_markers *markers, struct fsl_error *err);

enum sim_stage_type {
	SIM_STAGE_DATALOADER,
	SIM_STAGE_FORWARD,
	SIM_STAGE_BACKWARD,
	SIM_STAGE_OPTIMIZER,
	SIM_STAGE_CKPT,
	SIM_STAGE_GC,
};
/* One stage of a step, times as they stand in the file. */
struct sim_stage {
	int32_t step;
	enum sim_stage_type type;
	int64_t begin_ns, end_ns;
};

/* Timeline of one rank. */
struct sim_timeline;
enum fsl_status sim_timeline_open(struct sim_timeline **out, const struct sim_params *params,
				  const char *dir, int32_t rank, struct fsl_error *err);
void sim_timeline_put(struct sim_timeline *timeline, const struct sim_stage *stage);
enum fsl_status sim_timeline_close(struct sim_timeline *timeline, struct fsl_error *err);

/* model_config.json and metric_config.json below @dir. */
enum fsl_status sim_config_write(const struct sim_params *params, const char *dir,
				 struct fsl_error *err);
/* truth.json below @dir. */
enum fsl_status sim_truth_write(const struct sim_params *params, const struct sim_truth *truth,
				const char *dir, struct fsl_error *err);

#endif
