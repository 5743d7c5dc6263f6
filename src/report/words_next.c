/* Words on where to look next. */
#include "report/words.h"

#include <string.h>

#include "capture/source_words.h"
#include "report/capture_text.h"
#include "report/words_parts.h"

/* Hints for the next check, by cause: "check <what> of <rank>: <list>". */
static const struct hint {
	const char *what, *list;
} hints[] = {
	[FSL_CAUSE_COMPUTE] = {"the accelerator", "clock and power cap, temperature, ECC "
						  "errors, other processes on it"},
	[FSL_CAUSE_HOST] = {"the host side", "CPU load and affinity, other jobs on the host, "
					     "garbage collection, swapping"},
	[FSL_CAUSE_DATALOADER] = {"the data loading",
				  "number of workers, CPU load, the storage it reads from"},
	[FSL_CAUSE_STORAGE] = {"the storage", "mount and bandwidth, free space, other writers, "
					      "checkpoint size"},
	[FSL_CAUSE_NETWORK] = {"the network",
			       "link speed, error counters, cable, switch port, other traffic"},
};
_Static_assert(sizeof(hints) / sizeof(hints[0]) == FSL_CAUSES_N, "every cause has a hint");

/* Hosts, if they are to be looked at rather than a rank; else false. */
static bool add_suspect_hosts(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	const char *host = fsl_text_or_empty(localisation->culprits[0].server_ip);
	if (localisation->kind == FSL_VERDICT_SLOW_LINK) {
		return fsl_words_add_joined_hosts(phrase, report);
	}
	if (localisation->kind != FSL_VERDICT_SLOW_HOST || *host == '\0') {
		return false;
	}
	fsl_phrase_add(phrase, "host %s", host);
	return true;
}

static void add_hint_for_cause(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_localisation *localisation = report->localisation;
	if (localisation == NULL || localisation->n_culprits == 0) {
		fsl_phrase_add(phrase, "\"algorithm\": \"failslow\" in the configuration adds "
				       "the cause and what it costs");
		return;
	}
	const struct fsl_culprit *first = &localisation->culprits[0];
	fsl_phrase_add(phrase, "check %s of ", hints[first->cause].what);
	if (!add_suspect_hosts(phrase, report)) {
		fsl_words_add_rank(phrase, report, first->rank);
		if (first->peer >= 0) {
			fsl_phrase_add(phrase, " and ");
			fsl_words_add_rank(phrase, report, first->peer);
		}
	}
	fsl_phrase_add(phrase, ": %s", hints[first->cause].list);
	if (first->other_cause < FSL_CAUSES_N) {
		fsl_phrase_add(phrase, "; or %s: %s (timelines of all ranks would tell which)",
			       hints[first->other_cause].what, hints[first->other_cause].list);
	}
}

static void add_hint_for_hang(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const struct fsl_perception *perception = report->perception;
	if (perception != NULL && perception->n_stopped_first > 0) {
		fsl_phrase_add(phrase, "look at ");
		fsl_words_add_rank(phrase, report, perception->stopped_first[0]);
		fsl_phrase_add(phrase, " first: is its process alive, what does its stack show, "
				       "device and network errors in the kernel log");
	} else if (fsl_words_lack_ranks(report)) {
		fsl_phrase_add(phrase, "look at ");
		fsl_words_add_missing_ranks(phrase, report);
		fsl_phrase_add(phrase, " first, which the others may wait for: are the processes "
				       "alive, what do their stacks show; else at what all ranks "
				       "share: scheduler, shared storage, network");
	} else {
		fsl_phrase_add(phrase, "look at what all ranks share: scheduler, shared storage, "
				       "network; then at the stack of any rank");
	}
}

static void add_hint_for_evidence(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	if (report->profile != NULL) {
		fsl_phrase_add(phrase, "%s",
			       fsl_profile_source_words(report->profile)->capture_again);
	} else if (report->localisation != NULL && report->localisation->lacks_peers) {
		fsl_phrase_add(phrase, "compare with an earlier run of the same job, or capture "
				       "profiles and ask failslow profile");
	} else {
		fsl_phrase_add(phrase, "check that every rank writes its marker file below "
				       "root_path, or widen the time range (--from, --to)");
	}
}

