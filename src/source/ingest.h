/* Reads files into a run: finds the inputs, tells their formats by content, reads them on
 * threads. */
#ifndef FSL_SOURCE_INGEST_H
#define FSL_SOURCE_INGEST_H

#include <stdbool.h>

#include <failslow/error.h>

#include "base/file.h"
#include "model/run.h"

enum {
	FSL_SINK_OPS_MAX = 1 << 26,    /* operators of one file; 4 GiB of memory */
	FSL_SINK_STAGES_MAX = 1 << 26, /* stages of one file */
	FSL_SINK_STEPS_MAX = 1 << 26,  /* steps of one file */
	FSL_SINK_NAMES_MAX = 1 << 20,  /* different names of one file; real files have dozens */
	FSL_NAME_BYTES_MAX = 4096,     /* one operator name or stage type */
	FSL_SINK_NOTES_MAX = 4,
	FSL_SINK_BEHIND_MIN = 8, /* ends behind a boundary; a few times may be wrong */
};
/* Times after the year 2200 are broken records, and no sum of two such times overflows. */
#define FSL_TIME_MAX_NS INT64_C(7258118400000000000)

struct fsl_inputs; /* source/discover.h */

/* A place between two records of a file. */
struct fsl_place {
	uint64_t offset, line; /* of the next byte; line 0: not known */
	uint8_t json_state;    /* enum fsl_json_place_state */
};

/* Counts of a file at the moment when it passed a boundary in time. A later run may go on counting
 * from here. */
struct fsl_note {
	int64_t boundary_ns;
	struct fsl_place place;
	uint64_t n_records, n_dropped[FSL_DROPS_N];
	const char *message; /* "": no record was broken; borrowed */
};

/*
 * How a file is read in pieces, each up to a boundary in time. A file has passed a boundary if
 * operators or stages have ended more than @slack_ns behind it. Rows are out of order by at most
 * @slack_ns, so an operator that then lacks rows from before the boundary will get none. If
 * @keeps_running, an operator that has begun and not ended is kept, however long it takes.
 */
struct fsl_pieces {
	int64_t pause_ns;    /* pauses when this boundary is passed; INT64_MAX: at the end */
	int64_t boundary_ns; /* the next one; INT64_MAX: the file is read as a whole */
	int64_t period_ns;   /* from each boundary to the next */
	int64_t slack_ns;
	bool keeps_running;
};

/*
 * Receives the content of one file: a format pushes records into it, and stream.c merges the files
 * of a rank in order of path. load.c and tests call fsl_sink_init() and fsl_sink_fini().
 */
struct fsl_sink {
	struct fsl_file *file;  /* counters and message of this file; borrowed */
	struct fsl_rank events; /* what was read; names are ids of @names; events.rank is what the
				   content says, FSL_RANK_UNKNOWN when it does not */
	struct fsl_strpool *names; /* of this file alone */
	struct fsl_arena arena;    /* texts of this file alone; copied into the run */
	uint8_t *kind_of;          /* [name id] enum fsl_stage_kind, FSL_STAGES_N: not told */
	size_t n_kinds, kinds_capacity;
	int64_t from_ns, to_ns;   /* operators that end outside are counted and not kept */
	bool is_range_for_stages; /* stages outside of the range are not needed, nor the rank that
				     the content tells */
	bool keeps_stacks;        /* struct fsl_ingest_options */

	/* Fields for a file that is read in pieces: */
	struct fsl_pieces pieces;
	int64_t stop_ns;   /* next boundary plus slack */
	unsigned n_behind; /* operators and stages that ended behind stop_ns */
	bool is_stopped;   /* a boundary was passed: call fsl_sink_pass() before the next record */
	bool is_paused;    /* read() has to return; its next call goes on at @place */
	bool has_given;    /* events were taken out of @events before */
	struct fsl_place place;
	struct fsl_note notes[FSL_SINK_NOTES_MAX]; /* of the newest boundaries that were passed */
	size_t n_notes;
	/* Note of a file that an earlier run read; NULL: count all records. A reader that can do so
	 * begins with the rows of @enter_ns, to find the operators that lack rows, and counts
	 * records from the note on. */
	const struct fsl_note *resume;
	int64_t enter_ns;
	int64_t forget_ns; /* operators and stages that ended before are not kept */
	void *kept;        /* state of the format between two pieces; NULL: reading begins */
	void (*drop_kept)(void *kept);

