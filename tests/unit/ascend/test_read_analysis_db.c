/* analysis.db: the same rows as from the text files, and reports on broken ones. */
#include "one_database_folder.h"

static void a_step_has_the_times_of_the_text_file(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_STEPS "INSERT INTO StepTraceTime VALUES (4, '13', 230903.72,"
				    " 441708.38, -1e-9, 441708.38, 136819.56, 809431.66, 0,"
				    " 441708.38, NULL)");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	const struct fsl_profile_step *step = &rank->steps[0];
	assert_int_equal(step->step, 13);
	assert_int_equal(step->device_id, 4);
	assert_int_equal(step->computing_ns, 230903720);
	assert_int_equal(step->exposed_ns, 441708380);
	assert_int_equal(step->overlapped_ns, 0);
	assert_int_equal(step->free_ns, 136819560);
	assert_int_equal(step->stage_ns, 809431660);
	assert_int_equal(step->preparing_ns, FSL_NS_ABSENT);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_READ);
	assert_true(rank->has_db);
}

static void several_devices_are_no_steps_of_one(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_STEPS "INSERT INTO StepTraceTime VALUES"
				    " (2, NULL, 75.7, 0, 0, 0, 271016.8, 271092.5, 0, 0, 0),"
				    " (3, NULL, 72.7, 0, 0, 0, 255711.6, 255784.2, 0, 0, 0),"
				    " (5, NULL, 73.3, 0, 0, 0, 218716.6, 218790.0, 0, 0, 0)");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].device_id, 2);
	assert_int_equal(rank->steps[0].computing_ns, 75700);
	assert_non_null(strstr(database_file(&folder, "analysis.db")->message, "a second device"));
}

static void columns_may_be_missing_and_in_any_order(void **state)
{
	(void)state;
	database_sql(&folder, "communication_analyzer.db",
		     "CREATE TABLE StepTraceTime (free TEXT, Computing TEXT,"
		     " communication_not_overlapped TEXT);"
		     "INSERT INTO StepTraceTime VALUES ('1.5', '2.25', '3')");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].step, FSL_STEP_ABSENT);
	assert_int_equal(rank->steps[0].device_id, -1);
	assert_int_equal(rank->steps[0].computing_ns, 2250);
	assert_int_equal(rank->steps[0].free_ns, 1500);
	assert_int_equal(rank->steps[0].stage_ns, FSL_NS_ABSENT);
}

static void a_table_without_a_needed_column_is_told(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     "CREATE TABLE StepTraceTime (step TEXT, computing NUMERIC);"
		     "INSERT INTO StepTraceTime VALUES ('1', 2)");
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, "analysis.db");
	assert_int_equal(rank->n_steps, 0);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_non_null(strstr(file->message, "communication_not_overlapped"));
}

static void text_where_a_number_is_expected_costs_its_row(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_STEPS "INSERT INTO StepTraceTime VALUES"
				    " (0, '1', 'x', 1, 1, 1, 1, 1, 1, 1, 1),"
				    " (0, '2', x'00ff', 1, 1, 1, 1, 1, 1, 1, 1),"
				    " (0, '3', 9e999, 1, 1, 1, 1, 1, 1, 1, 1),"
				    " (0, '4', 9223372036854775807, 1, 1, 1, 1, 1, 1, 1, 1),"
				    " ('y', '5', 7, 1, 1, 1, 1, 'z', 1, 1, 1)");
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, "analysis.db");
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].step, 5);
	assert_int_equal(rank->steps[0].stage_ns, FSL_NS_ABSENT);
	assert_int_equal(file->n_records, 5);
	assert_int_equal(file->n_dropped[FSL_DROP_MALFORMED], 4);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
}

