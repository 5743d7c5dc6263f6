/* Every threshold of src/blame: value, unit, why. Conventions: match/limits.h. Settings of users
 * are in config/config.h. */
#ifndef FSL_BLAME_LIMITS_H
#define FSL_BLAME_LIMITS_H

#include <math.h>

#include "config/config.h"
#include "replay/limits.h"

/* Bounds. */
enum {
	/* Steps of a charge, evenly spread, that its cause is told from. */
	FSL_CAUSE_STEPS_MAX = 64,
	/* Operators of one rank that its cause is told from. */
	FSL_CAUSE_OPS_MAX = 1024,
	/* Peers that a rank is compared with if all of them would take too long. */
	FSL_PEERS_SAMPLED_MAX = 64,
	/* Uses of a channel in one step that are counted, and those that its messages are told
	 * from. */
	FSL_LINK_USES_MAX = 64,
	/* Steps on either side of the edge of an episode in which its onset is looked for. */
	FSL_ONSET_SIDE_STEPS = 200,
	/* Steps of the costliest charge that are replayed first; a power of two. */
	FSL_FOCUS_STEPS_MAX = 64,
	/* Hosts, stages and replicas that what-ifs are told of: those with the largest excess. */
	FSL_WHATIF_LISTED_MAX = 16,
};

/* Charged ranks, and slow links, that are judged one by one: each costs a run of the replay.
 * Untold. */
#define FSL_JUDGED_RANKS_MAX 64
#define FSL_JUDGED_LINKS_MAX 16
/* Ranks in omittedDevices of one entry: half of a large job must not make a huge verdict. Untold.
 */
#define FSL_OMITTED_RANKS_MAX 256
/* The replay takes about 1 us for each operator with all that is asked about it (measured). A
 * budget of time is one of operators, so that a slow or busy machine gives the same verdict.
 * Untold. */
#define FSL_REPLAYED_OPS_PER_MS 1000

/*
 * How healthy ranks stand.
 */
/*
 * Healthy devices of one kind differ by 8 % on average and by 22 % at most (Sinha et al., SC22). A
 * rank is slow all along if its own time is this many times that of its peers; less is enough if it
 * stands apart from them. A rank that changed counts as healthy before up to the last of these.
 */
#define FSL_SLOW_RATIO_MIN   1.20
#define FSL_APART_RATIO_MIN  1.12
#define FSL_UNEVEN_RATIO_MAX 1.15
/* Work is uneven if the own times of a class spread this much (ByteDance's traces: 18 to 27 % with
 * uneven sequences, 1.5 to 3.1 % without). Untold. */
#define FSL_WORK_SPREAD_MIN 0.08
/* A spread of this much is told if it costs what counts. */
#define FSL_WORK_TOLD_SPREAD_MIN 0.025
/* The slowest of a step is at most so many spreads above the median by work that moves; what is
 * longer is a pause or a stall. */
#define FSL_WORK_SPREADS_MAX 4.0
/* Fewer steps do not show how much of the work that moves makes steps longer. Untold. */
enum { FSL_WORK_STEPS_MIN = 12 };
/* Nor do steps in which the slowest rank is always as far above the median: this part of the
 * highest. Untold. */
#define FSL_WORK_VARIES_MIN 0.1
/* Fewer steps are no level. */
#define FSL_BEST_STEPS_MIN 5
/* The best level is that of a window of one in so many parts of the series. */
#define FSL_BEST_WINDOWS 10
/* Fewer ranks are no cloud, and no peers to find a spread or a stage with. Untold. */
#define FSL_CLOUD_RANKS_MIN 3
/* A rank stands apart if the gap below it is this many times as wide as the cloud below the gap. A
 * cloud of more ranks shows more of what is usual: the gap may be narrower from this many ranks on.
 * Untold: FSL_CLOUD_GAP_SMALL, FSL_CLOUD_GAP_LARGE.
 */
#define FSL_CLOUD_GAP_SMALL    3.0
#define FSL_CLOUD_MEDIUM_RANKS 6
#define FSL_CLOUD_GAP_MEDIUM   1.0
#define FSL_CLOUD_LARGE_RANKS  12
#define FSL_CLOUD_GAP_LARGE    0.5
/* Probability that a healthy job has an outlier (Rosner's test). Untold. */
#define FSL_OUTLIER_ALPHA 1e-3
/* Own times closer together than this part of them are equal: no clock tells more. Untold. */
#define FSL_OUTLIER_SIGMA_MIN 1e-4
/* In a class of so many ranks one that is slow all along is far from the middle of them: chance
 * that one of the healthy ranks of a class is, and least spread (share of own time). A ratio alone
 * does not tell: gaps beneath overlapped operators shrink. */
#define FSL_FAR_RANKS_MIN 4
#define FSL_FAR_ALPHA     0.01
#define FSL_FAR_SIGMA_MIN 1e-3
/* Ranks of a class that are never taken out, besides half of it; fewer degrees of freedom are no
 * spread. Untold. */
