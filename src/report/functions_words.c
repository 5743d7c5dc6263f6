/* Choices that the document and the terminal share: which rows, which workers, the headline. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/functions.h"
#include "text/phrase.h"

enum { KERNELS_TOLD_MAX = 10, RANGES_MAX = 8, RANKS_MAX = 4096 };

const char *const fsl_functions_section_texts[] = {
	"compute", "memory", "communication", "runtime", "python", "workers", NULL};

const char *const fsl_functions_verdict_texts[] = {
	[FSL_FUNCTIONS_NONE] = "none",
	[FSL_FUNCTIONS_CULPRITS] = "culprits_and_victims",
	[FSL_FUNCTIONS_INSUFFICIENT] = "insufficient_evidence",
};

enum fsl_sampled fsl_functions_link(const struct fsl_functions_view *view,
				    const struct fsl_function_row *row)
{
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		if (function != NULL && function->sampled < FSL_SAMPLED_N) {
			return function->sampled;
		}
	}
	return FSL_SAMPLED_N;
}

void fsl_functions_group(const struct fsl_functions_view *view, const struct fsl_function_row *row,
			 char *text, size_t size)
{
	static const struct {
		const char *in_name, *word;
	} words[] = {{"SendRecv", "sendrecv"}, {"_RING", "ring"},     {"_Ring", "ring"},
		     {"_TREE", "tree"},        {"_Tree", "tree"},     {"_COLLNET", "collnet"},
		     {"_NVLS", "nvls"},        {"Generic", "generic"}};
	const char *found = "unknown";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr(row->name, words[i].in_name) != NULL) {
			found = words[i].word;
			break;
		}
	}
	enum fsl_sampled link = fsl_functions_link(view, row);
	if (link < FSL_SAMPLED_N) { /* "nvlink send" around the word */
		const char *name = fsl_sampled_texts[link];
		int n_link = (int)strcspn(name, " ");
		(void)snprintf(text, size, "%.*s %s%s", n_link, name, found, name + n_link);
	} else {
		(void)snprintf(text, size, "%s", found);
	}
}

bool fsl_functions_tells_row(const struct fsl_functions_view *view,
			     const struct fsl_functions_choice *choice,
			     const struct fsl_function_row *row, size_t n_before)
{
	char group[64];
	bool is_compute = row->class == FSL_FUNCTION_COMPUTE;
	if (choice->section >= 0 && (enum fsl_function_class)choice->section != row->class) {
		return false;
	}
	fsl_functions_group(view, row, group, sizeof(group));
	if (choice->group != NULL &&
	    (row->class != FSL_FUNCTION_COLLECTIVE || strstr(group, choice->group) == NULL)) {
		return false;
	}
	if (choice->function != NULL) {
		return strstr(row->name, choice->function) != NULL ||
		       strstr(row->shape, choice->function) != NULL;
	}
	return row->n_abnormal > 0 || (is_compute && n_before < KERNELS_TOLD_MAX) ||
	       (!is_compute && row->mean_ratio > view->options.ratio_min);
}

bool fsl_functions_tells_worker(const struct fsl_functions_choice *choice, int32_t rank)
{
	for (size_t i = 0; i < choice->n_ranks; i++) {
		if (choice->ranks[i] == rank) {
			return true;
		}
	}
	return choice->n_ranks == 0;
}

double fsl_functions_peers_ratio(const struct fsl_function_row *row, size_t w)
{
	return row->cells[w].ratio - row->cells[w].excess;
}

/* Mean over peers of what @of tells of the function. */
static double mean_of_peers(const struct fsl_functions_view *view,
			    const struct fsl_function_row *row, size_t w,
			    double (*of)(const struct fsl_function *function))
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t p = 0; p < view->n_workers; p++) {
		const struct fsl_function *function = row->cells[p].function;
		if (p != w && function != NULL &&
		    view->workers[p].stage == view->workers[w].stage &&
		    !view->workers[p].is_culprit) {
			sum += of(function);
			n++;
		}
	}
	return n > 0 ? sum / (double)n : NAN;
}

static double call_ns(const struct fsl_function *function)
{
	return function->mean_ns;
}

