/*
 * Memory of the devices: which rank comes nearest to its end, what the framework's allocator holds
 * and uses of it, and the largest allocation, which is no fault; and ranks that hold all memory of
 * their device. No file of the profiler tells of an allocation that failed.
 */
#include <math.h>
#include <string.h>

#include "base/try.h"
#include "judge/finding.h"
#include "judge/limits.h"
#include "text/phrase.h"

static const double BYTES_PER_GIB = 1024.0 * 1024.0 * 1024.0;

/* The greatest amounts of a set. */
struct peak {
	const struct fsl_profile_rank *rank; /* NULL: not told */
	const struct fsl_profile_memory *memory;
};

static int64_t held_bytes(const struct fsl_profile_memory *memory)
{
	return memory->reserved_bytes;
}

static int64_t largest_bytes(const struct fsl_profile_memory *memory)
{
	return memory->largest_bytes;
}

/* The greatest amount of the allocators' components named @component; NULL: of all components. */
static struct peak find_peak(const struct fsl_profile *profile, const char *component,
			     int64_t (*of)(const struct fsl_profile_memory *memory))
{
	struct peak peak = {NULL, NULL};
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		for (size_t i = 0; i < rank->n_memory; i++) {
			const struct fsl_profile_memory *memory = &rank->memory[i];
			const char *name = fsl_strpool_text(rank->names, memory->component_id);
			bool is_it = !memory->is_module &&
				     (component == NULL || strcmp(name, component) == 0);
			if (is_it && of(memory) > 0 &&
			    (peak.memory == NULL || of(memory) > of(peak.memory))) {
				peak = (struct peak){rank, memory};
			}
		}
	}
	return peak;
}

static void add_gib(struct fsl_phrase *what, struct fsl_profile_finding *finding, const char *fact,
		    int64_t n_bytes)
{
	double gib = (double)n_bytes / BYTES_PER_GIB;
	fsl_phrase_add(what, "%.3g GiB", gib);
	(void)fsl_profile_finding_add_fact(finding, fact, gib, "GiB");
}

static double unused_share(const struct fsl_profile_memory *memory)
{
	return memory->allocated_bytes >= 0
		       ? 1.0 - (double)memory->allocated_bytes / (double)memory->reserved_bytes
		       : (double)NAN;
}

static enum fsl_status tell_peak(struct fsl_profile_findings *findings,
				 const struct fsl_profile_case *facts, struct fsl_error *err)
{
	const struct peak process = find_peak(facts->profile, "APP", held_bytes);
	const struct peak torch = find_peak(facts->profile, "PTA", held_bytes);
	const struct peak largest = find_peak(facts->profile, NULL, largest_bytes);
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_MEMORY_PEAK);
	finding.is_overview = true;
	struct fsl_phrase what = {0};
	if (process.rank != NULL) {
		fsl_phrase_add(&what, "the process of rank %d holds most memory of its device, ",
			       (int)process.rank->rank);
		add_gib(&what, &finding, "process", process.memory->reserved_bytes);
	}
	if (torch.rank != NULL) {
		fsl_phrase_add(&what, "%sthe framework's allocator holds at most ",
			       what.length > 0 ? "; " : "");
		add_gib(&what, &finding, "reserved", torch.memory->reserved_bytes);
		if (torch.memory->allocated_bytes >= 0) {
			fsl_phrase_add(&what, " and uses at most ");
			add_gib(&what, &finding, "allocated", torch.memory->allocated_bytes);
		}
		fsl_phrase_add(&what, ", on rank %d", (int)torch.rank->rank);
	}
	if (largest.rank != NULL) {
		fsl_phrase_add(&what, "%sthe largest allocation is ", what.length > 0 ? "; " : "");
		add_gib(&what, &finding, "largest", largest.memory->largest_bytes);
		fsl_phrase_add(
			&what, " by %.80s",
			fsl_strpool_text(largest.rank->names, largest.memory->largest_name_id));
	}
	if (what.length == 0) {
		return FSL_OK;
	}
	const char *conf = torch.rank != NULL ? fsl_profile_setting_of(&torch.rank->info,
								       "PYTORCH_NPU_ALLOC_CONF")
					      : NULL;
	bool is_set = conf != NULL && strstr(conf, "expandable_segments:True") != NULL;
	finding.what = what.text;
	finding.advice = torch.rank != NULL && !is_set &&
					 unused_share(torch.memory) > FSL_JUDGE_UNUSED_SHARE_MIN
				 ? "much is held and not used: "
				   "PYTORCH_NPU_ALLOC_CONF=expandable_segments:True"
				 : "compare with what the device has: near its end memory is freed "
				   "and allocated anew in steps";
	return fsl_profile_findings_add(findings, &finding, err);
}

static size_t count_full(const struct fsl_profile *profile, int64_t device_bytes)
{
	size_t n = 0;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		bool is_full = false;
		for (size_t i = 0; i < rank->n_memory; i++) {
			is_full |= !rank->memory[i].is_module &&
				   rank->memory[i].reserved_bytes >= device_bytes;
		}
		n += is_full;
	}
	return n;
}

/* The allocators of a rank hold parts of what its process holds: the greatest amount counts. */
static enum fsl_status tell_out_of_memory(struct fsl_profile_findings *findings,
					  const struct fsl_profile_case *facts,
					  struct fsl_error *err)
{
	const struct peak peak = find_peak(facts->profile, NULL, held_bytes);
	if (facts->device_bytes <= 0 || peak.rank == NULL ||
	    peak.memory->reserved_bytes < facts->device_bytes) {
		return FSL_OK;
	}
	struct fsl_profile_finding finding = fsl_profile_finding_of(FSL_CODE_HBM_OOM);
	size_t n_full = count_full(facts->profile, facts->device_bytes);
	struct fsl_phrase what = {0};
	double held_gib = (double)peak.memory->reserved_bytes / BYTES_PER_GIB;
	double device_gib = (double)facts->device_bytes / BYTES_PER_GIB;
	fsl_phrase_add(&what, "rank %d holds %.3g GiB at its peak, its device has %.3g GiB",
		       (int)peak.rank->rank, held_gib, device_gib);
	(void)fsl_profile_finding_add_fact(&finding, "held", held_gib, "GiB");
	(void)fsl_profile_finding_add_fact(&finding, "device", device_gib, "GiB");
	if (n_full > 1) {
		fsl_phrase_add(&what, "; %zu ranks reach this", n_full);
	}
	(void)fsl_profile_finding_add_fact(&finding, "ranks", (double)n_full, "ranks");
	finding.rank = peak.rank->rank;
	finding.what = what.text;
	finding.advice = fsl_oom_advice;
	return fsl_profile_findings_add(findings, &finding, err);
}

enum fsl_status fsl_profile_judge_memory(struct fsl_profile_findings *findings,
					 const struct fsl_profile_case *facts,
					 struct fsl_error *err)
{
	FSL_TRY(tell_peak(findings, facts, err));
	return tell_out_of_memory(findings, facts, err);
}
