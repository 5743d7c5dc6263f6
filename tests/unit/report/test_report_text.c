/* The terminal summary, line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "model/steps.h"
#include "report/screen.h"
#include "samples.h"
#include "text/phrase.h"

/* Free with free(). */
static char *text_of_report(const struct fsl_report *report)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	fsl_report_text(stream, report);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static char *text_of(struct sample *sample)
{
	struct fsl_report report = sample_report(sample);
	return text_of_report(&report);
}

static void assert_fits(const char *text, size_t n_lines_max, size_t width)
{
	size_t n_lines = 0;
	for (const char *line = text; *line != '\0'; n_lines++) {
		size_t length = strcspn(line, "\n");
		char copy[1024];
		assert_true(length < sizeof(copy));
		memcpy(copy, line, length);
		copy[length] = '\0';
		assert_true(fsl_utf8_points(copy) <= width);
		assert_true(length == 0 || copy[length - 1] != ' ');
		line += length + 1;
	}
	assert_true(n_lines <= n_lines_max);
}

static void assert_summary(struct sample *sample, const char *expected)
{
	char *text = text_of(sample);
	assert_string_equal(text, expected);
	assert_fits(text, 24, 80);
	free(text);
	sample_destroy(sample);
}

#define BASIS                                                                                      \
	"  coverage     8 of 8 ranks, 80 steps (timeline), 2025-06-15 15:06:40 to\n"               \
	"               2025-06-15 15:08:13, 1 of 1 groups matched\n"                              \
	"  verdict      /result/verdict.json\n"                                                    \
	"  perception   /result/perception.json\n"
#define ROWS "  rows         80412 rows of 9 files, none dropped\n"

static void a_healthy_job_is_said_to_be_healthy(void **state)
{
	(void)state;
	assert_summary(sample_create(), "NORMAL: no rank slows the job, a step takes 974 ms\n" BASIS
					"  steps        no significant rise in step time\n" ROWS);
}

static void files_that_end_inside_operators_may_hold_a_hang(void **state)
{
	(void)state;
	struct sample *sample = sample_hang();
	struct fsl_report report = sample_report(sample);
	sample->perception.kind = FSL_VERDICT_NORMAL;
	report.now_ns = FSL_NS_ABSENT;
	char *text = text_of_report(&report);
	assert_non_null(strstr(text,
			       "  silence      the files end with 1 of 8 ranks in an operator "
			       "that has not ended\n               (HcclAllReduce); --now "
			       "TIME tells whether the job hangs\n"));
	free(text);
	report.now_ns = SAMPLE_NOW_NS;
	text = text_of_report(&report);
	assert_null(strstr(text, "the files end"));
	free(text);
	sample_destroy(sample);
}

static void a_slow_rank_is_named_with_cost_and_cause(void **state)
{
	(void)state;
	assert_summary(
		sample_slow_rank(),
		"SLOW RANK: rank 3 (10.1.0.1) slows the job by 20 %, which costs 195 ms of every\n"
		"  1168 ms step\n"
		"\n"
		"  rank  host      cause    lost/step  share    steps           since  conf.\n"
		"     3  10.1.0.1  compute     195 ms   99 %  from 60  06-15 15:07:40   99 %\n"
		"\n"
		"  why          own work takes 560.0 ms per step against 465.1 ms of its peers\n"
		"  next         check the accelerator of rank 3 (10.1.0.1): clock and power cap,\n"
		"               temperature, ECC errors, other processes on it\n" BASIS
		"  steps        since step 60 (2025-06-15 15:07:40) 1168 ms instead of 973 ms\n"
		"  ranks        10.1.0.1  0-7  ? ? ? # v v ? ?\n"
		"               # culprit; v victim; ? not compared\n"
		"  evidence     own 560 ms, peers 465 ms, own ratio 1.20 x, 20 high steps,\n"
		"               persistence 100 %\n"
		"  victims      ranks 4, 5: late because of the culprit, not at fault\n" ROWS);
}

