/* Tables of operations: columns by name, rows that are none, files that are no such table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/optable/op_table_file.h"

static char path[] = "/tmp/op-table-XXXXXX";

static enum fsl_status read_text(struct fsl_op_table *table, const char *text, bool *is_one)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	*is_one = fsl_op_table_is_file(path);
	*table = (struct fsl_op_table){0};
	return fsl_op_table_read(table, path, NULL);
}

static int setup(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd >= 0 ? close(fd) : 1;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void columns_are_found_by_their_names(void **state)
{
	(void)state;
	struct fsl_op_table table;
	bool is_one = false;
	assert_int_equal(
		read_text(
			&table,
			"more,optype,dp_rank,stage,rank,step,seq_id,mc,mb_id,gmc,start_ts,duration\n"
			"x,forward-send,1,2,9,16,3,0,,7,2.5,1e-05\n"
			"y,gc,1.0,0,1,16,0.0,,,,1711964646.25,0\n",
			&is_one),
		FSL_OK);
	assert_true(is_one);
	assert_int_equal(table.n_rows, 2);
	assert_int_equal(table.n_dropped, 0);
	const struct fsl_op_row *row = &table.rows[0];
	assert_int_equal(row->type, FSL_OP_FORWARD_SEND);
	assert_int_equal(row->dp, 1);
	assert_int_equal(row->stage, 2);
	assert_int_equal(row->rank, 9);
	assert_int_equal(row->step, 16);
	assert_int_equal(row->seq, 3);
	assert_int_equal(row->chunk, 0);
	assert_int_equal(row->global_chunk, 7);
	assert_true(fabs(row->begin_s - 2.5) < 1e-12 && fabs(row->dur_s - 1e-5) < 1e-15);
	assert_int_equal(table.rows[1].chunk, -1);
	assert_true(fabs(table.rows[1].begin_s - 1711964646.25) < 1e-6);
	fsl_op_table_fini(&table);
}

static void rows_that_are_no_operations_are_counted(void **state)
{
	(void)state;
	struct fsl_op_table table;
	bool is_one = false;
	assert_int_equal(
		read_text(&table,
			  "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n"
			  "0,0,0,1,optimizer,1,2,0,0,0,0\n"
			  "0,0,0,1,data-loading,1,2,0,0,0,0\n"
			  "0,-1,0,1,optimizer,1,2,0,0,0,0\n"
			  "0,0,0,1,optimizer,nan,2,0,0,0,0\n"
			  "0,0,0,1,optimizer,1,-2,0,0,0,0\n"
			  "0,0,0.5,1,optimizer,1,2,0,0,0,0\n"
			  "0,0,0,99999999999,optimizer,1,2,0,0,0,0\n"
			  "0,0\n",
			  &is_one),
		FSL_OK);
	assert_int_equal(table.n_rows, 1);
	assert_int_equal(table.n_dropped, 7);
	assert_int_equal(table.dropped_line, 3);
	fsl_op_table_fini(&table);
}

static void other_files_are_no_such_table(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "kernel,t1,t2\n1,2,3\n", "{\"traceEvents\": []}",
					    "dp_rank,stage,rank,step,optype,start_ts\n"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct fsl_op_table table;
		bool is_one = true;
		assert_int_equal(read_text(&table, texts[i], &is_one), FSL_ERR_INPUT);
		assert_false(is_one);
		fsl_op_table_fini(&table);
	}
	assert_false(fsl_op_table_is_file("/nowhere"));
	struct fsl_op_table table;
	bool is_one = false;
	assert_int_equal(
		read_text(&table,
			  "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n",
			  &is_one),
		FSL_ERR_INPUT);
	assert_true(is_one);
	fsl_op_table_fini(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found_by_their_names),
		cmocka_unit_test(rows_that_are_no_operations_are_counted),
		cmocka_unit_test(other_files_are_no_such_table),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
