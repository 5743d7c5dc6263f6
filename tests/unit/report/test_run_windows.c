/* A run that is shown in windows gives the events that it gives as a whole. */
#include <stdio.h>
#include <stdlib.h>

#include "support/small_job.h"

#include "base/sort.h"
#include "match/match.h"
#include "report/trace/run_windows.h"

enum { EVENTS_MAX = 8192, TEXT_BYTES = 160 };

/* An event without the numbers that are given out in order of writing. */
struct seen {
	char text[TEXT_BYTES];
	uint64_t launch, meeting;
	char member[TEXT_BYTES]; /* of a collective: the first text of its members */
};

/* The writer keeps the events instead of writing them. */
static struct seen seen[2][EVENTS_MAX];
static size_t n_seen[2];
static int side; /* that is being filled */
static const struct fsl_strpool *names;

static enum fsl_status begin(struct fsl_track_writing **out, struct fsl_track_output *output,
			     const struct fsl_strpool *texts, int64_t base_ns,
			     struct fsl_error *err)
{
	(void)base_ns, (void)err;
	*out = (struct fsl_track_writing *)output;
	names = texts;
	return FSL_OK;
}

static enum fsl_status process(struct fsl_track_writing *writing,
			       const struct fsl_track_process *process, struct fsl_error *err)
{
	(void)writing, (void)process, (void)err;
	return FSL_OK;
}

static enum fsl_status track(struct fsl_track_writing *writing, const struct fsl_track *track,
			     struct fsl_error *err)
{
	(void)writing, (void)track, (void)err;
	return FSL_OK;
}

static enum fsl_status event(struct fsl_track_writing *writing, const struct fsl_track_event *event,
			     struct fsl_error *err)
{
	(void)writing, (void)err;
	struct seen *made = &seen[side][n_seen[side]++];
	assert_true(n_seen[side] < EVENTS_MAX);
	*made = (struct seen){.launch = event->launch != FSL_FLOW_NONE ? event->launch_id : 0,
			      .meeting = event->meeting != FSL_FLOW_NONE ? event->meeting_id : 0};
	int n = snprintf(made->text, sizeof(made->text), "%u %s %lld %lld %s %d %d",
			 event->track->pid, fsl_strpool_text(names, event->track->name),
			 (long long)event->begin_ns, (long long)event->end_ns,
			 fsl_strpool_text(names, event->name), event->launch, event->meeting);
	for (uint32_t i = 0; i < event->n_args; i++) {
		n += snprintf(made->text + n, sizeof(made->text) - (size_t)n, " %lld",
			      (long long)event->args[i].number);
	}
	return FSL_OK;
}

static enum fsl_status finish(struct fsl_track_writing *writing, struct fsl_error *err)
{
	(void)writing, (void)err;
	return FSL_OK;
}

static void end(struct fsl_track_writing *writing)
{
	(void)writing;
}

static const struct fsl_track_writer keeper = {
	.name = "keeper",
	.begin = begin,
	.process = process,
	.track = track,
	.event = event,
	.finish = finish,
	.end = end,
};

static int compare_meetings(const void *left, const void *right)
{
	const struct seen *a = left, *b = right;
	FSL_ORDER_BY(a->meeting, b->meeting);
	return strcmp(a->text, b->text);
}

static int compare_launches(const void *left, const void *right)
{
	const struct seen *a = left, *b = right;
	FSL_ORDER_BY(a->launch, b->launch);
	return strcmp(a->text, b->text);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(((const struct seen *)left)->text, ((const struct seen *)right)->text);
}

/* Two events are joined by a launch or by a collective: the text of the first stands for its
 * number. */
static void name_flows(struct seen *items, size_t n)
{
	qsort(items, n, sizeof(*items), compare_meetings);
	for (size_t i = 0, first = 0; i < n; i++) {
		first = items[i].meeting == items[first].meeting ? first : i;
		if (items[i].meeting != 0) {
			memcpy(items[i].member, items[first].text, TEXT_BYTES);
		}
	}
	qsort(items, n, sizeof(*items), compare_launches);
	for (size_t i = 0; i < n && n > 1; i++) {
		/* Both ends of a launch have its number, and nobody else has. */
		bool is_joined = (i > 0 && items[i - 1].launch == items[i].launch) ||
				 (i + 1 < n && items[i + 1].launch == items[i].launch);
		assert_true(items[i].launch == 0 || is_joined);
		assert_true(items[i].launch == 0 || i < 2 ||
			    items[i - 2].launch != items[i].launch);
	}
	qsort(items, n, sizeof(*items), compare_texts);
}

static void show_whole(struct small_job *job, bool is_aligned)
{
	struct fsl_match match;
	struct fsl_track_output output = {0};
	struct fsl_track_counts counts;
	struct fsl_track_plan *plan = fsl_track_plan_create();
	assert_int_equal(fsl_match_build(&match, &job->run, &job->topology, NULL), FSL_OK);
	struct fsl_run_tracks tracks = {.run = &job->run,
					.topology = &job->topology,
					.match = &match,
					.is_aligned = is_aligned};
	assert_int_equal(fsl_run_tracks_add(plan, &tracks, NULL), FSL_OK);
	assert_int_equal(fsl_track_plan_write(plan, &keeper, &output, &counts, NULL), FSL_OK);
	fsl_track_plan_destroy(plan);
	fsl_match_fini(&match);
	fsl_track_output_fini(&output);
}

