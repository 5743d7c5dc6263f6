/* Prints the basis of the verdict in a few lines. */
#include "report/coverage_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text/phrase.h"

enum {
	RANGES_SHOWN_MAX = 8,
	REASONS_SHOWN_MAX = 4, /* why rows were dropped */
};

/* Smaller offsets of host clocks change no verdict. */
#define CLOCK_OFFSET_SHOWN_MS 1.0
/* Lost records leave some operators alone; more than this says that a pipeline is not understood.
 */
#define UNPAIRED_SHOWN_SHARE 0.1

void fsl_coverage_add_description(struct fsl_phrase *phrase, const char *described_by)
{
	const char *slash = described_by != NULL ? strrchr(described_by, '/') : NULL;
	if (described_by != NULL) {
		fsl_phrase_add(phrase, ", job described by %s",
			       slash != NULL ? slash + 1 : described_by);
	}
}

/* @described_by: a file of the folder, or NULL. */
static void print_basis(const struct fsl_screen *screen, const struct fsl_coverage *coverage,
			const char *described_by)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add(&phrase, "%zu of %zu ranks, ", coverage->n_ranks_seen,
		       coverage->n_ranks_expected);
	fsl_phrase_add_count(&phrase, coverage->n_steps, "step");
	if (*fsl_text_or_empty(coverage->steps_source) != '\0') {
		fsl_phrase_add(&phrase, " (%s)", coverage->steps_source);
	}
	if (coverage->begin_ns != FSL_NS_ABSENT && coverage->end_ns != FSL_NS_ABSENT) {
		fsl_phrase_add(&phrase, ", ");
		fsl_phrase_add_time(&phrase, coverage->begin_ns);
		fsl_phrase_add(&phrase, " to ");
		fsl_phrase_add_time(&phrase, coverage->end_ns);
	}
	if (coverage->n_groups > 0) {
		fsl_phrase_add(&phrase, ", %zu of %zu groups matched", coverage->n_groups_matched,
			       coverage->n_groups);
	}
	fsl_coverage_add_description(&phrase, described_by);
	fsl_screen_field(screen, "coverage", phrase.text);
}

/* Durations would be told a thousand times too short. */
static void print_unit(const struct fsl_screen *screen, const struct fsl_coverage *coverage)
{
	const struct fsl_time_unit *unit = fsl_coverage_doubted_unit(coverage);
	struct fsl_phrase phrase = {0};
	if (unit != NULL) {
		fsl_phrase_add(&phrase, "if the files have %s, they begin at ", unit->name);
		fsl_phrase_add_time(&phrase, coverage->begin_ns * unit->ns);
		fsl_phrase_add(&phrase,
			       " and all times here are %" PRId64
			       " times as long; failslow reads nanoseconds, write those",
			       unit->ns);
	}
	fsl_screen_field(screen, "time unit", phrase.text);
}

static void print_rows(const struct fsl_screen *screen, const struct fsl_coverage *coverage)
{
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_count(&phrase, coverage->n_records, "row");
	fsl_phrase_add(&phrase, " of ");
	fsl_phrase_add_count(&phrase, coverage->n_files, "file");
	uint64_t n_dropped = 0;
	for (size_t drop = 0; drop < FSL_DROPS_N; drop++) {
		n_dropped += coverage->n_dropped[drop];
	}
	if (n_dropped == 0) {
		fsl_phrase_add(&phrase, ", none dropped");
	} else {
		fsl_phrase_add(&phrase, ", %" PRIu64 " dropped:", n_dropped);
	}
	size_t n_reasons = 0;
	for (size_t drop = 0; drop < FSL_DROPS_N; drop++) {
		if (coverage->n_dropped[drop] == 0) {
			continue;
		}
		n_reasons++;
		if (n_reasons <= REASONS_SHOWN_MAX) {
			fsl_phrase_add(&phrase, "%s %" PRIu64 " %s", n_reasons == 1 ? "" : ",",
				       coverage->n_dropped[drop],
				       fsl_drop_text((enum fsl_drop)drop));
		}
	}
	if (n_reasons > REASONS_SHOWN_MAX) {
		fsl_phrase_add(&phrase, ", ...");
	}
	if (coverage->n_bytes_before > 0) {
		fsl_phrase_add(&phrase, "; %.0f MB before the time range not read",
			       (double)coverage->n_bytes_before / 1e6);
	}
	if (coverage->n_bytes_behind > 0) {
		fsl_phrase_add(&phrase, "; %.0f MB behind the time range not read",
			       (double)coverage->n_bytes_behind / 1e6);
	}
	(void)fsl_screen_extra(screen, "rows", phrase.text);
}

