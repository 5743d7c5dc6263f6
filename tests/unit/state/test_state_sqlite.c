/* Alarm history in SQLite: incidents, damaged and foreign files, overlapping runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/log.h"
#include "base/number.h"
#include "state/state.h"

#define MINUTE (INT64_C(60) * FSL_NS_PER_S)
#define DAY    (INT64_C(24) * 60 * MINUTE)
#define NOW    (INT64_C(1750000000) * FSL_NS_PER_S)

enum { RANKS_MAX = 8, PATH_BYTES = 256 };
static const double LOOK_BACK_MINS = 20.0;

struct fixture {
	char folder[64];
	char path[PATH_BYTES];
	struct fsl_state *state;
	struct fsl_error err;
	struct fsl_localisation localisation;
	struct fsl_culprit culprits[RANKS_MAX];
	struct fsl_detail details[RANKS_MAX];
};

static struct fixture fixture;

static int setup(void **state)
{
	fixture = (struct fixture){.folder = "/tmp/fsl_state_XXXXXX"};
	(void)umask(022); /* a folder that others may write is not used */
	assert_non_null(mkdtemp(fixture.folder));
	(void)snprintf(fixture.path, sizeof(fixture.path), "%s/sub/state.db", fixture.folder);
	fsl_localisation_init(&fixture.localisation);
	fixture.localisation.kind = FSL_VERDICT_SLOW_RANK;
	fixture.localisation.reason = "rank 3 is slow";
	fixture.localisation.culprits = fixture.culprits;
	fixture.localisation.abnormal = fixture.details;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	static const char *const names[] = {"", "-journal", ".damaged-1", ".damaged-2",
					    ".damaged-1-journal"};
	fsl_state_close(fixture.state);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_BYTES + 32];
		(void)snprintf(path, sizeof(path), "%s%s", fixture.path, names[i]);
		(void)unlink(path);
	}
	char folder[PATH_BYTES];
	(void)snprintf(folder, sizeof(folder), "%s/sub", fixture.folder);
	(void)rmdir(folder);
	return rmdir(fixture.folder);
}

static void add_culprit(int32_t rank, enum fsl_cause cause)
{
	struct fsl_culprit *culprit = &fixture.culprits[fixture.localisation.n_culprits++];
	*culprit = fsl_culprit_of(rank);
	culprit->cause = cause;
}

static void add_lack(int32_t rank)
{
	fixture.details[fixture.localisation.n_abnormal++] =
		(struct fsl_detail){.rank = rank, .method = FSL_METHOD_LACK, .is_abnormal = true};
}

static void open_state(void)
{
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	assert_int_equal(fsl_state_open(&fixture.state, fixture.path, &fixture.err), FSL_OK);
}

/* True when the alarm is suppressed; *since_ns as reported. */
static bool check_at(int64_t now_ns, double look_back_mins, int64_t *since_ns)
{
	struct fsl_alarm alarm = {.is_suppressed = false};
	assert_int_equal(fsl_state_check_alarm(fixture.state, "/job", &fixture.localisation, now_ns,
					       look_back_mins, &alarm, &fixture.err),
			 FSL_OK);
	assert_int_equal(fsl_state_settle(fixture.state, true, &fixture.err), FSL_OK);
	*since_ns = alarm.since_ns;
	return alarm.is_suppressed;
}