static void a_slow_link_is_named_by_both_ends(void **state)
{
	(void)state;
	assert_summary(
		sample_slow_link(),
		"SLOW LINK: the link between ranks 2 and 6 (10.1.0.1) slows the job by 20 %,\n"
		"  which costs 195 ms of every 1168 ms step\n"
		"\n"
		"  rank  host      cause    lost/step  share    steps           since  conf.\n"
		"     2  10.1.0.1  network     195 ms   99 %  from 60  06-15 15:07:40   99 %\n"
		"     6  10.1.0.1  network     195 ms   99 %  from 60  06-15 15:07:40   99 %\n"
		"\n"
		"  why          transfers between them take longer than on like links\n"
		"  next         check the network of rank 2 (10.1.0.1) and rank 6 (10.1.0.1):\n"
		"               link speed, error counters, cable, switch port, other traffic\n" BASIS
		"  steps        no significant rise in step time\n"
		"  ranks        10.1.0.1  0-7  ? ? # ? ? ? # ?\n"
		"               # culprit; ? not compared\n"
		"  evidence     rank 2: own 560 ms, peers 465 ms, own ratio 1.20 x, 20 high\n"
		"               steps, persistence 100 %\n" ROWS);
}

static void a_hang_names_who_stopped_first_and_where(void **state)
{
	(void)state;
	assert_summary(
		sample_hang(),
		"HANG: no event for 60.0 minutes, since 2025-06-15 14:08:13; rank 3 (10.1.0.1)\n"
		"  stopped first\n"
		"  stopped      last event of rank 3 2025-06-15 14:08:13, begun and never ended:\n"
		"               HcclAllReduce\n"
		"  next         look at rank 3 (10.1.0.1) first: is its process alive, what does\n"
		"               its stack show, device and network errors in the kernel log\n" BASIS
		"  ranks        10.1.0.1  0-7  ? ? ? # ? ? ? ?\n"
		"               # stopped first; ? not compared\n" ROWS);
}

static void a_hang_of_all_that_were_seen_points_at_the_ranks_without_data(void **state)
{
	(void)state;
	static int32_t missing[] = {2, 5};
	struct sample *sample = sample_hang();
	sample->perception.n_stopped_first = 0;
	sample->localisation.coverage.missing_ranks = missing;
	sample->localisation.coverage.n_missing_ranks = 2;
	char *text = text_of(sample);
	assert_non_null(strstr(text, "; ranks 2, 5 left no"));
	assert_non_null(strstr(text, "  next         look at ranks 2, 5 first, which"));
	assert_null(strstr(text, "all ranks stopped together"));
	free(text);
	sample_destroy(sample);
}

static void a_job_slowdown_blames_nobody(void **state)
{
	(void)state;
	assert_summary(
		sample_job_slowdown(),
		"JOB SLOWDOWN: since step 40 every step takes 50 % longer (1460 ms instead of\n"
		"  974 ms); no single rank explains it\n"
		"  next         look for what changed for all ranks at that time: shared storage,\n"
		"               network, power caps, input data, code\n" BASIS
		"  steps        since step 40 (2025-06-15 15:07:20) 1460 ms instead of 974 ms; 1\n"
		"               step long because of a checkpoint or GC; 2 steps with slow ...\n" ROWS
		"  more         with --long\n");
}

static void too_little_data_is_not_called_normal(void **state)
{
	(void)state;
	assert_summary(
		sample_missing(10000),
		"INSUFFICIENT EVIDENCE: half of the ranks left no marker file\n"
		"  next         check that every rank writes its marker file below root_path, or\n"
		"               widen the time range (--from, --to)\n"
		"  coverage     10000 of 20000 ranks, 80 steps (timeline), 2025-06-15 15:06:40 to\n"
		"               2025-06-15 15:08:13, 1 of 1 groups matched\n"
		"  missing      ranks 0, 2, 4, 6, 8, 10, 12, 14 and 9992 more: no usable marker\n"
		"               file\n"
		"  verdict      /result/verdict.json\n"
		"  perception   /result/perception.json\n"
		"  steps        no significant rise in step time\n" ROWS);
}

