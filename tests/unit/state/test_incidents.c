/* Incidents from run to run: when they open, change, clear and are held; hosts that repeat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/number.h"
#include "state/incidents.h"
#include "state/outbox.h"

#define MINUTE (INT64_C(60) * FSL_NS_PER_S)
#define HOUR   (60 * MINUTE)
#define BEGIN  (INT64_C(1750000000) * FSL_NS_PER_S)

static struct {
	char folder[64], path[128];
	struct fsl_state *state;
	struct fsl_incidents list;
	const char *hosts[2], *places[2];
	struct fsl_incident_look look;
} fixture;

static int set_up(void **unused)
{
	(void)unused;
	memset(&fixture, 0, sizeof(fixture));
	(void)snprintf(fixture.folder, sizeof(fixture.folder), "/tmp/failslow-XXXXXX");
	assert_non_null(mkdtemp(fixture.folder));
	(void)snprintf(fixture.path, sizeof(fixture.path), "%s/state.db", fixture.folder);
	assert_int_equal(fsl_state_open(&fixture.state, fixture.path, NULL), FSL_OK);
	fixture.hosts[0] = "10.1.0.1";
	fixture.hosts[1] = "10.1.0.2";
	fixture.places[0] = "10.1.0.1#3";
	fixture.look = (struct fsl_incident_look){
		.job = "/jobs/a",
		.job_name = "a",
		.now_ns = BEGIN,
		.result = FSL_LOOK_PROBLEM,
		.n_ranks_seen = 8,
		.hosts = fixture.hosts,
		.n_hosts = 2,
		.class = FSL_INCIDENT_PLACE,
		.kind = "slow_rank",
		.cause = "compute",
		.headline = "SLOW RANK: rank 3",
		.places = fixture.places,
		.n_places = 1,
		.bad_hosts = "10.1.0.1",
		.ranks = "3",
		.lost_share = 0.10,
		.lost_ms = 100.0,
		.confidence = 0.9,
	};
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	fsl_incidents_fini(&fixture.list);
	fsl_state_close(fixture.state);
	(void)unlink(fixture.path);
	(void)rmdir(fixture.folder);
	return 0;
}

/* One run @minutes after the last one. */
static void run_after(int64_t minutes)
{
	fixture.look.now_ns += minutes * MINUTE;
	fsl_incidents_fini(&fixture.list);
	assert_int_equal(fsl_incidents_note(fixture.state, &fixture.look, &fixture.list, NULL),
			 FSL_OK);
	assert_int_equal(fsl_state_settle(fixture.state, true, NULL), FSL_OK);
}

static void see(double lost_share)
{
	fixture.look.result = FSL_LOOK_PROBLEM;
	fixture.look.lost_share = lost_share;
	run_after(10);
}

static void see_nothing(void)
{
	fixture.look.result = FSL_LOOK_CLEAN;
	run_after(10);
}

static const struct fsl_incident *only(void)
{
	assert_int_equal(fixture.list.n_items, 1);
	return &fixture.list.items[0];
}

static void a_small_loss_opens_when_the_second_run_sees_it(void **unused)
{
	(void)unused;
	see(0.10);
	assert_int_equal(only()->status, FSL_INCIDENT_PENDING);
	assert_int_equal(only()->edge, FSL_EDGE_NONE);
	see(0.10);
	assert_int_equal(only()->status, FSL_INCIDENT_OPEN);
	assert_int_equal(only()->edge, FSL_EDGE_OPEN);
	see(0.10);
	assert_int_equal(only()->edge, FSL_EDGE_NONE);
	assert_int_equal(only()->n_runs, 3);
}

static void what_one_run_alone_saw_is_no_incident(void **unused)
{
	(void)unused;
	see(0.15);
	see_nothing();
	assert_int_equal(fixture.list.n_items, 0);
	see(0.15);
	assert_int_equal(only()->status, FSL_INCIDENT_PENDING);
}

