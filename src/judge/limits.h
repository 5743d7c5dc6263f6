/*
 * Every threshold of src/judge: value, unit, reason. Limits on the number of lines and on the size
 * of texts stand in the files that write the texts. "By experience": no experiment is known that
 * tells the value from its half or its double.
 */
#ifndef FSL_JUDGE_LIMITS_H
#define FSL_JUDGE_LIMITS_H

/* Communication (judge_communication.c), as share of a step. */

/* All communication: below this its parts are not told. By experience. */
#define FSL_JUDGE_COMMUNICATION_SHARE_MIN 0.1

/* Single steps. */

/* Steps that are judged one by one: a bound on time. A capture has some tens. */
enum { FSL_JUDGE_STEPS_MAX = 512 };

/* Confidence of the verdict: 0 to 1, by experience. */

/* Each of several steps shows it. */
#define FSL_JUDGE_CONFIDENCE_ALL_STEPS 0.9
/* One step was captured: it may come and go. */
#define FSL_JUDGE_CONFIDENCE_ONE_STEP 0.8
/* No step shows it alone. */
#define FSL_JUDGE_CONFIDENCE_NO_STEP 0.5
/* Normal, but somebody was slow in some steps. */
#define FSL_JUDGE_CONFIDENCE_PASSING 0.7
/* Late, and nothing tells why; or a stage of one rank. */
#define FSL_JUDGE_CONFIDENCE_UNEXPLAINED 0.5

/* Host (dispatch_symptoms.c, judge_host.c). */

/* The longest gap, as share of the free time of a step: a pause, not the price of launches. By
 * experience. */
#define FSL_JUDGE_LONG_GAP_SHARE_MIN 0.2
/* ms per step: less would be told as 0.00 ms. */
#define FSL_JUDGE_TOLD_MS_MIN 0.005

/* Memory (judge_memory.c). */

/* Share of what is held that is not used: memory in pieces. By experience. */
#define FSL_JUDGE_UNUSED_SHARE_MIN 0.2

/* Functions across workers (functions.c, function_scores.c). The first four are the defaults of
 * options. */

/* Distance of two workers, 0 to 3, from which they differ in a function: kernels that take 1.15
 * times as long. By experience. */
#define FSL_JUDGE_FUNCTION_DELTA 0.25
/* Median absolute deviations by which the share of differing peers exceeds the median. By
 * experience. */
#define FSL_JUDGE_FUNCTION_MADS 5.0
/* Peers that a worker is compared with: a bound on time. */
enum { FSL_JUDGE_FUNCTION_PEERS_MAX = 100 };
/* Share of the trace: a function that takes less is not compared, and a difference of less costs
 * nobody anything. PerfTracker tells functions from 1 % on. */
#define FSL_JUDGE_FUNCTION_RATIO_MIN 0.01
/* A worker that stands out differs from more than this share of its peers. */
#define FSL_JUDGE_FUNCTION_PEERS_SHARE_MIN 0.5
/* Workers of one kind of which one can stand out: of two nobody knows which is right. */
enum { FSL_JUDGE_FUNCTION_WORKERS_MIN = 3 };
/* Runs of a function that must have taken long for its excess to count, if most of its runs take as
 * long as on other workers: one long run, as after an interrupt, makes no worker slow. It counts if
 * it took this share of the trace. Both by experience. */
#define FSL_JUDGE_FUNCTION_LONG_RUNS_MIN 2.0
#define FSL_JUDGE_FUNCTION_ONE_RUN_MIN   0.1
/* A worker is slow if its excess is at least this share of the greatest one: the job waits for the
 * slowest, and one long run of a kernel makes nobody slow beside it. By experience. */
#define FSL_JUDGE_FUNCTION_CULPRIT_SHARE_MIN 0.1
/* The time of a function, and the time that a device computes or is idle, stands out from this
 * difference on, as share of the median. By experience. */
#define FSL_JUDGE_FUNCTION_EXCESS_MIN 0.1
/* Differences of a worker's figures that tell nobody anything, however much alike the peers are:
 * of a delay, us, of works in a queue, of GB/s; shares take 5 %. By experience. */
