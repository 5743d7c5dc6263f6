/* An unpacked verdict equals the packed one, and broken bytes are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fuzz/random_text.h"
#include "model/verdict_pack.h"
#include "unit/report/samples.h"

enum { ROUNDS = 4000 };

/* A NaN with a number in it. */
static double odd_nan(void)
{
	const uint64_t bits = UINT64_C(0xfff8000000001234);
	double value = 0.0;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool is_same_double(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_text(const char *a, const char *b)
{
	assert_true((a == NULL) == (b == NULL));
	if (a != NULL) {
		assert_string_equal(a, b);
		assert_ptr_not_equal(a, b);
	}
}

static void check_ranks(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
	assert_int_equal(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		assert_int_equal(a[i], b[i]);
	}
}

static void check_details(const struct fsl_detail *a, size_t n_a, const struct fsl_detail *b,
			  size_t n_b)
{
	assert_int_equal(n_a, n_b);
	for (size_t i = 0; i < n_a; i++, a++, b++) {
		assert_true(a->rank == b->rank && a->method == b->method);
		assert_true(a->is_abnormal == b->is_abnormal && a->n_kpi == b->n_kpi);
		check_text(a->server_ip, b->server_ip);
		check_text(a->kpi_id, b->kpi_id);
		check_ranks(a->rela_ranks, a->n_rela_ranks, b->rela_ranks, b->n_rela_ranks);
		check_ranks(a->omitted_ranks, a->n_omitted_ranks, b->omitted_ranks,
			    b->n_omitted_ranks);
		for (size_t k = 0; k < a->n_kpi; k++) {
			assert_true(is_same_double(a->kpi[k].timestamp_ms, b->kpi[k].timestamp_ms));
			assert_true(is_same_double(a->kpi[k].value, b->kpi[k].value));
			assert_int_equal(a->kpi[k].abnormal, b->kpi[k].abnormal);
		}
	}
}

static void check_culprit(const struct fsl_culprit *a, const struct fsl_culprit *b)
{
	assert_true(a->rank == b->rank && a->peer == b->peer && a->stage == b->stage);
	assert_true(a->cause == b->cause && a->other_cause == b->other_cause);
	assert_int_equal(a->n_evidence, b->n_evidence);
	check_text(a->server_ip, b->server_ip);
	assert_true(is_same_double(a->lost_ms_per_step, b->lost_ms_per_step));
	assert_true(is_same_double(a->share_of_loss, b->share_of_loss));
	assert_true(is_same_double(a->confidence, b->confidence));
	assert_true(a->onset_step == b->onset_step && a->onset_ns == b->onset_ns);
	assert_true(a->until_step == b->until_step && a->shape == b->shape);
	assert_int_equal(a->every_steps, b->every_steps);
	check_text(a->reason, b->reason);
	for (size_t i = 0; i < a->n_evidence; i++) {
		check_text(a->evidence[i].name, b->evidence[i].name);
		assert_true(is_same_double(a->evidence[i].value, b->evidence[i].value));
		check_text(a->evidence[i].unit, b->evidence[i].unit);
	}
}

static void check_suspects(const struct fsl_suspect *a, size_t n_a, const struct fsl_suspect *b,
			   size_t n_b)
{
	assert_int_equal(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		assert_int_equal(a[i].rank, b[i].rank);
		assert_true(is_same_double(a[i].late_ms_per_step, b[i].late_ms_per_step));
		check_text(a[i].detector, b[i].detector);
		check_text(a[i].reason, b[i].reason);
	}
}

static void check_replay(const struct fsl_replay_summary *a, const struct fsl_replay_summary *b)
{
	assert_true(a->is_on == b->is_on && a->is_trusted == b->is_trusted);
	check_text(a->doubt, b->doubt);
	assert_true(a->n_steps == b->n_steps && a->n_whatifs == b->n_whatifs);
	assert_true(is_same_double(a->error_median, b->error_median));
	assert_true(is_same_double(a->error_p95, b->error_p95));
	assert_true(is_same_double(a->error_mean, b->error_mean));
	assert_true(is_same_double(a->slowdown_all, b->slowdown_all));
	assert_true(is_same_double(a->worst_ranks_share, b->worst_ranks_share));
	assert_true(is_same_double(a->last_stage_share, b->last_stage_share));
	assert_true(is_same_double(a->culprits_share, b->culprits_share));
	for (size_t i = 0; i < a->n_whatifs; i++) {
		assert_int_equal(a->whatifs[i].kind, b->whatifs[i].kind);
		check_text(a->whatifs[i].name, b->whatifs[i].name);
		assert_true(is_same_double(a->whatifs[i].gain_ms, b->whatifs[i].gain_ms));
		assert_true(is_same_double(a->whatifs[i].cost_ms, b->whatifs[i].cost_ms));
	}
}

static void check_coverage(const struct fsl_coverage *a, const struct fsl_coverage *b)
{
	assert_int_equal(a->n_ranks_expected, b->n_ranks_expected);
	assert_int_equal(a->n_ranks_seen, b->n_ranks_seen);
	check_ranks(a->missing_ranks, a->n_missing_ranks, b->missing_ranks, b->n_missing_ranks);
	assert_int_equal(a->n_files, b->n_files);
	assert_int_equal(a->n_files_unusable, b->n_files_unusable);
	assert_int_equal(a->n_files_partial, b->n_files_partial);
	assert_true(a->n_bytes == b->n_bytes && a->n_records == b->n_records);
	assert_true(a->n_bytes_before == b->n_bytes_before);
	assert_true(a->n_bytes_behind == b->n_bytes_behind);
	assert_memory_equal(a->n_dropped, b->n_dropped, sizeof(a->n_dropped));
	assert_true(a->begin_ns == b->begin_ns && a->end_ns == b->end_ns);
	assert_int_equal(a->n_steps, b->n_steps);
	check_text(a->steps_source, b->steps_source);
	assert_int_equal(a->n_groups, b->n_groups);
	assert_int_equal(a->n_groups_matched, b->n_groups_matched);
	assert_int_equal(a->n_groups_disagreeing, b->n_groups_disagreeing);
	assert_true(is_same_double(a->ends_disagree_ms, b->ends_disagree_ms));
	assert_int_equal(a->n_instances, b->n_instances);
	assert_int_equal(a->n_instances_matched, b->n_instances_matched);
	assert_true(a->n_p2p == b->n_p2p && a->n_p2p_matched == b->n_p2p_matched);
	assert_true(is_same_double(a->clock_offset_max_ms, b->clock_offset_max_ms));
	assert_true(is_same_double(a->clock_residual_ms, b->clock_residual_ms));
	assert_int_equal(a->n_skipped, b->n_skipped);
	for (size_t i = 0; i < a->n_skipped; i++) {
		check_text(a->skipped[i], b->skipped[i]);
	}
}

static void check_same(const struct fsl_localisation *a, const struct fsl_localisation *b)
{
	assert_int_equal(a->result_code, b->result_code);
	assert_true(a->compute == b->compute && a->network == b->network);
	assert_true(a->storage == b->storage && a->kind == b->kind);
	check_details(a->abnormal, a->n_abnormal, b->abnormal, b->n_abnormal);
	check_details(a->normal, a->n_normal, b->normal, b->n_normal);
	check_text(a->error_message, b->error_message);
	assert_true(is_same_double(a->confidence, b->confidence) && a->fault_ns == b->fault_ns);
	assert_true(is_same_double(a->slowdown, b->slowdown));
	assert_true(is_same_double(a->step_ms, b->step_ms));
	assert_true(is_same_double(a->lost_ms_per_step, b->lost_ms_per_step));
	assert_true(a->is_loss_replayed == b->is_loss_replayed);
	assert_true(a->lacks_peers == b->lacks_peers);
	check_replay(&a->replay, &b->replay);
	check_text(a->reason, b->reason);
	assert_int_equal(a->n_culprits, b->n_culprits);
	for (size_t i = 0; i < a->n_culprits; i++) {
		check_culprit(&a->culprits[i], &b->culprits[i]);
	}
	check_suspects(a->victims, a->n_victims, b->victims, b->n_victims);
	check_suspects(a->unconfirmed, a->n_unconfirmed, b->unconfirmed, b->n_unconfirmed);
	check_coverage(&a->coverage, &b->coverage);
	check_text(a->algorithm, b->algorithm);
	assert_true(a->is_suppressed == b->is_suppressed);
	assert_true(a->suppressed_since_ns == b->suppressed_since_ns);
}

/* Numbers of their own everywhere, the extremes among them. */
static void fill_coverage(struct fsl_localisation *verdict)
{
	static int32_t missing[] = {0, 7, 8, FSL_RANKS_MAX - 1};
	struct fsl_coverage *coverage = &verdict->coverage;
	*coverage = (struct fsl_coverage){.n_ranks_expected = 12,
					  .n_ranks_seen = 8,
					  .missing_ranks = missing,
					  .n_missing_ranks = 4,
					  .n_files = 31,
					  .n_files_unusable = 2,
					  .n_files_partial = 3,
					  .n_bytes = UINT64_C(1) << 50,
					  .n_records = 977,
					  .n_bytes_before = 5000000,
					  .n_bytes_behind = 6000000,
					  .begin_ns = SAMPLE_START_NS,
					  .end_ns = SAMPLE_NOW_NS,
					  .n_steps = 81,
					  .steps_source = "training log",
					  .n_groups = 40,
					  .n_groups_matched = 39,
					  .n_groups_disagreeing = 38,
					  .ends_disagree_ms = 1.25,
					  .n_instances = 502,
					  .n_instances_matched = 501,
					  .n_p2p = 22,
					  .n_p2p_matched = 11,
					  .clock_offset_max_ms = 17.5,
					  .clock_residual_ms = 0.0625};
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		coverage->n_dropped[i] = UINT64_C(1) << (6 * i);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fsl_coverage_add_skipped(coverage, &verdict->arena, NULL,
							  "detector %d: needs 4 ranks", i),
				 FSL_OK);
	}
}

