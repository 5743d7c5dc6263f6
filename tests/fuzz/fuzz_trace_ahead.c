/* Any bytes as a Chrome trace: a second thread that scans ahead changes nothing of what is told. */
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "chrome/trace_walk.h"
#include "fuzz/fuzz.h"
#include "text/json_walk.h"

enum { BLOCK_BYTES = 1 << 10 };
static const struct fsl_trace_word names[] = {
	{1, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
	{2, FSL_TRACE_WHOLE, "thread_name", NULL},
};
static const struct fsl_trace_arg args[] = {
	{"correlation", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	{"grid", 0, NULL, FSL_TRACE_ARG_SIZES},
	{"name", 0, NULL, FSL_TRACE_ARG_TEXT},
};
enum { ARGS_N = sizeof(args) / sizeof(args[0]) };

struct told {
	uint64_t hash, n_taken, n_dropped, n_faults;
};

static void add(struct told *told, const void *bytes, size_t n_bytes)
{
	told->hash = fsl_hash_bytes(told->hash, bytes, n_bytes);
}

static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	struct told *told = context;
	const int64_t numbers[] = {event->phase,        event->name,
				   event->category,     event->number,
				   event->ts_ns,        event->dur_ns,
				   (int64_t)event->pid, (int64_t)event->tid,
				   (int64_t)event->id,  (int64_t)event->n_counters};
	(void)err;
	told->n_taken++;
	add(told, numbers, sizeof(numbers));
	add(told, event->whole_name.text, event->whole_name.length);
	add(told, event->whole_category.text, event->whole_category.length);
	for (size_t i = 0; i < ARGS_N; i++) {
		add(told, &event->args[i], sizeof(event->args[i]));
		add(told, event->texts[i].text, event->texts[i].length);
	}
	return FSL_OK;
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	struct told *told = context;
	const uint64_t place[] = {fsl_json_offset(json), fsl_json_line(json)};
	(void)reason;
	(void)err;
	told->n_dropped++;
	add(told, place, sizeof(place));
	return FSL_OK;
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	struct told *told = context;
	const char *text = fsl_error_root(own);
	(void)err;
	FSL_REQUIRE(status != FSL_OK);
	told->n_faults++;
	add(told, text, strlen(text));
	return FSL_OK;
}

static struct told walk(const uint8_t *data, size_t n_bytes, bool has_second_thread)
{
	struct fsl_trace_vocabulary vocabulary = {
		.wants_counters = true, .n_args = ARGS_N, .args = args};
	struct told told = {.hash = FSL_HASH_START};
	struct fsl_trace_walked walked;
	const struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
						    .context = &told,
						    .has_second_thread = has_second_thread,
						    .block_bytes = BLOCK_BYTES,
						    .fault_of = fsl_trace_event_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault};
	fsl_trace_words_init(&vocabulary.names, names, sizeof(names) / sizeof(names[0]));
	fsl_trace_words_init(&vocabulary.categories, names, 1);
	struct fsl_reader *reader = memory_reader(data, n_bytes);
	FSL_REQUIRE(reader != NULL);
	FSL_REQUIRE(fsl_trace_walk(&walked, reader, &listener, NULL) == FSL_OK);
	FSL_REQUIRE(walked.n_events == told.n_taken && walked.has_faults == (told.n_faults > 0));
	fsl_reader_close(reader);
	return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct told alone = walk(data, n_bytes, false), told = walk(data, n_bytes, true);
	FSL_REQUIRE(alone.n_taken == told.n_taken && alone.n_dropped == told.n_dropped);
	FSL_REQUIRE(alone.n_faults == told.n_faults && alone.hash == told.hash);
	return 0;
}