/* A culprit of every kind: the first line names the subject in the singular and the plural. */
static void every_kind_of_culprit_has_its_sentence(void **state)
{
	(void)state;
	static const struct {
		enum fsl_verdict_kind kind;
		int n_culprits;
		const char *begin;
	} cases[] = {
		{FSL_VERDICT_SLOW_RANK, 2,
		 "SLOW RANK: ranks 3, 4 slow the job by 20 %, which costs"},
		{FSL_VERDICT_SLOW_HOST, 3, "SLOW HOST: host 10.1.0.1 (ranks 3-5) slows the job"},
		{FSL_VERDICT_STAGE_IMBALANCE, 2,
		 "STAGE IMBALANCE: pipeline stage 1 (ranks 3, 4) takes longer than the other"},
		{FSL_VERDICT_WORK_IMBALANCE, 1,
		 "WORK IMBALANCE: rank 3 (10.1.0.1) has more work than its peers and slows the"},
		{FSL_VERDICT_WORK_IMBALANCE, 2,
		 "WORK IMBALANCE: ranks 3, 4 have more work than their peers and slow the job by"},
		{FSL_VERDICT_HOST_PAUSES, 1,
		 "HOST PAUSES: pauses of host 10.1.0.1 (rank 3) slow the job by 20 %, which costs"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample *sample = sample_create();
		sample_make_anomaly(sample, cases[i].kind);
		for (int k = cases[i].n_culprits - 1; k >= 0; k--) {
			struct fsl_culprit culprit = sample_culprit(3 + k, FSL_CAUSE_HOST);
			culprit.stage = cases[i].kind == FSL_VERDICT_STAGE_IMBALANCE ? 1 : -1;
			sample_add_culprit(sample, &culprit);
		}
		char *text = text_of(sample);
		text[strlen(cases[i].begin)] = '\0';
		assert_string_equal(text, cases[i].begin);
		free(text);
		sample_destroy(sample);
	}
}

static void culprits_on_several_hosts_are_not_put_on_the_first(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_HOST);
	for (int32_t rank = 3; rank <= 4; rank++) {
		struct fsl_culprit culprit = sample_culprit(rank, FSL_CAUSE_HOST);
		culprit.server_ip = rank == 3 ? "10.1.0.1" : "10.1.0.2";
		sample_add_culprit(sample, &culprit);
	}
	char *text = text_of(sample);
	assert_ptr_equal(strstr(text, "SLOW HOST: host 10.1.0.1 and others (ranks 3, 4) slow the"),
			 text);
	free(text);
	sample_destroy(sample);
}

static void every_cause_has_its_own_hint(void **state)
{
	(void)state;
	static const char *const expected[] = {
		[FSL_CAUSE_COMPUTE] = "check the accelerator of rank 3 (10.1.0.1): clock",
		[FSL_CAUSE_HOST] = "check the host side of rank 3 (10.1.0.1): CPU load",
		[FSL_CAUSE_DATALOADER] = "check the data loading of rank 3 (10.1.0.1): number",
		[FSL_CAUSE_STORAGE] = "check the storage of rank 3 (10.1.0.1): mount",
		[FSL_CAUSE_NETWORK] = "check the network of rank 3 (10.1.0.1): link speed",
	};
	for (int cause = 0; cause < FSL_CAUSES_N; cause++) {
		struct sample *sample = sample_create();
		sample_make_anomaly(sample, FSL_VERDICT_SLOW_RANK);
		struct fsl_culprit culprit = sample_culprit(3, (enum fsl_cause)cause);
		sample_add_culprit(sample, &culprit);
		char *text = text_of(sample);
		assert_non_null(strstr(text, expected[cause]));
		free(text);
		sample_destroy(sample);
	}
}

static void another_cause_that_may_be_has_its_hint_too(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_RANK);
	struct fsl_culprit culprit = sample_culprit(3, FSL_CAUSE_COMPUTE);
	culprit.other_cause = FSL_CAUSE_DATALOADER;
	sample_add_culprit(sample, &culprit);
	char *text = text_of(sample);
	assert_non_null(strstr(text, "  compute?  "));
	assert_non_null(strstr(text, "on it; or the data"));
	free(text);
	sample_destroy(sample);
}

static void victims_of_nobody_are_late_because_of_others(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_suspect victim = {5, 12.5, "late_victim", "waits for its neighbour"};
	assert_int_equal(FSL_APPEND(&sample->localisation, victims, &victim, NULL), FSL_OK);
	char *text = text_of(sample);
	assert_non_null(strstr(text, "rank 5: late because of others, not at fault"));
	free(text);
	sample_destroy(sample);
}

static void a_hang_is_said_before_a_culprit(void **state)
{
	(void)state;
	struct sample *sample = sample_hang();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_RANK);
	struct fsl_culprit culprit = sample_culprit(5, FSL_CAUSE_COMPUTE);
	sample_add_culprit(sample, &culprit);
	char *text = text_of(sample);
	assert_ptr_equal(strstr(text, "HANG: "), text);
	assert_non_null(strstr(text, "     5  10.1.0.1  compute"));
	free(text);
	sample_destroy(sample);
}