/* The operators of a job that were not read yet. */
struct unread {
	struct fsl_op *ops[SMALL_JOB_RANKS_MAX];
	size_t n[SMALL_JOB_RANKS_MAX], at[SMALL_JOB_RANKS_MAX];
};

static void take_out(struct unread *unread, struct fsl_run *run)
{
	*unread = (struct unread){0};
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_rank *rank = &run->ranks[r];
		unread->ops[r] = fsl_calloc(rank->n_ops, sizeof(*rank->ops));
		assert_non_null(unread->ops[r]);
		memcpy(unread->ops[r], rank->ops, rank->n_ops * sizeof(*rank->ops));
		unread->n[r] = rank->n_ops;
		rank->n_ops = 0;
	}
}

static void read_until(struct fsl_run *run, struct unread *unread, int64_t until_ns)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		struct fsl_rank *rank = &run->ranks[r];
		for (; unread->at[r] < unread->n[r] &&
		       unread->ops[r][unread->at[r]].dev_end_ns <= until_ns;
		     unread->at[r]++) {
			rank->ops[rank->n_ops++] = unread->ops[r][unread->at[r]];
		}
	}
}

static void show_windows(struct small_job *job, int64_t length_ns, int64_t slack_ns)
{
	struct fsl_match match = {0};
	struct fsl_track_output output = {0};
	struct fsl_track_plan *plan = fsl_track_plan_create();
	struct fsl_track_file file = {.plan = plan, .writer = &keeper, .output = &output};
	struct fsl_run_windows *windows = NULL;
	struct fsl_run_tracks tracks = {
		.run = &job->run, .topology = &job->topology, .match = &match};
	struct unread unread;
	int64_t last_ns = job->run.ranks[0].last_event_ns;
	take_out(&unread, &job->run);
	for (int64_t until_ns = SMALL_JOB_ORIGIN_NS; until_ns < INT64_MAX;) {
		until_ns = until_ns + length_ns < last_ns ? until_ns + length_ns : INT64_MAX;
		read_until(&job->run, &unread,
			   until_ns < INT64_MAX ? until_ns + slack_ns : INT64_MAX);
		fsl_match_fini(&match);
		assert_int_equal(fsl_match_build(&match, &job->run, &job->topology, NULL), FSL_OK);
		if (windows == NULL) {
			assert_int_equal(
				fsl_run_windows_create(&windows, plan, &tracks, &job->run, NULL),
				FSL_OK);
		}
		assert_int_equal(fsl_run_windows_add(windows, until_ns, NULL), FSL_OK);
		assert_int_equal(fsl_track_file_write(&file, until_ns, NULL), FSL_OK);
		fsl_run_windows_forget(windows);
	}
	assert_int_equal(fsl_track_file_finish(&file, NULL), FSL_OK);
	for (size_t r = 0; r < job->run.n_ranks; r++) {
		assert_int_equal(job->run.ranks[r].n_ops, 0);
		assert_true(fsl_run_windows_has_events(windows, r));
		fsl_free(unread.ops[r]);
	}
	fsl_track_file_fini(&file);
	fsl_track_plan_destroy(plan);
	fsl_run_windows_destroy(windows);
	fsl_match_fini(&match);
	fsl_track_output_fini(&output);
}

static void make(struct small_job *job, size_t n_ranks, size_t n_steps, double body_ms)
{
	small_job_init(job, n_ranks, n_steps);
	job->noise_ms = 3.0;
	job->body_ms[1] = body_ms;
	job->onset = n_steps / 2;
	job->until = n_steps;
	small_job_run(job);
}

static void compare(size_t n_ranks, size_t n_steps, double body_ms, int64_t length_ns)
{
	struct small_job job;
	n_seen[0] = n_seen[1] = 0;
	side = 0;
	make(&job, n_ranks, n_steps, body_ms);
	int64_t first_ns = job.run.ranks[0].ops[0].dev_begin_ns;
	int64_t span_ns = job.run.ranks[0].last_event_ns - first_ns;
	show_whole(&job, false);
	side = 1;
	show_windows(&job, length_ns > 0 ? length_ns : span_ns / 3, 2 * FSL_NS_PER_S);
	assert_int_equal(n_seen[0], 2 * n_ranks * n_steps * SMALL_JOB_OPS_PER_STEP);
	assert_int_equal(n_seen[1], n_seen[0]);
	name_flows(seen[0], n_seen[0]);
	name_flows(seen[1], n_seen[1]);
	for (size_t i = 0; i < n_seen[0]; i++) {
		assert_string_equal(seen[1][i].text, seen[0][i].text);
		assert_string_equal(seen[1][i].member, seen[0][i].member);
	}
	small_job_fini(&job);
}

static void windows_of_any_length_give_the_events_of_the_whole(void **state)
{
	const int64_t lengths_ms[] = {40, 333, 1000, 2500};
	(void)state;
	for (size_t i = 0; i < sizeof(lengths_ms) / sizeof(lengths_ms[0]); i++) {
		compare(4, 60, 20.0, lengths_ms[i] * FSL_NS_PER_MS);
	}
}

static void windows_of_other_jobs_do_so_too(void **state)
{
	(void)state;
	compare(7, 40, 55.0, 90 * FSL_NS_PER_MS);
	compare(2, 90, 0.0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_of_any_length_give_the_events_of_the_whole),
		cmocka_unit_test(windows_of_other_jobs_do_so_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