static void fill_replay(struct fsl_replay_summary *replay)
{
	static struct fsl_whatif whatifs[] = {{FSL_WHATIF_HOST, "10.1.0.1", 12.5, 13.5},
					      {FSL_WHATIF_TRANSFER, NULL, NAN, -0.0}};
	*replay = (struct fsl_replay_summary){.is_on = true,
					      .is_trusted = true,
					      .doubt = "steps differ",
					      .n_steps = 77,
					      .error_median = 0.01,
					      .error_p95 = 0.05,
					      .error_mean = -0.02,
					      .slowdown_all = 1.3,
					      .worst_ranks_share = 0.7,
					      .last_stage_share = odd_nan(),
					      .culprits_share = 0.9,
					      .whatifs = whatifs,
					      .n_whatifs = 2};
}

static void add_details(struct fsl_localisation *verdict)
{
	static int32_t ranks[] = {7, 0, 5, FSL_RANKS_MAX - 1};
	static struct fsl_kpi_point kpi[] = {
		{1750000000000.25, 12.5, 0}, {1750000001000.5, INFINITY, 1}, {-0.0, 1e-310, 1}};
	kpi[0].value = odd_nan();
	for (int i = 0; i < 4; i++) {
		struct fsl_detail detail = {.rank = i - 1,
					    .server_ip = i == 1 ? NULL : "10.1.0.1",
					    .kpi_id = i == 2 ? NULL : "HcclAllGather!launch",
					    .method = (enum fsl_method)(i % 3),
					    .is_abnormal = i < 2,
					    .rela_ranks = ranks,
					    .n_rela_ranks = (size_t)i,
					    .omitted_ranks = ranks + i,
					    .n_omitted_ranks = (size_t)(4 - i),
					    .kpi = kpi,
					    .n_kpi = (size_t)i};
		assert_int_equal(fsl_localisation_add_detail(verdict, &detail, NULL), FSL_OK);
	}
}