static void unknown_numbers_leave_no_column_and_no_nan(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	fsl_localisation_fini(&sample->localisation);
	fsl_localisation_init(&sample->localisation);
	sample->localisation.kind = FSL_VERDICT_SLOW_RANK;
	struct fsl_culprit culprit = fsl_culprit_of(3);
	sample_add_culprit(sample, &culprit);
	culprit = fsl_culprit_of(4);
	culprit.confidence = 0.5;
	sample_add_culprit(sample, &culprit);
	char *text = text_of(sample);
	assert_ptr_equal(strstr(text, "SLOW RANK: ranks 3, 4 slow the job\n"
				      "\n"
				      "  rank  host       cause    conf.\n"
				      "     3  localhost  compute      -\n"
				      "     4  localhost  compute   50 %\n"),
			 text);
	assert_null(strstr(text, "nan"));
	free(text);
	sample_destroy(sample);
}

static void a_recovered_episode_shows_both_its_ends(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	sample->localisation.culprits[0].until_step = 70;
	sample->perception.episodes[0].until_step = 70;
	char *text = text_of(sample);
	assert_non_null(strstr(text, "   99 %  60-69  06-15 15:07:40"));
	assert_non_null(strstr(text, "over at step 70"));
	free(text);
	sample_destroy(sample);
}

static void many_culprits_stay_on_one_screen(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_RANK);
	for (int32_t rank = 0; rank < 1000; rank++) {
		struct fsl_culprit culprit = sample_culprit(rank * 2, FSL_CAUSE_DATALOADER);
		culprit.server_ip = "2001:0db8:85a3:0000:0000:8a2e:0370:7334";
		sample_add_culprit(sample, &culprit);
	}
	char *text = text_of(sample);
	assert_fits(text, 24, 80);
	assert_ptr_equal(strstr(text, "SLOW RANK: ranks 0, 2, 4, 6, 8, 10 and 994 more slow"),
			 text);
	assert_non_null(strstr(text, "\n  and 995 more with --format json\n"));
	free(text);
	sample_destroy(sample);
}

static void a_range_beside_the_data_is_told_where_that_ends(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_coverage *coverage = &sample->localisation.coverage;
	static int32_t missing[] = {0, 1, 2, 3, 4, 5, 6, 7};
	coverage->missing_ranks = missing;
	coverage->n_missing_ranks = 8;
	coverage->n_dropped[FSL_DROP_OUT_OF_RANGE] = 7208;
	sample->run.ranks[2].last_event_ns = INT64_C(1750000114000000000);
	char *text = text_of(sample);
	assert_non_null(strstr(text,
			       "  missing      ranks 0-7: no usable marker file, or nothing in "
			       "the time range;\n               the data ends at 2025-06-15 "));
	assert_fits(text, 24, 80);
	free(text);
	sample_destroy(sample);
}

static void a_silence_that_may_become_a_hang_is_told(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_perception *perception = &sample->perception;
	perception->hang_mins = 12.34;
	perception->hang_since_ns = INT64_C(1750000114000000000);
	perception->n_stalled = 7;
	perception->coverage.n_ranks_seen = 8;
	struct fsl_rank *rank = &sample->run.ranks[5];
	char *text = text_of(sample);
	free(text); /* nobody seems to wait: no crash */
	assert_int_equal(
		fsl_strpool_intern(sample->run.names, "HcclAllReduce", 13, &rank->open_op_id, NULL),
		FSL_OK);
	text = text_of(sample);
	assert_non_null(
		strstr(text, "  silence      no event for 12.3 minutes, since 2025-06-15 "));
	assert_non_null(strstr(text, "(HcclAllReduce)"));
	assert_non_null(strstr(text, "for a hang yet"));
	assert_fits(text, 24, 80);
	free(text);
	perception->n_stalled = 0;
	text = text_of(sample);
	assert_null(strstr(text, "silence"));
	free(text);
	sample_destroy(sample);
}

static void times_that_may_not_be_in_nanoseconds_are_doubted(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_coverage *coverage = &sample->localisation.coverage;
	coverage->begin_ns = INT64_C(1749999999408115);
	coverage->end_ns = coverage->begin_ns + 1000000;
	char *text = text_of(sample);
	assert_non_null(strstr(text, "  time unit    if the files have microseconds, they begin at "
				     "2025-06-15"));
	assert_non_null(strstr(text, "here are 1000 times as"));
	assert_fits(text, 24, 80);
	free(text);
	coverage->begin_ns = INT64_C(1749999999408115439);
	coverage->end_ns = coverage->begin_ns + 1000000;
	text = text_of(sample);
	assert_null(strstr(text, "time unit"));
	free(text);
	sample_destroy(sample);
}