#define FSL_OUTLIER_LEFT_MIN    2
#define FSL_OUTLIER_FREEDOM_MIN 4
/* The work of a class seems to grow if the steps became shorter by this part of its rise: its ranks
 * wait elsewhere. Untold. */
#define FSL_CLASS_STEP_SHARE_MIN 0.1
/* Ranks of a class grew alike if one grew by at least this share of the other. Untold. */
#define FSL_CLASS_ALIKE_SHARE 0.8

/*
 * Steps and episodes.
 */
/* From this part of the least loss on, an excess is high, a doubted charge is told, single steps
 * are asked for their cause, a rank belongs to ranks that changed together, a link lengthens steps.
 */
#define FSL_NOTED_LOSS_SHARE 0.5
/* A step is high above this many robust sigmas of the excess of the peers. */
#define FSL_NOISE_SIGMAS 4.0
/* A high step is clear if it has this share of what is usual for the rank: its peers may have many
 * short ones. */
#define FSL_CLEAR_SHARE 0.5
/* Shorter episodes are spikes; single steps come in shorter rows. */
#define FSL_LASTING_STEPS_MIN 5
/* Fewer single steps, or pauses, are chance. */
#define FSL_REPEATED_STEPS_MIN 3
/* Repeated steps are over when so many of them should have come and did not. Untold. */
#define FSL_REPEATS_MISSED 2
/* An episode is over when so many calm steps follow it. */
#define FSL_EPISODE_TAIL_STEPS 3
/* Fewer steps outside of an episode do not tell what it is compared with. Untold. */
#define FSL_REST_STEPS_MIN 5
/* Charges in single steps lose more than this many times what the peers lose in theirs. Untold. */
#define FSL_REPEATED_MULTIPLE 3.0
/* Repeated high steps are a row, and a lasting change, if this share of the row is high. Untold. */
#define FSL_ROW_SHARE_MIN 0.9

/*
 * How faults go.
 */
/* Below this share of high steps a rank is slow in single steps again and again: every second one,
 * and some by chance. */
#define FSL_RECURRING_SHARE_MAX 0.55
/* Beyond so many times the rise at the onset the mean excess of an episode tells that it grew. */
#define FSL_DRIFT_TIMES_MIN 1.5
/* Long steps come evenly if there are so many distances between them, each below so many steps...
 * Untold. */
enum { FSL_PERIOD_GAPS_MIN = 3, FSL_PERIOD_MAX = 1024 };
/* ...and this share of the distances is the same. Untold. */
#define FSL_PERIOD_ALIKE_SHARE_MIN 0.8

/*
 * Chance.
 */
/* Share of the ranks charged in single steps that may be wrong (false discovery rate). */
#define FSL_SINGLES_FALSE_SHARE_MAX 0.01
/* Peers without a high step may have had this many by chance. */
#define FSL_UNSEEN_STEPS 0.5
/* Expected number of findings as clear by chance: episodes of one rank or link, ranks with single
 * steps in any stretch of chapters. */
#define FSL_CHANCE_MAX 0.01
/* Steps are high by chance in at most this share of the time: an episode elsewhere is none. */
#define FSL_CHANCE_SHARE_MAX 0.45
/* The high steps of a lasting level exceed what the class has by this many sigmas and steps.
 * Untold. */
#define FSL_LEVEL_SIGMAS      3.0
#define FSL_LEVEL_SLACK_STEPS 2
/* A change of n steps is above this many sigmas of their mean: there are many places for one. */
#define FSL_CHANGE_SIGMAS 7.0
/* Share of the onsets that are told which may be chance (false discovery rate). Untold. */
#define FSL_ONSET_FALSE_SHARE_MAX 0.05
/* A step of the level this near to the edge of an episode, in steps, is its onset. */
#define FSL_ONSET_EDGE_STEPS 5
/* Search for the onset, see struct fsl_shift_options. Own time over the peers' own time lacks what
 * the job shares, so small changes are clear. Untold. */
#define FSL_ONSET_PENALTY     3.0
#define FSL_ONSET_SIGMA_MIN   0.001
#define FSL_ONSET_CHANGE_MIN  0.01
#define FSL_ONSET_SIGMAS_MIN  1.0
#define FSL_ONSET_P_MAX       0.01
#define FSL_ONSET_CHANGES_MAX 63

/*
 * Changes and what the steps show of them.
 */
/* A change explains a rise, and a rise a change, if each is at least this share of the other; a
 * part of a rank's time explains the whole likewise. */
#define FSL_EXPLAINED_SHARE_MIN 0.5
/* A rise of own time this many times the excess, while steps were shorter, is that of all ranks. */
#define FSL_COMMON_MULTIPLE 2.0
/* Another rank that changed in more of an episode than this may be what the steps rose by. Untold.
 */
