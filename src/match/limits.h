/*
 * Every threshold of src/match: value, unit, why. A majority (one half), a median and the sizes of
 * blocks that only make the program fast are no thresholds.
 *
 * #define: a choice. enum: a bound on memory or time, which arrays have for a size; data beyond it
 * are left out and never read wrongly. Untold: no bundled data set, field case, modern job or
 * recording tells the value from its half or its double (tests/limits/sweep.py). Unit tests and
 * simulated jobs may.
 */
#ifndef FSL_MATCH_LIMITS_H
#define FSL_MATCH_LIMITS_H

#include "base/number.h"

/* Bounds. */
enum {
	/* Different operators of one communicator; real ones use at most five. */
	FSL_OPS_PER_GROUP_MAX = 64,
	/* The same while the topology is found, for each rank: less, as there are many ranks. */
	FSL_COMM_OPS_MAX = 16,
	/* Different operators, or channels, of one rank. */
	FSL_OP_KINDS_MAX = 64,
	/* Ends of two ranks, or instances of a channel, that a median is taken of. More of them,
	 * spread evenly, do not change it. */
	FSL_ENDS_COMPARED_MAX = 512,
	/* Differences between the ends of two ranks that a search looks at. */
	FSL_DIFFERENCES_MAX = 65536,
	/* Ends at the begin and at the end of a capture that a drift is measured from. */
	FSL_DRIFT_ENDS_MAX = 512,
	/* Differences that the first ends of a capture make. */
	FSL_DRIFT_DIFFERENCES_MAX = 4096,
	/* Ranges of differences that are compared by their jitter; a step has no more pieces of
	 * work between two ends. */
	FSL_OFFSET_PEAKS_MAX = 8,
	/* Steps before and behind a step, or uses before and behind a use, that tell what is usual
	 * there. */
	FSL_BESIDE_MAX = 4,
	/* Communicators of one rank that are told apart to find operators launched ahead. */
	FSL_LAUNCHED_STREAMS_MAX = 16,
	/* Uses of an operator in one step that are judged apart. launched.c has a bit for each. */
	FSL_LAUNCHED_TURNS_MAX = 64,
	/* Uses in a row that wait for the next operator of another communicator. */
	FSL_LAUNCHED_OPEN_MAX = 64,
	/* Uses of an asynchronous operator in one step that are judged apart; later ones as one. */
	FSL_SPAN_TURNS_MAX = 16,
};

/* A channel of more operators is matched by all threads together. Speed alone. Untold. */
#define FSL_OPS_WORTH_THREADS (1 << 14)
/* With so many channels per thread, each thread matches channels of its own. Speed alone. Untold.
 */
#define FSL_CHANNELS_PER_THREAD 4

/*
 * Clocks and ends.
 */
/* Times of devices are not recorded more finely, ns. Untold. */
#define FSL_END_JITTER_NS INT64_C(50000)
/* Clocks of two devices agree no better after correction, ns. Untold. */
#define FSL_CLOCK_TOLERANCE_NS INT64_C(200000)
/* Clocks of two hosts differ by at most this, ns: 50 ms either side of the true time, and some
 * room. Untold. */
#define FSL_CLOCK_REACH_NS (INT64_C(120) * FSL_NS_PER_MS)
/* Clocks that other ranks connect differ by drift alone, ns: 10 ppm over a quarter of an hour is
 * 9 ms from end to end, half of it either side. */
#define FSL_CLOCK_KNOWN_REACH_NS (INT64_C(5) * FSL_NS_PER_MS)
/* Fewer common ends give no offset between two clocks. Untold. */
#define FSL_CLOCK_ENDS_MIN 3
/* Share of the ends that must lie near a line or an offset, percent: one of ten may be odd. */
#define FSL_NEAR_PERCENT 90
/* Uses belong together in order if nearly all of their ends agree as well as this, ms: no work is
 * as even. */
