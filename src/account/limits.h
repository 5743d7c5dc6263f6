/* Every threshold of src/account: value, unit, why. */
#ifndef FSL_ACCOUNT_LIMITS_H
#define FSL_ACCOUNT_LIMITS_H

/* Fewer steps than this have no usual length. */
#define FSL_STALL_STEPS_MIN 8
/* Steps on each side that tell the usual length of a step: of each the lower quartile, so that
 * every second step may stand; of both the larger one, so that a change of level is no stall. */
#define FSL_STALL_WINDOW 16
/* A stalled step takes this much longer, as a share of the usual step. */
#define FSL_STALL_SHARE_MIN 0.25
/* Sigmas of the noise, told by the faster half of the steps. */
#define FSL_STALL_SIGMAS 6.0
/* A stalled step stands this many times as far from the middle of the other steps as the 95 %
 * quantile of these: the tail of a wide spread is no stall. */
#define FSL_STALL_TAIL 3.0
/* A gap is longer than the least part of a step that counts, than this many usual gaps, and than
 * this many ticks of the clock, which are seconds if this many steps end on whole ones. */
#define FSL_STALL_GAPS_MIN  10.0
#define FSL_STALL_TICKS_MIN 2.0
#define FSL_STALL_WHOLE_MIN 3
/* First steps, of the run and of each attempt, that may warm up. Each takes this much longer than
 * the usual step, as a share of it and in distances between the quartiles of the steps behind. */
#define FSL_STALL_WARM_STEPS     5
#define FSL_STALL_WARM_SPREADS   5.0
#define FSL_STALL_WARM_SHARE_MIN 0.03
/* Stalls are a verdict from this share of the time on, or if one of them is as long, ns. In a short
 * capture any long step is such a share: fewer than FSL_STALL_PERIODIC_MIN of them count only if
 * one takes a usual step longer. */
#define FSL_STALL_COUNTS_SHARE 0.03
#define FSL_STALL_COUNTS_NS    (INT64_C(60) * FSL_NS_PER_S)
/* No job stands for so long and goes on: its clock was set. */
#define FSL_STALL_NS_MAX (INT64_C(30) * 86400 * FSL_NS_PER_S)
/* A phase explains a stall, and a rank was last in it, by this part of the time lost. */
#define FSL_STALL_EXPLAINED 0.5
/* A step with this many times the usual operators has other work: an evaluation. */
#define FSL_STALL_WORK_MIN 1.15
/* It has as well if it has more than usual by this many distances between the quartiles, and they
 * divide its time. */
#define FSL_STALL_WORK_SPREADS 3.0
/* Planned work that recurs on all ranks alike is never this many times as long as at another time.
 */
#define FSL_STALL_EVEN_MAX 1.2
/* Stalls are periodic if there are so many, if this share of what they cost lies at one distance,
 * and if this share of the places at that distance holds one. */
#define FSL_STALL_PERIODIC_MIN 3
#define FSL_STALL_ON_PLACE_MIN 0.8
#define FSL_STALL_OCCUPIED_MIN 0.75
/* A stall on such a place that takes this many times the median of those there is one of its own.
 */
#define FSL_STALL_ALIKE_MAX 5.0
/* Checkpoints are regular if there are so many distances, in steps, and if this share of them are
 * equal. */
#define FSL_SAVE_DISTANCES_MIN       2
#define FSL_SAVE_DISTANCES_ALIKE_MIN 0.8

#endif