#define FSL_RISE_BESIDE_SHARE_MAX 0.1
/* The largest of the changes that no replay proves explains this part of the rise of the steps, or
 * the job as a whole became slower and with it what its ranks differ by. */
#define FSL_RISE_EXPLAINED_MIN (1.0 / 3.0)
/* Steps on the shorter side of a rise that bounds a loss. */
#define FSL_RISE_STEPS_MIN 8
/* Percentile of the other steps that is healthy: what else was wrong lengthened the rest. */
#define FSL_RISE_HEALTHY_PERCENT 25.0
/* A rise of less than this part of the replayed loss tells nothing: something else became faster.
 * Untold.
 */
#define FSL_RISE_SHARE_MIN 0.1
/* Ranks changed together if their episodes begin and end within so many steps of each other, and
 * their excesses, over the level of the peers, differ by at most this factor. */
#define FSL_TOGETHER_STEPS     5
#define FSL_TOGETHER_RATIO_MAX 2.0
/* Two ranks of a host changed together if their own times rose by the same factor but for this.
 * Untold. */
#define FSL_TOGETHER_HOST_RATIO_MAX 1.25

/*
 * Waits.
 */
/* The other ranks waited for a step if they waited for this part of what makes it high. */
#define FSL_WAITED_PART_MIN 0.25
/* The other ranks must have waited for a rank in this share of its high steps. Untold. */
#define FSL_WAITED_SHARE_MIN 0.5
/* The waits of the peers bound a loss if they explain this share of it. Untold. */
#define FSL_WAITS_SEEN_SHARE_MIN 0.5
/* A suspect is idle itself if it is for this part of the time that the other ranks wait for it.
 * Untold. */
#define FSL_SUSPECT_IDLE_SHARE 0.5
/* A rank that left no data was late if the ranks beside it were, by this part of what is to be
 * explained. Untold. */
#define FSL_UNSEEN_LATE_SHARE 0.5

/*
 * Arrival arcs.
 */
/* The cost that arcs tell, of one rank at least: they count its ordinary spread, too. */
#define FSL_ARRIVAL_COST_SHARE 0.75
/* Arcs speak of a charge if they know this share of its steps. */
#define FSL_ARRIVAL_TOLD_SHARE_MIN 0.5
/* Arcs look at a charge without the steps in which a slower rank hides it, if so many are left.
 * Untold. */
#define FSL_SEEN_STEPS_MIN 20
/* The least part of a charge that arcs tell as well if it is what the steps rose by. */
#define FSL_ARRIVAL_RISE_SHARE_MIN 0.2
/* Arcs that tell less than this share of every charge tell nothing: half of a class was slow all
 * along, and its level with it (2 to 4 % in simulated jobs, 10 % and more beside waiters). */
#define FSL_ARRIVAL_TELLS_SHARE_MIN 0.1
/* Of ranks that arcs do not name, those of which they tell less than this part of the most: waiters
 * of the others. */
#define FSL_ARRIVAL_WAITER_SHARE 0.5
/* A level that stands out by this ratio is told without the arcs: gaps beneath overlapped operators
 * make less of healthy ranks. */
#define FSL_ARRIVAL_PLAIN_RATIO_MIN 1.25
/* A step is high above this part of the excess that the arcs tell. */
#define FSL_ARRIVAL_HIGH_SHARE 0.5

/*
 * Links.
 */
/* An episode of a link has this many high steps. */
#define FSL_LINK_STEPS_MIN 8
/* A slow link takes this many times the transfer of links like it. */
#define FSL_LINK_RATIO_MIN 1.5
/* A group with an unseen member has a slow transfer if it takes longer in this share of the steps:
 * waits come and go. Untold. */
#define FSL_LINK_STEADY_SHARE_MIN 0.9
/* A channel is compared with channels like it if these are there in this share of its steps.
 * Untold. */
#define FSL_LINK_BESIDE_SHARE_MIN 0.5

/*
 * Causes.
 */
/* Storage: this share of the high steps meets a checkpoint. Untold. */
#define FSL_CAUSE_CKPT_SHARE_MIN 0.6
/* Data loading: less than this share of the excess lies behind the first operator of the step.
 * Untold. */
#define FSL_CAUSE_BODY_SHARE_MAX 0.15
/* With less than this share of own time behind the first operator, a slow device would not show.
 * Untold. */
#define FSL_CAUSE_BODY_OWN_SHARE_MIN 0.25
/* Host: the queue ahead of the device is less than this share of that of the peers, who have one of
 * this many ms at least. Untold: FSL_CAUSE_QUEUE_MS_MIN. */
#define FSL_CAUSE_DRAINED_SHARE 0.25
#define FSL_CAUSE_QUEUE_MS_MIN  1.0
/* Host: the queue is less than this share of what it was before the rank became slower. In
 * recordings, 31 ranks with slow devices or late data have 0.99 and more, 6 of 7 throttled or
 * crowded ones 0.53 and less. */
