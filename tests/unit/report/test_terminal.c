/* Pictures in characters: the strip of steps, the grid of ranks, the raster of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blame/blame.h"
#include "model/steps.h"
#include "report/terminal.h"
#include "samples.h"

enum { STEPS_N = 80, RANKS_MAX = 4096 };

/* A job with steps, and own time of each rank in each of them. */
struct job {
	struct sample *sample;
	struct fsl_report report;
	struct fsl_blame blame;
	struct fsl_steps steps;
	struct fsl_job_step items[STEPS_N];
	char hosts[RANKS_MAX][20];
};

static struct job *make_job(struct sample *sample, int32_t n_ranks, int32_t ranks_of_host)
{
	struct job *job = fsl_calloc(1, sizeof(*job));
	sample_check(job != NULL);
	job->sample = sample;
	for (int32_t rank = 8; rank < n_ranks; rank++) {
		sample_check(fsl_run_add_rank(&sample->run, rank, NULL) != NULL);
	}
	for (int32_t rank = 0; rank < n_ranks && ranks_of_host > 0; rank++) {
		(void)snprintf(job->hosts[rank], sizeof(job->hosts[rank]), "10.1.0.%d",
			       1 + rank / ranks_of_host);
		sample->run.ranks[rank].server_ip = job->hosts[rank];
	}
	for (int32_t rank = 0; rank < n_ranks && ranks_of_host == 0; rank++) {
		sample->run.ranks[rank].server_ip = NULL;
	}
	size_t n = (size_t)n_ranks * STEPS_N;
	job->blame = (struct fsl_blame){.n_ranks = (size_t)n_ranks, .n_steps = STEPS_N};
	job->blame.own_ms = fsl_calloc(n, sizeof(double));
	job->blame.reference_ms = fsl_calloc(n, sizeof(double));
	job->blame.late_ms = fsl_calloc(n, sizeof(double));
	sample_check(job->blame.own_ms != NULL && job->blame.reference_ms != NULL &&
		     job->blame.late_ms != NULL);
	for (size_t i = 0; i < n; i++) {
		job->blame.own_ms[i] = job->blame.reference_ms[i] = 500.0;
	}
	for (int64_t s = 0; s < STEPS_N; s++) {
		job->items[s] = (struct fsl_job_step){
			s, sample_step_ns(s), INT64_C(1000000) * (s < 60 ? 973 : 1168), 0, 0};
	}
	job->steps = (struct fsl_steps){.items = job->items, .n_items = STEPS_N, .source = "test"};
	job->report = sample_report(sample);
	job->report.blame = &job->blame;
	job->report.steps = &job->steps;
	return job;
}

static void destroy_job(struct job *job)
{
	fsl_free(job->blame.own_ms);
	fsl_free(job->blame.reference_ms);
	fsl_free(job->blame.late_ms);
	sample_destroy(job->sample);
	fsl_free(job);
}

enum picture { STRIP, GRID, RASTER };

/* Free with free(). */
static char *draw(const struct job *job, enum picture picture, int n_lines, bool has_blocks)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	struct fsl_screen screen = fsl_screen_of(stream, 80, false);
	struct fsl_screen_budget budget = {n_lines, 0};
	screen.has_blocks = has_blocks;
	screen.budget = n_lines > 0 ? &budget : NULL;
	if (picture == STRIP) {
		fsl_terminal_strip(&screen, &job->report, "a step takes longer");
	} else {
		(picture == GRID ? fsl_terminal_grid : fsl_terminal_raster)(&screen, &job->report);
	}
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void assert_drawn(const struct job *job, enum picture picture, int n_lines,
			 const char *expected)
{
	char *text = draw(job, picture, n_lines, false);
	assert_string_equal(text, expected);
	free(text);
}