void fsl_problems_text(const struct fsl_screen *screen, const struct fsl_run *run)
{
	const struct fsl_file *first = NULL;
	size_t n = 0;
	for (size_t i = 0; run != NULL && i < run->n_files; i++) {
		if (run->files[i].state != FSL_FILE_READ) {
			first = first == NULL ? &run->files[i] : first;
			n++;
		}
	}
	if (first == NULL) {
		return;
	}
	struct fsl_phrase phrase = {0};
	fsl_phrase_add(&phrase, "%s", first->path);
	if (*fsl_text_or_empty(first->message) != '\0') {
		fsl_phrase_add(&phrase, ": %s", first->message);
	}
	if (n > 1) {
		fsl_phrase_add(&phrase, "; and ");
		fsl_phrase_add_count(&phrase, n - 1, "more file");
	}
	fsl_screen_field(screen, "problems", phrase.text);
}

/* Prints data that were seen and cannot be used. */
static void print_set_aside(const struct fsl_screen *screen, const struct fsl_coverage *coverage)
{
	struct fsl_phrase phrase = {0};
	if (coverage->n_groups_disagreeing > 0) {
		fsl_phrase_add_count(&phrase, coverage->n_groups_disagreeing, "group");
		fsl_phrase_add(&phrase, " with operators that do not end together on all ranks");
		if (isfinite(coverage->ends_disagree_ms)) {
			fsl_phrase_add(&phrase, " (usually ");
			fsl_phrase_add_ms(&phrase, coverage->ends_disagree_ms);
			fsl_phrase_add(&phrase, " apart at worst)");
		}
		fsl_phrase_add(&phrase, ": who waited in them is not known");
	}
	(void)fsl_screen_extra(screen, "set aside", phrase.text);
	phrase = (struct fsl_phrase){0};
	uint64_t n_alone = coverage->n_p2p - coverage->n_p2p_matched;
	if ((double)n_alone > UNPAIRED_SHOWN_SHARE * (double)coverage->n_p2p) {
		fsl_phrase_add(&phrase,
			       "%" PRIu64 " of %" PRIu64
			       " send and receive operators: no other rank's ends with them",
			       n_alone, coverage->n_p2p);
	}
	(void)fsl_screen_extra(screen, "unpaired", phrase.text);
}

/* Last event of all ranks, ns; FSL_NS_ABSENT: none. */
static int64_t last_event_ns(const struct fsl_run *run)
{
	int64_t last_ns = FSL_NS_ABSENT;
	for (size_t r = 0; run != NULL && r < run->n_ranks; r++) {
		int64_t event_ns = run->ranks[r].last_event_ns;
		last_ns = event_ns > last_ns ? event_ns : last_ns;
	}
	return last_ns;
}

/* A range that lies beside the data may have been meant in another time zone. */
static void print_missing(const struct fsl_screen *screen, const struct fsl_coverage *coverage,
			  const struct fsl_run *run)
{
	struct fsl_phrase phrase = {0};
	if (coverage->n_missing_ranks == 0) {
		return;
	}
	fsl_phrase_add_ranks(&phrase, coverage->missing_ranks, coverage->n_missing_ranks,
			     RANGES_SHOWN_MAX);
	fsl_phrase_add(&phrase, ": no usable marker file");
	if (coverage->n_dropped[FSL_DROP_OUT_OF_RANGE] > 0) {
		int64_t last_ns = last_event_ns(run);
		fsl_phrase_add(&phrase, ", or nothing in the time range");
		if (last_ns != FSL_NS_ABSENT) {
			fsl_phrase_add(&phrase, "; the data ends at ");
			fsl_phrase_add_time(&phrase, last_ns);
		}
	}
	fsl_screen_field(screen, "missing", phrase.text);
}

void fsl_coverage_text(const struct fsl_screen *screen, const struct fsl_coverage *coverage,
		       const struct fsl_run *run, const char *described_by)
{
	print_basis(screen, coverage, described_by);
	print_unit(screen, coverage);
	print_missing(screen, coverage, run);
}

void fsl_coverage_details_text(const struct fsl_screen *screen, const struct fsl_coverage *coverage)
{
	struct fsl_phrase clocks = {0};
	struct fsl_phrase skipped = {0};
	print_rows(screen, coverage);
	print_set_aside(screen, coverage);
	if (coverage->clock_offset_max_ms >= CLOCK_OFFSET_SHOWN_MS) {
		fsl_phrase_add(&clocks, "host clocks differ by up to ");
		fsl_phrase_add_ms(&clocks, coverage->clock_offset_max_ms);
		if (isfinite(coverage->clock_residual_ms)) {
			fsl_phrase_add(&clocks, ", corrected to within ");
			fsl_phrase_add_ms(&clocks, coverage->clock_residual_ms);
		}
	}
	(void)fsl_screen_extra(screen, "clocks", clocks.text);
	if (coverage->n_skipped > 0) {
		fsl_phrase_add(&skipped, "%s", coverage->skipped[0]);
		if (coverage->n_skipped > 1) {
			fsl_phrase_add(&skipped, "; and %zu more", coverage->n_skipped - 1);
		}
	}
	(void)fsl_screen_extra(screen, "skipped", skipped.text);
}
