/* A file read by another process is the file as it was read, and a broken message is refused. */
#include "fuzz/random_text.h"
#include "source/load_pack.h"
#include "tree.h"

enum { ROUNDS = 4000 };

static struct fsl_input input_of(const char *path)
{
	return (struct fsl_input){.path = path, .name = path, .kinds = 0xf, .is_explicit = true};
}

static void add_name(struct fsl_sink *sink, const char *name, uint32_t wanted)
{
	uint32_t id = 0;
	assert_int_equal(fsl_sink_intern(sink, name, strlen(name), &id, NULL), FSL_OK);
	assert_int_equal(id, wanted);
}

/* A load with something in every field that can travel. */
static void fill(struct fsl_load *load)
{
	assert_int_equal(fsl_sink_init(&load->sink, &load->file, NULL), FSL_OK);
	struct fsl_sink *sink = &load->sink;
	load->kind = FSL_INPUT_TIMELINE;
	load->file = (struct fsl_file){.path = load->input->path,
				       .format = "mspti_csv",
				       .rank = 12,
				       .n_bytes = UINT64_C(1) << 40,
				       .n_bytes_before = 99,
				       .n_bytes_behind = 98,
				       .n_records = 77,
				       .message = ""};
	add_name(sink, "HcclAllReduce", 0);
	add_name(sink, "group", 1);
	add_name(sink, "", 2);
	for (int i = 0; i < 5; i++) {
		int64_t at_ns = INT64_C(1763717132000000000) + i * 1000;
		const struct fsl_op op = {at_ns, i == 2 ? -1 : at_ns + 5,
					  at_ns, at_ns + 90,
					  9,     UINT64_MAX - (uint64_t)i,
					  0,     1,
					  2,     i - 1};
		assert_int_equal(fsl_sink_add_op(sink, &op, NULL), FSL_OK);
		const struct fsl_stage stage = {.begin_ns = at_ns,
						.end_ns = at_ns + 3,
						.step = i - 1,
						.type_id = 2,
						.kind = FSL_STAGE_GC,
						.frame = (uint32_t)i % 4, /* none, and each name */
						.stack = (uint32_t)(i + 1) % 4,
						.n_collected = UINT32_MAX - (uint32_t)i,
						.n_uncollectable = (uint32_t)i};
		assert_int_equal(fsl_sink_add_stage(sink, &stage, NULL), FSL_OK);
		const struct fsl_step_time step = {.step = i - 1,
						   .begin_ns = at_ns,
						   .dur_ns = 10 + i,
						   .data_ns = i,
						   .is_logged = i == 3};
		assert_int_equal(fsl_sink_add_step(sink, &step, NULL), FSL_OK);
	}
	const struct fsl_op remnant = {
		-1, -1, -1, INT64_C(1763717132000000000), 1, 0, FSL_STR_NONE, 1, FSL_STR_NONE, -1};
	assert_int_equal(fsl_sink_add_remnant(sink, &remnant, NULL), FSL_OK);
	sink->events.rank = 13;
	sink->events.is_restarted = true;
	sink->events.n_restarts = 3;
	sink->events.open_op_id = 0;
	sink->events.open_group_id = 1;
	sink->events.open_begin_ns = 5;
	fsl_sink_drop(sink, FSL_DROP_DUPLICATE);
	fsl_sink_bad_record(sink, FSL_DROP_MALFORMED, "wrong field count: line=%d", 7);
}

static struct fsl_pack pack_of(const struct fsl_load *load)
{
	struct fsl_pack pack = {0};
	assert_int_equal(fsl_load_pack(load, &pack, NULL), FSL_OK);
	return pack;
}

static void check_events(const struct fsl_rank *a, const struct fsl_rank *b)
{
	assert_true(a->n_ops == b->n_ops && a->n_remnants == b->n_remnants);
	assert_true(a->n_stages == b->n_stages && a->n_steps == b->n_steps);
	assert_true(a->n_ops == 0 || memcmp(a->ops, b->ops, a->n_ops * sizeof(*a->ops)) == 0);
	assert_true(a->n_remnants == 0 ||
		    memcmp(a->remnants, b->remnants, a->n_remnants * sizeof(*a->remnants)) == 0);
	assert_true(a->n_steps == 0 ||
		    memcmp(a->steps, b->steps, a->n_steps * sizeof(*a->steps)) == 0);
	assert_true(a->n_stages == 0 ||
		    memcmp(a->stages, b->stages, a->n_stages * sizeof(*a->stages)) == 0);
	assert_int_equal(a->rank, b->rank);
	assert_true(a->last_event_ns == b->last_event_ns && a->is_restarted == b->is_restarted);
	assert_true(a->open_op_id == b->open_op_id && a->open_group_id == b->open_group_id);
	assert_true(a->open_begin_ns == b->open_begin_ns);
}