#define FSL_CAUSE_SHRUNK_SHARE 0.7
/* A host whose network is slow: its other transfers take this many times as long as before, too.
 * Untold: simulated cards are 1.4 times slower and more. Fewer steps are no past. */
#define FSL_NETWORK_GROWTH_MIN 1.15
enum { FSL_NETWORK_PAST_STEPS_MIN = 5 };
/* Long steps that transfers explain are told from so many on, and if they are one in so many of all
 * long steps. Of 0.3 % lost packets a recorded job has four in 70 steps; clean ones have none. */
enum { FSL_TIME_OUTS_MIN = 3, FSL_TIME_OUTS_SHARE = 2 };
/* Jobs whose hosts launch work just in time: the median queue of a rank is less than this share of
 * a step (host-bound simulated ones mostly 0.01, others 0.3 and more). A rank that was slow all
 * along costs less than this share of a step there: hosts differ. Ranks asked. */
#define FSL_HOSTS_QUEUE_SHARE_MAX 0.02
#define FSL_HOSTS_LOSS_SHARE_MIN  0.13
enum { FSL_HOSTS_ASKED_MAX = 16 };
/* A host without time for any of its ranks: of their queues at most this share is left against the
 * least of the other hosts; with it, no rank is taken for its host in 132 simulated jobs in which
 * one rank alone wants for host time. Without a past, of queues as they are, which differ from host
 * to host. Fewer steps are no past. */
#define FSL_MATES_LEFT_MAX  0.95
#define FSL_MATES_QUEUE_MAX 0.8
enum { FSL_MATES_PAST_STEPS_MIN = 5 };
/* Host: the queue is this many times longer than slower work makes it. */
#define FSL_CAUSE_GROWN_RATIO 2.0
/* Host: this share of the excess lies inside host calls. Untold. */
#define FSL_CAUSE_HOST_CALL_SHARE_MIN 0.3
/* Not the host: at most this share of what the arcs say was launched late; the host: at least this.
 * Recordings of slow devices have 0.03 at most, those of throttled processes 0.45 and 0.72. */
#define FSL_CAUSE_EARLY_SHARE_MAX 0.1
#define FSL_CAUSE_LATE_SHARE_MIN  0.3
/* All ranks are slower in the high steps than in the steps beside, by this many sigmas and this
 * ratio: a common event. Untold. */
#define FSL_CAUSE_COMMON_SIGMAS    3.0
#define FSL_CAUSE_COMMON_RATIO_MIN 1.001
/* A stage is the cause if it has this share of the excess. Untold. */
#define FSL_CAUSE_STAGE_SHARE_MIN 0.5

/* Losses of time that are nobody's fault. */
/* A pipeline stage is overloaded if at least half of its ranks (all, if it has less than
 * FSL_CLOUD_RANKS_MIN) take this many times the own time of the other stages. */
#define FSL_STAGE_RATIO_MIN 1.05
/* All stages one after the other take this part of a step at least, the rest is transfers. If they
 * do not, work is hidden beneath receives that were posted ahead, on some stages more than on
 * others: healthy simulated jobs that looked uneven for that came to 0.40 to 0.72. */
#define FSL_STAGES_SUM_SHARE_MIN 0.7
/* Likewise if receives are posted ahead: an uneven simulated pipeline came to 1.6. */
#define FSL_STAGES_SUM_AHEAD_MIN 1.2
/* Sends and receives that are still running when the next operator begins: above this share they
 * are posted ahead. Simulated pipelines had 0, or 0.5 and more. Asked are so many ranks and
 * operators. */
#define FSL_STAGE_AHEAD_SHARE_MAX 0.25
enum { FSL_STAGE_RANKS_ASKED_MAX = 16, FSL_STAGE_OPS_ASKED_MAX = 1024 };
/* As FSL_STAGE_RATIO_MIN if ranks work beneath operators: healthy pipelines with receives posted
 * ahead come to 1.28. */
#define FSL_STAGE_HIDDEN_RATIO_MIN 1.4
/* If ranks work beneath operators, an overloaded stage works in the open for this part of a step:
 * 0.84 to 0.94 in uneven simulated pipelines, up to 0.76 in healthy ones. */
#define FSL_STAGE_BUSY_SHARE_MIN 0.75
/* Each rank of an overloaded stage takes more than the other stages by this part of what the stage
 * does: devices differ. */
#define FSL_STAGE_RANK_SHARE_MIN (1.0 / 3.0)
/* No rank is the slowest, or pauses, in more than this share of the steps in question, or it would
 * be the culprit. */
#define FSL_ONE_RANK_SHARE_MAX 0.5
/* The pauses of one rank cost at most this part of all: two long ones among short ones of other
 * ranks are single events. */
