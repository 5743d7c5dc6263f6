/* Shared by the parts of perception: the series of step times and its rises. */
#ifndef FSL_DETECT_PERCEIVE_PARTS_H
#define FSL_DETECT_PERCEIVE_PARTS_H

#include "config/config.h"
#include "model/progress.h"
#include "model/run.h"
#include "model/verdict.h"
#include "model/windows.h"

/*
 * The steps that perception judges, and their times. Arrays of n. A step is "long" if it
 * exceeds the level by more than anomaly_degree_thr of it and by more than 3 sigma. Noise of step
 * times is a share of them, so sigma is that of their logarithms (0.05: five percent).
 */
struct fsl_step_series {
	struct fsl_arena arena;           /* of the arrays; others use it for scratch */
	const struct fsl_job_step *items; /* first step of the series; borrowed from fsl_steps */
	size_t n;
	double *dur_ms;   /* as measured */
	double *level_ms; /* median of the neighbouring steps: the usual time at that place */
	double *clear_ms; /* without explained time, but never less than the level */
	uint8_t *is_explained;
	double sigma;     /* noise of log(clear_ms), slow waves included */
	double median_ms; /* median of clear_ms; NaN if n is 0 */
	double degree_thr;
};

/* Selects the steps (after task_stable_step, the latest max_data_queue_steps) and takes off the
 * time of checkpoints and GC. FSL_ERR_MEMORY only. */
enum fsl_status fsl_step_series_init(struct fsl_step_series *series, const struct fsl_steps *steps,
				     const struct fsl_config *config, struct fsl_error *err);
void fsl_step_series_fini(struct fsl_step_series *series);
bool fsl_step_series_is_long(const struct fsl_step_series *series, size_t i, double step_ms);

/* One rise of the step time; positions in the series. */
struct fsl_step_rise {
	size_t begin;     /* first slow step */
	size_t until;     /* first step after recovery; n: lasts */
	double base_ms;   /* normal level of the job */
	double before_ms; /* level before this rise; above base_ms if it follows another rise */
	double after_ms;  /* level after the rise */
	double p_value;   /* Mann-Whitney, levels before against after */
	bool is_of_saves; /* only checkpoints take longer; levels are then means */
	bool is_drift;    /* the level grows steadily from before_ms to after_ms */
};
enum { FSL_STEP_RISES_MAX = 64 };

/*
 * Lasting rises, sorted by begin: the level shifts of base/shift.h against the job's normal level.
 */
enum fsl_status fsl_step_series_shifts(struct fsl_step_series *series, struct fsl_step_rise *rises,
				       size_t *n_rises, struct fsl_error *err);
/* The one rise of checkpoints that hold up the job for longer, for good or for a while. The series
 * does not show it, because it is cleared of checkpoints. For a series without other rises. */
enum fsl_status fsl_step_series_saves(struct fsl_step_series *series, struct fsl_step_rise *rises,
				      size_t *n_rises, struct fsl_error *err);
/* k-sigma on a series of step times. Arrays have the room that init was given. */
struct fsl_step_alarms {
	size_t n;          /* steps to judge; the caller sets n and values */
	double *values;    /* ms */
	uint8_t *labels;   /* 1: detector StepKSigma alarms this step */
	double *normal_ms; /* mean of the baseline before an alarmed step */
};
enum fsl_status fsl_step_alarms_init(struct fsl_step_alarms *alarms, struct fsl_arena *arena,
				     size_t n_max, struct fsl_error *err);
/* Fills labels and normal_ms. With @leave_out alarmed steps do not enter the baseline, so that a
 * lasting rise is alarmed to its end. */
enum fsl_status fsl_step_alarms_find(struct fsl_step_alarms *alarms, bool leave_out,
				     const struct fsl_config *config, struct fsl_error *err);
/* Adds runs of at least 3 long steps that k-sigma confirms and that no rise in @rises covers. */
enum fsl_status fsl_step_series_runs(struct fsl_step_series *series,
				     const struct fsl_config *config, struct fsl_step_rise *rises,
				     size_t *n_rises, struct fsl_error *err);

/* A key of the model that is a parameter of a detector; the last one has no name. */
struct fsl_perceive_key {
	const char *name;
	double value;
};
/*
 * Configures a built-in detector with @keys as parameters. Keys in the configuration's section for
 * @name override them. The result has no detector if the section disables it. A section that names
 * another detector (a plug-in) is used unchanged. Parameters live in @arena.
 */
enum fsl_status fsl_perceive_detector(struct fsl_detector_config *out,
				      const struct fsl_config *config, const char *name,
				      const struct fsl_perceive_key *keys, struct fsl_arena *arena,
				      struct fsl_error *err);

/* True for logs and step times alone: a rank may print, or write, a step later than others. */
bool fsl_perceive_holds_steps_alone(const struct fsl_run *run);
/*
 * Sets out->stopped_first of a job that hangs: the ranks that others wait for; else a minority that
 * ended fewer operators than all others in the communicator in which it waits; else one whose last
 * events lie a step before those of all others. @ages: of the last event of each rank. @step_ms:
 * usual step time, NaN if unknown. Linear in operators. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_perceive_stopped_first(struct fsl_perception *out, const struct fsl_run *run,
					   const struct fsl_windows *ages, double step_ms,
					   struct fsl_error *err);

/* How long the ranks have been silent. */
struct fsl_silence {
	size_t n_ranks;      /* ranks with any event */
	size_t n_silent;     /* ranks that are silent for longer than hang_times_mins_thr; all of
				them: a hang */
	size_t n_waiting;    /* ranks in an operator that never ended */
	unsigned n_restarts; /* times that step numbers began again */
	bool is_finished;    /* a log tells that the job is done */
	bool is_over;        /* finished, or silent for longer than hang_forget_hours */
	int32_t silent_rank; /* lowest silent rank */
	uint32_t waits_in;   /* run->names: operator of the lowest waiting rank */
};

#endif