static void check_same(const struct fsl_load *a, const struct fsl_load *b)
{
	assert_true(a->kind == b->kind && a->is_ignored == b->is_ignored);
	assert_string_equal(a->file.path, b->file.path);
	assert_string_equal(a->file.format, b->file.format);
	assert_string_equal(a->file.message, b->file.message);
	assert_int_equal(a->file.rank, b->file.rank);
	assert_int_equal(a->file.state, b->file.state);
	assert_true(a->file.n_bytes == b->file.n_bytes && a->file.n_records == b->file.n_records);
	assert_true(a->file.n_bytes_before == b->file.n_bytes_before);
	assert_true(a->file.n_bytes_behind == b->file.n_bytes_behind);
	assert_memory_equal(a->file.n_dropped, b->file.n_dropped, sizeof(a->file.n_dropped));
	assert_int_equal(fsl_strpool_size(a->sink.names), fsl_strpool_size(b->sink.names));
	for (uint32_t i = 0; i < fsl_strpool_size(a->sink.names); i++) {
		assert_string_equal(fsl_strpool_text(a->sink.names, i),
				    fsl_strpool_text(b->sink.names, i));
	}
	check_events(&a->sink.events, &b->sink.events);
}

/* To bytes and back. */
static void travel(const struct fsl_load *load)
{
	struct fsl_pack pack = pack_of(load);
	struct fsl_load again = {.input = load->input};
	struct fsl_error err = {0};
	assert_int_equal(fsl_load_unpack(&again, pack.bytes, pack.n_bytes, &err), FSL_OK);
	check_same(load, &again);
	fsl_sink_fini(&again.sink);
	fsl_pack_fini(&pack);
}

static void every_field_of_a_load_travels(void **state)
{
	(void)state;
	const struct fsl_input input = input_of("a");
	struct fsl_load load = {.input = &input};
	fill(&load);
	travel(&load);
	fsl_sink_fini(&load.sink);
}

static void files_of_every_format_travel(void **state)
{
	struct tree *tree = *state;
	const char *const names[] = {"hccl_activity-a-.0.csv",
				     "hccl_activity-a-.1.csv",
				     "h--00000.timeline",
				     "training-step-time-a-0.csv",
				     "a.log",
				     "broken.csv",
				     "hccl_activity-missing-.9.csv"};
	tree_write(tree, names[0],
		   MARKER_HEADER "1,7,0,\"comm:A!g!f!4\",0,100,0,0,0,0\n1,7,1,,1,200,0,0,0,0\n"
				 "2,7,0,,0,150,0,0,0,0\n2,7,1,,1,250,0,0,0,0\n");
	tree_write(tree, names[1], "kernel,t1,t2,t3,t4\nA,1,2,3,4\nB,5,6,7,8\n");
	tree_write_bytes(tree, names[2], "\x0a\x08\x12\x02GC\x18\x01\x20\x02", 10);
	tree_write(tree, names[3], "step_id,step_start_time,step_end_time\n1,2,3\n2,3,9\n");
	tree_write(tree, names[4], "2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	tree_write(tree, names[5], "nothing that anybody knows\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[512];
		tree_path(tree, names[i], path, sizeof(path));
		struct fsl_input input = input_of(path);
		input.name = names[i];
		input.told = fsl_file_name_parse(names[i]);
		struct fsl_load load = {.input = &input};
		assert_int_equal(fsl_load_read(&load, INT64_MIN, INT64_MAX, NULL), FSL_OK);
		assert_true(i > 4 || load.file.state == FSL_FILE_READ ||
			    load.file.state == FSL_FILE_PARTIAL);
		assert_true(i <= 4 || load.file.state == FSL_FILE_UNUSABLE);
		travel(&load);
		fsl_sink_fini(&load.sink);
	}
}

/* What was taken from a message keeps the promises of the sink. */
static void check_promises(const struct fsl_load *load)
{
	const struct fsl_rank *events = &load->sink.events;
	size_t n_names = fsl_strpool_size(load->sink.names);
	assert_true(load->kind <= FSL_INPUT_LOG && load->file.state <= FSL_FILE_DUPLICATE);
	assert_true(events->rank >= FSL_RANK_UNKNOWN && events->rank < FSL_RANKS_MAX);
	for (size_t i = 0; i < events->n_ops; i++) {
		const struct fsl_op *op = &events->ops[i];
		assert_true(fsl_op_begin_ns(op) >= 0 && fsl_op_end_ns(op) <= FSL_TIME_MAX_NS);
		assert_true(op->op_id < n_names || op->op_id == FSL_STR_NONE);
	}
	for (size_t i = 0; i < events->n_stages; i++) {
		assert_true((uint32_t)events->stages[i].kind < FSL_STAGES_N);
		assert_true(events->stages[i].type_id < n_names ||
			    events->stages[i].type_id == FSL_STR_NONE);
		assert_true(events->stages[i].frame <= n_names);
		assert_true(events->stages[i].stack <= n_names);
	}
}

