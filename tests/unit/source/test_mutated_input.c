/* Damaged inputs of every format: the run keeps the promises of run.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fuzz/memory_reader.h"
#include "fuzz/random_text.h"
#include "source/ingest.h"

/* Under sanitizers fewer; each third cut, from another place in each seed. */
enum { ROUNDS = FSL_TEST_COST > 1 ? 100 : 200, CUT_STEP = FSL_TEST_COST > 1 ? 3 : 2 };

static bool is_name(const struct fsl_sink *sink, uint32_t id)
{
	return id == FSL_STR_NONE || id < fsl_strpool_size(sink->names);
}

static void check_ops(const struct fsl_sink *sink)
{
	const struct fsl_rank *events = &sink->events;
	for (size_t i = 0; i < events->n_ops; i++) {
		const struct fsl_op *op = &events->ops[i];
		int64_t begin_ns = fsl_op_begin_ns(op), end_ns = fsl_op_end_ns(op);
		assert_true(begin_ns >= 0 && begin_ns <= end_ns && end_ns <= FSL_TIME_MAX_NS);
		assert_true(op->op_id != FSL_STR_NONE && is_name(sink, op->op_id));
		assert_true(is_name(sink, op->group_id) && is_name(sink, op->dtype_id));
		assert_true(op->step >= -1);
		assert_true(i == 0 || fsl_op_begin_ns(&events->ops[i - 1]) <= begin_ns);
		assert_true(events->last_event_ns >= end_ns);
	}
}

static void check_stages_and_steps(const struct fsl_sink *sink)
{
	const struct fsl_rank *events = &sink->events;
	for (size_t i = 0; i < events->n_stages; i++) {
		const struct fsl_stage *stage = &events->stages[i];
		assert_true(stage->begin_ns >= 0 && stage->begin_ns <= stage->end_ns);
		assert_true(stage->end_ns <= FSL_TIME_MAX_NS && is_name(sink, stage->type_id));
		assert_true(stage->kind < FSL_STAGES_N);
	}
	for (size_t i = 0; i < events->n_steps; i++) {
		const struct fsl_step_time *step = &events->steps[i];
		assert_true(step->begin_ns >= 0 && step->dur_ns >= 0 && step->step >= -1);
		assert_true(i == 0 || step->step < 0 || events->steps[i - 1].step < step->step);
	}
}

static void check_file(const struct fsl_sink *sink)
{
	const struct fsl_file *file = sink->file;
	assert_true(sink->events.rank >= FSL_RANK_UNKNOWN && sink->events.rank < FSL_RANKS_MAX);
	assert_true(is_name(sink, sink->events.open_op_id));
	assert_true(is_name(sink, sink->events.open_group_id));
	assert_true(file->state == FSL_FILE_READ || file->message[0] != '\0');
	uint64_t n_broken = file->n_dropped[FSL_DROP_MALFORMED] + file->n_dropped[FSL_DROP_CUT];
	assert_true(n_broken <= file->n_records);
}

static void read_document(const struct fsl_format *format, const struct document *document)
{
	struct fsl_file file = {.path = "mutated", .format = format->name, .message = ""};
	struct fsl_sink sink;
	struct fsl_reader *reader = memory_reader(document->text, document->length);
	assert_non_null(reader);
	assert_int_equal(fsl_sink_init(&sink, &file, NULL), FSL_OK);
	assert_int_equal(format->read(reader, &sink, NULL), FSL_OK);
	fsl_rank_normalise(&sink.events);
	check_ops(&sink);
	check_stages_and_steps(&sink);
	check_file(&sink);
	fsl_sink_fini(&sink);
	fsl_reader_close(reader);
}

/* Seeds are those of the fuzz targets; their first byte chooses how the rest is fed there. */
static void mutate_seed(const struct fsl_format *format, const char *path, uint64_t *random)
{
	struct document seed = {.length = 0};
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	(void)fgetc(file);
	seed.length = fread(seed.text, 1, DOCUMENT_BYTES_MAX, file);
	assert_int_equal(fclose(file), 0);
	read_document(format, &seed);
	for (size_t cut = seed.length % CUT_STEP; cut < seed.length; cut += CUT_STEP) {
		struct document document = seed;
		document.length = cut;
		read_document(format, &document);
	}
	for (size_t round = 0; round < ROUNDS; round++) {
		struct document document = seed;
		document_mutate(&document, "0123456789,,\"\"{}[]:!.-\n\x01\x12\x80\xff", random);
		read_document(format, &document);
	}
}

static void spoilt_input_gives_sound_events_only(void **state)
{
	(void)state;
	uint64_t random = 20250615;
	for (size_t i = 0; i < fsl_formats_size(); i++) {
		const struct fsl_format *format = fsl_formats_at(i);
		char folder[512], **names = NULL;
		size_t n_names = 0;
		(void)snprintf(folder, sizeof(folder), FSL_SOURCE_DIR "/tests/fuzz/corpus/%s",
			       format->name);
		assert_int_equal(fsl_dir_list(folder, &names, &n_names, NULL), FSL_OK);
		assert_true(n_names > 0);
		for (size_t k = 0; k < n_names; k++) {
			char path[1024];
			(void)snprintf(path, sizeof(path), "%s/%s", folder, names[k]);
			mutate_seed(format, path, &random);
		}
		fsl_free(names);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spoilt_input_gives_sound_events_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