static int64_t query(const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *statement = NULL;
	assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	int64_t value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

/* The file has tables from its first record on. */
static int64_t count_alarms(void)
{
	int64_t n_tables = query("SELECT count(*) FROM sqlite_master WHERE name = 'alarms'");
	return n_tables > 0 ? query("SELECT count(*) FROM alarms") : 0;
}

static void execute(const char *sql)
{
	sqlite3 *db = NULL;
	assert_int_equal(sqlite3_open(fixture.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void first_alarm_is_new_and_the_next_is_suppressed(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW);
	open_state(); /* the next cron run */
	assert_true(check_at(NOW + 10 * MINUTE, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW);
	assert_int_equal(query("SELECT count(*) FROM alarms"), 1);
}

static void alarm_exactly_look_back_ago_does_not_suppress(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_false(check_at(NOW + 20 * MINUTE, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW + 20 * MINUTE);
	assert_true(check_at(NOW + 40 * MINUTE - 1, LOOK_BACK_MINS, &since_ns));
}

static void incident_that_is_seen_all_along_keeps_its_begin(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	int n_alarms = 0;
	for (int64_t minute = 0; minute <= 60; minute += 10) {
		n_alarms += check_at(NOW + minute * MINUTE, LOOK_BACK_MINS, &since_ns) ? 0 : 1;
		assert_int_equal(since_ns, NOW);
	}
	assert_int_equal(n_alarms, 4); /* at 0, 20, 40, 60 minutes */
}

static void incident_that_ended_begins_anew(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 10 * MINUTE, LOOK_BACK_MINS, &since_ns));
	assert_false(check_at(NOW + 31 * MINUTE, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW + 31 * MINUTE);
}

static void other_culprit_cause_or_kind_is_another_incident(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	fixture.culprits[0].rank = 4;
	assert_false(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	fixture.culprits[0].cause = FSL_CAUSE_HOST;
	assert_false(check_at(NOW + 2, LOOK_BACK_MINS, &since_ns));
	fixture.culprits[0].peer = 5;
	assert_false(check_at(NOW + 3, LOOK_BACK_MINS, &since_ns));
	fixture.localisation.kind = FSL_VERDICT_SLOW_HOST;
	assert_false(check_at(NOW + 4, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 5, LOOK_BACK_MINS, &since_ns));
}

static void order_of_culprits_does_not_matter(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(6, FSL_CAUSE_NETWORK);
	add_culprit(2, FSL_CAUSE_NETWORK);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	fixture.localisation.n_culprits = 0;
	add_culprit(2, FSL_CAUSE_NETWORK);
	add_culprit(6, FSL_CAUSE_NETWORK);
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(query("SELECT key = '/job|2:network:-1,6:network:-1' FROM alarms"), 1);
}

static void look_back_of_zero_never_suppresses(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, 0.0, &since_ns));
	assert_false(check_at(NOW, 0.0, &since_ns));
	assert_int_equal(query("SELECT count(*) FROM alarms"), 2);
}

static void alarm_of_the_future_does_not_suppress(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_false(check_at(NOW - MINUTE, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW - MINUTE);
}

static void verdict_without_culprits_is_not_recorded(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	fixture.localisation.kind = FSL_VERDICT_NORMAL;
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_false(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, FSL_NS_ABSENT);
	assert_int_equal(count_alarms(), 0);
}

static void a_hanging_job_without_culprits_is_one_incident(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	fixture.localisation.kind = FSL_VERDICT_HANG;
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW);
	fixture.localisation.kind = FSL_VERDICT_JOB_SLOWDOWN;
	assert_false(check_at(NOW + 2, LOOK_BACK_MINS, &since_ns));
}

static void ranks_of_the_classical_points_are_an_incident(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	fixture.localisation.kind = FSL_VERDICT_SLOW_RANK;
	add_lack(6);
	fixture.details[0].method = FSL_METHOD_SPACE;
	add_lack(5);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(query("SELECT key = '/job|slow:6lack:5' FROM alarms"), 1);
}

static void ranks_without_data_are_an_incident(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_lack(6);
	add_lack(5);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(query("SELECT key = '/job|lack:5,6' FROM alarms"), 1);
	add_lack(7);
	assert_false(check_at(NOW + 2, LOOK_BACK_MINS, &since_ns));
}

static void records_not_seen_for_90_days_are_removed(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	fixture.culprits[0].rank = 4;
	assert_false(check_at(NOW + 90 * DAY, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(query("SELECT count(*) FROM alarms"), 2);
	assert_false(check_at(NOW + 90 * DAY + 1, 0.0, &since_ns));
	assert_int_equal(query("SELECT count(*) FROM alarms WHERE key LIKE '%|3:%'"), 0);
}

static void text_of_the_verdict_is_kept_as_it_is(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	fixture.localisation.reason = "it's '; DROP TABLE alarms; --";
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(query("SELECT text = 'it''s ''; DROP TABLE alarms; --' FROM alarms"), 1);
}

static void write_file(const char *path, const char *bytes, size_t n_bytes, long offset)
{
	FILE *file = fopen(path, offset == 0 ? "wb" : "r+b");
	assert_non_null(file);
	assert_int_equal(fseek(file, offset, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

static void check_set_aside(int number)
{
	char path[PATH_BYTES + 32];
	(void)snprintf(path, sizeof(path), "%s.damaged-%d", fixture.path, number);
	assert_int_equal(access(path, F_OK), 0);
}

static void damaged_file_is_set_aside_and_a_new_one_made(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	char text[4096];
	memset(text, 'x', sizeof(text));
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	for (int number = 1; number <= 2; number++) {
		fsl_state_close(fixture.state);
		fixture.state = NULL;
		write_file(fixture.path, text, sizeof(text), 0);
		open_state();
		check_set_aside(number);
		assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
		assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	}
}

/* SQLite says that memory is short for it. */
static void a_row_that_claims_all_memory_is_damage(void **state)
{
	static const struct {
		size_t at;
		const char *bytes;
	} parts[] = {
		{0, "SQLite format 3"},
		{16, "\x02"},
		{21, "\x40\x20\x20"},
		{100, "\x05"},
		{111, "\x10"},
		{7680, "\x0d"},
		{7684, "\x04"},
		{7688, "\x01"},
		{7689, "\x8f"},
		{7691, "\x3c"},
		{7693, "\xef"},
		{7695, "\x83"},
		{8079, "\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
		{8089, "\x49"},
	};
	(void)state;
	int64_t since_ns = 0;
	char text[8705] = {0};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		memcpy(text + parts[i].at, parts[i].bytes, strlen(parts[i].bytes));
	}
	open_state();
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	write_file(fixture.path, text, sizeof(text), 0);
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	check_set_aside(1);
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
}

static void damage_inside_a_page_is_found_on_opening(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	char text[2000];
	memset(text, 0x5a, sizeof(text));
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	write_file(fixture.path, text, sizeof(text), 4096);
	open_state();
	check_set_aside(1);
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
}

/* A power cut may lose some pages of a transaction: here the page of the index. */
static void an_index_that_missed_a_write_is_found_on_opening(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	char page[4096];
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	long at = 4096 *
		  (query("SELECT rootpage FROM sqlite_master WHERE name = 'alarms_by_key'") - 1);
	FILE *file = fopen(fixture.path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fread(page, 1, sizeof(page), file), sizeof(page));
	assert_int_equal(fclose(file), 0);
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	write_file(fixture.path, page, sizeof(page), at);
	open_state();
	check_set_aside(1);
	assert_false(check_at(NOW + 2, LOOK_BACK_MINS, &since_ns));
}

static void empty_file_is_used(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	write_file(fixture.path, "", 0, 0);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
}

static void a_run_that_ends_before_its_verdict_alarmed_nobody(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	struct fsl_alarm alarm = {.is_suppressed = true};
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_int_equal(fsl_state_check_alarm(fixture.state, "/job", &fixture.localisation, NOW,
					       LOOK_BACK_MINS, &alarm, &fixture.err),
			 FSL_OK);
	assert_false(alarm.is_suppressed);
	open_state(); /* without a word */
	assert_false(fsl_state_check_alarm(fixture.state, "/job", &fixture.localisation, NOW,
					   LOOK_BACK_MINS, &alarm, &fixture.err) != FSL_OK ||
		     alarm.is_suppressed);
	assert_int_equal(fsl_state_settle(fixture.state, false, &fixture.err), FSL_OK);
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	open_state();
	assert_true(check_at(NOW, LOOK_BACK_MINS, &since_ns));
}

static void a_new_file_whose_first_alarm_nobody_saw_takes_the_next(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	struct fsl_alarm alarm = {.is_suppressed = true};
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fsl_state_check_alarm(fixture.state, "/job", &fixture.localisation,
						       NOW, LOOK_BACK_MINS, &alarm, &fixture.err),
				 FSL_OK);
		assert_int_equal(fsl_state_settle(fixture.state, false, &fixture.err), FSL_OK);
		assert_int_equal(count_alarms(), 0);
	}
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
}

static void two_runs_that_found_an_empty_file_share_its_tables(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	struct fsl_state *other = NULL;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_int_equal(fsl_state_open(&other, fixture.path, &fixture.err), FSL_OK);
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	struct fsl_state *first = fixture.state;
	fixture.state = other;
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW);
	fsl_state_close(first);
}

static void check_refused(enum fsl_status status, const char *part)
{
	struct fsl_state *refused = NULL;
	fsl_error_clear(&fixture.err);
	assert_int_equal(fsl_state_open(&refused, fixture.path, &fixture.err), status);
	assert_null(refused);
	assert_non_null(strstr(fsl_error_root(&fixture.err), part));
	assert_non_null(strstr(fsl_error_root(&fixture.err), fixture.folder));
}

static void database_of_another_program_is_left_alone(void **state)
{
	(void)state;
	open_state();
	execute("CREATE TABLE theirs (a); PRAGMA application_id = 7;");
	check_refused(FSL_ERR_CONFIG, "another program");
	/* Nor once it was opened while the file was empty. */
	struct fsl_alarm alarm = {.is_suppressed = false};
	add_culprit(3, FSL_CAUSE_COMPUTE);
	assert_int_equal(fsl_state_check_alarm(fixture.state, "/job", &fixture.localisation, NOW,
					       LOOK_BACK_MINS, &alarm, &fixture.err),
			 FSL_ERR_CONFIG);
	assert_int_equal(query("SELECT count(*) FROM sqlite_master WHERE name = 'alarms'"), 0);
}

static void a_file_of_the_version_before_keeps_its_alarms_and_nothing_else(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	execute("CREATE TABLE kept (root TEXT PRIMARY KEY, bytes BLOB); "
		"INSERT INTO kept VALUES ('/a', zeroblob(100000)); PRAGMA user_version = 2;");
	open_state();
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(since_ns, NOW);
	assert_int_equal(query("SELECT count(*) FROM sqlite_master WHERE name = 'kept'"), 0);
	assert_int_equal(query("PRAGMA user_version"), 5);
}

/* Its jobs lack the newest time with so many ranks. */
static void a_file_of_version_4_gets_the_column_that_it_lacks(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
	execute("DROP TABLE jobs; CREATE TABLE jobs (job TEXT PRIMARY KEY, name TEXT NOT NULL, "
		"first_ns INTEGER NOT NULL, last_ns INTEGER NOT NULL, runs INTEGER NOT NULL, "
		"observed_ns INTEGER NOT NULL, ranks INTEGER NOT NULL) WITHOUT ROWID; "
		"INSERT INTO jobs VALUES ('/job', 'job', 1, 2, 3, 4, 5); PRAGMA user_version = 4;");
	struct fsl_seen_ranks seen = {.n = 99};
	fsl_state_recall_ranks(&seen, fixture.path, "/job");
	assert_int_equal(seen.n, 0);
	open_state();
	assert_true(check_at(NOW + 1, LOOK_BACK_MINS, &since_ns));
	assert_int_equal(query("PRAGMA user_version"), 5);
	assert_int_equal(query("SELECT ranks FROM jobs"), 5);
	assert_int_equal(query("SELECT ranks_ns FROM jobs"), 0);
	fsl_state_recall_ranks(&seen, fixture.path, "/job");
	assert_int_equal(seen.n, 0);
	execute("UPDATE jobs SET ranks_ns = 7");
	fsl_state_recall_ranks(&seen, fixture.path, "/job");
	assert_int_equal(seen.n, 5);
	assert_int_equal(seen.until_ns, 7);
	execute("UPDATE jobs SET ranks = 1 << 40"); /* no job has so many */
	fsl_state_recall_ranks(&seen, fixture.path, "/job");
	assert_int_equal(seen.n, 0);
}

static void file_of_a_newer_version_is_left_alone(void **state)
{
	(void)state;
	open_state();
	execute("PRAGMA user_version = 99;");
	check_refused(FSL_ERR_CONFIG, "newer");
}

static void path_that_cannot_be_a_file_is_an_error_with_remedy(void **state)
{
	(void)state;
	(void)snprintf(fixture.path, sizeof(fixture.path), "%s/sub", fixture.folder);
	assert_int_equal(mkdir(fixture.path, 0700), 0);
	check_refused(FSL_ERR_IO, "name another");
	(void)snprintf(fixture.path, sizeof(fixture.path), "%s/sub/state.db", fixture.folder);
}

static void file_without_permission_is_an_error_with_remedy(void **state)
{
	(void)state;
	if (geteuid() == 0) {
		print_message("root may write everything: not tested\n");
		skip();
	}
	open_state();
	assert_int_equal(chmod(fixture.path, 0444), 0);
	check_refused(FSL_ERR_IO, "name another");
}

/* Runs at once, each in a process of its own; returns how many of them alarm. */
static int alarms_of_runs_at_once(void)
{
	enum { RUNS = 8 };
	pid_t runs[RUNS];
	int n_alarms = 0;
	for (int i = 0; i < RUNS; i++) {
		runs[i] = fork();
		assert_true(runs[i] >= 0);
		if (runs[i] == 0) {
			struct fsl_state *own = NULL;
			struct fsl_alarm alarm = {.is_suppressed = false};
			bool is_ok =
				fsl_state_open(&own, fixture.path, NULL) == FSL_OK &&
				fsl_state_check_alarm(own, "/job", &fixture.localisation, NOW,
						      LOOK_BACK_MINS, &alarm, NULL) == FSL_OK &&
				fsl_state_settle(own, true, NULL) == FSL_OK;
			fsl_state_close(own);
			_exit(!is_ok ? 2 : alarm.is_suppressed ? 0 : 1);
		}
	}
	for (int i = 0; i < RUNS; i++) {
		int result = 0;
		assert_int_equal(waitpid(runs[i], &result, 0), runs[i]);
		assert_true(WIFEXITED(result));
		assert_true(WEXITSTATUS(result) < 2);
		n_alarms += WEXITSTATUS(result);
	}
	return n_alarms;
}

static void lock_held_by_another_run_is_waited_for(void **state)
{
	(void)state;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	assert_int_equal(alarms_of_runs_at_once(), 1);
}

static void runs_that_find_no_file_make_one_together(void **state)
{
	(void)state;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state(); /* the folder */
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	for (int round = 0; round < 50 / FSL_TEST_COST; round++) {
		assert_int_equal(unlink(fixture.path), 0);
		assert_int_equal(alarms_of_runs_at_once(), 1);
	}
}

static void runs_that_find_the_same_damage_lose_no_alarm(void **state)
{
	(void)state;
	int64_t since_ns = 0;
	char text[4096];
	memset(text, 'x', sizeof(text));
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	fsl_state_close(fixture.state);
	fixture.state = NULL;
	write_file(fixture.path, text, sizeof(text), 0);
	enum { RUNS = 6 };
	pid_t runs[RUNS];
	for (int i = 0; i < RUNS; i++) {
		runs[i] = fork();
		assert_true(runs[i] >= 0);
		if (runs[i] == 0) {
			struct fsl_state *own = NULL;
			bool is_ok = fsl_state_open(&own, fixture.path, NULL) == FSL_OK;
			fsl_state_close(own);
			_exit(is_ok ? 0 : 1);
		}
	}
	for (int i = 0; i < RUNS; i++) {
		int result = 0;
		assert_int_equal(waitpid(runs[i], &result, 0), runs[i]);
		assert_int_equal(result, 0);
	}
	char path[PATH_BYTES + 32];
	(void)snprintf(path, sizeof(path), "%s.damaged-2", fixture.path);
	assert_int_not_equal(access(path, F_OK), 0);
	open_state();
	assert_false(check_at(NOW, LOOK_BACK_MINS, &since_ns));
}

static void failed_allocations_are_reported(void **state)
{
	(void)state;
	add_culprit(3, FSL_CAUSE_COMPUTE);
	open_state();
	struct fsl_state *other = NULL;
	struct fsl_alarm alarm = {.is_suppressed = false};
	fsl_mem_fail_at(1);
	enum fsl_status opened = fsl_state_open(&other, fixture.path, NULL);
	fsl_mem_fail_at(1);
	enum fsl_status checked = fsl_state_check_alarm(
		fixture.state, "/job", &fixture.localisation, NOW, LOOK_BACK_MINS, &alarm, NULL);
	fsl_mem_fail_at(0);
	assert_int_equal(opened, FSL_ERR_MEMORY);
	assert_int_equal(checked, FSL_ERR_MEMORY);
	assert_int_equal(count_alarms(), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	fsl_log_set_level(FSL_LOG_ERROR);
	const struct CMUnitTest tests[] = {
		CASE(first_alarm_is_new_and_the_next_is_suppressed),
		CASE(alarm_exactly_look_back_ago_does_not_suppress),
		CASE(incident_that_is_seen_all_along_keeps_its_begin),
		CASE(incident_that_ended_begins_anew),
		CASE(other_culprit_cause_or_kind_is_another_incident),
		CASE(order_of_culprits_does_not_matter),
		CASE(look_back_of_zero_never_suppresses),
		CASE(alarm_of_the_future_does_not_suppress),
		CASE(verdict_without_culprits_is_not_recorded),
		CASE(a_hanging_job_without_culprits_is_one_incident),
		CASE(ranks_of_the_classical_points_are_an_incident),
		CASE(ranks_without_data_are_an_incident),
		CASE(records_not_seen_for_90_days_are_removed),
		CASE(text_of_the_verdict_is_kept_as_it_is),
		CASE(damaged_file_is_set_aside_and_a_new_one_made),
		CASE(a_row_that_claims_all_memory_is_damage),
		CASE(damage_inside_a_page_is_found_on_opening),
		CASE(an_index_that_missed_a_write_is_found_on_opening),
		CASE(empty_file_is_used),
		CASE(a_run_that_ends_before_its_verdict_alarmed_nobody),
		CASE(a_new_file_whose_first_alarm_nobody_saw_takes_the_next),
		CASE(two_runs_that_found_an_empty_file_share_its_tables),
		CASE(database_of_another_program_is_left_alone),
		CASE(a_file_of_the_version_before_keeps_its_alarms_and_nothing_else),
		CASE(a_file_of_version_4_gets_the_column_that_it_lacks),
		CASE(file_of_a_newer_version_is_left_alone),
		CASE(path_that_cannot_be_a_file_is_an_error_with_remedy),
		CASE(file_without_permission_is_an_error_with_remedy),
		CASE(lock_held_by_another_run_is_waited_for),
		CASE(runs_that_find_no_file_make_one_together),
		CASE(runs_that_find_the_same_damage_lose_no_alarm),
		CASE(failed_allocations_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