/* A verdict with something in every field. */
static struct sample *full_sample(void)
{
	struct sample *sample = sample_slow_link();
	struct fsl_localisation *verdict = &sample->localisation;
	verdict->compute = true;
	verdict->storage = true;
	verdict->error_message = "what went wrong";
	verdict->is_loss_replayed = true;
	verdict->lacks_peers = true;
	verdict->reason = "the link is slow \xff and \xc3\xa4ltlich"; /* half of it no UTF-8 */
	verdict->algorithm = "systrace";
	verdict->is_suppressed = true;
	verdict->suppressed_since_ns = sample_step_ns(61);
	struct fsl_culprit full = sample_culprit(1, FSL_CAUSE_STORAGE);
	full.stage = 2;
	full.until_step = 77;
	full.shape = FSL_SHAPE_RECURRING;
	full.every_steps = 6;
	for (int i = 0; fsl_culprit_add_fact(&full, "more", odd_nan(), "ms"); i++) {
	}
	sample_add_culprit(sample, &full);
	full = fsl_culprit_of(FSL_RANKS_MAX - 1);
	full.server_ip = full.reason = NULL;
	sample_add_culprit(sample, &full);
	const struct fsl_suspect suspects[] = {{5, 1.5, "ArrivalLateness", "waits for rank 2"},
					       {4, NAN, NULL, NULL}};
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(FSL_APPEND(verdict, victims, &suspects[i], NULL), FSL_OK);
	}
	assert_int_equal(FSL_APPEND(verdict, unconfirmed, &suspects[0], NULL), FSL_OK);
	add_details(verdict);
	fill_replay(&verdict->replay);
	fill_coverage(verdict);
	return sample;
}

