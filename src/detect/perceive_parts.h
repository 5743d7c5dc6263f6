/* What the parts of perception share: the series of step times and its episodes. */
#ifndef FSL_DETECT_PERCEIVE_PARTS_H
#define FSL_DETECT_PERCEIVE_PARTS_H

#include "config/config.h"
#include "model/progress.h"
#include "model/verdict.h"
#include "model/windows.h"

/*
 * The steps that are looked at, and what they cost. Arrays of n; owned. A step is "long" when it
 * exceeds the level by more than anomaly_degree_thr of it and by more than 3 sigma. Noise of step
 * times is a share of them, so sigma is the one of their logarithms (0.05: five percent).
 */
struct fsl_step_series {
	const struct fsl_job_step *items; /* first step looked at; borrowed from fsl_steps */
	size_t n;
	double *dur_ms;   /* as measured */
	double *level_ms; /* median of the neighbourhood: what a step costs at that time */
	double *clear_ms; /* without explained time, but never below the level for that */
	uint8_t *is_explained;
	double sigma;     /* noise of log(clear_ms), slow waves included */
	double median_ms; /* of clear_ms; NaN when n is 0 */
	double degree_thr;
};

/* Selects the steps (after task_stable_step, the latest max_data_queue_steps) and clears them of
 * checkpoints and GC. */
enum fsl_status fsl_step_series_init(struct fsl_step_series *series, const struct fsl_steps *steps,
				     const struct fsl_config *config, struct fsl_error *err);
void fsl_step_series_fini(struct fsl_step_series *series);
bool fsl_step_series_is_long(const struct fsl_step_series *series, size_t i, double step_ms);
/*
 * Is the median of @n_steps steps that far above @base_ms that noise does not explain it? By
 * @share_min at least, and by 10 / sqrt(n_steps) sigma (2 at least): about 4 deviations of such a
 * median when neighbours correlate by 0.6, so that one of a thousand windows is not yet a rise.
 */
bool fsl_step_series_is_rise(const struct fsl_step_series *series, double base_ms, double level_ms,
			     size_t n_steps, double share_min);

/* One rise of the step time; positions in the series. */
struct fsl_step_rise {
	size_t begin;     /* first slow step */
	size_t until;     /* first step after recovery; n: lasts */
	double base_ms;   /* what is normal for the job */
	double before_ms; /* level before this rise; above base_ms when it follows another rise */
	double after_ms;  /* level that it rose to */
	double p_value;   /* Mann-Whitney, before against after */
	bool is_of_saves; /* checkpoints take longer, and no other step; levels are means then */
};
enum { FSL_STEP_RISES_MAX = 64 };

/* Sorted by begin. Level shifts of base/shift.h against what is normal for the job. */
enum fsl_status fsl_step_series_shifts(const struct fsl_step_series *series,
				       struct fsl_step_rise *rises, size_t *n_rises,
				       struct fsl_error *err);
/* The one rise that checkpoints make which hold the job for longer, for good or a while: what the
 * steps do not show, as they are cleared of it. For a series without other rises. */
enum fsl_status fsl_step_series_saves(const struct fsl_step_series *series,
				      struct fsl_step_rise *rises, size_t *n_rises,
				      struct fsl_error *err);
/* k-sigma on a series of step times; arrays with room for as many as init was told. */
struct fsl_step_alarms {
	size_t n;          /* steps to judge, set by the caller as values are */
	double *values;    /* ms */
	uint8_t *labels;   /* 1: detector StepKSigma alarms this step */
	double *normal_ms; /* mean of the baseline of an alarmed step */
};
enum fsl_status fsl_step_alarms_init(struct fsl_step_alarms *alarms, size_t n_max,
				     struct fsl_error *err);
void fsl_step_alarms_fini(struct fsl_step_alarms *alarms);
/* Fills labels and normal_ms. With @leave_out alarmed steps do not enter the baseline, so that a
 * lasting rise is alarmed to its end. */
enum fsl_status fsl_step_alarms_find(struct fsl_step_alarms *alarms, bool leave_out,
				     const struct fsl_config *config, struct fsl_error *err);
/* Adds runs of at least 3 long steps that k-sigma confirms and no rise in @rises covers. */
enum fsl_status fsl_step_series_runs(const struct fsl_step_series *series,
				     const struct fsl_config *config, struct fsl_step_rise *rises,
				     size_t *n_rises, struct fsl_error *err);

/*
 * A built-in detector with the model's keys in @json as its parameters; what a section of the
 * configuration gives for it wins and is put into @json. Without detector when the section switches
 * it off, as it stands when it names another one (a plug-in). Parameters live in @arena.
 */
enum fsl_status fsl_perceive_detector(const struct fsl_config *config, const char *name,
				      cJSON *json, struct fsl_arena *arena,
				      struct fsl_detector_config *out, struct fsl_error *err);

/* How long the ranks have been silent. */
struct fsl_silence {
	size_t n_ranks;      /* with any event */
	size_t n_silent;     /* silent for longer than hang_times_mins_thr; all of them: a hang */
	size_t n_waiting;    /* ranks in an operator that never ended */
	bool is_over;        /* silent for longer than hang_forget_hours: the job ended */
	int32_t silent_rank; /* lowest of the silent ranks */
	uint32_t waits_in;   /* run->names: operator of the lowest waiting rank */
};

/*
 * Age of the last events through detector Hang. Sets out->hang_mins, hang_since_ns, n_stalled, and
 * for a hang stopped_first. @step_ms: a usual step, NaN when unknown.
 */
enum fsl_status fsl_perceive_silence(struct fsl_perception *out, struct fsl_silence *silence,
				     const struct fsl_run *run, double step_ms,
				     const struct fsl_config *config, struct fsl_error *err);

/* slow_dataloader and slow_ckpt, as far as they are enabled. */
enum fsl_status fsl_perceive_stages(struct fsl_perception *out, const struct fsl_progress *progress,
				    const struct fsl_config *config, struct fsl_error *err);

#endif
