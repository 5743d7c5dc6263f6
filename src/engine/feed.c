/* Reads the files of a long capture a few chapters at a time. */
#include "engine/feed.h"

#include <string.h>

#include "base/log.h"
#include "engine/chapters.h"
#include "source/stream.h"
#include "team/team.h"

/* Most bytes of a file for one operator, in any format. */
enum { OP_BYTES_MAX = 512 };

static uint64_t marker_bytes(const struct fsl_inputs *inputs)
{
	uint64_t n_bytes = 0;
	for (size_t i = 0; i < inputs->n_items; i++) {
		const struct fsl_input *input = &inputs->items[i];
		bool is_marker = input->told.kind == FSL_NAME_MARKERS && input->fault == NULL;
		n_bytes += is_marker ? fsl_input_bytes(input) : 0;
	}
	return n_bytes;
}

bool fsl_feed_is_worth_it(const struct fsl_inputs *inputs, const struct fsl_ingest_options *options,
			  const struct fsl_config *config)
{
	bool is_whole = options->from_ns == INT64_MIN && options->to_ns == INT64_MAX;
	uint64_t n_ops = marker_bytes(inputs) / OP_BYTES_MAX;
	return is_whole && fsl_team_size() == 1 && fsl_job_chapter_rule(config).length_ns > 0 &&
	       n_ops > 0 && n_ops >= (uint64_t)config->chapter_operators_min;
}

struct fsl_feed *fsl_feed_create(struct fsl_inputs *inputs,
				 const struct fsl_ingest_options *options)
{
	struct fsl_feed *feed = fsl_calloc(1, sizeof(*feed));
	if (feed != NULL) {
		*feed = (struct fsl_feed){.inputs = *inputs,
					  .options = *options,
					  .n_bytes = fsl_inputs_bytes(inputs)};
		*inputs = (struct fsl_inputs){0};
	}
	return feed;
}

void fsl_feed_destroy(struct fsl_feed *feed)
{
	if (feed != NULL) {
		fsl_stream_close(feed->stream);
		fsl_inputs_fini(&feed->inputs);
		fsl_arena_fini(&feed->arena);
		fsl_free(feed);
	}
}

/* Reads up to @until_ns once. */
static enum fsl_status read_once(struct fsl_run *run, const struct fsl_inputs *inputs,
				 const struct fsl_ingest_options *options,
				 const struct fsl_pieces *pieces, int64_t until_ns,
				 struct fsl_error *err)
{
	struct fsl_stream *stream = NULL;
	enum fsl_status status = fsl_stream_open(&stream, inputs, options, pieces, 1e9, NULL, err);
	if (status == FSL_OK) {
		status = fsl_stream_read(stream, run, until_ns, err);
	}
	fsl_stream_close(stream);
	return status;
}

/* A rank whose first operators are not complete begins with the last row that was seen. */
static enum fsl_status note_begin(struct fsl_rank *rank, struct fsl_error *err)
{
	if (rank->n_ops > 0 || rank->n_stages > 0 || rank->last_event_ns == FSL_NS_ABSENT) {
		return FSL_OK;
	}
	enum fsl_status status = FSL_GROW(rank->stages, rank->stages_capacity, 1, err);
	if (status == FSL_OK) {
		rank->stages[rank->n_stages++] = (struct fsl_stage){.begin_ns = rank->last_event_ns,
								    .end_ns = rank->last_event_ns};
	}
	return status;
}

enum fsl_status fsl_feed_span(const struct fsl_feed *feed, struct fsl_span *span,
			      const struct fsl_chapter_rule *longest, struct fsl_error *err)
{
	struct fsl_run begins, ends;
	struct fsl_ingest_options last = feed->options;
	const struct fsl_pieces first_rows = {INT64_MIN, INT64_MIN, 1, 0, false};
	last.from_ns = FSL_TIME_MAX_NS;
	last.is_range_for_stages = true;
	enum fsl_status status = fsl_run_init(&begins, err);
	enum fsl_status also = fsl_run_init(&ends, err);
	if (status == FSL_OK && also == FSL_OK) {
		status = read_once(&begins, &feed->inputs, &feed->options, &first_rows, INT64_MIN,
				   err);
	}
	if (status == FSL_OK && also == FSL_OK) {
		also = read_once(&ends, &feed->inputs, &last, NULL, INT64_MAX, err);
	}
	status = status == FSL_OK ? also : status;
	for (size_t r = 0; status == FSL_OK && r < begins.n_ranks; r++) {
		status = note_begin(&begins.ranks[r], err);
		const struct fsl_rank *end = fsl_run_rank(&ends, begins.ranks[r].rank);
		if (end != NULL && end->last_event_ns > begins.ranks[r].last_event_ns) {
			begins.ranks[r].last_event_ns = end->last_event_ns;
		}
	}
	if (status == FSL_OK) {
		status = fsl_run_span(span, &begins, longest, err);
	}
	fsl_run_fini(&begins);
	fsl_run_fini(&ends);
	return status;
}

enum fsl_status fsl_feed_look(const struct fsl_feed *feed, struct fsl_run *run, int64_t end_ns,
			      const struct fsl_chapter_rule *rule, int32_t only_rank,
			      struct fsl_error *err)
{
	const struct fsl_pieces pieces = {end_ns, end_ns, rule->length_ns, rule->slack_ns, false};
	struct fsl_inputs some = {.items = fsl_calloc(feed->inputs.n_items, sizeof(*some.items))};
	if (some.items == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu",
				feed->inputs.n_items);
	}
	for (size_t i = 0; i < feed->inputs.n_items; i++) {
		const struct fsl_input *input = &feed->inputs.items[i];
		bool is_other = input->told.rank_state == FSL_NAME_HAS_RANK &&
				input->told.rank != only_rank && only_rank != FSL_RANK_UNKNOWN;
		if (!is_other) {
			some.items[some.n_items++] = *input;
		}
	}
	enum fsl_status status = read_once(run, &some, &feed->options, &pieces, end_ns, err);
	fsl_free(some.items);
	return status;
}

enum fsl_status fsl_feed_begin(struct fsl_feed *feed, const struct fsl_chapter_rule *rule,
			       int64_t first_ns, size_t n, int64_t known_ns, struct fsl_error *err)
{
	const struct fsl_resume resume = {feed->pasts, known_ns, rule->lead_ns, rule->slack_ns};
	const struct fsl_pieces pieces = {INT64_MAX, first_ns, rule->length_ns, rule->slack_ns,
					  false};
	return fsl_stream_open(&feed->stream, &feed->inputs, &feed->options, &pieces, (double)n,
			       feed->pasts != NULL ? &resume : NULL, err);
}

enum fsl_status fsl_feed_until(struct fsl_feed *feed, struct fsl_run *run, int64_t end_ns,
			       struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	if (feed->stream == NULL) {
		status = fsl_stream_open(&feed->stream, &feed->inputs, &feed->options, NULL, 1.0,
					 NULL, err);
	}
	if (status == FSL_OK) {
		status = fsl_stream_read(feed->stream, run, end_ns, err);
	}
	if (status == FSL_OK && end_ns == INT64_MAX) {
		status = fsl_ingest_check(run, &feed->options, err);
	}
	return status;
}
