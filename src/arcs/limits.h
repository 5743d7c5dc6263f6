/* Every threshold of src/arcs: value, unit, why. Conventions: match/limits.h. */
#ifndef FSL_ARCS_LIMITS_H
#define FSL_ARCS_LIMITS_H

/* Bounds. */
enum {
	/* Different operators of one rank: name, kind of group, size. More are not
	 * told apart. */
	FSL_ARCS_KINDS_MAX = 1024,
	/* Ends before an operator that may explain its arrival: they must reach the one that the
	 * rank waited for. */
	FSL_ARCS_ENDS_BACK = 14,
	/* Own arrivals before it, likewise. */
	FSL_ARCS_BEGINS_BACK = 4,
	/* Steps that arcs are learned from, spread evenly. */
	FSL_ARCS_LEARNED_STEPS_MAX = 64,
	/* Ranks that tell the usual arrival of a class, spread evenly. */
	FSL_ARCS_USUAL_RANKS_MAX = 32,
	/* Ranks that tell the anchor of a class, spread evenly. */
	FSL_ARCS_ANCHOR_RANKS_MAX = 4,
	/* Steps of a slow rank that tell how it spends its work, and peers that tell whether it is
	 * late; spread evenly. */
	FSL_ARCS_CLUE_STEPS_MAX = 64,
	FSL_ARCS_CLUE_PEERS_MAX = 8,
	/* Operators of a rank that tell which it uses; its anchor is looked for in so many, then in
	 * eight times as many. Speed alone. */
	FSL_ARCS_FIRST_OPS = 1 << 13,
	/* Values are kept in order up to this one, or all are selected from. Speed alone. */
	FSL_ARCS_KEPT_MAX = 8,
	/* So few values are always selected from. Speed alone: detect takes 5 % longer with 0. */
	FSL_ARCS_FEW_VALUES = 12,
	/* Steps that are held in memory at a time. Speed alone. */
	FSL_ARCS_BLOCK_STEPS = 16,
};

/* With this many times as many kinds of operators by size as without, sizes tell no kinds: those of
 * sequences differ in every step. */
#define FSL_ARCS_SIZES_FREE 8

/* Ranks of a class, and steps, with fewer of which nobody is judged. */
#define FSL_ARCS_RANKS_MIN 3
#define FSL_ARCS_STEPS_MIN 12

/* The same sequence follows an anchor in this share of its uses, and these cover this share of all
 * operators. */
#define FSL_ARCS_ANCHOR_SHARE_MIN 0.6
/* A step holds every operator that comes this often against its anchor. */
#define FSL_ARCS_AS_FREQUENT 0.7
/* Anchors are the rarest operators, and those that come up to this many times as often. */
#define FSL_ARCS_RAREST_RATIO 1.3
/* Ranks of one class use as many operators per time but for this share: two stages may alternate
 * the same few operators. */
#define FSL_ARCS_RATE_APART 0.1
/* One of two steps of different ranks lies within this share of a step of the other. */
#define FSL_ARCS_STEP_NEAR_SHARE 0.5

/* Quantile over the steps of how soon after an event a rank ever came: one glitch must not set an
 * arc. */
#define FSL_ARCS_SOON 0.10
/* Quantile over the ranks of their arrivals, above which a rank is late; of few the last but one,
 * or the last of three would never be late. */
#define FSL_ARCS_LATE 0.75

/* Quantile of the ranks that is their level in a step. */
#define FSL_ARCS_LEVEL 0.25

/* Shares of the step. A rank costs what is worth telling, and stands out by at least this. */
#define FSL_ARCS_COST_MIN   0.03
#define FSL_ARCS_EXCESS_MIN 0.021
/* Part of the least cost that marks a block in which a rank was slow, and ranks that count as
 * costly. */
#define FSL_ARCS_COST_PART 0.5
/* Least spread of the ranks: few of them may agree by chance. */
#define FSL_ARCS_SPREAD_MIN 0.004
/* Sigmas from the other ranks. */
#define FSL_ARCS_Z_MIN 4.5
/* Share of the blocks in which a lasting culprit was slow. */
#define FSL_ARCS_BLOCKS_SHARE_MIN 0.7
/* Steps of a block. */
enum { FSL_ARCS_BLOCK_N = 4 };
/* Nobody costly that is not named has more than this part of the least excess that is named: a
 * chain of ever slower ranks is spread. */
#define FSL_ARCS_GAP_MAX 0.55
/* Spread is told by this quantile of the faster side: culprits sit on the slower side only. */
#define FSL_ARCS_LOWER_SIDE 0.68
/* With fewer ranks the spread is that of all classes together. */
#define FSL_ARCS_POOLED_RANKS 8
/* A begin this many steps into the capture is a change. */
#define FSL_ARCS_CHANGE_STEPS_MIN 8
/* A change made the steps longer by this part of its cost, or this share of the step. */
#define FSL_ARCS_GROWTH_PART 0.3
#define FSL_ARCS_GROWTH_MIN  0.025
/* A rank with more than this part of its excess before was slow before. */
#define FSL_ARCS_BEFORE_PART 0.5
/* Names with less than this part of the largest cost are partners of a culprit. */
#define FSL_ARCS_TIDY_PART 0.3

/* Comes and goes: sigmas of a block, cost in it, least number of blocks, and the part of them that
 * another rank may have. */
#define FSL_ARCS_FAR_SIGMAS      4.0
#define FSL_ARCS_FAR_COST_MIN    0.06
#define FSL_ARCS_FAR_BLOCKS_MIN  3
#define FSL_ARCS_FAR_BLOCKS_SEEN 6
#define FSL_ARCS_FAR_OTHERS_PART (1.0 / 3.0)

/* A rhythm: up to so many steps from one to the next, at least so many of them, the share of them
 * in which the rank is the costliest, and the chance of that. */
enum { FSL_ARCS_RHYTHM_EVERY_MAX = 16, FSL_ARCS_RHYTHM_TIMES_MIN = 5 };
#define FSL_ARCS_RHYTHM_SHARE_MIN 0.8
#define FSL_ARCS_RHYTHM_P_MAX     1e-3

/* The host was behind if an operator was launched this part of its own work, or less, before it
 * began. */
#define FSL_ARCS_CLUE_QUEUE_SHARE 0.05

/* Whole hosts: ranks of the host and of the others, and sigmas apart. */
#define FSL_ARCS_HOST_RANKS_MIN 4
#define FSL_ARCS_HOST_SIGMAS    2.5

#endif