static struct fsl_pack pack_of(const struct fsl_localisation *verdict)
{
	struct fsl_pack pack = {0};
	assert_int_equal(fsl_localisation_pack(verdict, &pack, NULL), FSL_OK);
	return pack;
}

/* To bytes, which are gone afterwards, and back. */
static struct fsl_localisation travelled(const struct fsl_localisation *verdict)
{
	struct fsl_pack pack = pack_of(verdict);
	struct fsl_localisation again;
	struct fsl_error err = {0};
	fsl_localisation_init(&again);
	assert_int_equal(fsl_localisation_unpack(&again, pack.bytes, pack.n_bytes, &err), FSL_OK);
	memset(pack.bytes, 0x5a, pack.n_bytes);
	fsl_pack_fini(&pack);
	return again;
}

/* Everything that the reporters say of @verdict in the job of @sample. Free with free(). */
static char *told(struct sample *sample, struct fsl_localisation *verdict)
{
	char *text = NULL;
	size_t n_bytes = 0;
	FILE *stream = open_memstream(&text, &n_bytes);
	assert_non_null(stream);
	for (int i = 0; i < 2; i++) {
		struct fsl_config config = sample->config;
		config.verdict_schema = i == 0 ? FSL_SCHEMA_FAILSLOW : FSL_SCHEMA_SYSTRACE;
		cJSON *json =
			fsl_localisation_json(verdict, &sample->topology, &sample->run, &config);
		char *line = fsl_json_text(json, 0);
		assert_non_null(line);
		(void)fprintf(stream, "%s\n", line);
		fsl_free(line);
		cJSON_Delete(json);
	}
	struct fsl_report report = sample_report(sample);
	report.localisation = verdict;
	fsl_report_text(stream, &report);
	(void)fclose(stream);
	return text;
}

static void check_told_the_same(struct sample *sample)
{
	struct fsl_localisation again = travelled(&sample->localisation);
	char *before = told(sample, &sample->localisation);
	char *after = told(sample, &again);
	check_same(&sample->localisation, &again);
	assert_string_equal(before, after);
	free(before);
	free(after);
	fsl_localisation_fini(&again);
	sample_destroy(sample);
}

static void every_field_of_a_verdict_travels(void **state)
{
	(void)state;
	check_told_the_same(full_sample());
}

static void verdicts_of_every_kind_are_told_the_same(void **state)
{
	(void)state;
	check_told_the_same(sample_create());
	check_told_the_same(sample_slow_rank());
	check_told_the_same(sample_slow_link());
	check_told_the_same(sample_missing(100));
	for (int kind = 0; kind < FSL_VERDICTS_N; kind++) {
		struct sample *sample = full_sample();
		sample->localisation.kind = (enum fsl_verdict_kind)kind;
		check_told_the_same(sample);
	}
}

static void an_empty_verdict_travels(void **state)
{
	(void)state;
	struct fsl_localisation empty;
	fsl_localisation_init(&empty);
	struct fsl_localisation again = travelled(&empty);
	check_same(&empty, &again);
	fsl_localisation_fini(&again);
	fsl_localisation_fini(&empty);
}

static void texts_that_are_missing_stay_missing(void **state)
{
	(void)state;
	struct fsl_localisation verdict;
	fsl_localisation_init(&verdict);
	verdict.error_message = verdict.reason = verdict.algorithm = NULL;
	verdict.replay.doubt = verdict.coverage.steps_source = NULL;
	struct fsl_localisation again = travelled(&verdict);
	check_same(&verdict, &again);
	fsl_localisation_fini(&again);
	fsl_localisation_fini(&verdict);
}