#define FSL_TAIL_SURE_MS 0.1
/* One member may lack this many uses at the begin of a capture. Untold. */
#define FSL_SHIFT_USES_MAX 128
/* Ends that a shift is tried with. Untold. */
#define FSL_SHIFT_ENDS 64
/* The right shift deviates this many times less than the next best: steady work looks alike under
 * all shifts. Untold. */
#define FSL_SHIFT_GAIN_MIN 4.0
/* Or it deviates this many times less, ms at most: recorded ends of one collective differ by a few
 * tenths. Untold. */
#define FSL_SHIFT_CLEAR_GAIN  20.0
#define FSL_SHIFT_TAIL_MAX_MS 1.0
/* Fewer common uses may agree by chance under a shift far away. Untold. */
#define FSL_SHIFT_FAR_USES_MIN 16

/* Fewer common ends give no drift. Untold. */
#define FSL_DRIFT_USES_MIN 24
/* Ends from which the difference at the begin of the capture is told. Untold. */
#define FSL_DRIFT_HEAD_ENDS 32
/* The first and the last of so many parts of a capture are compared. Untold. */
#define FSL_DRIFT_PARTS 4
/* FSL_NEAR_PERCENT of the ends must lie this close to the line, ms: members end together. Untold.
 */
#define FSL_DRIFT_TAIL_MAX_MS 1.0
/* From one common end to the next the difference changes by at most this, ns, and by this much per
 * ns between them. Untold. */
#define FSL_DRIFT_STEP_MAX_NS (FSL_NS_PER_MS / 2)
#define FSL_DRIFT_STEP_RATE   100e-6
/* Share of the uses of the member with fewer that must have a partner. Untold. */
#define FSL_DRIFT_COMMON_SHARE_MIN 0.75
/* No clock drifts as much, ns per ns; more is a wrong match. Untold. */
#define FSL_DRIFT_MAX 500e-6
/* Least drift over the whole capture that is taken out, ms: clocks agree no better. */
#define FSL_DRIFT_MATTERS_MS 0.2

/*
 * Instances: uses that belong together.
 */
/* The ends of one instance lie closer together than this share of the time between two uses.
 * Untold. */
#define FSL_END_TOLERANCE_SHARE 0.45
/* Ends farther apart than this share of the time between two uses may belong to other uses. */
#define FSL_END_APART_SHARE_MAX 0.1
/* Two ends are of different uses, whose partners were lost, if they are this many times farther
 * apart than usual, and by this share of the time between two uses. Untold. */
#define FSL_STRANGER_RATIO 20
#define FSL_STRANGER_SHARE 0.02
/* Share of the uses of a member that must end as usual after those of member 0, or the order is not
 * trusted. Untold. */
#define FSL_ALIGNED_SHARE_MIN 0.99
/* Fewer instances do not tell the time between two uses. Untold. */
#define FSL_QUALITY_INSTANCES_MIN 3
/* Share of the uses of a pair that must have found their partner. */
#define FSL_PAIRED_SHARE_MIN 0.75

/*
 * Pairs: who sends to whom.
 */
/* Ranks of a group with point-to-point operators; the search is quadratic in this, and no pipeline
 * is deeper. Untold. */
#define FSL_PAIR_SIDES_MAX 128
/* Common ends that are no chance. Untold. */
#define FSL_PAIR_USES_MIN 6
/* Ends of one kind that are looked at for each pair of ranks. */
#define FSL_PAIR_ENDS 256
/* Share of the ends that two neighbours have in common: a rank in the middle of a pipeline has two
 * neighbours, and half of the ends of each may be lost or apart. */
#define FSL_PAIR_COMMON_SHARE_MIN 0.25
/* Common ends lie within this share of the time between two uses. By chance, the closest quarter of
 * the ends of strangers lies within a quarter of it. */
#define FSL_PAIR_WIDTH_SHARE_MAX 0.05
/* Fewer operators that end together are no channel. Untold. */
#define FSL_PAIR_BONDS_MIN 3
/* A second partner that ends less than this many times as far away leaves the first in doubt. */
#define FSL_PAIR_DOUBT_RATIO 2
/*
 * Examples, and share of them, that must agree on the neighbour of an operator without a partner.
 * Untold: FSL_PAIR_EXAMPLES_MIN.
 */
