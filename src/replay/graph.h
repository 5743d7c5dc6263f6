/* The graph of a replay; private to src/replay. */
#ifndef FSL_REPLAY_GRAPH_H
#define FSL_REPLAY_GRAPH_H

#include "replay/limits.h"
#include "replay/replay.h"

#define FSL_NO_NODE UINT32_MAX

/* Own time of one kind before an event. */
struct fsl_piece {
	int64_t ns;
	int64_t level_ns; /* the same at its level */
	uint32_t step;    /* whose level counts: index into replay->step_idx; FSL_NO_NODE: none */
	uint32_t part;
};

/*
 * One operator of one rank, or a wait that left no marker. It arrives after @pred has ended and
 * work and idle time are over, and not before @beside has ended and @beside_ns are over.
 */
struct fsl_event {
	int64_t begin_ns, end_ns;  /* as measured, reference clock */
	int64_t base_ns;           /* end of what came before the window; used without @pred */
	int64_t work_ns, level_ns; /* own time as measured, and at its level */
	int64_t idle_ns;           /* neither: stays as it is */
	int64_t tail_ns;           /* the last part of idle_ns, right before the event */
	/* Least time from the end of @beside (or of @pred if there is none) to the begin of this
	 * event. INT64_MAX: @pred was asynchronous, so there is no bound. */
	int64_t beside_ns;
	int64_t alone_ns; /* duration of one that meets nobody when the unseen are in time; at first
			     as measured */
	uint32_t pred;
	uint32_t beside; /* the last operator that ended before and did not run beside others */
	uint32_t rank_idx;
	uint32_t step; /* index into replay->step_idx */
	uint32_t meeting;
	bool is_for_unseen; /* meets nobody, and a member of its communicator left no data */
	uint32_t piece_begin, n_pieces; /* fsl_event_pieces: what work_ns is made of */
};

/* The pieces of one rank, in order of its events. */
struct fsl_pieces {
	struct fsl_piece *items;
	size_t n, capacity;
};

/* Events that end together; no members: an instance that is none. */
struct fsl_meeting {
	int64_t transfer_ns, level_ns;
	size_t member_begin; /* graph->members */
	uint32_t n_members;
	uint32_t channel_idx; /* FSL_NO_NODE: left no marker */
	uint32_t step;
	bool is_cut; /* its members keep their durations */
};

struct fsl_member {
	uint32_t event;
	bool is_waiting; /* false: ends on its own, the others wait for its arrival (eager send) */
};

/* An operator whose record a rank has lost although other members of the instance have theirs. */
struct fsl_lost {
	int64_t end_ns;   /* as theirs; the rank's own clock */
	int64_t dur_ns;   /* least: its transfer */
	int64_t usual_ns; /* own time before it in the steps beside; -1 unknown */
	uint32_t rank_idx, event;
	uint32_t window, step; /* step: index into replay->step_idx */
};

/* Consecutive steps that are replayed together. */
struct fsl_window {
	size_t begin, end; /* replay->step_idx */
};

struct fsl_replay_graph {
	const struct fsl_replay_job *job; /* &input */
	struct fsl_replay_job input;
	struct fsl_window *windows;
	size_t n_windows;
	/* Per event: its place among those of its window; they are run in room for n_slots. */
	uint32_t *slot;
	size_t n_slots;      /* events of the largest window */
	uint32_t *window_of; /* per step of the job; FSL_NO_NODE: not replayed */
	uint32_t *step_of;   /* per step of the job: index into replay->step_idx */
	/* [rank_idx * n_windows + window]: event of its first operator; one more at the end. */
	size_t *event_begin;
	int64_t *start_ns; /* likewise: last end before it; without a past, its first begin */
	struct fsl_event *events;
	size_t n_events, events_capacity;
	bool has_beside; /* some event follows one that ran beside others */
	size_t n_ops; /* the first so many events are operators; then lost ones, then hidden waits
		       */
	/* By rank, window, end; their events stand in the order of channels, instances, members. */
	struct fsl_lost *lost;
	size_t n_lost, lost_capacity;
	struct fsl_pieces *pieces; /* [n_ranks] */
	struct fsl_meeting *meetings;
	size_t n_meetings, meetings_capacity;
	struct fsl_member *members;
	size_t n_members, members_capacity;
	/* Events without a meeting, and n_events + meeting, as they can be run; those of window w,
	 * which depend on no other, are order_begin[w] .. order_end[w]. */
	uint32_t *order;
	size_t *order_begin, *order_end;
};

/* The pieces that an event's own time is made of: [event->n_pieces]. */
static inline struct fsl_piece *fsl_event_pieces(const struct fsl_replay_graph *graph,
						 const struct fsl_event *event)
{
	return graph->pieces[event->rank_idx].items + event->piece_begin;
}

/* Meetings by window: list[begin[w] .. begin[w + 1]), ascending. */
struct fsl_buckets {
	uint32_t *list;
	size_t *begin;
};
/* In @arena; false when it is short. */
bool fsl_replay_meetings_by_window(struct fsl_buckets *out, struct fsl_arena *arena,
				   const struct fsl_replay *replay,
				   const struct fsl_replay_graph *graph);

/* Lost records of the replayed steps. */
enum fsl_status fsl_replay_list_lost(struct fsl_replay *out, struct fsl_replay_graph *graph,
				     struct fsl_error *err);
/* Position in graph->lost of the first of a rank. */
size_t fsl_replay_first_lost(const struct fsl_replay_graph *graph, size_t rank_idx);
/* Events with their predecessors and own time. */
enum fsl_status fsl_replay_add_events(struct fsl_replay *out, struct fsl_replay_graph *graph,
				      struct fsl_error *err);
/* Meetings of matched instances. */
enum fsl_status fsl_replay_add_meetings(struct fsl_replay *out, struct fsl_replay_graph *graph,
					struct fsl_error *err);
/* Sets the duration of operators that meet nobody: the least, if a member is unseen. */
void fsl_replay_set_alone(struct fsl_replay *out, struct fsl_replay_graph *graph);
/*
 * Idle time is a wait if it ends when something of another rank ends: for the other members of the
 * operator that follows, or for peers at the same place of the step (a barrier without a marker).
 */
enum fsl_status fsl_replay_add_hidden(struct fsl_replay *out, struct fsl_replay_graph *graph,
				      struct fsl_error *err);
/*
 * How long a rank works beside an operator of its own, and since which other one: as long as the
 * peer that had to wait least in the same instance of the next operator, without the excess over
 * its level. Once levels are known it is shorter; with @has_order events follow what they followed.
 * FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_replay_set_beside(struct fsl_replay *out, struct fsl_replay_graph *graph,
				      bool has_order, struct fsl_error *err);
/* A topological order; meetings in a cycle are cut. */
enum fsl_status fsl_replay_set_order(struct fsl_replay *out, struct fsl_replay_graph *graph,
				     struct fsl_error *err);

/* Event of the first operator of a rank in a replayed step, and how many there are. */
size_t fsl_replay_step_events(const struct fsl_replay *replay, const struct fsl_replay_graph *graph,
			      size_t rank_idx, size_t i, size_t *n_events);
/* True when two ranks use the same operators in the same order in a replayed step. */
bool fsl_replay_is_alike(const struct fsl_replay *replay, const struct fsl_replay_graph *graph,
			 size_t rank_a, size_t rank_b, size_t i);

#endif