static void a_great_loss_and_a_hang_open_at_once(void **unused)
{
	(void)unused;
	see(0.20);
	assert_int_equal(only()->edge, FSL_EDGE_OPEN);
	fixture.look.job = "/jobs/b";
	fixture.look.class = FSL_INCIDENT_HANG;
	see(0.01);
	assert_int_equal(only()->edge, FSL_EDGE_OPEN);
}

static void it_clears_once_after_two_clean_runs_and_is_told_twice(void **unused)
{
	(void)unused;
	see(0.30);
	see_nothing();
	assert_int_equal(only()->status, FSL_INCIDENT_OPEN);
	see_nothing();
	assert_int_equal(only()->edge, FSL_EDGE_CLEAR);
	see_nothing();
	assert_int_equal(only()->status, FSL_INCIDENT_CLEARED);
	assert_int_equal(only()->edge, FSL_EDGE_NONE);
	see_nothing();
	assert_int_equal(fixture.list.n_items, 0);
}

static void runs_that_cannot_tell_and_runs_of_fewer_ranks_clear_nothing(void **unused)
{
	(void)unused;
	see(0.30);
	for (int i = 0; i < 3; i++) {
		fixture.look.result = FSL_LOOK_UNKNOWN;
		run_after(10);
		assert_int_equal(only()->n_clean, 0);
	}
	fixture.look.n_ranks_seen = 7;
	see_nothing();
	see_nothing();
	see_nothing();
	assert_int_equal(only()->status, FSL_INCIDENT_OPEN);
	fixture.look.n_ranks_seen = 8;
	see_nothing();
	see_nothing();
	assert_int_equal(only()->edge, FSL_EDGE_CLEAR);
}

static void a_problem_that_comes_back_between_clean_runs_stays_open(void **unused)
{
	(void)unused;
	see(0.30);
	for (int i = 0; i < 5; i++) {
		see_nothing();
		see(0.30);
		assert_int_equal(only()->status, FSL_INCIDENT_OPEN);
		assert_int_equal(only()->edge, FSL_EDGE_NONE);
	}
}

static void a_job_that_ended_clears_at_once(void **unused)
{
	(void)unused;
	see(0.30);
	fixture.look.has_ended = true;
	see_nothing();
	assert_int_equal(only()->edge, FSL_EDGE_CLEAR);
}

static void a_loss_that_doubles_or_halves_is_an_update(void **unused)
{
	(void)unused;
	see(0.30);
	see(0.55);
	assert_int_equal(only()->edge, FSL_EDGE_NONE);
	see(0.60);
	assert_int_equal(only()->edge, FSL_EDGE_UPDATE);
	see(0.31);
	assert_int_equal(only()->edge, FSL_EDGE_NONE);
	see(0.30);
	assert_int_equal(only()->edge, FSL_EDGE_UPDATE);
}

static void ranks_that_a_restart_renumbers_are_the_same_incident(void **unused)
{
	char id[FSL_INCIDENT_ID_CHARS + 1];
	(void)unused;
	see(0.30);
	(void)strcpy(id, only()->id);
	fixture.look.ranks = "19";
	see(0.30);
	assert_string_equal(only()->id, id);
	fixture.places[0] = "10.1.0.1"; /* the whole host now */
	see(0.30);
	assert_string_equal(only()->id, id);
	assert_string_equal(only()->places, "10.1.0.1#3");
}

static void another_device_and_another_job_are_other_incidents(void **unused)
{
	(void)unused;
	see(0.30);
	fixture.places[0] = "10.1.0.1#4";
	see(0.30);
	assert_int_equal(fixture.list.n_items, 2);
	assert_string_not_equal(fixture.list.items[0].id, fixture.list.items[1].id);
	assert_int_equal(fixture.list.items[0].n_clean, 1);
	fixture.look.job = "/jobs/b";
	see(0.30);
	assert_int_equal(only()->edge, FSL_EDGE_OPEN);
}