#define FSL_PAIR_EXAMPLES_MIN    3
#define FSL_PAIR_LABEL_SHARE_MIN 0.8

/*
 * Steps and own time.
 */
/* Share of the steps that must have one number of operators for the cuts to be moved to it. */
#define FSL_CUT_REGULAR_SHARE_MIN 0.9
/* Share of a rank's stages whose step numbers must make sense for the numbers to be used. Untold.
 */
#define FSL_STAGES_NUMBERED_SHARE_MIN 0.95
/* An operator is asynchronous if this share of its uses contains the begin of another one. */
#define FSL_ASYNC_SHARE_MIN 0.1
/* Fewer steps do not tell whether an operator held its rank. */
#define FSL_SPAN_STEPS_MIN 8
/* Operators that are looked at inside an asynchronous one. Untold. */
#define FSL_SPAN_INSIDE_MAX 256
/* The rank worked on if the time since its last end varies less than this part of the time since
 * the end of the operator (variances). */
#define FSL_SPAN_STEADIER_RATIO 0.8
/* Two uses follow in a row if the time between them is at most this share of what the second hides.
 */
#define FSL_ROW_GAP_SHARE_MAX 0.1
/* Steps that are looked at to find operators launched ahead; more tell nothing new. Untold. */
#define FSL_LAUNCHED_STEPS_MAX 128
/* After so many steps with one communicator, the rank has no other. Untold. */
#define FSL_LAUNCHED_STEPS_OF_ONE 3
/* One of the two times is steady if it changes less than the other in this share of the steps. */
#define FSL_LAUNCHED_STEADY_SHARE 0.7
/* One rank in so many must say that nobody waits for a use. */
#define FSL_LAUNCHED_QUORUM 4
/* An operator is launched ahead with at most so many held uses for each free one: behind a slow
 * rank the last uses of a step queue up, and the other ranks wait for all of them. Untold. */
#define FSL_LAUNCHED_HELD_MAX 3

/*
 * Lost records.
 */
/* Share of the steps with the same number of instances for the number to be expected of all.
 * Untold. */
#define FSL_LOST_REGULAR_SHARE_MIN 0.75
/* A rank loses many operators if remnants are this share of its operators. Untold. */
#define FSL_LOST_MANY_SHARE 0.05
/* Operators before a place that may have ended last. Untold. */
#define FSL_LOST_LOOK_BACK_OPS 8
/* Operators before the end of a lost one among which its begin is looked for. Untold. */
#define FSL_LOST_NEIGHBOURS_OPS 256
/* Remnants before the end of a lost operator that may be its begin. Untold. */
#define FSL_LOST_REMNANTS 16
/* The rank whose record is lost counts as the last to arrive if the others waited at least this
 * share of the extra work that arriving last would mean. Untold. */
#define FSL_LOST_WAITED_SHARE_MIN 0.25

/*
 * Topology.
 */
/* An operator of fewer than one in so many of a rank's operators (a barrier at the start) does not
 * make the rank different. Untold. */
#define FSL_RARE_OP_SHARE 100
/* With files of fewer than one rank in so many, a sample of the job was collected, and the numbers
 * in between are no lost ranks. Untold. */
#define FSL_SAMPLED_SHARE 16
/* One in so many operators of a group must be point-to-point, or all-to-all, to name its kind.
 * Untold. */
#define FSL_OP_CLASS_SHARE 4
/* Uses of a barrier at the start of the job: once, or once at each end. Untold. */
#define FSL_SYNC_CALLS_MAX 2
/* Calls per step of data-parallel groups: gradients and parameters need one to three, a layer at
 * least four. Untold. */
#define FSL_DP_CALLS_PER_STEP_MAX 3
/* Communicators are used about as often if their rates differ by less than this factor, and much
 * more often from it on: all ranks run one program. Untold. */
#define FSL_RATE_RATIO 2.0
/* A family has the stride of this share of its communicators, or none. Untold. */
#define FSL_FAMILY_STRIDE_SHARE_MIN 0.75

#endif