#define FSL_ONE_RANK_COST_MAX 0.75
/* All pauses but the two longest cost at least this part of all: else these are single events. */
#define FSL_PAUSES_REST_MIN 0.25
/* One step that costs more than this part of all single steps of a rank is a single event. Untold.
 */
#define FSL_ONE_STEP_COST_MAX 0.5
/* Pauses are rare: a rank that is held up in more of its steps does not pause. Untold. */
#define FSL_PAUSE_RANK_SHARE_MAX 0.25
/* A rank whose single steps cost less than this part of those of all is one of many that pause.
 * Untold. */
#define FSL_PAUSES_COST_MIN 0.25
/* Hosts pause over this share of a capture of several chapters. Untold. */
#define FSL_PAUSES_STEPS_SHARE_MIN 0.25

/*
 * The replay as a witness.
 */
/* Fewer replayed steps are no replay of the job. Untold. */
#define FSL_TRUSTED_STEPS_MIN 4
/* The replay is trusted if its step times miss the measured ones by at most this in 19 of 20 steps.
 * Untold.
 */
#define FSL_TRUSTED_ERROR_P95_MAX 0.10
/* Operators without a partner in more of a rank's time than this hide what would come back. Untold.
 */
#define FSL_TRUSTED_UNMATCHED_MAX 0.10
/* Fewer replayed steps of a kind do not stand for the rest of it. */
#define FSL_WEIGHED_STEPS_MIN 3
/* Share of the ranks that are the worst ones (Lin et al., OSDI '25, use 3 %). Untold. */
#define FSL_WORST_RANKS_SHARE 0.03
/* A loss below this part of the step time is noise, and shares of it mean nothing. Untold. */
#define FSL_SHARED_LOSS_MIN 0.005
/* A loss stays below this part of the step, so that the slowdown is finite. Untold. */
#define FSL_LOST_SHARE_MAX 0.99

/* Data that ends early. */
/* Steps that a rank lacks at the end before it is told; any capture cuts the last ones. Untold. */
#define FSL_SHORT_STEPS_MIN 5
/* Share of the time without steps up to which a job may be normal: an evaluation may end it.
 * Untold. */
#define FSL_UNJUDGED_SHARE_MAX 0.2

/*
 * Confidence orders verdicts and culprits; it is no probability, and never certain.
 */
#define FSL_CONFIDENCE_MAX 0.99
/* Share of the steps waited for if no wait could be seen. Untold. */
#define FSL_CONFIDENCE_WAITED_UNSEEN 0.8
/* Factor for a loss that only just counts; none from this many times the least loss on. */
#define FSL_CONFIDENCE_LEAST_LOSS  0.5
#define FSL_CONFIDENCE_CLEAR_TIMES 2
/* Persistence of a charge in repeated steps, of one chapter or of several. */
#define FSL_CONFIDENCE_REPEATED 0.9
/* Imbalance and pauses: the reason may lie outside what is recorded. */
#define FSL_CONFIDENCE_IMBALANCE 0.7
/* Normal, if gaps or unmatched transfers may hide work: of families of jobs whose communication
 * overlaps, every second such answer is right if there are six faulty captures for a healthy one.
 * Per share of the ranks that left data. */
#define FSL_CONFIDENCE_NORMAL_HIDDEN 0.7
/* Verdicts that no measured loss backs; the first two per share of the ranks that left data. Normal
 * is right in 81 to 91 % if gaps hide no work, likewise. */
#define FSL_CONFIDENCE_NORMAL   0.85
#define FSL_CONFIDENCE_SLOWDOWN 0.8
#define FSL_CONFIDENCE_STOPPED  0.7
#define FSL_CONFIDENCE_HANG     0.5

/* Least loss per step that counts: what makes steps of @step_ms longer by slow_ratio_min. */
static inline double fsl_least_loss_ms(const struct fsl_config *config, double step_ms)
{
	return (1.0 - 1.0 / config->slow_ratio_min) * step_ms;
}

/* Part of the healthy ratio that is no fault: slower than peers by as much as devices may be. */
static inline double fsl_uneven_ratio(double healthy_ratio)
{
	return isnan(healthy_ratio) ? 1.0 : fmin(fmax(healthy_ratio, 1.0), FSL_UNEVEN_RATIO_MAX);
}

/*
 * Places: ranks compared at the operators of few steps (places.h).
 */
/* Earlier events that an operator may follow: ends and begins of so many operators before it. It
 * has to reach the operator that is waited for; from 3 to 24 the names stay the same. */
enum { FSL_PLACES_ENDS = 14, FSL_PLACES_BEGINS = 4 };
/* Ranks work next to nothing at a place if one takes so many times as long. */
enum { FSL_PLACES_BARE_RATIO = 10 };
/* One step in so many may be a glitch that must not set the price of a place. */
enum { FSL_PLACES_GLITCH_ONE_IN = 10 };
/* Own work beyond the usual, as share of the own work of the others: healthy devices of one kind
 * differ by up to 3 % for good. */