static void a_slow_job_that_a_rank_explains_later_is_the_same_incident(void **unused)
{
	(void)unused;
	fixture.look.class = FSL_INCIDENT_JOB;
	fixture.look.n_places = 0;
	see(0.30);
	fixture.look.class = FSL_INCIDENT_PLACE;
	fixture.look.n_places = 1;
	see(0.30);
	assert_int_equal(only()->edge, FSL_EDGE_UPDATE);
	assert_string_equal(only()->places, "10.1.0.1#3");
}

static void a_hang_tells_nothing_about_a_slow_rank(void **unused)
{
	(void)unused;
	see(0.30);
	fixture.look.class = FSL_INCIDENT_HANG;
	for (int i = 0; i < 4; i++) {
		see(1.0);
		assert_int_equal(fixture.list.n_items, 2);
		assert_int_equal(fixture.list.items[0].n_clean, 0);
	}
}

static void the_third_opening_of_a_day_is_held_for_a_day(void **unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		see(0.30);
		see_nothing();
		see_nothing();
		assert_int_equal(fixture.list.items[fixture.list.n_items - 1].edge, FSL_EDGE_CLEAR);
	}
	see(0.30);
	int64_t opened_ns = fixture.look.now_ns;
	while (fixture.look.now_ns < opened_ns + 24 * HOUR - 20 * MINUTE) {
		see_nothing();
		assert_int_equal(fixture.list.items[fixture.list.n_items - 1].status,
				 FSL_INCIDENT_OPEN);
	}
	see_nothing();
	see_nothing();
	assert_int_equal(only()->edge, FSL_EDGE_CLEAR);
}

static void a_run_that_looks_at_an_older_moment_changes_nothing(void **unused)
{
	(void)unused;
	see(0.10);
	run_after(0);
	run_after(-60);
	assert_int_equal(only()->status, FSL_INCIDENT_PENDING);
	assert_int_equal(only()->n_runs, 1);
}

static void a_run_that_is_not_settled_leaves_no_trace(void **unused)
{
	(void)unused;
	fixture.look.lost_share = 0.5;
	assert_int_equal(fsl_incidents_note(fixture.state, &fixture.look, &fixture.list, NULL),
			 FSL_OK);
	assert_int_equal(only()->edge, FSL_EDGE_OPEN);
	assert_int_equal(fsl_state_settle(fixture.state, false, NULL), FSL_OK);
	see_nothing();
	assert_int_equal(fixture.list.n_items, 0);
}

/* @n_bad incidents on the first of 20 hosts, @n_each on each. */
static void fill_fleet(int n_bad, int n_each)
{
	static char names[20][16], places[20][20];
	const char *hosts[20], *place[1];
	char job[32];
	for (int h = 0; h < 20; h++) {
		(void)snprintf(names[h], sizeof(names[h]), "10.2.0.%d", h);
		(void)snprintf(places[h], sizeof(places[h]), "10.2.0.%d#0", h);
		hosts[h] = names[h];
	}
	fixture.look.hosts = hosts;
	fixture.look.n_hosts = 20;
	fixture.look.places = place;
	for (int h = 0; h < 20; h++) {
		int n = n_each + (h == 0 ? n_bad : 0);
		for (int i = 0; i < n; i++) {
			(void)snprintf(job, sizeof(job), "/jobs/%d-%d", h, i);
			fixture.look.job = job;
			fixture.look.bad_hosts = names[h];
			place[0] = places[h];
			see(0.5);
			fixture.look.result = FSL_LOOK_CLEAN;
			run_after(60);
		}
	}
	fixture.look.hosts = fixture.hosts;
	fixture.look.places = fixture.places;
}