	const char *const *log_patterns; /* [n_log_patterns]: forms of logs; borrowed */
	size_t n_log_patterns;
};

enum fsl_status fsl_sink_init(struct fsl_sink *sink, struct fsl_file *file, struct fsl_error *err);
void fsl_sink_fini(struct fsl_sink *sink);

/*
 * Checked appends. A record with a time outside [0, FSL_TIME_MAX_NS] or an end before its begin is
 * counted as dropped, and the result is FSL_OK. FSL_ERR_LIMIT if the file holds too many records:
 * pass it to fsl_sink_fault().
 */
enum fsl_status fsl_sink_add_op(struct fsl_sink *sink, const struct fsl_op *op,
				struct fsl_error *err);
/* Keeps what is left of an operator that lost records, with a device begin or end; the caller
 * counts it as dropped. */
enum fsl_status fsl_sink_add_remnant(struct fsl_sink *sink, const struct fsl_op *op,
				     struct fsl_error *err);
enum fsl_status fsl_sink_add_stage(struct fsl_sink *sink, const struct fsl_stage *stage,
				   struct fsl_error *err);
enum fsl_status fsl_sink_add_step(struct fsl_sink *sink, const struct fsl_step_time *step,
				  struct fsl_error *err);
/* Id of a name in sink->names; FSL_ERR_LIMIT over FSL_SINK_NAMES_MAX. */
enum fsl_status fsl_sink_intern(struct fsl_sink *sink, const char *text, size_t length,
				uint32_t *id, struct fsl_error *err);
/* Remembers the time of a record, complete or not, as the rank's last sign of life. */
static inline void fsl_sink_seen(struct fsl_sink *sink, int64_t time_ns)
{
	if (time_ns > sink->events.last_event_ns && time_ns >= 0 && time_ns <= FSL_TIME_MAX_NS) {
		sink->events.last_event_ns = time_ns;
	}
}

/* Notes the end of an operator or stage, ns. The file has passed the next boundary if
 * FSL_SINK_BEHIND_MIN of them ended behind the slack of the boundary. */
static inline void fsl_sink_note_end(struct fsl_sink *sink, int64_t end_ns)
{
	if (end_ns > sink->stop_ns && ++sink->n_behind >= FSL_SINK_BEHIND_MIN) {
		sink->is_stopped = true;
	}
}
/* Call it between two records if sink->is_stopped: the sink then waits for the boundary after this
 * one. If it sets sink->is_paused, the format stores its state in sink->kept and returns. */
void fsl_sink_pass(struct fsl_sink *sink, const struct fsl_place *place);
/* The sink waits for no boundary until the reader has come to the place of sink->resume. */
void fsl_sink_hold(struct fsl_sink *sink);
/* Call it at the place of sink->resume: sets the counts of the file to those of the note. */
void fsl_sink_go_on(struct fsl_sink *sink);
/* Reads in pieces from now on. */
void fsl_sink_set_pieces(struct fsl_sink *sink, const struct fsl_pieces *pieces);

/* Counts one dropped record. */
void fsl_sink_drop(struct fsl_sink *sink, enum fsl_drop why);
/* Counts one record that breaks the format; the first one gives the file its message, so the text
 * names the place. Reading goes on, the file becomes FSL_FILE_PARTIAL. */
