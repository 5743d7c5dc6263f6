/* Shared by run_tracks.c, which shows a run as a whole, and run_windows.c. */
#ifndef FSL_REPORT_TRACE_RUN_TRACKS_PARTS_H
#define FSL_REPORT_TRACE_RUN_TRACKS_PARTS_H

#include "report/trace/run_tracks.h"
#include "report/trace/track_slices.h"

/* Ids of texts that all ranks need. */
struct fsl_run_words {
	uint32_t host, device, stage, open; /* categories */
	uint32_t group, dtype, elements, step, id, frame, stack, collected,
		uncollectable; /* keys */
};

/* What is known of an operator beside itself. */
struct fsl_op_mark {
	uint64_t launch;       /* number of its launch, from 1 on */
	uint32_t meeting;      /* number of its collective, from 1 on; 0: none */
	uint8_t meeting_place; /* enum fsl_track_flow */
	bool is_host_shown, is_device_shown;
};

/* A rank of the run, as its streams see it. */
struct fsl_rank_view {
	const struct fsl_rank *rank;
	const struct fsl_run_words *words;
	const uint32_t *names;  /* by name id of the run: text of the plan */
	const uint8_t *kind_of; /* by name id of a communicator: enum fsl_group_kind */
	uint32_t pid;
	int64_t shift_ns;         /* to be taken from all times */
	int64_t from_ns, to_ns;   /* operators that end in this range are shown */
	const struct fsl_op *ops; /* [n_ops] */
	size_t n_ops;
	struct fsl_op_mark *marks; /* [n_ops]; NULL: the rank is not wanted */
};

/* Lanes of a rank that go on over windows. */
struct fsl_rank_lanes {
	struct fsl_slice_lanes stages, host, device;
};

/* Names of the run as texts of the plan; grows with the run. */
struct fsl_run_names {
	uint32_t *texts;
	uint8_t *kind_of; /* of a communicator: the first kind that a topology tells */
	size_t n, texts_capacity, kinds_capacity;
};

enum fsl_status fsl_run_words_find(struct fsl_run_words *words, struct fsl_track_plan *plan,
				   struct fsl_error *err);
/* Adds what is new. End with fsl_run_names_fini(). */
enum fsl_status fsl_run_names_update(struct fsl_run_names *names, struct fsl_track_plan *plan,
				     const struct fsl_run_tracks *source, struct fsl_error *err);
void fsl_run_names_fini(struct fsl_run_names *names);

/* The view of rank @r of source->run, without operators. */
struct fsl_rank_view fsl_rank_view_of(const struct fsl_run_tracks *source, size_t r,
				      const struct fsl_run_words *words);

/* Numbers in the marks of @views the members of the collectives of which a member begins before
 * @until_ns. *n_meetings: number of collectives so far. */
enum fsl_status fsl_run_link_members(const struct fsl_rank_view *views,
				     const struct fsl_match *match, int64_t until_ns,
				     uint32_t *n_meetings, struct fsl_error *err);

/* True if the operator begins, on the host or on the device, before @until_ns. */
bool fsl_rank_view_begins_before(const struct fsl_rank_view *view, const struct fsl_op *op,
				 int64_t until_ns);
/* True if the operator has work of the device that is shown. */
bool fsl_rank_view_has_device(const struct fsl_rank_view *view, const struct fsl_op *op);

/* Adds streams of the stages, launches and operators that begin before @until_ns and are not shown
 * yet, and marks these operators. @lanes: NULL if the rank is shown at once. */
enum fsl_status fsl_rank_view_add(struct fsl_track_plan *plan, const struct fsl_rank_view *view,
				  struct fsl_rank_lanes *lanes, int64_t until_ns,
				  struct fsl_run_tracks *source, struct fsl_error *err);
/* Adds the operator that had begun and not ended. */
enum fsl_status fsl_rank_view_add_open(struct fsl_track_plan *plan,
				       const struct fsl_rank_view *view,
				       struct fsl_run_tracks *source, struct fsl_error *err);

#endif