static void dropped_rows_clocks_and_problems_are_shown(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	struct fsl_coverage *coverage = &sample->localisation.coverage;
	coverage->n_dropped[FSL_DROP_MALFORMED] = 14;
	coverage->n_dropped[FSL_DROP_CUT] = 1;
	coverage->clock_offset_max_ms = 3.25;
	coverage->clock_residual_ms = 0.0125;
	static int32_t missing[] = {5};
	coverage->missing_ranks = missing;
	coverage->n_missing_ranks = 1;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fsl_coverage_add_skipped(coverage, &sample->localisation.arena,
							  NULL, "BoxPlot: %d steps, needs 8", i),
				 FSL_OK);
	}
	struct fsl_file files[] = {
		{.path = "/data/a.csv", .state = FSL_FILE_READ},
		{.path = "/data/b.csv", .state = FSL_FILE_EMPTY, .message = "zero bytes"},
		{.path = "/data/c.csv", .state = FSL_FILE_UNUSABLE},
	};
	sample->run.files = files;
	sample->run.n_files = 3;
	char *text = text_of(sample);
	sample->run.files = NULL;
	sample->run.n_files = 0;
	assert_non_null(strstr(text, "  rows         80412 rows of 9 files, 15 dropped: 14 "));
	assert_non_null(strstr(text, "  missing      rank 5: no usable marker file\n"));
	assert_non_null(strstr(text, "  clocks       host clocks differ by up to 3.25 ms, "
				     "corrected to within 0.01 ms\n"));
	assert_non_null(strstr(text, "  skipped      BoxPlot: 0 steps, needs 8; and 2 more\n"));
	assert_non_null(strstr(text, "  problems     /data/b.csv: zero bytes; and 1 more file\n"));
	assert_non_null(strstr(text, "  next         find out why the missing ranks write no"));
	assert_fits(text, 24, 80);
	free(text);
	sample_destroy(sample);
}

static void a_slowdown_that_nobody_could_look_into_says_so(void **state)
{
	(void)state;
	struct sample *sample = sample_job_slowdown();
	sample->localisation.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	sample->localisation.reason = "no marker files";
	char *text = text_of(sample);
	assert_non_null(strstr(text, "; who is to"));
	assert_non_null(strstr(text, "  why          no marker files\n"));
	sample->localisation.kind = FSL_VERDICT_JOB_SLOWDOWN;
	sample->localisation.reason = "no rank's own work stands out";
	free(text);
	text = text_of(sample);
	assert_non_null(strstr(text, "; no single rank explains it\n"));
	assert_non_null(strstr(text, "  why          no rank's own work stands out\n"));
	free(text);
	sample_destroy(sample);
}

static void suspects_are_told_with_a_reason(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_suspect suspect = {7, 1.0, "HcclAllGather", "waits for rank 3"};
	assert_int_equal(FSL_APPEND(&sample->localisation, unconfirmed, &suspect, NULL), FSL_OK);
	char *text = text_of(sample);
	assert_non_null(strstr(text, "  unconfirmed  rank 7 (HcclAllGather): waits for rank 3\n"));
	free(text);
	suspect = (struct fsl_suspect){6, 1.0, NULL, NULL};
	assert_int_equal(FSL_APPEND(&sample->localisation, unconfirmed, &suspect, NULL), FSL_OK);
	text = text_of(sample);
	assert_non_null(strstr(text, "  unconfirmed  ranks 6, 7; rank 7 (HcclAllGather): waits "
				     "for rank 3\n"));
	free(text);
	sample_destroy(sample);
}

static void classical_findings_are_named_without_a_cost(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample->localisation.kind = FSL_VERDICT_SLOW_RANK;
	sample->localisation.result_code = 201;
	sample->localisation.algorithm = "systrace";
	struct fsl_detail details[] = {
		{.rank = 7, .kpi_id = "HcclAllGather", .method = FSL_METHOD_LACK},
		{.rank = 5, .kpi_id = "HcclAllGather", .method = FSL_METHOD_SPACE},
		{.rank = 3, .kpi_id = "HcclReduceScatter", .method = FSL_METHOD_TIME},
	};
	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		details[i].is_abnormal = true;
		assert_int_equal(
			fsl_localisation_add_detail(&sample->localisation, &details[i], NULL),
			FSL_OK);
	}
	char *text = text_of(sample);
	assert_ptr_equal(strstr(text, "SLOW RANK: ranks 3, 5 stand out, first in HcclAllGather\n"),
			 text);
	free(text);
	sample->localisation.abnormal[2].rank = 5; /* the same rank by another metric */
	text = text_of(sample);
	assert_ptr_equal(strstr(text, "SLOW RANK: rank 5 stands out, first in HcclAllGather\n"),
			 text);
	assert_non_null(strstr(text, "  next         \"algorithm\": \"failslow\" in the"));
	free(text);
	sample_destroy(sample);
}