static void unpack_spoilt(const struct fsl_input *input, const void *bytes, size_t n)
{
	struct fsl_load load = {.input = input};
	struct fsl_error err = {0};
	enum fsl_status status = fsl_load_unpack(&load, bytes, n, &err);
	if (status == FSL_OK) {
		check_promises(&load);
	} else {
		assert_int_equal(status, FSL_ERR_FORMAT);
		assert_non_null(strstr(fsl_error_root(&err), "path=\"a\""));
		assert_true(load.sink.events.n_ops == 0 && load.sink.names == NULL);
	}
	fsl_sink_fini(&load.sink);
}

static void a_cut_message_is_refused(void **state)
{
	(void)state;
	const struct fsl_input input = input_of("a");
	struct fsl_load load = {.input = &input};
	fill(&load);
	struct fsl_pack pack = pack_of(&load);
	for (size_t n = 0; n < pack.n_bytes; n++) {
		struct fsl_load again = {.input = &input};
		/* A copy of exactly these bytes: tools see a step beyond them. */
		unsigned char *copy = fsl_calloc(n + 1, 1);
		assert_non_null(copy);
		memcpy(copy + 1, pack.bytes, n);
		assert_int_equal(fsl_load_unpack(&again, copy + 1, n, NULL), FSL_ERR_FORMAT);
		fsl_sink_fini(&again.sink);
		fsl_free(copy);
	}
	fsl_pack_u8(&pack, 0);
	struct fsl_load longer = {.input = &input};
	assert_int_equal(fsl_load_unpack(&longer, pack.bytes, pack.n_bytes, NULL), FSL_ERR_FORMAT);
	fsl_sink_fini(&longer.sink);
	fsl_pack_fini(&pack);
	fsl_sink_fini(&load.sink);
}

static void a_spoilt_message_is_refused_or_keeps_the_promises(void **state)
{
	(void)state;
	uint64_t random = 20251121;
	const struct fsl_input input = input_of("a");
	struct fsl_load load = {.input = &input};
	fill(&load);
	struct fsl_pack pack = pack_of(&load);
	unsigned char *copy = fsl_calloc(pack.n_bytes, 1);
	assert_non_null(copy);
	for (size_t i = 0; i < pack.n_bytes; i++) {
		for (unsigned value = 0; value < 256; value += 15) { /* 0, 15 .. 255 */
			memcpy(copy, pack.bytes, pack.n_bytes);
			copy[i] = (unsigned char)value;
			unpack_spoilt(&input, copy, pack.n_bytes);
		}
	}
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(copy, pack.bytes, pack.n_bytes);
		for (size_t n = 1 + random_below(&random, 8); n > 0; n--) {
			copy[random_below(&random, pack.n_bytes)] =
				(unsigned char)random_next(&random);
		}
		unpack_spoilt(&input, copy, pack.n_bytes);
	}
	fsl_free(copy);
	fsl_pack_fini(&pack);
	fsl_sink_fini(&load.sink);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	const struct fsl_input input = input_of("a");
	struct fsl_load load = {.input = &input};
	fill(&load);
	struct fsl_pack pack = pack_of(&load);
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK; nth++) {
		struct fsl_pack short_pack = {0};
		struct fsl_load again = {.input = &input};
		fsl_mem_fail_at(nth);
		enum fsl_status packed = fsl_load_pack(&load, &short_pack, NULL);
		fsl_mem_fail_at(nth);
		status = fsl_load_unpack(&again, pack.bytes, pack.n_bytes, NULL);
		fsl_mem_fail_at(0);
		assert_true(packed == FSL_OK || packed == FSL_ERR_MEMORY);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		fsl_sink_fini(&again.sink);
		fsl_pack_fini(&short_pack);
	}
	assert_true(nth > 5);
	fsl_pack_fini(&pack);
	fsl_sink_fini(&load.sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_load_travels),
		cmocka_unit_test_setup_teardown(files_of_every_format_travel, tree_setup,
						tree_teardown),
		cmocka_unit_test(a_cut_message_is_refused),
		cmocka_unit_test(a_spoilt_message_is_refused_or_keeps_the_promises),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