static double calls(const struct fsl_function *function)
{
	return (double)function->count;
}

double fsl_functions_peers_ns(const struct fsl_functions_view *view,
			      const struct fsl_function_row *row, size_t w)
{
	return mean_of_peers(view, row, w, call_ns);
}

double fsl_functions_peers_calls(const struct fsl_functions_view *view,
				 const struct fsl_function_row *row, size_t w)
{
	return mean_of_peers(view, row, w, calls);
}

static void add_culprits(struct fsl_phrase *phrase, const struct fsl_functions_view *view)
{
	static const char *const subjects[FSL_FUNCTION_CLASSES_N + 1] = {
		[FSL_FUNCTION_COMPUTE] = "kernels take ",
		[FSL_FUNCTION_MEMORY] = "copies of memory take ",
		[FSL_FUNCTION_COLLECTIVE] = "collectives take ",
		[FSL_FUNCTION_RUNTIME] = "calls of the runtime take ",
		[FSL_FUNCTION_PYTHON] = "functions of Python take ",
		[FSL_FUNCTION_CLASSES_N] = "the device is idle for ",
	};
	int32_t ranks[RANKS_MAX];
	size_t n = 0;
	const struct fsl_function_worker *worst = NULL;
	for (size_t w = 0; w < view->n_workers && n < RANKS_MAX; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		if (worker->is_culprit) {
			ranks[n++] = worker->rank->rank;
			worst = worst == NULL || worker->excess > worst->excess ? worker : worst;
		}
	}
	if (worst == NULL) {
		return;
	}
	fsl_phrase_add_ranks(phrase, ranks, n, RANGES_MAX);
	fsl_phrase_add(phrase, n == 1 ? " is slow: " : " are slow: ");
	if (n > 1) {
		fsl_phrase_add(phrase, "on rank %d ", (int)worst->rank->rank);
	}
	fsl_phrase_add(phrase, "%s", subjects[worst->excess_class]);
	fsl_phrase_add_percent(phrase, worst->excess);
	fsl_phrase_add(phrase, " of the trace more than on its peers");
}

void fsl_functions_headline(const struct fsl_functions_view *view, char *text, size_t size)
{
	struct fsl_phrase phrase = {0};
	switch (view->verdict) {
	case FSL_FUNCTIONS_NONE:
		fsl_phrase_add(&phrase, "no worker stands out among %zu in any function",
			       view->n_workers);
		break;
	case FSL_FUNCTIONS_CULPRITS:
		add_culprits(&phrase, view);
		break;
	case FSL_FUNCTIONS_INSUFFICIENT:
		fsl_phrase_add(&phrase, "insufficient evidence: %s", view->reason);
		break;
	}
	(void)snprintf(text, size, "%s", phrase.text);
}

const char *fsl_functions_next(const struct fsl_functions_view *view)
{
	static const char *const texts[FSL_FUNCTION_CLASSES_N + 1] = {
		[FSL_FUNCTION_COMPUTE] =
			"compare its kernels of the same shapes and the frequency of its cores "
			"with its peers'; with equal shapes test the device, with others spread "
			"the work evenly",
		[FSL_FUNCTION_MEMORY] = "compare its copies with its peers': pinned memory, NUMA "
					"node, speed of its bus",
		[FSL_FUNCTION_COLLECTIVE] = "compare its network with its peers': link speed, "
					    "error counters, other traffic",
		[FSL_FUNCTION_RUNTIME] = "look at its host: CPU load and affinity, other "
					 "processes; a kernel trace tells them (failslow "
					 "hostbound)",
		[FSL_FUNCTION_PYTHON] = "look at what the function does on this rank only: data "
					"loading, storage, garbage collection, locks",
		[FSL_FUNCTION_CLASSES_N] =
			"look at its host: CPU load and affinity, other processes; a kernel trace "
			"tells them (failslow hostbound)",
	};
	const struct fsl_function_worker *worst = NULL;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function_worker *worker = &view->workers[w];
		if (worker->is_culprit && (worst == NULL || worker->excess > worst->excess)) {
			worst = worker;
		}
	}
	return worst != NULL ? texts[worst->excess_class] : NULL;
}