#define FSL_PLACES_WORK_SHARE_MIN 0.04
/* Own work beyond the usual over the spread of the others, and a floor of that spread as share of a
 * step: few ranks show little of the spread. */
#define FSL_PLACES_NAMED_Z_MIN      5.0
#define FSL_PLACES_SUSPECT_Z_MIN    4.5
#define FSL_PLACES_SPREAD_SHARE_MIN 0.004
/* If so many stand out of a rest of so many, it is no chance at single places: the spread of the
 * rest tells enough. */
enum { FSL_PLACES_SURE_SLOW_MIN = 3, FSL_PLACES_SURE_REST_MIN = 6 };
/* A chain of ever slower ranks is spread: the next rank lies below this share of the last named. */
#define FSL_PLACES_NEXT_SHARE_MAX 0.55
/* From the closer quartile of few values to their standard deviation: 1.48 of normal ones, 2.5 of
 * exponential ones, as delays of hosts are. */
#define FSL_PLACES_SCATTER_FACTOR 2.5
/* Collectives tell how long a rank was waited for if so large a share of its operators met others
 * in one: few stand at the edges of a capture, and a pipeline or unknown groups leave more. */
#define FSL_PLACES_MET_SHARE_MIN 0.8
/* Nobody is named if operators that meet nobody, as no file tells their group, take more of the
 * communication: kernels of sends and of exchanges of all ranks have the same name. */
#define FSL_PLACES_UNTOLD_SHARE_MAX 0.2
/* An operator that begins so soon, ns, after the end of one of its group followed it; so many
 * operators back such a one is looked for. */
enum { FSL_GATES_ROW_NS = 20000, FSL_GATES_ROW_MAX = 16 };
/* An operator that begins so shortly, ns, before the end of a gate waited for it, too: recorded
 * ends differ by a few microseconds among the members of a collective. */
enum { FSL_GATES_SLACK_NS = 5000 };
/* Most ranks of a class are slow, and not a few fast, if these would be faster than this. */
#define FSL_PLACES_FASTER_MAX 1.3

/*
 * Captures: questions about places (capture_places.h), and one step of several (counts.h).
 */
/* A step that is shorter than the longest of the set by this share lacks idle time of its rank. By
 * experience: rows of ranks that keep step differ by less. */
#define FSL_STEP_LACKS_SHARE_MIN 0.01
/* A stage computes longer than the others by this share. By experience. */
#define FSL_STAGE_EXCESS_MIN 0.05
/* An effect whose chance is not tested must be this many times as large in one step of several, as
 * the largest of them is always larger than what is usual... */
#define FSL_LOOK_EFFECT_IN_STEP 2.0
/* ...and this many times if all steps gave it already, as steps scatter around their mean. */
#define FSL_LOOK_EFFECT_AGAIN 0.5

/*
 * Bandwidths: links of a capture beside links alike (bandwidth.h).
 */
/* Bytes over a link: the time of less is latency, not bandwidth. */
#define FSL_BANDWIDTH_BYTES_MIN (INT64_C(1) << 20)
/* Links alike differ by this anyway, as standard deviation of the logarithm of their bandwidth. By
 * experience. */
#define FSL_BANDWIDTH_SIGMA_MIN 0.02
/* Links alike: a single one is compared with nothing. */
enum { FSL_BANDWIDTH_ALIKE_MIN = 2 };
/* Level of the test for outliers among links alike. By experience. */
#define FSL_BANDWIDTH_ALPHA 0.004
/* A slow link lacks this share of the usual bandwidth. By experience. */
#define FSL_BANDWIDTH_LACK_MIN 0.2
/* Among few links alike those are slow that are this much slower than the slowest other: halves of
 * a link's width are 0.5, healthy links of one kind differ by a tenth. */
#define FSL_BANDWIDTH_FEW_RATIO_MAX 0.65
/* The rank is slow, not its links, if so many of its links are... By experience. */
enum { FSL_PORT_LINKS_MIN = 3 };
/* ...and this share of them. By experience. */
#define FSL_PORT_LINKS_SHARE_MIN 0.5

/*
 * Captures: waits of all ranks (outside.h).
 */
/* All wait, once or for a rank that was not captured: less, as share of a step, is not told. By
 * experience. */
#define FSL_ALL_WAIT_SHARE_MIN 0.02
/* A captured member waited for one member by this share of all its waits for signals. By
 * experience. */
#define FSL_OUTSIDE_MEMBER_SHARE_MIN 0.5
/* Members: among fewer somebody is always waited for most. */
enum { FSL_OUTSIDE_MEMBERS_MIN = 3 };

/*
 * Captures: single events (long_events.h).
 */
