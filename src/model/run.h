/*
 * The run: the records that the cluster left on disk. There is one struct fsl_rank per rank, with
 * its operators, stages and steps, and one struct fsl_file per input, with counts of its records.
 * src/source writes the run. Then src/match/drift.c may align its clocks, and src/match/restore.c
 * may put lost operators back. All other code only reads it.
 */
#ifndef FSL_MODEL_RUN_H
#define FSL_MODEL_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/strpool.h"

#define FSL_OP_ID_RESTORED UINT64_MAX /* id of an operator that was put back, match/restore.h */

enum {
	FSL_RANKS_MAX = 1 << 20, /* ranks of one job; greater numbers in file names are refused */
	FSL_RANK_UNKNOWN = -1,
};

/*
 * One communication operator of one rank. Kept sorted by begin (device begin, else host begin),
 * then id; exact duplicates removed. A host-only operator has no device times; host_end_ns may be
 * absent in any operator. All times are ns since 1970, FSL_NS_ABSENT if not recorded.
 */
struct fsl_op {
	int64_t host_begin_ns; /* t1 */
	int64_t host_end_ns;   /* t2 */
	int64_t dev_begin_ns;  /* t3 */
	int64_t dev_end_ns;    /* t4 */
	uint64_t id;           /* as in the input; unique within a generation */
	uint64_t n_elements;   /* message size in elements, 0 if unknown */
	uint32_t op_id;        /* names: "HcclAllGather" */
	uint32_t group_id;     /* names: communicator; FSL_STR_NONE if the format has none */
	uint32_t dtype_id;     /* names: "bfp16"; FSL_STR_NONE if unknown */
	int32_t step;          /* step number given by the input, -1 if absent */
};

/* Kind of a recorded stage, found by its type text. */
enum fsl_stage_kind {
	FSL_STAGE_DATALOADER,
	FSL_STAGE_FORWARD,
	FSL_STAGE_BACKWARD,
	FSL_STAGE_OPTIMIZER,
	FSL_STAGE_CKPT,
	FSL_STAGE_GC,
	FSL_STAGE_SYNC,
	FSL_STAGE_OTHER,
	FSL_STAGES_N
};

/* One recorded stage; kept sorted by begin, then end, then type; exact duplicates removed. */
struct fsl_stage {
	int64_t begin_ns, end_ns;
	int64_t step;     /* stage_id of the timeline, the step of the job; -1 if absent */
	uint32_t type_id; /* names: "torch.utils.data.dataloader@..." */
	enum fsl_stage_kind kind;
	uint32_t frame; /* names: the innermost frame of the stack, its id + 1; 0: not told */
	uint32_t stack; /* names: all frames (struct fsl_ingest_options), id + 1; 0: not told */
	uint32_t n_collected;     /* objects that garbage collection freed; 0: not told */
	uint32_t n_uncollectable; /* objects that it could not free; 0: not told */
};

/*
 * One measured step (training-step-time CSV, training log). Kept sorted by source, then step, each
 * number once: if a step ran again after a restart, the later run is kept. Unnumbered steps come
 * first, in order of time. A log may tell every n-th step alone, then with the mean of n steps.
 */
struct fsl_step_time {
	int64_t step; /* -1: the input has no numbers (log) */
	int64_t begin_ns;
	int64_t dur_ns;
	int64_t data_ns;   /* loading of data in it; 0: not told */
	int64_t is_logged; /* 1: from a training log */
};