static void a_verdict_that_travelled_can_grow(void **state)
{
	(void)state;
	struct sample *sample = full_sample();
	struct fsl_localisation again = travelled(&sample->localisation);
	for (int i = 0; i < 20; i++) {
		struct fsl_culprit culprit = fsl_culprit_of(i);
		assert_int_equal(
			fsl_coverage_add_skipped(&again.coverage, &again.arena, NULL, "%d", i),
			FSL_OK);
		assert_int_equal(FSL_APPEND(&again, culprits, &culprit, NULL), FSL_OK);
	}
	assert_string_equal(again.coverage.skipped[2], sample->localisation.coverage.skipped[2]);
	assert_string_equal(again.coverage.skipped[22], "19");
	fsl_localisation_fini(&again);
	sample_destroy(sample);
}

/* Checks that bytes that are no verdict gave an empty one. */
static void check_empty(const struct fsl_localisation *verdict)
{
	struct fsl_localisation empty;
	fsl_localisation_init(&empty);
	assert_null(verdict->arena.blocks);
	assert_true(verdict->culprits == NULL && verdict->abnormal == NULL);
	assert_true(is_same_double(verdict->confidence, empty.confidence));
	assert_string_equal(verdict->algorithm, empty.algorithm);
	struct fsl_pack a = pack_of(verdict), b = pack_of(&empty);
	assert_int_equal(a.n_bytes, b.n_bytes);
	assert_memory_equal(a.bytes, b.bytes, a.n_bytes);
	fsl_pack_fini(&a);
	fsl_pack_fini(&b);
	fsl_localisation_fini(&empty);
}

/* Refused, or a verdict that travels on and that the reporters can tell (all, or every tenth). */
static void unpack_spoilt(struct sample *sample, const void *bytes, size_t n)
{
	static size_t n_sound;
	struct fsl_localisation again;
	fsl_localisation_init(&again);
	enum fsl_status status = fsl_localisation_unpack(&again, bytes, n, NULL);
	if (status == FSL_OK) {
		struct fsl_localisation twice = travelled(&again);
		check_same(&again, &twice);
		if (n_sound++ % FSL_TEST_COST == 0) {
			free(told(sample, &again));
		}
		fsl_localisation_fini(&twice);
	} else {
		assert_int_equal(status, FSL_ERR_FORMAT);
		check_empty(&again);
	}
	fsl_localisation_fini(&again);
}

static void a_cut_verdict_is_refused(void **state)
{
	(void)state;
	struct sample *sample = full_sample();
	struct fsl_pack pack = pack_of(&sample->localisation);
	struct fsl_localisation again;
	struct fsl_error err = {0};
	fsl_localisation_init(&again);
	for (size_t n = 0; n < pack.n_bytes; n++) {
		/* A copy of exactly these bytes: tools see a step beyond them. */
		unsigned char *copy = fsl_calloc(n + 1, 1);
		assert_non_null(copy);
		memcpy(copy + 1, pack.bytes, n);
		assert_int_equal(fsl_localisation_unpack(&again, copy + 1, n, &err),
				 FSL_ERR_FORMAT);
		check_empty(&again);
		fsl_free(copy);
	}
	assert_non_null(strstr(fsl_error_root(&err), "not the bytes of a verdict: bytes=0"));
	fsl_pack_u8(&pack, 0);
	assert_int_equal(fsl_localisation_unpack(&again, pack.bytes, pack.n_bytes, NULL),
			 FSL_ERR_FORMAT);
	check_empty(&again);
	fsl_localisation_fini(&again);
	fsl_pack_fini(&pack);
	sample_destroy(sample);
}