static void a_host_with_many_incidents_stands_out_of_its_fleet(void **unused)
{
	struct fsl_host_records records;
	(void)unused;
	fill_fleet(7, 1);
	assert_int_equal(fsl_hosts_rank(fixture.state, FSL_NS_ABSENT, &records, NULL), FSL_OK);
	assert_int_equal(records.n_items, 20);
	assert_string_equal(records.items[0].host, "10.2.0.0");
	assert_int_equal(records.items[0].n_incidents, 8);
	assert_int_equal(records.items[0].n_jobs, 8);
	assert_true(records.items[0].stands_out);
	assert_false(records.items[1].stands_out);
	fsl_host_records_fini(&records);
}

static void a_fleet_without_a_bad_host_names_none(void **unused)
{
	struct fsl_host_records records;
	(void)unused;
	fill_fleet(2, 1);
	assert_int_equal(fsl_hosts_rank(fixture.state, FSL_NS_ABSENT, &records, NULL), FSL_OK);
	for (size_t i = 0; i < records.n_items; i++) {
		assert_false(records.items[i].stands_out);
	}
	fsl_host_records_fini(&records);
}

static void an_edge_waits_for_each_channel_until_it_is_taken(void **unused)
{
	struct fsl_outbox due;
	(void)unused;
	assert_int_equal(
		fsl_outbox_put(fixture.state, "webhook", "A", FSL_EDGE_OPEN, "{}", BEGIN, NULL),
		FSL_OK);
	assert_int_equal(
		fsl_outbox_put(fixture.state, "webhook", "A", FSL_EDGE_OPEN, "{}", BEGIN, NULL),
		FSL_OK);
	assert_int_equal(
		fsl_outbox_put(fixture.state, "webhook", "A", FSL_EDGE_CLEAR, "{}", BEGIN, NULL),
		FSL_OK);
	assert_int_equal(fsl_state_settle(fixture.state, true, NULL), FSL_OK);
	assert_int_equal(fsl_outbox_due(fixture.state, "syslog", BEGIN, &due, NULL), FSL_OK);
	assert_int_equal(due.n_items, 0);
	fsl_outbox_fini(&due);
	assert_int_equal(fsl_outbox_due(fixture.state, "webhook", BEGIN, &due, NULL), FSL_OK);
	assert_int_equal(due.n_items, 2);
	assert_string_equal(due.items[0].edge, "open");
	/* It is not taken: the end is not told before the begin. */
	assert_int_equal(fsl_outbox_try(fixture.state, &due.items[0], BEGIN, NULL), FSL_OK);
	fsl_outbox_fini(&due);
	assert_int_equal(fsl_outbox_due(fixture.state, "webhook", BEGIN + MINUTE - 1, &due, NULL),
			 FSL_OK);
	assert_int_equal(due.n_items, 0);
	fsl_outbox_fini(&due);
	assert_int_equal(fsl_outbox_due(fixture.state, "webhook", BEGIN + MINUTE, &due, NULL),
			 FSL_OK);
	assert_int_equal(due.n_items, 2);
	assert_int_equal(due.items[0].n_tries, 1);
	assert_int_equal(fsl_outbox_remove(fixture.state, &due.items[0], NULL), FSL_OK);
	assert_int_equal(fsl_outbox_remove(fixture.state, &due.items[1], NULL), FSL_OK);
	fsl_outbox_fini(&due);
	size_t n_left = 1;
	assert_int_equal(fsl_outbox_count(fixture.state, "webhook", &n_left, NULL), FSL_OK);
	assert_int_equal(n_left, 0);
}

/* Each allocation fails once: the run is told so, and the next one finds nothing of it. */
static void a_run_without_memory_keeps_nothing(void **unused)
{
	(void)unused;
	fixture.look.lost_share = 0.5;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t n = 1;
	for (; status == FSL_ERR_MEMORY && n < 1000; n++) {
		fixture.look.now_ns += MINUTE;
		fsl_mem_fail_at(n);
		status = fsl_incidents_note(fixture.state, &fixture.look, &fixture.list, NULL);
		fsl_mem_fail_at(0);
		if (status == FSL_ERR_MEMORY) {
			assert_int_equal(fsl_state_settle(fixture.state, false, NULL), FSL_OK);
			assert_int_equal(fixture.list.n_items, 0);
		}
	}
	assert_int_equal(status, FSL_OK);
	assert_true(n > 2); /* the list and its texts */
	assert_int_equal(only()->n_runs, 1);
	assert_int_equal(fsl_state_settle(fixture.state, true, NULL), FSL_OK);
}

