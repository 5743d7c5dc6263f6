/* Ranks of one host whose CPUs are taken away: the slowest holds all up and hides the others. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "blame/cause.h"
#include "blame/fuse_parts.h"

/* The queue of a rank: how long its operators wait on the device after their launch. */
struct queue {
	double before_ms, after_ms; /* NaN: not known */
};

/* The queue since the onset as a share of the queue before. A fault from the start has no past; the
 * result then is the queue itself, ms. NaN: not known, or there never was a queue. */
static double left_of(const struct queue *queue, bool has_past)
{
	double usual_ms = has_past ? queue->before_ms : 1.0;
	bool is_told = usual_ms >= (has_past ? FSL_CAUSE_QUEUE_MS_MIN : 1.0);
	return is_told ? queue->after_ms / usual_ms : NAN;
}

/* Ranks on the host and beside it. */
struct sides {
	double mates_most, others_least; /* left of the queue */
	double others_ms;                /* mean queue now */
	size_t n_mates, n_others, n_unknown;
};

static void compare(struct sides *out, const struct fsl_case *facts, const char *server_ip,
		    const struct queue *queues, bool has_past, uint32_t class_idx)
{
	*out = (struct sides){.mates_most = -INFINITY, .others_least = INFINITY};
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		bool is_mate = strcmp(facts->run->ranks[r].server_ip, server_ip) == 0;
		double left = left_of(&queues[r], has_past);
		if (!has_past && facts->blame->peers.class_of[r] != class_idx) {
			out->n_unknown += is_mate; /* queues of other stages have other lengths */
			continue;
		}
		if (isnan(left)) {
			out->n_unknown++;
		} else if (is_mate) {
			out->mates_most = fmax(out->mates_most, left);
			out->n_mates++;
		} else {
			out->others_least = fmin(out->others_least, left);
			out->others_ms += queues[r].after_ms;
			out->n_others++;
		}
	}
	out->others_ms /= (double)(out->n_others > 0 ? out->n_others : 1);
}

static enum fsl_status name_mate(struct fsl_localisation *out, const struct fsl_case *facts,
				 size_t r, const struct queue *queue, const struct sides *sides,
				 struct fsl_error *err)
{
	const struct fsl_charge *charge = &facts->blame->charges[r];
	struct fsl_culprit worst = out->culprits[0]; /* the list may move */
	struct fsl_culprit mate = fsl_culprit_of(facts->run->ranks[r].rank);
	mate.server_ip = facts->run->ranks[r].server_ip;
	mate.cause = worst.cause;
	mate.onset_step = worst.onset_step;
	mate.onset_ns = worst.onset_ns;
	mate.until_step = worst.until_step;
	mate.lost_ms_per_step = fmin(fmax(charge->lost_ms_per_step, 0.0), worst.lost_ms_per_step);
	mate.confidence = worst.confidence;
	mate.reason = fsl_arena_printf(
		&out->arena,
		"its queue of work shrinks together with that of rank %" PRId32 " on its host, to "
		"%.1f ms of %.1f ms on other hosts; rank %" PRId32 " hides what it costs",
		worst.rank, queue->after_ms, sides->others_ms, worst.rank);
	fsl_culprit_add_fact(&mate, "launch", queue->after_ms, "ms");
	fsl_culprit_add_fact(&mate, "launch_peers", sides->others_ms, "ms");
	return FSL_APPEND(out, culprits, &mate, err);
}

/* The host of all culprits, if the costliest wants for host time or data; NULL: none. */
static const char *host_of(const struct fsl_localisation *out)
{
	const struct fsl_culprit *worst = &out->culprits[0];
	if (worst->cause != FSL_CAUSE_HOST && worst->cause != FSL_CAUSE_DATALOADER) {
		return NULL;
	}
	for (size_t i = 0; i < out->n_culprits; i++) {
		if (out->culprits[i].cause == FSL_CAUSE_NETWORK ||
		    out->culprits[i].server_ip == NULL ||
		    strcmp(out->culprits[i].server_ip, worst->server_ip) != 0) {
			return NULL;
		}
	}
	return worst->server_ip;
}

/*
 * Whether the queues of all ranks of the host shrank. The first half of the steps before @onset is
 * the past, as a fault that comes slowly, or beneath other work, is seen late; 0: there is none.
 */
static bool has_shrunk(struct sides *sides, const struct fsl_case *facts, const char *server_ip,
		       struct queue *queues, size_t onset, uint32_t class_idx)
{
	size_t past = onset / 2;
	bool has_past = past >= FSL_MATES_PAST_STEPS_MIN;
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		queues[r].before_ms = fsl_cause_launch_ms(facts, r, 0, past);
		queues[r].after_ms = fsl_cause_launch_ms(facts, r, onset, facts->blame->n_steps);
	}
	compare(sides, facts, server_ip, queues, has_past, class_idx);
	double share_max = has_past ? FSL_MATES_LEFT_MAX : FSL_MATES_QUEUE_MAX;
	return sides->n_unknown == 0 && sides->n_mates > 1 && sides->n_others > 1 &&
	       sides->others_ms >= FSL_CAUSE_QUEUE_MS_MIN &&
	       sides->mates_most <= share_max * sides->others_least &&
	       (!has_past || sides->mates_most <= share_max);
}

static enum fsl_status name_mates(struct fsl_localisation *out, const struct fsl_case *facts,
				  const char *server_ip, struct queue *queues,
				  struct fsl_error *err)
{
	const struct fsl_perception *perception = facts->perception;
	size_t worst_idx = fsl_run_rank_idx(facts->run, out->culprits[0].rank);
	uint32_t class_idx = facts->blame->peers.class_of[worst_idx];
	size_t onset = facts->blame->charges[worst_idx].episode.begin;
	size_t risen =
		perception != NULL && perception->n_episodes > 0
			? fsl_steps_numbered(facts->steps, perception->episodes[0].onset_step)
			: SIZE_MAX;
	struct sides sides;
	bool *is_named = NULL;
	if (!has_shrunk(&sides, facts, server_ip, queues, onset, class_idx) &&
	    (risen == SIZE_MAX ||
	     !has_shrunk(&sides, facts, server_ip, queues, risen, class_idx))) {
		return FSL_OK;
	}
	FSL_TRY(fsl_fuse_named(&is_named, out, facts->run, err));
	for (size_t r = 0; r < facts->run->n_ranks; r++) {
		if (!is_named[r] && strcmp(facts->run->ranks[r].server_ip, server_ip) == 0) {
			FSL_TRY(name_mate(out, facts, r, &queues[r], &sides, err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_fuse_name_host(struct fsl_localisation *out, const struct fsl_case *facts,
				   struct fsl_error *err)
{
	const char *server_ip = host_of(out);
	if (server_ip == NULL) {
		return FSL_OK;
	}
	struct queue *queues = fsl_calloc(facts->run->n_ranks, sizeof(*queues));
	enum fsl_status status = queues != NULL
					 ? name_mates(out, facts, server_ip, queues, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu",
						    facts->run->n_ranks);
	fsl_free(queues);
	return status;
}