struct fsl_rank {
	int32_t rank;
	const char *server_ip; /* run->arena; "localhost" if unknown */
	struct fsl_op *ops;
	size_t n_ops, ops_capacity;
	/* Remnants of operators that lost records, sorted by fsl_remnant_ns(). Each has a device
	 * begin or end. op_id is FSL_STR_NONE if the name was lost. */
	struct fsl_op *remnants;
	size_t n_remnants, remnants_capacity;
	struct fsl_stage *stages;
	size_t n_stages, stages_capacity;
	struct fsl_step_time *steps;
	size_t n_steps, steps_capacity;
	int64_t last_event_ns; /* ns; last time of any record, also cut ones; FSL_NS_ABSENT: none */
	int64_t finished_ns;   /* ns; time of the last step in a log which tells that the job is
				  done; 0: none does */
	bool has_markers_file; /* a marker file exists, readable or not */
	bool is_rising;        /* until normalised: ops as read are in order, all begins differ */
	bool is_restarted;   /* ids started again: the file holds several generations of the job */
	uint32_t n_restarts; /* times that step numbers began again in step times or a log */
	/* Operators that had begun and not ended at the end of the file; a hung rank waits in them,
	 * see fsl_rank_waits(). */
	uint32_t open_op_id, open_group_id; /* newest such operator; FSL_STR_NONE: none */
	int64_t open_begin_ns;
	int64_t longest_op_ns; /* ns; none takes longer; 0: unknown (fsl_run_measure_ops) */
};

/* Why a record was dropped. The texts are in run.c. */
enum fsl_drop {
	FSL_DROP_MALFORMED, /* breaks the rules of the format (wrong field count, no number, NUL) */
	FSL_DROP_TOO_LONG,  /* longer than FSL_LINE_BYTES_MAX */
	FSL_DROP_NO_NAME,   /* an operator whose name was never seen */
	FSL_DROP_BAD_NAME,  /* the name is not comm:OP!group!dtype!count */
	FSL_DROP_NO_START,  /* an end without a start */
	FSL_DROP_NO_END,    /* a start without an end (kept as an open operator of the rank) */
	FSL_DROP_BACKWARDS, /* ends before it begins */
	FSL_DROP_CUT,       /* the file ends inside the record */
	FSL_DROP_DUPLICATE, /* the same record again */
	FSL_DROP_OUT_OF_RANGE, /* outside the wanted time range */
	FSL_DROPS_N
};
/* Text of a reason for reports; static. */
const char *fsl_drop_text(enum fsl_drop drop);

enum fsl_file_state {
	FSL_FILE_READ,      /* read to its end */
	FSL_FILE_PARTIAL,   /* read up to a fault, or with broken records; sound ones are used */
	FSL_FILE_EMPTY,     /* no records: zero bytes or only a header */
	FSL_FILE_UNUSABLE,  /* could not be opened or is in no known format */
	FSL_FILE_DUPLICATE, /* another file of the same rank and format is used */
};

/* One input file; sorted by path. */
struct fsl_file {
	const char *path;   /* run->arena */
	const char *format; /* name of the format, "" if none fits; static */
	int32_t rank;       /* FSL_RANK_UNKNOWN if neither name nor content tells it */
	enum fsl_file_state state;
	uint64_t n_bytes;        /* size on disk */
	uint64_t n_bytes_before; /* bytes of rows older than the time range, not read */
	uint64_t n_bytes_behind; /* bytes of rows newer than the time range, not read */
	uint64_t n_records;      /* used and dropped */
	uint64_t n_dropped[FSL_DROPS_N];
	const char *message; /* why the state is not FSL_FILE_READ, and a remedy; else "";
				run->arena */
};

/* Number of operators of a rank's step, from looking at more of the job than the run holds. */
struct fsl_step_hint {
	int32_t rank;
	size_t n_ops; /* 0: no hint */
};

struct fsl_run {
	struct fsl_arena arena;
	struct fsl_strpool *names;
	struct fsl_rank *ranks; /* sorted by rank number, unique */
	size_t n_ranks, ranks_capacity;
	struct fsl_file *files;
	size_t n_files, files_capacity;
	struct fsl_step_hint step_hint;
	const char *unknown_log; /* message of a log of an unknown form that was left alone; NULL:
				    none; arena */
};