static void a_failed_run_says_so_once(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample->localisation.kind = FSL_VERDICT_INSUFFICIENT_EVIDENCE;
	sample->localisation.result_code = 500;
	sample->localisation.error_message = "no marker file: root_path=\"/x\"";
	sample->localisation.reason = sample->localisation.error_message;
	sample->perception.error_message = sample->localisation.error_message;
	char *text = text_of(sample);
	assert_ptr_equal(
		strstr(text, "FAILED: there is no verdict: no marker file: root_path=\"/x\"\n"),
		text);
	assert_null(strstr(text, "  error "));
	free(text);
	sample_destroy(sample);
}

static void suppression_and_errors_are_shown(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	sample->localisation.is_suppressed = true;
	sample->localisation.suppressed_since_ns = sample_step_ns(70);
	sample->localisation.error_message = "cannot read: rank=3";
	char *text = text_of(sample);
	assert_non_null(strstr(text, "  alarm        not sent again, the same culprits were "
				     "reported at\n               2025-06-15 15:07:50\n"));
	assert_non_null(strstr(text, "  error        cannot read: rank=3\n"));
	free(text);
	sample_destroy(sample);
}

static void colours_are_used_only_when_asked_for(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	struct fsl_report report = sample_report(sample);
	char *plain = text_of_report(&report);
	report.colours = true;
	char *coloured = text_of_report(&report);
	assert_null(strchr(plain, '\033'));
	assert_ptr_equal(strstr(coloured, "\033[1;31mSLOW RANK"), coloured);
	/* without its codes the coloured text is the plain one */
	char *end = coloured;
	for (const char *c = coloured; *c != '\0'; c++) {
		if (*c == '\033') {
			c = strchr(c, 'm');
		} else {
			*end++ = *c;
		}
	}
	*end = '\0';
	assert_string_equal(coloured, plain);
	free(plain);
	free(coloured);
	sample_destroy(sample);
}

static void names_from_files_cannot_steer_the_terminal(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	sample_make_anomaly(sample, FSL_VERDICT_SLOW_RANK);
	struct fsl_culprit culprit = sample_culprit(9, FSL_CAUSE_COMPUTE);
	culprit.server_ip = "a\033[2Jb\nc\x7f\xff\xc2\x9b";
	sample_add_culprit(sample, &culprit);
	char *text = text_of(sample);
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "\xc2\x9b"));
	assert_non_null(strstr(text, "rank 9 (a?[2Jb?c?\?\?) slows"));
	assert_non_null(strstr(text, "     9  a?[2Jb?c?\?\?  compute"));
	free(text);
	sample_destroy(sample);
}

static void the_width_of_the_terminal_is_kept(void **state)
{
	(void)state;
	static const struct {
		int width;
		size_t used;
	} cases[] = {{0, 80}, {-5, 80}, {80, 80}, {100, 100}, {20, 60}, {60, 60}, {5000, 120}};
	struct sample *sample = sample_job_slowdown();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fsl_report report = sample_report(sample);
		report.width = cases[i].width;
		char *text = text_of_report(&report);
		assert_fits(text, 30, cases[i].used);
		free(text);
	}
	sample_destroy(sample);
}

static void paths_are_never_cut(void **state)
{
	(void)state;
	struct sample *sample = sample_create();
	char path[300];
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	struct fsl_report report = sample_report(sample);
	report.localisation_path = path;
	char *text = text_of_report(&report);
	assert_non_null(strstr(text, path));
	free(text);
	sample_destroy(sample);
}

static void parts_that_are_absent_are_no_crash(void **state)
{
	(void)state;
	struct fsl_report report = {.width = 80};
	char *text = text_of_report(&report);
	assert_ptr_equal(strstr(text, "INSUFFICIENT EVIDENCE: cannot tell"), text);
	free(text);
	for (int kind = 0; kind < FSL_VERDICTS_N; kind++) {
		struct fsl_localisation localisation = {.kind = (enum fsl_verdict_kind)kind};
		struct fsl_perception perception = {.kind = (enum fsl_verdict_kind)kind};
		report = (struct fsl_report){.localisation = &localisation};
		text = text_of_report(&report);
		assert_true(strlen(text) > 0);
		free(text);
		report = (struct fsl_report){.perception = &perception};
		text = text_of_report(&report);
		assert_true(strlen(text) > 0);
		free(text);
	}
}