static void an_operator_has_its_traffic_and_packets(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_COMMS
		     "INSERT INTO CommAnalyzerTime VALUES"
		     " ('hcom_send__1_1_1', '7', 2000, 1, 1, 0, 0, 0, 'step50', 'p2p'),"
		     " ('hcom_allReduce__210_0_1', '17148521525495523210', 1736410576431645.2,"
		     "  88.75099321875, 0.22856459375, 3.56889128125, 3.51773028125,"
		     "  84.95353734375, 'step50', 'collective'),"
		     " ('Total Op Info', '', 0, 1, 1, 1, 1, 1, 'step50', 'collective');"
		     "INSERT INTO CommAnalyzerBandwidth VALUES"
		     " ('hcom_allReduce__210_0_1', '17148521525495523210', 'SDMA', 3.5, 2, 15.7,"
		     "  0, 0, 0, 0, 'step50', 'collective'),"
		     " ('hcom_allReduce__210_0_1', '17148521525495523210', 'HCCS', 3.5, 2, 15.7,"
		     "  0, 2.064384, 12, 1.5, 'step50', 'collective'),"
		     " ('hcom_allReduce__210_0_1', '17148521525495523210', 'HCCS', 3.5, 2, 15.7,"
		     "  0, 1.5, 2, 0.5, 'step50', 'collective'),"
		     " ('hcom_allReduce__210_0_1', '17148521525495523210', 'RDMA', 0, 0, 0,"
		     "  0, 0, 0, 0, 'step50', 'collective'),"
		     " ('nobody', '7', 'HCCS', 1, 1, 1, 0, 1, 1, 1, 'step50', 'p2p')");
	database_read(&folder);
	assert_int_equal(rank->n_comms, 2);
	assert_true(rank->comms[0].is_p2p); /* sorted by begin */
	assert_int_equal(rank->comms[0].n_traffic, 0);
	const struct fsl_profile_comm *comm = &rank->comms[1];
	assert_string_equal(reading_name(&folder.reading, comm->name_id),
			    "hcom_allReduce__210_0_1");
	assert_string_equal(reading_name(&folder.reading, comm->group_id), "17148521525495523210");
	assert_int_equal(comm->step, 50);
	assert_int_equal(comm->begin_ns, INT64_C(1736410576431645200));
	assert_int_equal(comm->elapse_ns, 88750993);
	assert_int_equal(comm->elapse_ps, 219);
	assert_int_equal(comm->sync_ns, 3517730);
	assert_int_equal(comm->sync_ps, 281);
	assert_int_equal(comm->n_traffic, 2);
	assert_int_equal(rank->n_traffic, 2);
	const struct fsl_profile_traffic *traffic = &rank->traffic[comm->traffic_begin];
	assert_int_equal(traffic->transport, FSL_TRANSPORT_HCCS);
	assert_int_equal(traffic->n_bytes, 3500000);
	assert_int_equal(traffic->n_packets, 2);
	assert_int_equal(traffic[1].transport, FSL_TRANSPORT_SDMA);
	assert_int_equal(traffic[1].n_packets, 0);
	int64_t sum = rank->packets[traffic->packets_begin].n_bytes +
		      rank->packets[traffic->packets_begin + 1].n_bytes;
	assert_int_equal(sum, 2064384 + 1500000);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_READ);
}

static void only_wanted_steps_are_read(void **state)
{
	(void)state;
	static const int64_t wanted[] = {14};
	database_sql(&folder, "analysis.db",
		     DATABASE_STEPS "INSERT INTO StepTraceTime VALUES"
				    " (0, '13', 1, 1, 1, 1, 1, 1, 1, 1, 1),"
				    " (0, 'step14', 2, 1, 1, 1, 1, 1, 1, 1, 1)");
	folder.reading.steps = wanted;
	folder.reading.n_steps = 1;
	database_read(&folder);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].computing_ns, 2000);
}

static void text_is_used_where_both_tell_of_a_step(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_STEPS "INSERT INTO StepTraceTime VALUES"
				    " (0, '13', 100, 20, 0, 20, 30, 150, 0, 20, 5),"
				    " (0, '14', 101, 21, 0, 21, 31, 153, 0, 21, 6)");
	reading_text(&folder.reading, fsl_profile_read_step_trace_time,
		     "Step,Computing,Communication(Not Overlapped),Free\n13,100.0004,20,30\n");
	database_read(&folder);
	assert_int_equal(rank->n_steps, 2);
	assert_int_equal(rank->steps[0].computing_ns, 100000);
	assert_int_equal(rank->steps[0].stage_ns, FSL_NS_ABSENT);
	assert_int_equal(rank->steps[1].step, 14);
	assert_int_equal(rank->steps[1].computing_ns, 101000);
	assert_int_equal(database_file(&folder, "analysis.db")->state, FSL_FILE_READ);
}

static void a_difference_to_the_text_is_told(void **state)
{
	(void)state;
	database_sql(&folder, "analysis.db",
		     DATABASE_STEPS "INSERT INTO StepTraceTime VALUES"
				    " (0, '13', 100, 20, 0, 20, 37, 150, 0, 20, 5)");
	reading_text(&folder.reading, fsl_profile_read_step_trace_time,
		     "Step,Computing,Communication(Not Overlapped),Free\n13,100,20,30\n");
	database_read(&folder);
	const struct fsl_file *file = database_file(&folder, "analysis.db");
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->steps[0].free_ns, 30000);
	assert_int_equal(file->state, FSL_FILE_PARTIAL);
	assert_non_null(strstr(file->message, "step=13, value=\"free\", before=30000, here=37000"));
}

