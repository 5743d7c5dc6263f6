/* Any bytes as a trace of Perfetto: times and texts of events are within bounds. */
#include "base/log.h"
#include "chrome/pftrace_walk.h"
#include "fuzz/fuzz.h"
#include "text/json_walk.h"

static const struct fsl_trace_word names[] = {
	{1, FSL_TRACE_HEAD_NUMBER, "ProfilerStep#", NULL},
	{2, FSL_TRACE_WHOLE, "thread_name", NULL},
};
static const struct fsl_trace_arg args[] = {
	{"correlation", INT64_MAX, NULL, FSL_TRACE_ARG_NUMBER},
	{"grid", 0, NULL, FSL_TRACE_ARG_SIZES},
	{"name", 0, NULL, FSL_TRACE_ARG_TEXT},
	{"args", 0, NULL, FSL_TRACE_ARG_NESTED},
};
enum { ARGS_N = sizeof(args) / sizeof(args[0]) };

struct seen {
	uint64_t n_taken, n_dropped, n_faults, n_bytes;
};

static uint64_t sum(const struct fsl_trace_text *text)
{
	uint64_t n = 0;
	for (size_t i = 0; i < text->length; i++) {
		n += (unsigned char)text->text[i];
	}
	return n;
}

static enum fsl_status take(void *context, const struct fsl_trace_event *event,
			    struct fsl_error *err)
{
	struct seen *seen = context;
	(void)err;
	FSL_REQUIRE(event->ts_ns == FSL_NS_ABSENT ||
		    (event->ts_ns >= 0 && event->ts_ns < FSL_JSON_TIME_MAX_NS));
	FSL_REQUIRE(event->whole_name.length <= FSL_TRACE_NAME_MAX);
	FSL_REQUIRE(event->phase != '\0');
	seen->n_bytes += sum(&event->whole_name) + sum(&event->whole_category);
	for (size_t i = 0; i < ARGS_N; i++) {
		FSL_REQUIRE(event->texts[i].length <= FSL_TRACE_TEXT_MAX);
		FSL_REQUIRE(event->args[i] >= -1);
		seen->n_bytes += sum(&event->texts[i]);
	}
	seen->n_taken++;
	return FSL_OK;
}

static enum fsl_status drop(void *context, const struct fsl_json *json, const char *reason,
			    struct fsl_error *err)
{
	(void)err;
	FSL_REQUIRE(json == NULL && reason != NULL);
	((struct seen *)context)->n_dropped++;
	return FSL_OK;
}

static enum fsl_status fault(void *context, enum fsl_status status, const struct fsl_error *own,
			     struct fsl_error *err)
{
	(void)own;
	(void)err;
	FSL_REQUIRE(status != FSL_OK);
	((struct seen *)context)->n_faults++;
	return FSL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_trace_vocabulary vocabulary = {.n_args = ARGS_N, .args = args};
	struct seen seen = {0};
	struct fsl_trace_walked walked;
	const struct fsl_trace_listener listener = {.vocabulary = &vocabulary,
						    .context = &seen,
						    .fault_of = fsl_trace_event_fault,
						    .take = take,
						    .drop = drop,
						    .fault = fault};
	fsl_trace_words_init(&vocabulary.names, names, sizeof(names) / sizeof(names[0]));
	fsl_trace_words_init(&vocabulary.categories, names, 1);
	(void)fsl_pftrace_is((const char *)data, n_bytes);
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	if (reader == NULL) {
		return 0;
	}
	FSL_REQUIRE(fsl_pftrace_walk(&walked, reader, &listener, NULL) == FSL_OK);
	FSL_REQUIRE(walked.n_events == seen.n_taken && seen.n_faults <= 1);
	FSL_REQUIRE(walked.has_faults == (seen.n_faults > 0));
	fsl_reader_close(reader);
	return 0;
}