static void check_recalled(const char *job, size_t n, int64_t until_ns)
{
	struct fsl_seen_ranks seen = {.n = 99};
	fsl_state_recall_ranks(&seen, fixture.path, job);
	assert_int_equal(seen.n, n);
	assert_int_equal(seen.until_ns, until_ns);
}

static void a_later_run_recalls_the_most_ranks_of_its_job(void **unused)
{
	(void)unused;
	check_recalled("/jobs/a", 0, 0); /* the state has no tables yet */
	fixture.look.begin_ns = BEGIN - HOUR;
	fixture.look.end_ns = BEGIN;
	fixture.look.forget_hours = 24.0;
	see_nothing();
	check_recalled("/jobs/a", 8, BEGIN);
	check_recalled("/jobs/b", 0, 0);
	fixture.look.n_ranks_seen = 7; /* a file is gone */
	fixture.look.end_ns = BEGIN + HOUR;
	see_nothing();
	check_recalled("/jobs/a", 8, BEGIN);
	fixture.look.begin_ns = BEGIN + 1; /* the job was started again */
	see_nothing();
	check_recalled("/jobs/a", 7, BEGIN + HOUR);
}

static void ranks_are_recalled_while_another_run_writes_its_verdict(void **unused)
{
	(void)unused;
	fixture.look.begin_ns = BEGIN - HOUR;
	fixture.look.end_ns = BEGIN;
	fixture.look.n_ranks_seen = 16;
	see_nothing();
	assert_int_equal(fsl_state_begin(fixture.state, NULL), FSL_OK);
	check_recalled("/jobs/a", 16, BEGIN);
	assert_int_equal(fsl_state_settle(fixture.state, true, NULL), FSL_OK);
}

static void no_ranks_are_recalled_without_a_file(void **unused)
{
	(void)unused;
	struct fsl_seen_ranks seen = {.n = 99};
	fsl_state_recall_ranks(&seen, "/nowhere/at/all.db", "/jobs/a");
	assert_int_equal(seen.n, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_small_loss_opens_when_the_second_run_sees_it),
		CASE(what_one_run_alone_saw_is_no_incident),
		CASE(a_great_loss_and_a_hang_open_at_once),
		CASE(it_clears_once_after_two_clean_runs_and_is_told_twice),
		CASE(runs_that_cannot_tell_and_runs_of_fewer_ranks_clear_nothing),
		CASE(a_problem_that_comes_back_between_clean_runs_stays_open),
		CASE(a_job_that_ended_clears_at_once),
		CASE(a_loss_that_doubles_or_halves_is_an_update),
		CASE(ranks_that_a_restart_renumbers_are_the_same_incident),
		CASE(another_device_and_another_job_are_other_incidents),
		CASE(a_slow_job_that_a_rank_explains_later_is_the_same_incident),
		CASE(a_hang_tells_nothing_about_a_slow_rank),
		CASE(the_third_opening_of_a_day_is_held_for_a_day),
		CASE(a_run_that_looks_at_an_older_moment_changes_nothing),
		CASE(a_run_that_is_not_settled_leaves_no_trace),
		CASE(a_host_with_many_incidents_stands_out_of_its_fleet),
		CASE(a_fleet_without_a_bad_host_names_none),
		CASE(an_edge_waits_for_each_channel_until_it_is_taken),
		CASE(a_run_without_memory_keeps_nothing),
		CASE(a_later_run_recalls_the_most_ranks_of_its_job),
		CASE(ranks_are_recalled_while_another_run_writes_its_verdict),
		CASE(no_ranks_are_recalled_without_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