static void add_hint_for_stalls(struct fsl_phrase *phrase, const struct fsl_perception *perception)
{
	static const char *const texts[] = {
		[FSL_STALL_UNKNOWN] = "look at what else the job or its hosts do in these steps: "
				      "logging, evaluation, other jobs, storage and network",
		[FSL_STALL_LOADING] = "check the data loading: number of workers, prefetching, the "
				      "storage it reads from",
		[FSL_STALL_CHECKPOINT] = "check the storage that checkpoints go to, or write them "
					 "beside the training",
		[FSL_STALL_COLLECTION] = "collect garbage at fixed steps, on all ranks at once",
		[FSL_STALL_EVALUATION] = "",
		[FSL_STALL_WARM_UP] = "",
		[FSL_STALL_GAP] = "look at what the job did between these steps: logs, scheduler, "
				  "storage",
		[FSL_STALL_RESTART] =
			"look in the logs for why the job ended before it was started "
			"again",
	};
	size_t i = 0;
	if (perception == NULL) {
		return;
	}
	while (i < perception->n_stalls && fsl_stall_is_planned(perception->stalls[i].phase)) {
		i++;
	}
	fsl_phrase_add(
		phrase, "%s",
		texts[i < perception->n_stalls ? perception->stalls[i].phase : FSL_STALL_UNKNOWN]);
}

/* A reason that ends with what to look at knows more than the list of all that ranks share. */
static const char *what_to_look_for(const struct fsl_report *report)
{
	static const char *const places[] = {
		": look for lost packets",
		": look for traffic of other jobs",
		": look at the network that they share",
	};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *known = strstr(fsl_words_reason(report), places[i]);
		if (known != NULL) {
			return known + 2;
		}
	}
	return "look for what changed for all ranks at that time: shared storage, network, power "
	       "caps, input data, code";
}

static void add_hint(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	switch (fsl_words_kind(report)) {
	case FSL_VERDICT_NORMAL:
		if (fsl_words_lack_ranks(report) && report->profile == NULL) {
			fsl_phrase_add(phrase, "find out why the missing ranks write no marker "
					       "file: this verdict says nothing about them");
		}
		break;
	case FSL_VERDICTS_N:
		break;
	case FSL_VERDICT_HANG:
		add_hint_for_hang(phrase, report);
		break;
	case FSL_VERDICT_JOB_SLOWDOWN:
		if (fsl_words_lack_ranks(report)) {
			fsl_phrase_add(phrase, "find out why the missing ranks write no marker "
					       "file, one of them may be slow; else ");
		}
		fsl_phrase_add(phrase, "%s", what_to_look_for(report));
		break;
	case FSL_VERDICT_INSUFFICIENT_EVIDENCE:
		add_hint_for_evidence(phrase, report);
		break;
	case FSL_VERDICT_STAGE_IMBALANCE:
		fsl_phrase_add(phrase, "move layers from this stage to the others; the devices are "
				       "not at fault");
		break;
	case FSL_VERDICT_WORK_IMBALANCE:
		fsl_phrase_add(phrase, "spread the work evenly (sequence lengths, experts, batch "
				       "sizes); the devices are not at fault");
		break;
	case FSL_VERDICT_HOST_BOUND:
		fsl_phrase_add(phrase, "launch fewer, larger kernels (fused operators, graph "
				       "mode), and look at what the host does meanwhile");
		break;
	case FSL_VERDICT_COMPUTE_BOUND:
		fsl_phrase_add(phrase, "tune the operators that take most of the time");
		break;
	case FSL_VERDICT_COMMUNICATION_BOUND:
		fsl_phrase_add(phrase, "let communication run beside kernels (overlap of gradient "
				       "reduction and parameter gathering), or move less");
		break;
	case FSL_VERDICT_SLOW_RANK:
	case FSL_VERDICT_SLOW_HOST:
	case FSL_VERDICT_SLOW_LINK:
		add_hint_for_cause(phrase, report);
		break;
	case FSL_VERDICT_STALLS:
		add_hint_for_stalls(phrase, report->perception);
		break;
	case FSL_VERDICT_HOST_PAUSES:
		fsl_phrase_add(phrase, "look for what runs on the hosts now and then: garbage "
				       "collection, other processes, logging; let it run on all "
				       "ranks in the same step");
		break;
	}
}

/* The process that has the CPU of the first culprit is moved first. NULL: none is known. */
static const char *process_advice(const struct fsl_localisation *verdict)
{
	bool is_told =
		verdict != NULL && verdict->n_culprits > 0 && verdict->culprits[0].process != NULL;
	return is_told ? verdict->culprits[0].process->advice : NULL;
}

void fsl_words_next(struct fsl_phrase *phrase, const struct fsl_report *report)
{
	const char *advice = process_advice(report->localisation);
	if (advice == NULL && report->findings != NULL) {
		advice = fsl_capture_advice(report);
	}
	if (advice != NULL) {
		fsl_phrase_add(phrase, "%s", advice);
	} else if (!fsl_localisation_has_failed(
			   report->localisation)) { /* else the causes on stderr name the remedy */
		add_hint(phrase, report);
	}
}
