/* The state of a conversion; private to convert_*.c. */
#ifndef FSL_CLI_CONVERT_PARTS_H
#define FSL_CLI_CONVERT_PARTS_H

#include "capture/cluster.h"
#include "cli/command_output.h"
#include "cli/convert_run.h"
#include "cli/convert_steps.h"
#include "config/config.h"
#include "engine/feed.h"
#include "engine/job.h"
#include "match/match.h"
#include "match/topology_build.h"
#include "model/steps.h"
#include "report/trace/capture_tracks.h"
#include "report/trace/host_tracks.h"
#include "report/trace/kernel_tracks.h"
#include "report/trace/memory_stacks.h"
#include "report/trace/memory_tracks.h"
#include "report/trace/run_tracks.h"
#include "report/trace/run_windows.h"
#include "report/trace/verdict_tracks.h"
#include "source/systrace/frame_symbols.h"
#include "text/phrase.h"

struct fsl_conversion {
	const struct fsl_convert_run *wanted;
	struct fsl_config config;
	struct fsl_track_plan *plan;
	/* The file, from its first window on. */
	struct fsl_draft *draft;
	struct fsl_track_output output;
	struct fsl_track_file file;
	/* Markers and timelines, as read. */
	struct fsl_run run;
	struct fsl_topology topology;
	struct fsl_match match;
	struct fsl_steps steps;
	int64_t steps_shift_ns; /* of the clock on which they stand */
	bool *is_wanted;        /* [run.n_ranks] */
	struct fsl_run_tracks tracks;
	int32_t *shown; /* [n_shown]: ranks with events that are wanted */
	size_t n_shown;
	/* A run that is too long to be held. */
	struct fsl_feed *feed; /* NULL: the run was read as a whole */
	struct fsl_run_windows *windows;
	struct fsl_step_chain chain;
	/* The analysis of the same inputs, which changes its run. */
	const char *
		*judged; /* [n_judged]: operands that are no records of the host or its devices */
	size_t n_judged;
	struct fsl_job *job;
	bool has_verdict;
	struct fsl_error failure;      /* why it has no verdict */
	struct fsl_phrase headline;    /* as detect prints it; empty: nothing is known of the job */
	struct fsl_matrices *matrices; /* [n_matrices] */
	size_t n_matrices;
	struct fsl_verdict_tracks verdict;
	struct fsl_host_events host; /* of the host beside the ranks */
	uint64_t n_host_left_out;
	struct fsl_conversion_kernel *kernel; /* traces of the kernel; NULL: not looked for */
	struct fsl_memory memory;             /* of the devices */
	struct fsl_memory_replay *replays;    /* [memory.n_items] */
	struct fsl_frame_symbols *symbols;    /* NULL: frames keep their addresses */
	bool lacks_times;                     /* there are records of memory and no other events */
	/* Captures. */
	bool has_captures, has_other;
	struct fsl_error refusal; /* why a single path is no capture */
	struct fsl_profile profile;
	struct fsl_profile_cluster cluster;
	struct fsl_profile_meetings meetings;
	struct fsl_run_tracks captured;
};

/* True if the inputs are to be read in windows. */
bool fsl_conversion_is_long(const struct fsl_inputs *inputs,
			    const struct fsl_ingest_options *options);
/* Reads c->feed window by window and writes all windows but the last, which is left in the plan;
 * tells the steps. */
enum fsl_status fsl_conversion_add_windows(struct fsl_conversion *c, struct fsl_error *err);
void fsl_conversion_drop_windows(struct fsl_conversion *c);

/* Marks the ranks of the run that are wanted. */
enum fsl_status fsl_conversion_mark_wanted(struct fsl_conversion *c, struct fsl_error *err);
/* Topology, collectives and clocks of what the run has now. */
enum fsl_status fsl_conversion_match(struct fsl_conversion *c, struct fsl_error *err);
/* Opens the output, unless that was done. */
enum fsl_status fsl_conversion_open(struct fsl_conversion *c, struct fsl_error *err);

/* Judges the inputs, and words the verdict. Inputs that cannot be judged give no verdict, and
 * FSL_OK; a hang that was perceived before stays in the headline. */
enum fsl_status fsl_conversion_judge(struct fsl_conversion *c, struct fsl_error *err);
/* Makes matrices of what was judged, for the counters. */
enum fsl_status fsl_conversion_fill_matrices(struct fsl_conversion *c, struct fsl_error *err);
void fsl_conversion_drop_verdict(struct fsl_conversion *c);

/* Finds out whether captures are among the inputs. */
enum fsl_status fsl_conversion_look(struct fsl_conversion *c, struct fsl_error *err);
/* Reads captures and adds their tracks. */
enum fsl_status fsl_conversion_add_captures(struct fsl_conversion *c, struct fsl_error *err);
void fsl_conversion_drop_captures(struct fsl_conversion *c);

/* True if the rank is to be shown. @context: the struct fsl_convert_run. */
bool fsl_conversion_wants(const void *context, int64_t rank);

/* Names the frames of call paths by the libraries that were told. */
enum fsl_status fsl_conversion_name_frames(struct fsl_conversion *c, struct fsl_error *err);
/* Replays the records of device memory that were read. */
enum fsl_status fsl_conversion_replay_memory(struct fsl_conversion *c, struct fsl_error *err);
/* Adds their tracks. Call it when the tracks of everything else are there. */
enum fsl_status fsl_conversion_add_memory(struct fsl_conversion *c, struct fsl_error *err);
typedef enum fsl_status fsl_stacks_writer(FILE *stream, const struct fsl_memory_stacks *stacks,
					  struct fsl_error *err);
/* Writes the output with @write. FSL_ERR_INPUT if there are no records of memory. */
enum fsl_status fsl_conversion_write_stacks(const struct fsl_conversion *c,
					    fsl_stacks_writer *write, struct fsl_error *err);
/* Prints peaks, their holders, and what may have leaked. */
void fsl_conversion_tell_memory(const struct fsl_conversion *c);
void fsl_conversion_drop_memory(struct fsl_conversion *c);

/* Kernel traces: takes them out of the inputs; adds their tracks; tells them. A file with such a
 * name and content is one. */
bool fsl_conversion_is_kernel_trace(const char *path);
enum fsl_status fsl_conversion_find_kernel(struct fsl_conversion *c, struct fsl_inputs *inputs,
					   struct fsl_error *err);
bool fsl_conversion_has_kernel(const struct fsl_conversion *c);
enum fsl_status fsl_conversion_add_kernel(struct fsl_conversion *c, struct fsl_error *err);
typedef enum fsl_status fsl_kernel_writer(struct fsl_track_file *file,
					  const struct fsl_kernel_tracks *source,
					  struct fsl_error *err);
/* Writes each trace with @write, behind all events. */
enum fsl_status fsl_conversion_write_kernel(struct fsl_conversion *c, fsl_kernel_writer *write,
					    struct fsl_error *err);
void fsl_conversion_tell_kernel(const struct fsl_conversion *c);
/* Slices of kernel traces that found no lane. */
uint64_t fsl_conversion_kernel_left_out(const struct fsl_conversion *c);
void fsl_conversion_drop_kernel(struct fsl_conversion *c);

/* Prints which ranks waited for processors, and who had these. FSL_ERR_MEMORY. */
enum fsl_status fsl_conversion_tell_host(const struct fsl_conversion *c, struct fsl_error *err);

/* Prints the summary; that of a file of call paths. */
enum fsl_status fsl_conversion_tell(const struct fsl_conversion *c, struct fsl_error *err);
void fsl_conversion_tell_stacks(const struct fsl_conversion *c);

#endif