static void the_strip_shows_the_onset(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 8, 8);
	assert_drawn(job, STRIP, 20,
		     "  steps        ------------------------------------------------"
		     "#################\n"
		     "                                                       step 60 "
		     "^~~~~~~~~~~~~~~~~\n"
		     "               a step takes longer\n");
	job->sample->localisation.culprits[0].onset_step = 4;
	job->sample->localisation.culprits[0].until_step = 30;
	job->sample->perception.n_episodes = 0;
	assert_drawn(job, STRIP, 20,
		     "  steps        ------------------------------------------------"
		     "#################\n"
		     "                  ^~~~~~~~~~~~~~~~~~~~~ step 4\n"
		     "               a step takes longer\n");
	destroy_job(job);
}

/* The steps rise before the culprit is slow: both onsets are marked, and the first is named. */
static void two_onsets_are_marked(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 8, 8);
	job->sample->localisation.culprits[0].onset_step = 70;
	char *text = draw(job, STRIP, 20, false);
	assert_non_null(strstr(text, " step 60 ^~~~~~~~^~~~~~~~~\n"));
	free(text);
	job->sample->localisation.culprits[0].onset_step = 40;
	text = draw(job, STRIP, 20, false);
	assert_non_null(strstr(text, " step 40 ^~~~~~~~~~~~~~~~^~~~~~~~~~~~~~~~~\n"));
	free(text);
	destroy_job(job);
}

static void checkpoints_and_stalls_are_marked_and_explained(void **state)
{
	(void)state;
	struct job *job = make_job(sample_create(), 8, 8);
	struct fsl_stall stall = {.phase = FSL_STALL_UNKNOWN, .step = 40, .n_times = 1};
	job->items[20].ckpt_ns = 5;
	assert_int_equal(FSL_APPEND(&job->sample->perception, stalls, &stall, NULL), FSL_OK);
	char *text = draw(job, STRIP, 20, true);
	assert_non_null(strstr(text, "▃▃▃███"));
	assert_non_null(strstr(text, "\n                               c               !\n"));
	assert_non_null(
		strstr(text, "a step takes longer\n               c checkpoint; ! stall\n"));
	free(text);
	destroy_job(job);
}

static void long_steps_of_a_job_that_is_well_are_no_stalls(void **state)
{
	(void)state;
	struct job *job = make_job(sample_create(), 8, 8);
	const enum fsl_stall_phase phases[] = {FSL_STALL_WARM_UP, FSL_STALL_EVALUATION};
	for (size_t i = 0; i < 2; i++) {
		struct fsl_stall stall = {
			.phase = phases[i], .step = i == 0 ? 0 : 40, .n_times = 1};
		assert_int_equal(FSL_APPEND(&job->sample->perception, stalls, &stall, NULL),
				 FSL_OK);
	}
	char *text = draw(job, STRIP, 20, true);
	assert_non_null(strstr(text, "\n               w                               e\n"));
	assert_non_null(strstr(text, "\n               e evaluation; w warm-up\n"));
	free(text);
	destroy_job(job);
}

static void a_short_screen_keeps_the_words(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 8, 8);
	assert_drawn(job, STRIP, 2, "  steps        a step takes longer\n");
	job->steps.n_items = 7;
	assert_drawn(job, STRIP, 20, "  steps        a step takes longer\n");
	job->report.steps = NULL;
	assert_drawn(job, STRIP, 20, "  steps        a step takes longer\n");
	assert_drawn(job, GRID, 1, "");
	destroy_job(job);
}

static void the_grid_tells_culprits_and_victims_by_shape(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 8, 4);
	for (size_t s = 0; s < STEPS_N; s++) {
		job->blame.own_ms[6 * STEPS_N + s] = 560.0;
	}
	assert_drawn(
		job, GRID, 20,
		"  ranks        10.1.0.1  0-3  . . . #\n"
		"               10.1.0.2  4-7  v v + .\n"
		"               # culprit; v victim; + works 3 % of a step or more beyond its\n"
		"               peers; . in line with its peers\n");
	destroy_job(job);
}