static void a_spoilt_verdict_is_refused_or_sound(void **state)
{
	(void)state;
	uint64_t random = 20261121;
	struct sample *sample = full_sample();
	struct fsl_pack pack = pack_of(&sample->localisation);
	unsigned char *copy = fsl_calloc(pack.n_bytes, 1);
	assert_non_null(copy);
	for (size_t i = 0; i < pack.n_bytes; i++) {
		const unsigned char byte = pack.bytes[i];
		const unsigned char values[] = {
			0, 1, 2, 0x7f, 0x80, 0xff, (unsigned char)~byte, (unsigned char)(byte + 1)};
		memcpy(copy, pack.bytes, pack.n_bytes);
		for (size_t k = 0; k < sizeof(values); k++) {
			copy[i] = values[k];
			unpack_spoilt(sample, copy, pack.n_bytes);
		}
	}
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(copy, pack.bytes, pack.n_bytes);
		for (size_t n = 1 + random_below(&random, 8); n > 0; n--) {
			copy[random_below(&random, pack.n_bytes)] =
				(unsigned char)random_next(&random);
		}
		unpack_spoilt(sample, copy, pack.n_bytes);
	}
	fsl_free(copy);
	fsl_pack_fini(&pack);
	sample_destroy(sample);
}

/* Packs, after something was made wrong, and looks that it is refused. */
static void check_refused(const struct fsl_localisation *verdict)
{
	struct fsl_pack pack = pack_of(verdict);
	struct fsl_localisation again;
	fsl_localisation_init(&again);
	assert_int_equal(fsl_localisation_unpack(&again, pack.bytes, pack.n_bytes, NULL),
			 FSL_ERR_FORMAT);
	check_empty(&again);
	fsl_localisation_fini(&again);
	fsl_pack_fini(&pack);
}

static void values_beyond_their_limits_are_refused(void **state)
{
	(void)state;
	struct sample *sample = full_sample();
	struct fsl_localisation *verdict = &sample->localisation;
	int32_t rank = FSL_RANKS_MAX;
	verdict->result_code = 202;
	check_refused(verdict);
	verdict->result_code = 201;
	verdict->kind = FSL_VERDICTS_N;
	check_refused(verdict);
	verdict->kind = FSL_VERDICT_SLOW_RANK;
	verdict->culprits[1].cause = FSL_CAUSES_N;
	check_refused(verdict);
	verdict->culprits[1].cause = FSL_CAUSE_HOST;
	verdict->culprits[1].shape = FSL_SHAPES_N;
	check_refused(verdict);
	verdict->culprits[1].shape = FSL_SHAPE_DRIFT;
	verdict->culprits[1].other_cause = FSL_CAUSES_N + 1;
	check_refused(verdict);
	verdict->culprits[1].other_cause = FSL_CAUSES_N;
	verdict->culprits[1].peer = FSL_RANK_UNKNOWN - 1;
	check_refused(verdict);
	verdict->culprits[1].peer = 1;
	verdict->abnormal[1].method = FSL_METHOD_LACK + 1;
	check_refused(verdict);
	verdict->abnormal[1].method = FSL_METHOD_LACK;
	verdict->normal[0].rela_ranks = &rank;
	verdict->normal[0].n_rela_ranks = 1;
	check_refused(verdict);
	rank = 3;
	struct fsl_localisation again = travelled(verdict);
	check_same(verdict, &again);
	fsl_localisation_fini(&again);
	sample_destroy(sample);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct sample *sample = full_sample();
	struct fsl_pack pack = pack_of(&sample->localisation);
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK; nth++) {
		struct fsl_pack short_pack = {0};
		struct fsl_localisation again;
		fsl_localisation_init(&again);
		fsl_mem_fail_at(nth);
		enum fsl_status packed =
			fsl_localisation_pack(&sample->localisation, &short_pack, NULL);
		fsl_mem_fail_at(nth);
		status = fsl_localisation_unpack(&again, pack.bytes, pack.n_bytes, NULL);
		fsl_mem_fail_at(0);
		assert_true(packed == FSL_OK || packed == FSL_ERR_MEMORY);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		if (status != FSL_OK) {
			check_empty(&again);
		}
		fsl_localisation_fini(&again);
		fsl_pack_fini(&short_pack);
	}
	assert_true(nth > 5);
	fsl_pack_fini(&pack);
	sample_destroy(sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_verdict_travels),
		cmocka_unit_test(verdicts_of_every_kind_are_told_the_same),
		cmocka_unit_test(an_empty_verdict_travels),
		cmocka_unit_test(texts_that_are_missing_stay_missing),
		cmocka_unit_test(a_verdict_that_travelled_can_grow),
		cmocka_unit_test(a_cut_verdict_is_refused),
		cmocka_unit_test(a_spoilt_verdict_is_refused_or_sound),
		cmocka_unit_test(values_beyond_their_limits_are_refused),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
