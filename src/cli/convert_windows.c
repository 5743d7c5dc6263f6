/* A run that is too long to be held: read, joined and written window by window. */
#include <string.h>

#include "base/log.h"
#include "cli/convert_parts.h"
#include "source/stream.h"
#include "team/team.h"

enum {
	/* Bytes of files in a window. Operators take a third of the bytes of their rows. */
	WINDOW_BYTES = 1 << 22,
	/* Least bytes of the largest file in a window: to open a file again costs as much as to
	 * read this. */
	PIECE_BYTES_MIN = 1 << 17,
};

/* Rows stand at most this long behind newer ones, ns, if windows are shorter. */
static const int64_t SLACK_NS_MIN = INT64_C(4) * FSL_NS_PER_S;
static const int64_t SLACK_NS_MAX = INT64_C(120) * FSL_NS_PER_S;

/* Number of windows by the sizes of the files. */
static uint64_t count_windows(const struct fsl_inputs *inputs)
{
	uint64_t n_bytes = 0, n_most = 0;
	for (size_t i = 0; i < inputs->n_items; i++) {
		uint64_t of_file = fsl_input_bytes(&inputs->items[i]);
		n_bytes += of_file;
		n_most = of_file > n_most ? of_file : n_most;
	}
	uint64_t n = n_bytes / WINDOW_BYTES, n_worth = n_most / PIECE_BYTES_MIN;
	return n < n_worth ? n : n_worth;
}

bool fsl_conversion_is_long(const struct fsl_inputs *inputs,
			    const struct fsl_ingest_options *options)
{
	bool is_whole = options->from_ns == INT64_MIN && options->to_ns == INT64_MAX;
	for (size_t i = 0; i < inputs->n_items && is_whole; i++) {
		is_whole = strcmp(inputs->items[i].path, FSL_STDIN) != 0;
	}
	return is_whole && fsl_team_size() == 1 && count_windows(inputs) > 1;
}

/* Windows end at first_ns and then each length; there are none if length_ns is 0. */
struct cut {
	int64_t first_ns, length_ns, end_ns;
};

/* Cuts the time of the files into windows, and begins to read. */
static enum fsl_status begin_reading(struct fsl_conversion *c, struct cut *cut,
				     struct fsl_error *err)
{
	struct fsl_feed *feed = c->feed;
	struct fsl_span span;
	const struct fsl_chapter_rule rule = fsl_chapter_rule_of(24.0);
	*cut = (struct cut){0};
	FSL_TRY(fsl_feed_span(feed, &span, &rule, err));
	int64_t n = (int64_t)count_windows(&feed->inputs);
	int64_t length_ns = span.begin_ns != FSL_NS_ABSENT ? (span.end_ns - span.begin_ns) / n : 0;
	if (length_ns <= 0) {
		return FSL_OK;
	}
	int64_t slack_ns = length_ns < SLACK_NS_MAX ? length_ns : SLACK_NS_MAX;
	*cut = (struct cut){span.begin_ns + length_ns, length_ns, span.end_ns};
	const struct fsl_pieces pieces = {INT64_MAX, cut->first_ns, length_ns,
					  slack_ns > SLACK_NS_MIN ? slack_ns : SLACK_NS_MIN, true};
	fsl_log(FSL_LOG_INFO, "convert", "read in windows: windows=%lld, length_s=%.3f",
		(long long)n, (double)length_ns / FSL_NS_PER_S);
	return fsl_stream_open(&feed->stream, &feed->inputs, &feed->options, &pieces, (double)n,
			       NULL, err);
}

/* Ranks, clocks and names are there after the first window was read. */
static enum fsl_status begin_windows(struct fsl_conversion *c, struct fsl_error *err)
{
	FSL_TRY(fsl_conversion_mark_wanted(c, err));
	return fsl_run_windows_create(&c->windows, c->plan, &c->tracks, &c->run, err);
}

/* Adds what begins before @until_ns on the clocks of all ranks. INT64_MAX: all. */
static enum fsl_status add_window(struct fsl_conversion *c, int64_t until_ns, bool is_first,
				  struct fsl_error *err)
{
	int64_t shift_ns = 0;
	FSL_TRY(fsl_conversion_match(c, err));
	FSL_TRY(fsl_step_chain_add(&c->chain, &c->run, until_ns == INT64_MAX, err));
	if (is_first) {
		FSL_TRY(begin_windows(c, err));
	}
	for (size_t r = 0; r < c->run.n_ranks && until_ns < INT64_MAX; r++) {
		int64_t of_rank_ns = fsl_run_windows_shift_ns(c->windows, r);
		shift_ns = of_rank_ns > shift_ns ? of_rank_ns : shift_ns;
	}
	FSL_TRY(fsl_run_windows_add(c->windows, until_ns - shift_ns, err));
	if (is_first) {
		FSL_TRY(fsl_host_tracks_add(c->plan, &c->host, fsl_conversion_wants, c->wanted,
					    &c->n_host_left_out, err));
		FSL_TRY(fsl_conversion_add_kernel(c, err));
	}
	if (until_ns == INT64_MAX || fsl_track_plan_begin_ns(c->plan) == FSL_NS_ABSENT) {
		return FSL_OK;
	}
	FSL_TRY(fsl_conversion_open(c, err));
	FSL_TRY(fsl_track_file_write(&c->file, until_ns - shift_ns, err));
	fsl_run_windows_forget(c->windows);
	return FSL_OK;
}

/* The steps and the ranks that were shown. */
static void settle(struct fsl_conversion *c)
{
	size_t rank_idx = fsl_run_rank_idx(&c->run, c->chain.steps.source_rank);
	if (rank_idx != SIZE_MAX) {
		c->steps_shift_ns = fsl_run_windows_shift_ns(c->windows, rank_idx);
	}
	c->steps = c->chain.steps;
	c->chain.steps = (struct fsl_steps){0};
	for (size_t r = 0; r < c->run.n_ranks; r++) {
		if (fsl_run_windows_has_events(c->windows, r)) {
			c->shown[c->n_shown++] = c->run.ranks[r].rank;
		}
	}
}

enum fsl_status fsl_conversion_add_windows(struct fsl_conversion *c, struct fsl_error *err)
{
	struct cut cut;
	bool is_first = true;
	FSL_TRY(begin_reading(c, &cut, err));
	for (int64_t until_ns = cut.first_ns; cut.length_ns > 0 && until_ns < cut.end_ns;
	     until_ns += cut.length_ns) {
		FSL_TRY(fsl_feed_until(c->feed, &c->run, until_ns, err));
		FSL_TRY(add_window(c, until_ns, is_first, err));
		is_first = false;
	}
	FSL_TRY(fsl_feed_until(c->feed, &c->run, INT64_MAX, err));
	FSL_TRY(add_window(c, INT64_MAX, is_first, err));
	settle(c);
	return FSL_OK;
}

void fsl_conversion_drop_windows(struct fsl_conversion *c)
{
	fsl_run_windows_destroy(c->windows);
	fsl_step_chain_fini(&c->chain);
	fsl_feed_destroy(c->feed);
}