/* A collective is long if it takes so many times the median of those like it. By experience. */
#define FSL_LONG_COLLECTIVE_RATIO_MIN 10.0
/* Share of those like it that may take as long: more of them are no single ones. By experience. */
#define FSL_LONG_COLLECTIVE_SHARE_MAX 0.1
/* Collectives alike: fewer have no usual time. By experience. */
enum { FSL_LONG_COLLECTIVE_LIKE_MIN = 8 };
/* Fewer steps do not tell what is usual: two may differ in the work that a step does once in a
 * while. */
enum { FSL_USUAL_STEPS_MIN = 3 };
/* A step is long if it takes this many times the median of the steps. By experience. */
#define FSL_LONG_STEP_RATIO 1.2
/* A rank explains a long step if its own time grew by this share of what the step took more. By
 * experience. */
#define FSL_LONG_STEP_OWN_SHARE_MIN 0.25

/*
 * Captures: uneven rows of experts (experts.h).
 */
/* Rows of the busiest rank over the mean of its group. By experience. */
#define FSL_EXPERTS_PEAK_TO_MEAN_MIN 1.2

/*
 * Captures: types of operators (operator_types.h).
 */
/* A table of kernels is whole if it holds this share of the time computed. By experience. */
#define FSL_KERNELS_TOLD_SHARE_MIN 0.5
/* Types of operators that ask for the same number of blocks: it is the number of cores. Fewer may
 * agree by chance. */
enum { FSL_CORES_TYPES_MIN = 3 };
/* A kernel is bound by the unit of its core that works for this share of its time. As the
 * profiler's own advisor. */
#define FSL_PIPE_BOUND_MIN 0.8
/* A kernel uses too few cores if it asks for this share of them at most. By experience. */
#define FSL_BLOCKS_SHARE_MAX 0.5
/* Shapes of a type that occur once, of all its shapes: then shapes change. By experience. */
#define FSL_SHAPES_ONCE_MIN 0.5
/* Shapes: parameters of a model have some dozens. From so many on, one step alone tells that shapes
 * change. */
enum { FSL_SHAPES_OF_ONE_STEP_MIN = 64 };
/* Types with changing shapes, as share of all kernels' time: less is nobody's concern. By
 * experience. */
#define FSL_CHANGING_SHARE_MIN 0.05

/*
 * Captures: kernels beside those of peers (kernel_peers.h).
 */
/* Kernels slower than on the peers, as ratio beyond 1: ranks of one stage differ by 0.002 on a
 * healthy machine. */
#define FSL_KERNELS_MORE_MIN 0.02
/* A run of a kernel is a long one if it takes so many times the usual, and the others of at least
 * so many runs of the kernel in its step take at most so many times the usual. Devices that are
 * slow are slow in most runs. By experience. */
#define FSL_LONG_RUNS_RATIO_MIN 1.4
#define FSL_LONG_RUNS_REST_MAX  1.2
enum { FSL_LONG_RUNS_OF_MIN = 4 };
/* So many long runs make no rank slow. As FSL_JUDGE_FUNCTION_LONG_RUNS_MIN. */
enum { FSL_LONG_RUNS_MAX = 2 };
/* They do if they take this share of the capture. As FSL_JUDGE_FUNCTION_ONE_RUN_MIN. */
#define FSL_LONG_RUNS_SHARE_MAX 0.1

/*
 * Captures: hosts that do not keep their devices busy (host_losses.h).
 */
/* The host waits in synchronisations: below this share of a step it is ahead of its device, which
 * is normal. By experience. */
#define FSL_HOST_SYNCHRONISE_SHARE_MAX 0.10
/* Ranks that are told one by one: more of them are a matter of the job. By experience. */
enum { FSL_HOST_SINGLE_RANKS_MAX = 3 };
/* The process stood still: the device idle for so long (ns), with fewer calls of the host than this
 * per us, and less of the time inside of calls than this share. As the profiler's own advisor,
 * which suspects garbage collection. */
#define FSL_PAUSE_NS             INT64_C(200000000)
#define FSL_PAUSE_CALLS_A_US     0.0001
#define FSL_PAUSE_CALL_SHARE_MAX 0.01

/*
 * Captures: how transfers are made up (traffic.h). As the profiler's own advisor.
 */
/* ns: an operator over RDMA that transfers for so long has waited for a retransmission. */
#define FSL_RETRANSMISSION_NS INT64_C(4000000000)
/* Bytes: smaller packets do not use the bandwidth of RDMA, and of links inside the node. */
#define FSL_RDMA_BYTES_MIN INT64_C(1000000)
#define FSL_SDMA_BYTES_MIN INT64_C(16000000)
/* Bytes: packets of a multiple of this are aligned. */
#define FSL_ALIGNED_BYTES 512
/* Share of the volume that may be in packets that break a rule. */
#define FSL_BROKEN_SHARE_MAX 0.2
/* GB/s: links inside a node below 0.8 of their 18 GB/s contend with kernels for the memory... */
#define FSL_CONTENDED_GB_PER_S (0.8 * 18.0)
/* ...if this share of communication runs beside kernels. */
#define FSL_OVERLAPPED_SHARE_MIN 0.1