void fsl_sink_bad_record(struct fsl_sink *sink, enum fsl_drop why, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Marks the file partial with a message that names place and remedy. */
void fsl_sink_partial(struct fsl_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Marks the file unusable: it is not what its name says. */
void fsl_sink_unusable(struct fsl_sink *sink, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Ends reading after a failed call: out of memory is passed on, everything else becomes a partial
 * file with the root of @err as its message, and FSL_OK.
 */
enum fsl_status fsl_sink_fault(struct fsl_sink *sink, enum fsl_status status,
			       struct fsl_error *err);

/* Input of a probe: name of the file, and its first FSL_FILE_HEAD_BYTES after decompression. */
struct fsl_probe {
	const char *file_name; /* without directory, and without .gz or .zst */
	const char *head;
	size_t n_head;
};

/* Kind of data in a file. It decides which files of a rank are merged and which exclude each
 * other. */
enum fsl_input_kind {
	FSL_INPUT_MARKERS,  /* operators: one file a rank */
	FSL_INPUT_TIMELINE, /* stages: all files of a rank together */
	FSL_INPUT_STEPS,    /* step times: all files of a rank together */
	FSL_INPUT_LOG,      /* step times of the job: one file a rank */
};

/* One input format: one file in a folder of src/source, one line in formats.def. */
struct fsl_format {
	const char *name;    /* file name, log tag, heading in docs/users/formats.md */
	const char *summary; /* one line for `failslow list formats` */
	enum fsl_input_kind kind;
	/* FSL_PROBE_CONTENT: the content is of this format. FSL_PROBE_LOG: it holds words that
	 * logs hold. FSL_PROBE_NAME: only the name speaks for the format; the reader can then say
	 * what is wrong with the content. 0: not this format. */
	int (*probe)(const struct fsl_probe *probe);
	/*
	 * Reads the whole file into @sink. A bad record is counted and reading goes on. For a fault
	 * that ends reading, call fsl_sink_partial() and return FSL_OK. Fails only when out of
	 * memory. A reader that can pause returns if the sink is paused; another reader reads the
	 * file as a whole.
	 */
	enum fsl_status (*read)(struct fsl_reader *reader, struct fsl_sink *sink,
				struct fsl_error *err);
};

enum { FSL_PROBE_NAME = 10, FSL_PROBE_LOG = 50, FSL_PROBE_CONTENT = 90 };

size_t fsl_formats_size(void);
const struct fsl_format *fsl_formats_at(size_t idx);
/* NULL when there is none of that name. */
const struct fsl_format *fsl_format_by_name(const char *name);

#define FSL_STDIN "-" /* as a path: standard input */

struct fsl_ingest_options {
	const char *root_path;         /* folder of a tree or of markers, or one file; NULL: none */
	const char *const *more_paths; /* [n_more_paths]: likewise, of the same job */
	size_t n_more_paths;
	const char *training_log; /* timeline or log file, or their folder; NULL: look in the tree
				     only */
	bool log_type_is_log; /* training_log is a log, even when its first 4 KiB do not show it */
	const char *const *log_patterns; /* [n_log_patterns]: of the configuration; borrowed */
	size_t n_log_patterns;
	int64_t from_ns,
		to_ns; /* keep operators that end inside [from, to]; INT64_MIN / INT64_MAX: all */
	bool is_range_for_stages; /* stages that are not wholly inside the range need not be read */
	bool keeps_stacks;        /* all frames of a stage: 32 and 2 KiB at most, joined by ';', the
				     outermost        first */
	int n_threads;            /* 0: one per core */
};

/*
 * Finds and reads all files of a run. Files that cannot be used are recorded in run->files with a
 * message and do not fail the call. FSL_ERR_INPUT if the root does not exist or no file could be
 * used; run->files is complete also then, so that a verdict can say why.
 */
enum fsl_status fsl_ingest_run(struct fsl_run *run, const struct fsl_ingest_options *options,
			       struct fsl_error *err);
/* The same for @inputs that fsl_inputs_find() found with these @options. */
enum fsl_status fsl_ingest_inputs(struct fsl_run *run, const struct fsl_inputs *inputs,
				  const struct fsl_ingest_options *options, struct fsl_error *err);
/* Reports in the log how many files were read, and which could not be used. FSL_ERR_INPUT if no
 * file could be used. */
enum fsl_status fsl_ingest_check(const struct fsl_run *run,
				 const struct fsl_ingest_options *options, struct fsl_error *err);

#endif