static void both_ends_of_a_link_and_who_stopped_first_are_named(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_link(), 8, 8);
	assert_drawn(job, GRID, 20,
		     "  ranks        10.1.0.1  0-7  . . # . . . # .\n"
		     "               # culprit; . in line with its peers\n");
	destroy_job(job);
	job = make_job(sample_hang(), 8, 0);
	job->report.blame = NULL;
	assert_drawn(job, GRID, 20,
		     "  ranks        0-7  ? ? ? # ? ? ? ?\n"
		     "               # stopped first; ? not compared\n");
	destroy_job(job);
}

static void many_hosts_become_marks_beside_the_host_of_the_culprit(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 256, 8);
	assert_drawn(
		job, GRID, 20,
		"  ranks        #...............................\n"
		"               10.1.0.1   0-7      . . . # v v . .\n"
		"               # culprit; v victim; . in line with its peers; each mark is a\n"
		"               host\n");
	char *text = draw(job, GRID, 0, false);
	assert_non_null(strstr(text, "\n               10.1.0.32  248-255  . . . . . . . .\n"));
	free(text);
	destroy_job(job);
}

static void thousands_of_ranks_fit_four_lines(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 4096, 8);
	char *text = draw(job, GRID, 20, false);
	assert_non_null(strstr(text, "each mark is 4"));
	assert_int_equal(strcspn(text, "\n"), 15 + 64);
	free(text);
	destroy_job(job);
	job = make_job(sample_slow_rank(), 1024, 0);
	text = draw(job, GRID, 20, false);
	assert_non_null(strstr(text, "each mark is 8"));
	assert_non_null(strstr(text, "\n               0-7        . . . # v v . .\n"));
	free(text);
	destroy_job(job);
}

static void the_raster_keeps_the_culprits_line(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 256, 8);
	for (size_t s = 60; s < STEPS_N; s++) {
		job->blame.own_ms[3 * STEPS_N + s] = 800.0;
		job->blame.own_ms[200 * STEPS_N + s] = 540.0;
	}
	char *text = draw(job, RASTER, 0, false);
	assert_non_null(strstr(text, "\n           3 # ..................."));
	assert_non_null(strstr(text, ".*****************\n"));
	assert_non_null(strstr(text, ".-----------------\n"));
	assert_non_null(strstr(text, "196-211   "));
	assert_non_null(
		strstr(text, "\n               2025-06-15 15:06:40 to 2025-06-15 15:08:00\n"));
	free(text);
	text = draw(job, RASTER, 0, true);
	assert_non_null(strstr(text, "··▓▓▓"));
	free(text);
	destroy_job(job);
}

static void short_memory_draws_nothing(void **state)
{
	(void)state;
	struct job *job = make_job(sample_slow_rank(), 64, 8);
	for (uint64_t nth = 1; nth < 12; nth++) {
		for (enum picture picture = STRIP; picture <= RASTER; picture++) {
			fsl_mem_fail_at(nth);
			char *text = draw(job, picture, 20, false);
			fsl_mem_fail_at(0);
			free(text);
		}
	}
	destroy_job(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_strip_shows_the_onset),
		cmocka_unit_test(two_onsets_are_marked),
		cmocka_unit_test(checkpoints_and_stalls_are_marked_and_explained),
		cmocka_unit_test(long_steps_of_a_job_that_is_well_are_no_stalls),
		cmocka_unit_test(a_short_screen_keeps_the_words),
		cmocka_unit_test(the_grid_tells_culprits_and_victims_by_shape),
		cmocka_unit_test(both_ends_of_a_link_and_who_stopped_first_are_named),
		cmocka_unit_test(many_hosts_become_marks_beside_the_host_of_the_culprit),
		cmocka_unit_test(thousands_of_ranks_fit_four_lines),
		cmocka_unit_test(the_raster_keeps_the_culprits_line),
		cmocka_unit_test(short_memory_draws_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