static void short_memory_shortens_the_text_only(void **state)
{
	(void)state;
	struct sample *sample = sample_slow_rank();
	fsl_mem_fail_at(1);
	char *text = text_of(sample);
	fsl_mem_fail_at(0);
	assert_non_null(strstr(text, "  victims      2 ranks: late because of the culprit"));
	free(text);
	sample_destroy(sample);
}

static void frames_are_told_without_folders(void **state)
{
	(void)state;
	static const char *const frames[][2] = {
		{"next@loader.py:630", "next@loader.py:630"},
		{"next@/usr/lib/py/loader.py:630", "next@loader.py:630"},
		{"/job/a@b/main.py", "main.py"},
		{"/job/train@2.py:7", "train@2.py:7"},
		{"f@/", "f@"},
		{"a_function_of_a_name_that_is_long@and_a_file_of_such_a_name.py:7",
		 "...name_that_is_long@and_a_file_of_such_a_name.py:7"},
	};
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct fsl_phrase phrase = {0};
		fsl_phrase_add_frame(&phrase, frames[i][0]);
		assert_string_equal(phrase.text, frames[i][1]);
	}
}

/* A long text with steps of a second each. Free with free(). */
static char *long_text_of(struct sample *sample)
{
	enum { STEPS = 80 };
	struct fsl_job_step items[STEPS];
	for (int64_t s = 0; s < STEPS; s++) {
		items[s] = (struct fsl_job_step){s, sample_step_ns(s), FSL_NS_PER_S, 0, 0};
	}
	struct fsl_steps steps = {.items = items, .n_items = STEPS, .source = "timeline"};
	struct fsl_report report = sample_report(sample);
	report.steps = &steps;
	report.is_long = true;
	return text_of_report(&report);
}

static void a_long_screen_tells_each_loss(void **state)
{
	(void)state;
	static const int32_t ranks[] = {1, 2};
	struct sample *sample = sample_slow_rank();
	struct fsl_stall stall = {.phase = FSL_STALL_LOADING,
				  .step = 15,
				  .last_step = 60,
				  .begin_ns = sample_step_ns(15),
				  .n_times = 10,
				  .every_steps = 5,
				  .lost_ns = 12 * (int64_t)FSL_NS_PER_S,
				  .ranks = ranks,
				  .n_ranks = 2};
	sample_check(FSL_APPEND(&sample->perception, stalls, &stall, NULL) == FSL_OK);
	stall.phase = FSL_STALL_EVALUATION; /* planned, so it is no loss */
	sample_check(FSL_APPEND(&sample->perception, stalls, &stall, NULL) == FSL_OK);
	char *text = long_text_of(sample);
	const char *table =
		"\n"
		"     lost  share  in                  times  every  step     since  ranks\n"
		"   12.0 s   13 %  data loading           10      5    15  15:06:55   1, 2\n"
		"  3898 ms  4.2 %  slow rank, compute      -      -    60  15:07:40      3\n"
		"\n";
	assert_non_null(strstr(text, table));
	free(text);
	sample_destroy(sample);
}

static void many_losses_take_twelve_lines(void **state)
{
	enum { STALLS = 30 };
	(void)state;
	struct sample *sample = sample_create();
	for (int64_t i = 0; i < STALLS; i++) {
		struct fsl_stall stall = {.phase = i % 2 == 0 ? FSL_STALL_UNKNOWN : FSL_STALL_GAP,
					  .step = i * 1000000,
					  .last_step = i * 1000000,
					  .begin_ns = sample_step_ns(i * 86400),
					  .n_times = 1,
					  .every_steps = -1,
					  .lost_ns = (STALLS - i) * 4000 * (int64_t)FSL_NS_PER_S};
		sample_check(FSL_APPEND(&sample->perception, stalls, &stall, NULL) == FSL_OK);
	}
	sample->localisation.coverage.end_ns = sample_step_ns(STALLS * (int64_t)86400);
	char *text = long_text_of(sample);
	const char *first = strstr(text, "33 h 20 min  4.6 %  long steps      1        0  06-15"),
		   *last = strstr(text, "and 20 more with --format json\n");
	size_t n_lines = 0;
	assert_non_null(strstr(text, "32 h 13 min  4.5 %  gap "));
	assert_non_null(first);
	assert_non_null(last);
	for (const char *c = first; c < last; c++) {
		n_lines += *c == '\n';
	}
	assert_int_equal(n_lines, 10); /* a title and the last line beside them */
	assert_fits(text, 99, 80);
	free(text);
	sample_destroy(sample);
}

