/* Steps of a rank from either table, and means of their parts. */
#include "capture/step_rows.h"

#include <math.h>

#include "base/number.h"

static const char *const part_texts[] = {
	[FSL_PART_COMPUTING] = "computing",
	[FSL_PART_EXPOSED] = "exposed",
	[FSL_PART_FREE] = "free",
	[FSL_PART_OVERLAPPED] = "overlapped",
	[FSL_PART_COMMUNICATION] = "communication",
	[FSL_PART_PREPARING] = "preparing",
};
_Static_assert(sizeof(part_texts) / sizeof(part_texts[0]) == FSL_PARTS_N, "every part has a name");

const char *fsl_profile_part_text(enum fsl_profile_part part)
{
	return part_texts[part];
}

const struct fsl_profile_step *fsl_profile_rebuilt_rows(const struct fsl_profile_rank *rank,
							size_t *n_rows)
{
	*n_rows = rank->n_traced > 0 ? rank->n_traced : rank->n_rebuilt;
	return rank->n_traced > 0 ? rank->traced : rank->rebuilt;
}

const struct fsl_profile_step *fsl_profile_step_rows(const struct fsl_profile_rank *rank,
						     size_t *n_rows)
{
	*n_rows = rank->n_steps;
	return rank->n_steps > 0 ? rank->steps : fsl_profile_rebuilt_rows(rank, n_rows);
}

/* Sum of both, if the first is told. */
static int64_t changed(int64_t ns, int64_t more_ns)
{
	int64_t sum_ns = ns >= 0 ? fsl_sum_i64(ns, more_ns) : ns;
	return ns >= 0 && sum_ns < 0 ? 0 : sum_ns;
}

int64_t fsl_profile_part_ns(const struct fsl_profile_step *row, enum fsl_profile_part part)
{
	switch (part) {
	case FSL_PART_COMPUTING:
		return changed(row->computing_ns, -row->moved_ns);
	case FSL_PART_EXPOSED:
		return changed(row->exposed_ns, row->moved_ns);
	case FSL_PART_FREE:
		return row->free_ns;
	case FSL_PART_OVERLAPPED:
		return changed(row->overlapped_ns, row->found_ns - row->moved_ns);
	case FSL_PART_COMMUNICATION:
		return changed(row->communication_ns, row->found_ns);
	case FSL_PART_PREPARING:
		return row->preparing_ns;
	case FSL_PARTS_N:
		break;
	}
	return FSL_NS_ABSENT;
}

int64_t fsl_profile_step_ns(const struct fsl_profile_step *row)
{
	if (row->computing_ns < 0 || row->exposed_ns < 0 || row->free_ns < 0) {
		return FSL_NS_ABSENT;
	}
	return fsl_sum_i64(fsl_sum_i64(row->computing_ns, row->exposed_ns), row->free_ns);
}

/* Counts the rows of the first device, because a file may hold several devices. */
static size_t count_rows(const struct fsl_profile_step *rows, size_t n)
{
	size_t n_first = 0;
	for (size_t i = 0; i < n; i++) {
		bool is_other = rows[0].device_id >= 0 && rows[i].device_id >= 0 &&
				rows[i].device_id != rows[0].device_id;
		n_first += is_other ? 0 : 1;
	}
	return n_first;
}

size_t fsl_profile_n_steps(const struct fsl_profile_rank *rank)
{
	size_t n_numbered = 0, n_used = 0, n_rebuilt = 0;
	const struct fsl_profile_step *rebuilt = fsl_profile_rebuilt_rows(rank, &n_rebuilt);
	for (size_t i = 0; i < n_rebuilt; i++) {
		n_numbered += rebuilt[i].step != FSL_STEP_ABSENT ? 1 : 0;
	}
	for (size_t c = 0; c < rank->n_comms; c++) { /* sorted by step */
		bool is_new = c == 0 || rank->comms[c].step != rank->comms[c - 1].step;
		n_used += is_new && rank->comms[c].step != FSL_STEP_ABSENT ? 1 : 0;
	}
	size_t n_told = count_rows(rank->steps, rank->n_steps);
	size_t n = n_told > n_numbered ? n_told : n_numbered;
	n = n > n_used ? n : n_used;
	return n > 0 ? n : 1;
}

size_t fsl_profile_steps_captured(const struct fsl_profile_rank *rank)
{
	size_t n = fsl_profile_n_steps(rank);
	size_t n_asked = rank->info.n_active_steps > 0 ? (size_t)rank->info.n_active_steps : 0;
	if (rank->n_steps_captured > rank->n_steps) { /* some steps were not wanted */
		return rank->n_steps_captured > n ? rank->n_steps_captured : n;
	}
	/* A job may end before its schedule: it counts only if no rows were captured. */
	return rank->n_steps_captured == 0 && n_asked > n ? n_asked : n;
}

/* @part FSL_PARTS_N: the whole step. */
static double mean_ms(const struct fsl_profile_rank *rank, enum fsl_profile_part part)
{
	size_t n_rows = 0, n_told = 0;
	const struct fsl_profile_step *rows = fsl_profile_step_rows(rank, &n_rows);
	double sum_ms = 0.0;
	for (size_t i = 0; i < n_rows; i++) {
		int64_t ns = part == FSL_PARTS_N ? fsl_profile_step_ns(&rows[i])
						 : fsl_profile_part_ns(&rows[i], part);
		if (ns >= 0) {
			sum_ms += (double)ns / (double)FSL_NS_PER_MS;
			n_told++;
		}
	}
	return n_told > 0 ? sum_ms / (double)n_told : NAN;
}

double fsl_profile_part_ms(const struct fsl_profile_rank *rank, enum fsl_profile_part part)
{
	return mean_ms(rank, part);
}

double fsl_profile_step_ms(const struct fsl_profile_rank *rank)
{
	return mean_ms(rank, FSL_PARTS_N);
}

double fsl_profile_longest_step_ms(const struct fsl_profile *profile)
{
	double step_ms = NAN;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		step_ms = fmax(step_ms, fsl_profile_step_ms(&profile->ranks[r]));
	}
	return step_ms;
}

size_t fsl_profile_most_steps(const struct fsl_profile *profile)
{
	size_t most = 1;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		size_t n = fsl_profile_n_steps(&profile->ranks[r]);
		most = n > most ? n : most;
	}
	return most;
}

double fsl_profile_p2p_ms(const struct fsl_profile_rank *rank)
{
	double sum_ns = 0.0;
	for (size_t c = 0; c < rank->n_comms; c++) {
		bool is_counted = rank->comms[c].is_p2p && rank->comms[c].elapse_ns > 0;
		sum_ns += is_counted ? (double)rank->comms[c].elapse_ns : 0.0;
	}
	return rank->n_comms > 0 ? sum_ns / FSL_NS_PER_MS / (double)fsl_profile_n_steps(rank) : NAN;
}