/*
 * Captures: counters of the devices (counters.h). By experience.
 */
/* Hits in the L2 cache that a rank lacks, of all accesses. */
#define FSL_CACHE_HITS_LACK_MIN 0.1
/* Share of packets: the network of training loses none. */
#define FSL_PACKETS_LOST_MIN 0.001
/* Share of the bandwidth used while anything moves: the port is full... */
#define FSL_PORT_FULL 0.9
/* ...and its peers use so much less. */
#define FSL_PORT_MORE_MIN 0.2
/* Latency of PCIe beyond that of the peers, as share. */
#define FSL_PCIE_MORE_MIN 0.5
/* Peers: beside fewer nobody knows who is usual. */
enum { FSL_COUNTER_PEERS_MIN = 2 };

/*
 * Captures: clocks of the cores (clocks.h).
 */
/* Time that a lower clock costs, as share. As the profiler's own advisor. */
#define FSL_CLOCK_LOSS_MIN 0.05
/* Clocks up to this share of the highest are those of idle cores: {800, 1800} MHz is normal. */
#define FSL_IDLE_CLOCK_MAX 0.5

/*
 * Captures: what counts for the verdict, as shares of a step (counts.h).
 */
/* Less is not mentioned at all: lateness, a slow link, slow kernels, kernels on the AI CPU. By
 * experience: nobody acts on half a percent. */
#define FSL_CAPTURE_MENTION_SHARE_MIN 0.005
/* Work of the host, a kernel that grew, or a fault in single steps is told from here on. By
 * experience: nobody changes a program for less. */
#define FSL_CAPTURE_COST_SHARE_MIN 0.01
/* Sends and receives of a pipeline, and transfers that break a rule of packets: less time in them
 * is not worth telling. By experience. */
#define FSL_CAPTURE_TRANSFER_SHARE_MIN 0.05
/* A rank or a link is named in the verdict, and uneven stages are told there, from here on; what
 * costs less is a finding only. As slow_ratio_min of the configuration. */
#define FSL_CAPTURE_NAMED_SHARE_MIN 0.03
/* The same of what half of the steps at most show. By experience. */
#define FSL_CAPTURE_PASSING_SHARE_MIN 0.05
/* A step shows what all steps tell if it alone costs this share of their mean. By experience. */
#define FSL_SHOWN_IN_STEP_MIN 0.5
/* The device has nothing to do: above this the host does not keep up (product document of the
 * profiler). */
#define FSL_CAPTURE_FREE_SHARE_MIN 0.10
/* Communication beside which no kernel runs, waits and all: above this it bounds the job. By
 * experience: pipelines spend a third of a step in sends and receives without a fault. */
#define FSL_CAPTURE_EXPOSED_SHARE_MIN 0.5
/* Computing of one rank alone. By experience. */
#define FSL_CAPTURE_COMPUTING_SHARE_MIN 0.5

/*
 * Captures: beside an earlier one (baseline.h).
 */
/* A step against the baseline: two runs of the same job differ by less. By experience. */
#define FSL_BASELINE_CHANGE_SHARE_MIN 0.02
/* Ranks: of fewer nobody can tell who is the odd one. */
enum { FSL_BASELINE_RANKS_MIN = 3 };
/* Kernels that grew by one factor, as share of their time: the devices became slower, not some
 * kernels. By experience. */
#define FSL_BASELINE_EVEN_SHARE_MIN 0.9
/* Calls of a kernel in two captures of one job differ by this share at most: a capture may begin
 * within a step. By experience. */
#define FSL_BASELINE_SAME_CALLS_SHARE_MAX 0.01

/* Two captures are of one model if this share of the time of kernels is in kernels of one name and
 * shape, or of one name that run as often. By experience: another batch changes the shapes, another
 * depth the calls, another model both. */
#define FSL_BASELINE_MODEL_SHARE_MIN 0.5
/* Calls per step of one name in two captures of one model differ by this share at most: layers that
 * are skipped now and then, kernels that the library chooses by shape. By experience. */
#define FSL_BASELINE_MODEL_CALLS_SHARE_MAX 0.1

/* A replay that brings back a smaller share of what a slow group can cost has lost its transfers.
 */
#define FSL_FLOOR_REPLAYED_SHARE_MIN 0.2
/*
 * Transfers of groups that move as much, in captures that tell no bandwidth (floors.c). Sizes are
 * equal, so healthy groups scatter by some percent; a port at half its speed doubles the time. Of
 * two groups nobody tells which one is usual.
 */
#define FSL_FLOOR_RATIO_MIN        1.5
#define FSL_FLOOR_RATIO_OF_TWO_MIN 2.0

#endif