#define FSL_JUDGE_FIGURE_DELAY_US_MIN 5.0
#define FSL_JUDGE_FIGURE_QUEUE_MIN    2.0
#define FSL_JUDGE_FIGURE_GB_PER_S_MIN 0.5
#define FSL_JUDGE_FIGURE_SHARE_MIN    0.05
/* A function that grew on one rank alone counts from this many times the growth on: the greatest of
 * many ranks differs by chance. By experience. */
#define FSL_JUDGE_ONE_RANK_TIMES_MIN 5.0
/* A straggler's kernels run at less of the speed of the reference (NVIDIA's resiliency extension).
 */
#define FSL_JUDGE_SCORE_MIN 0.75
/* Share of the time of kernels with the same shapes on all workers; with less, scores may tell
 * different work. By experience. */
#define FSL_JUDGE_SAME_WORK_SHARE_MIN 0.8

/* Steps of which one with a pause of a host is chance. */
enum { FSL_JUDGE_PAUSE_STEPS_MIN = 4 };

/* Threads of the host (hostbound.c, hostbound_advice.c). */

/* A step is high if a thread of the rank waits for a CPU longer than usual by more than this, ms: a
 * slice of Linux's scheduler is 3 to 4 ms. By experience. */
#define FSL_JUDGE_WAIT_MS_MIN 1.0
/* ... and by more than this share of a step: less is within the noise of steps. By experience. */
#define FSL_JUDGE_WAIT_SHARE_MIN 0.05
/* Steps from which on waits are no single event. */
enum { FSL_JUDGE_WAIT_STEPS_MIN = 3 };
/* All waits beyond the usual, as share of all steps, that are told. By experience. */
#define FSL_JUDGE_WAIT_COST_SHARE_MIN 0.03
/* One step whose wait is beyond the usual by this share of a step is told alone. By experience. */
#define FSL_JUDGE_WAIT_ONE_STEP_SHARE_MIN 0.25
/* The usual wait is that of the quieter steps: this quantile over the steps of the rank. */
#define FSL_JUDGE_WAIT_USUAL_QUANTILE 0.25
/* Share of the waits in which the rank may not run: its quota is the cause. By experience: after a
 * third of throttlings the CPU is idle at once, so that they can be told. */
#define FSL_JUDGE_QUOTA_SHARE_MIN 0.3
/* Share of its switches at which a thread loses the CPU: it computes as long as it may. */
#define FSL_JUDGE_HUNGRY_SHARE_MIN 0.5
/* Broken chains as share of all switches: the trace leaves out switches. Recordings of all switches
 * have 6 % where tasks are hidden, filtered ones 27 % and more. */
#define FSL_JUDGE_LEFT_OUT_SHARE_MIN 0.2
/* Unknown time as share of a rank's main thread: its states are no longer sure. */
#define FSL_JUDGE_UNKNOWN_SHARE_MAX 0.05
/* Time that ranks hold each other's CPU, as share of all steps, for advice. By experience. */
#define FSL_JUDGE_SHARED_CPU_SHARE_MIN 0.1
/* Time of interrupts of one kind on one CPU as share of a rank's steps, for advice. By experience.
 */
#define FSL_JUDGE_INTERRUPT_SHARE_MIN 0.01
/* A CPU is one of a rank's if the rank ran on it for this share of its CPU time. By experience. */
#define FSL_JUDGE_OWN_CPU_SHARE_MIN 0.1
/* So many CPUs of a rank can have that share. */
enum { FSL_JUDGE_OWN_CPUS_MAX = 10 };
/* CPU time of a rank outside of the NUMA node on which it runs most, as share of all, for advice.
 * By experience. */
#define FSL_JUDGE_FAR_NODE_SHARE_MIN 0.1
/* High steps that one stretch of steps must hold for the rank to be slow in that stretch, as share
 * of all high steps. By experience. */
#define FSL_JUDGE_WAIT_STRETCH_SHARE_MIN 0.6
/* Share of the calls of a rank at whose begin its thread runs: below this the clock is a wrong one.
 * By experience. */
#define FSL_JUDGE_CLOCK_SCORE_MIN 0.5
/* A CPU that is busy for a smaller share of the window is idle. By experience. */
#define FSL_JUDGE_IDLE_CPU_SHARE_MAX 0.05

#endif
