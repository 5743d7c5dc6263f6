/* Every threshold of src/replay: value, unit, why. Conventions: match/limits.h. */
#ifndef FSL_REPLAY_LIMITS_H
#define FSL_REPLAY_LIMITS_H

#include "match/limits.h"

/* Bounds. */
enum {
	/* Operators of one rank that run at a time. */
	FSL_REPLAY_RUNNING_MAX = 64,
	/* Communicators of one rank whose operators hold nobody. */
	FSL_REPLAY_STREAMS_MAX = 64,
};

/* Steps side by side that are replayed together: a window shows what a step leaves to the next, and
 * little of it is its begin. Untold. */
#define FSL_REPLAY_WINDOW_STEPS 8
/* Operators before a window that its first operators may follow. Untold. */
#define FSL_REPLAY_LOOK_BACK_OPS 16
/* Instances of a channel in one step that are counted through; longer steps do not tell what is
 * usual. Untold. */
#define FSL_REPLAY_PLACES_MAX 1024
/* Clocks are off by less than this after correction, ns: a sender that ended this long before the
 * receiver came did not wait for it. Untold. */
#define FSL_REPLAY_CLOCK_NS FSL_NS_PER_MS
/* Members that wait for each other end together. They do not, and the match is wrong, if their ends
 * are apart by more than this, ns, and by more than this share of the longest of them. Untold:
 * FSL_REPLAY_APART_SHARE_MAX. */
#define FSL_REPLAY_APART_NS_MAX    (10 * FSL_NS_PER_MS)
#define FSL_REPLAY_APART_SHARE_MAX 0.05
/* Shorter idle time is launch latency and needs no reason, ns. Untold. */
#define FSL_HIDDEN_IDLE_NS_MIN (10 * FSL_NS_PER_MS)
/* The end of an idle time and the event that explains it lie closer together than this share of the
 * time waited. */
#define FSL_HIDDEN_COINCIDENCE_SHARE 0.1
/* Share of the ranks at a place that must have waited for the last of them. Untold. */
#define FSL_HIDDEN_WAITING_SHARE_MIN 0.5
/* A calm step that tells what is usual is at most this many steps away. Untold. */
#define FSL_REPLAY_CALM_REACH_STEPS 16
/* Fewer calm steps do not tell how a rank usually is. */
#define FSL_REPLAY_CALM_STEPS_MIN 4

/* What-if of tables of operations; the values are those of StragglerAnalysis, so that figures can
 * be compared. */

/* Begins and ends of one moment differ by this at most, s. */
#define FSL_WHAT_IF_CLOCKS_S 5e-5
/* A transfer that seems to end so long before its last member begins, s, has wrong clocks. */
#define FSL_WHAT_IF_CLOCK_FAULT_S 1e-2
/* Slowdown from which its parts are asked for. */
#define FSL_WHAT_IF_SLOWDOWN_MIN 1.03
enum {
	/* Share of the workers that count as the slowest. */
	FSL_WHAT_IF_SLOWEST_PERCENT = 3,
};
/* Operations that are looked at in all, a bound on time: 64 stages of 8 chunks with 100,000
 * operations fit. */
#define FSL_WHAT_IF_LOOKS_MAX 1e9

#endif