static void what_is_over_is_told_in_the_past(void **state)
{
	(void)state;
	static const struct {
		int64_t until;
		const char *wanted;
	} cases[] = {
		{65, "rank 3 (10.1.0.1) slowed the job by 20 % from step 60 to 64, which\n  cost "},
		{90, "rank 3 (10.1.0.1) slowed the job by 20 % from step 60 to 89, which\n  cost "},
		{-1, "rank 3 (10.1.0.1) slows the job by 20 %, which costs "},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sample *sample = sample_slow_rank();
		sample->localisation.culprits[0].until_step = cases[i].until;
		char *text = text_of(sample);
		assert_non_null(strstr(text, cases[i].wanted));
		free(text);
		sample_destroy(sample);
	}
}

static void what_an_ended_job_suffered_is_told_to_its_end(void **state)
{
	(void)state;
	static const int64_t until[] = {-1, 65};
	static const char *const wanted[] = {"slowed the job by 20 % from step 60 to the end,",
					     "slowed the job by 20 % from step 60 to 64,"};
	for (size_t i = 0; i < 2; i++) {
		struct sample *sample = sample_slow_rank();
		sample->localisation.culprits[0].until_step = until[i];
		sample->perception.is_over = true;
		struct fsl_report report = sample_report(sample);
		report.now_ns = INT64_C(1750010000) * FSL_NS_PER_S;
		char *text = text_of_report(&report);
		assert_non_null(strstr(text, wanted[i]));
		free(text);
		sample_destroy(sample);
	}
}

int main(void)
{
	if (setenv("TZ", "UTC", 1) != 0) {
		return 1;
	}
	tzset();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_job_is_said_to_be_healthy),
		cmocka_unit_test(files_that_end_inside_operators_may_hold_a_hang),
		cmocka_unit_test(a_slow_rank_is_named_with_cost_and_cause),
		cmocka_unit_test(what_is_over_is_told_in_the_past),
		cmocka_unit_test(what_an_ended_job_suffered_is_told_to_its_end),
		cmocka_unit_test(a_slow_link_is_named_by_both_ends),
		cmocka_unit_test(a_hang_names_who_stopped_first_and_where),
		cmocka_unit_test(a_hang_of_all_that_were_seen_points_at_the_ranks_without_data),
		cmocka_unit_test(a_job_slowdown_blames_nobody),
		cmocka_unit_test(too_little_data_is_not_called_normal),
		cmocka_unit_test(every_kind_of_culprit_has_its_sentence),
		cmocka_unit_test(culprits_on_several_hosts_are_not_put_on_the_first),
		cmocka_unit_test(every_cause_has_its_own_hint),
		cmocka_unit_test(another_cause_that_may_be_has_its_hint_too),
		cmocka_unit_test(victims_of_nobody_are_late_because_of_others),
		cmocka_unit_test(a_hang_is_said_before_a_culprit),
		cmocka_unit_test(unknown_numbers_leave_no_column_and_no_nan),
		cmocka_unit_test(a_recovered_episode_shows_both_its_ends),
		cmocka_unit_test(many_culprits_stay_on_one_screen),
		cmocka_unit_test(a_range_beside_the_data_is_told_where_that_ends),
		cmocka_unit_test(a_silence_that_may_become_a_hang_is_told),
		cmocka_unit_test(times_that_may_not_be_in_nanoseconds_are_doubted),
		cmocka_unit_test(dropped_rows_clocks_and_problems_are_shown),
		cmocka_unit_test(a_slowdown_that_nobody_could_look_into_says_so),
		cmocka_unit_test(suspects_are_told_with_a_reason),
		cmocka_unit_test(classical_findings_are_named_without_a_cost),
		cmocka_unit_test(a_failed_run_says_so_once),
		cmocka_unit_test(suppression_and_errors_are_shown),
		cmocka_unit_test(colours_are_used_only_when_asked_for),
		cmocka_unit_test(names_from_files_cannot_steer_the_terminal),
		cmocka_unit_test(the_width_of_the_terminal_is_kept),
		cmocka_unit_test(paths_are_never_cut),
		cmocka_unit_test(parts_that_are_absent_are_no_crash),
		cmocka_unit_test(short_memory_shortens_the_text_only),
		cmocka_unit_test(frames_are_told_without_folders),
		cmocka_unit_test(a_long_screen_tells_each_loss),
		cmocka_unit_test(many_losses_take_twelve_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