/* Reads text, then the database beside it: nothing is added, nothing differs. */
static void check_union(const char *place)
{
	char name[256], path[512];
	(void)snprintf(name, sizeof(name), "%s/ASCEND_PROFILER_OUTPUT", place);
	(void)snprintf(path, sizeof(path), "%s/step_trace_time.csv", name);
	reading_shared(&folder.reading, fsl_profile_read_step_trace_time, path);
	(void)snprintf(path, sizeof(path), "%s/communication.json", name);
	reading_shared(&folder.reading, fsl_profile_read_communication, path);
	size_t n_comms = rank->n_comms, n_packets = rank->n_packets;
	assert_true(n_comms > 0);
	database_read_shared(&folder, name);
	const struct fsl_file *file = database_file(&folder, "analysis.db");
	assert_string_equal(file->message, "");
	assert_int_equal(file->state, FSL_FILE_READ);
	assert_int_equal(rank->n_steps, 1);
	assert_int_equal(rank->n_comms, n_comms);
	assert_int_equal(rank->n_packets, n_packets);
	assert_true(rank->n_links > 0);
}

static void real_text_and_database_tell_the_same(void **state)
{
	(void)state;
	for (int r = 0; r < 4; r++) {
		char place[64];
		(void)snprintf(place, sizeof(place), "insight-4rank-level2/rank_%d_ascend_pt", r);
		check_union(place);
		folder_teardown(NULL);
		folder_setup(NULL);
	}
}

static bool has_same_packets(const struct fsl_profile_rank *a, const struct fsl_profile_traffic *x,
			     const struct fsl_profile_rank *b, const struct fsl_profile_traffic *y)
{
	int64_t sums[2][3] = {{0}};
	for (size_t i = 0; i < x->n_packets; i++) {
		sums[0][0] += a->packets[x->packets_begin + i].count;
		sums[0][1] += a->packets[x->packets_begin + i].n_bytes;
		sums[0][2] += a->packets[x->packets_begin + i].time_ns;
	}
	for (size_t i = 0; i < y->n_packets; i++) {
		sums[1][0] += b->packets[y->packets_begin + i].count;
		sums[1][1] += b->packets[y->packets_begin + i].n_bytes;
		sums[1][2] += b->packets[y->packets_begin + i].time_ns;
	}
	return x->n_packets == y->n_packets && memcmp(sums[0], sums[1], sizeof(sums[0])) == 0;
}

/* All of the database's operators are those of communication.json, field by field. */
static void a_real_database_gives_the_operators_of_the_text(void **state)
{
	(void)state;
	const char *name = "insight-4rank-level2/rank_1_ascend_pt/ASCEND_PROFILER_OUTPUT";
	char path[256];
	struct reading text;
	(void)snprintf(path, sizeof(path), "%s/communication.json", name);
	database_read_shared(&folder, name);
	reading_begin(&text);
	reading_shared(&text, fsl_profile_read_communication, path);
	assert_int_equal(rank->n_comms, 15);
	assert_int_equal(text.rank.n_comms, 15);
	for (size_t i = 0; i < 15; i++) {
		const struct fsl_profile_comm *a = &rank->comms[i], *b = &text.rank.comms[i];
		assert_string_equal(reading_name(&folder.reading, a->name_id),
				    reading_name(&text, b->name_id));
		assert_string_equal(reading_name(&folder.reading, a->group_id),
				    reading_name(&text, b->group_id));
		assert_int_equal(a->is_p2p, b->is_p2p);
		assert_int_equal(a->begin_ns, b->begin_ns);
		assert_int_equal(a->elapse_ns, b->elapse_ns);
		assert_int_equal(a->elapse_ps, b->elapse_ps);
		assert_int_equal(a->transit_ns, b->transit_ns);
		assert_int_equal(a->wait_ns, b->wait_ns);
		assert_int_equal(a->idle_ns, b->idle_ns);
		assert_int_equal(a->idle_ps, b->idle_ps);
		assert_int_equal(a->n_traffic, b->n_traffic);
		for (size_t t = 0; t < a->n_traffic; t++) {
			const struct fsl_profile_traffic *x = &rank->traffic[a->traffic_begin + t];
			const struct fsl_profile_traffic *y =
				&text.rank.traffic[b->traffic_begin + t];
			assert_int_equal(x->transport, y->transport);
			assert_int_equal(x->n_bytes, y->n_bytes);
			assert_int_equal(x->time_ns, y->time_ns);
			assert_true(has_same_packets(rank, x, &text.rank, y));
		}
	}
	reading_end(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_step_has_the_times_of_the_text_file, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(several_devices_are_no_steps_of_one, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(columns_may_be_missing_and_in_any_order,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_table_without_a_needed_column_is_told,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(text_where_a_number_is_expected_costs_its_row,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(an_operator_has_its_traffic_and_packets,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(only_wanted_steps_are_read, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(text_is_used_where_both_tell_of_a_step,
						folder_setup, folder_teardown),
		cmocka_unit_test_setup_teardown(a_difference_to_the_text_is_told, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(real_text_and_database_tell_the_same, folder_setup,
						folder_teardown),
		cmocka_unit_test_setup_teardown(a_real_database_gives_the_operators_of_the_text,
						folder_setup, folder_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