/* Makes an empty run; end it with fsl_run_fini. FSL_ERR_MEMORY only. */
enum fsl_status fsl_run_init(struct fsl_run *run, struct fsl_error *err);
void fsl_run_fini(struct fsl_run *run);

/* Number of operators that end at @from_ns or later; INT64_MIN: all. */
size_t fsl_run_count_ops(const struct fsl_run *run, int64_t from_ns);
/* Number of ranks with operators. */
size_t fsl_ranks_seen(const struct fsl_run *run);

/* Sets longest_op_ns of all ranks, on several threads. */
void fsl_run_measure_ops(struct fsl_run *run);

/*
 * True if the rank waits in its open operator. False if only the record of the operator's end was
 * lost: a communicator runs its operators in order, so an operator is over if many of its kind that
 * were launched later have ended.
 */
bool fsl_rank_waits(const struct fsl_rank *rank);

/* The rank with this number, added if new; borrowed until the next add. NULL: out of memory. */
struct fsl_rank *fsl_run_add_rank(struct fsl_run *run, int32_t rank, struct fsl_error *err);
/* The rank with this number, NULL if absent. */
const struct fsl_rank *fsl_run_rank(const struct fsl_run *run, int32_t rank);
/* Index in run->ranks, SIZE_MAX if absent. */
size_t fsl_run_rank_idx(const struct fsl_run *run, int32_t rank);

/* Kind of a stage from its type text. The first of these that the text contains, ignoring case,
 * wins: dataloader, forward, backward, ckpt|checkpoint, optim, GC as a word, synchron. */
enum fsl_stage_kind fsl_stage_kind_from_text(const char *type, size_t length);

/* Name of a state for reports: "read", "partial", "empty", "unusable", "duplicate". */
const char *fsl_file_state_text(enum fsl_file_state state);

/* Sorts a rank and removes duplicates, as the structs above promise. Readers call it once, at the
 * end of a rank. */
void fsl_rank_normalise(struct fsl_rank *rank);

/*
 * Keeps the later run of the stages of steps that ran again after a restart, and counts restarts.
 * Numbers that begin again at the first one are those of a process, not of the job: then all stages
 * stay. For a whole run, whose ranks are normalised.
 */
void fsl_run_drop_reruns(struct fsl_run *run);

/* Device time if recorded, else host time; FSL_NS_ABSENT if neither is. */
static inline int64_t fsl_op_begin_ns(const struct fsl_op *op)
{
	return op->dev_begin_ns != FSL_NS_ABSENT ? op->dev_begin_ns : op->host_begin_ns;
}
static inline int64_t fsl_op_end_ns(const struct fsl_op *op)
{
	return op->dev_begin_ns != FSL_NS_ABSENT ? op->dev_end_ns : op->host_end_ns;
}
/*
 * Prefetches the operator AHEAD places behind @op, which may lie beyond the end. Each operator
 * fills a cache line, so a pass over operators mostly waits for memory; this saves a fifth of its
 * time.
 */
static inline void fsl_op_fetch_ahead(const struct fsl_op *op)
{
	enum { AHEAD = 32 };
	__builtin_prefetch((const void *)((uintptr_t)op + AHEAD * sizeof(*op)));
}
/* Time by which remnants are sorted: the end if it was recorded, else the begin. */
static inline int64_t fsl_remnant_ns(const struct fsl_op *op)
{
	return op->dev_end_ns != FSL_NS_ABSENT ? op->dev_end_ns : op->dev_begin_ns;
}

/* Forgets operators that ended before @from_ns, and stages that began before. */
void fsl_run_forget(struct fsl_run *run, int64_t from_ns);

/* Forgets stages and step times that are not wholly inside of [@from_ns, @to_ns]: where operators
 * outside were left out, those of a step that is cut are not all there. */
void fsl_run_cut_steps(struct fsl_run *run, int64_t from_ns, int64_t to_ns);

#endif
