/* Processes in an export of Nsight Systems: which are ranks, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "source/kineto/nsys_workers.h"

/* Kernels of processes, each with a device; and ranks of MPI, -1: none. */
struct process {
	int number, n_kernels, device, rank;
};

static void run(sqlite3 *db, const char *statement)
{
	assert_int_equal(sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK);
}

static void list(struct fsl_nsys_workers *workers, const struct process *processes, size_t n)
{
	char path[64], text[256];
	sqlite3 *db = NULL;
	(void)snprintf(path, sizeof(path), "/tmp/failslow-workers-%ld.sqlite", (long)getpid());
	(void)unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	run(db, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (globalPid INT, deviceId INT)");
	run(db, "CREATE TABLE MPI_RANKS (globalTid INT, rank INT)");
	for (size_t i = 0; i < n; i++) {
		long long id = 0x110000LL << 40 | (long long)processes[i].number << 24;
		for (int k = 0; k < processes[i].n_kernels; k++) {
			(void)snprintf(text, sizeof(text),
				       "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%lld, %d)",
				       id, processes[i].device);
			run(db, text);
		}
		(void)snprintf(text, sizeof(text), "INSERT INTO MPI_RANKS VALUES (%lld, %d)",
			       id | 99, processes[i].rank);
		run(db, text);
	}
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_equal(fsl_nsys_workers_list(workers, path, NULL), FSL_OK);
	assert_int_equal(unlink(path), 0);
}

static struct fsl_nsys_workers workers;

static void expect(enum fsl_nsys_order order, const int *numbers, size_t n)
{
	assert_int_equal(workers.n, n);
	assert_int_equal(workers.order, order);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(workers.items[i].process & 0xffffff, numbers[i]);
	}
}

static void ranks_of_mpi_come_before_devices_and_these_before_numbers(void **state)
{
	(void)state;
	list(&workers, (struct process[]){{7, 3, 0, 1}, {5, 3, 1, 2}, {9, 3, 2, 0}}, 3);
	expect(FSL_NSYS_BY_RANK, (int[]){9, 7, 5}, 3);
	list(&workers, (struct process[]){{7, 3, 2, -1}, {5, 3, 1, 4}, {9, 3, 0, 6}}, 3);
	expect(FSL_NSYS_BY_DEVICE, (int[]){9, 5, 7}, 3);
	list(&workers, (struct process[]){{7, 3, 2, -1}, {5, 3, 1, -1}, {9, 3, 1, -1}}, 3);
	expect(FSL_NSYS_BY_NUMBER, (int[]){5, 7, 9}, 3);
}

static void a_rank_that_is_told_twice_tells_no_order(void **state)
{
	(void)state;
	list(&workers, (struct process[]){{8, 2, 1, 3}, {6, 2, 0, 3}}, 2);
	expect(FSL_NSYS_BY_DEVICE, (int[]){6, 8}, 2);
}

static void processes_of_few_kernels_are_helpers(void **state)
{
	(void)state;
	list(&workers, (struct process[]){{4, 1, 0, -1}, {6, 20, 1, -1}, {8, 2, 2, -1}}, 3);
	expect(FSL_NSYS_BY_DEVICE, (int[]){6, 8}, 2);
	list(&workers, (struct process[]){{4, 1, 0, -1}, {6, 19, 1, -1}, {8, 30, 2, -1}}, 3);
	expect(FSL_NSYS_BY_DEVICE, (int[]){6, 8}, 2);
}

static void a_file_that_is_no_database_has_no_processes(void **state)
{
	(void)state;
	assert_int_equal(fsl_nsys_workers_list(&workers, "/dev/null", NULL), FSL_OK);
	assert_int_equal(workers.n, 0);
	assert_int_equal(fsl_nsys_workers_list(&workers, "/tmp", NULL), FSL_OK);
	assert_int_equal(workers.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_mpi_come_before_devices_and_these_before_numbers),
		cmocka_unit_test(a_rank_that_is_told_twice_tells_no_order),
		cmocka_unit_test(processes_of_few_kernels_are_helpers),
		cmocka_unit_test(a_file_that_is_no_database_has_no_processes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
