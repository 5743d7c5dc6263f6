/* Sums of sysTrace's records of a host: who was off the processor, ready to run, and who had it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "host.pb-c.h"
#include "source/systrace/host_table.h"

static const uint64_t base_us = 1750000000000000; /* 2025-06-15 */
#define MS INT64_C(1000000)

/* A file in the making. */
struct writer {
	uint8_t bytes[16384];
	size_t n_bytes;
};

struct record {
	uint32_t tid, type;
	uint64_t start_us, dur_us; /* start: since base_us */
	uint64_t run_delay_ns;
	const char *name, *next;
	uint32_t next_pid, rank;
};

static void put(struct writer *writer, const struct record *record)
{
	HostCpuEntry entry = HOST_CPU_ENTRY__INIT;
	char name[32], next[32];
	(void)snprintf(name, sizeof(name), "%s", record->name);
	(void)snprintf(next, sizeof(next), "%s", record->next != NULL ? record->next : "");
	entry.key = record->tid;
	entry.type = record->type;
	entry.start_us = base_us + record->start_us;
	entry.dur_us = record->dur_us;
	entry.run_delay_ns = record->run_delay_ns;
	entry.rank = record->rank;
	entry.name = name;
	entry.next_name = next;
	entry.next_pid = record->next_pid;
	uint8_t packed[256];
	size_t n = host_cpu_entry__pack(&entry, packed);
	assert_true(n < 128 && writer->n_bytes + n + 2 <= sizeof(writer->bytes));
	writer->bytes[writer->n_bytes++] = 0x0a; /* field 1, bytes */
	writer->bytes[writer->n_bytes++] = (uint8_t)n;
	memcpy(writer->bytes + writer->n_bytes, packed, n);
	writer->n_bytes += n;
}

static void read_records(struct fsl_host_events *events, const struct record *records, size_t n,
			 const char *name)
{
	static struct writer writer;
	char path[] = "/tmp/host-table-XXXXXX";
	struct fsl_reader *reader = NULL;
	int file = mkstemp(path);
	writer.n_bytes = 0;
	for (size_t i = 0; i < n; i++) {
		put(&writer, &records[i]);
	}
	assert_true(file >= 0);
	assert_int_equal(write(file, writer.bytes, writer.n_bytes), writer.n_bytes);
	assert_int_equal(close(file), 0);
	assert_int_equal(fsl_reader_open(&reader, path, NULL), FSL_OK);
	assert_int_equal(fsl_host_read(events, reader, name, NULL), FSL_OK);
	fsl_reader_close(reader);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(events->n_cut, 0);
}

static void assert_sum(const struct fsl_off_cpu *sum, uint64_t n, int64_t off_ns, int64_t queue_ns)
{
	assert_int_equal(sum->n, n);
	assert_int_equal(sum->off_ns, off_ns);
	assert_int_equal(sum->queue_ns, queue_ns);
}

static void assert_occupant(const struct fsl_host_table *table,
			    const struct fsl_host_events *events, size_t i, const char *name,
			    uint32_t pid)
{
	assert_string_equal(fsl_strpool_text(events->names, table->occupants[i].name_id), name);
	assert_int_equal(table->occupants[i].pid, pid);
}

/* The delay grows by 38 ms from the first leave to the second, 2 ms to the third, 30 ms to the
 * last: each growth belongs to the interval before. */
static const struct record contended[] = {
	{4711, 4, 0, 40000, 5000000, "python3", "stress-ng", 9182, 2},
	{4711, 4, 50000, 10000, 43000000, "python3", "kworker/0:1", 17, 2},
	{4720, 4, 0, 100000, 7, "acl_thread", "swapper/0", 0, 2},
	{4711, 4, 100000, 30000, 45000000, "python3", "stress-ng", 9182, 2},
	{4711, 4, 140000, 1000, 75000000, "python3", "swapper/0", 0, 2},
	{4711, 0, 60000, 250, 0, "python3", NULL, 0, 2},
	{4720, 4, 200000, 1000, 8, "acl_thread", "swapper/0", 0, 2},
};

static void the_growth_of_the_delay_belongs_to_the_interval_before(void **state)
{
	struct fsl_host_events events;
	struct fsl_host_table table = {0};
	(void)state;
	assert_int_equal(fsl_host_events_init(&events, NULL), FSL_OK);
	read_records(&events, contended, sizeof(contended) / sizeof(contended[0]),
		     "os_trace_20250615_15_rank_2_4711.pb");
	assert_int_equal(fsl_host_table_build(&table, &events, NULL, NULL), FSL_OK);
	assert_int_equal(table.n_threads, 2);
	assert_int_equal(table.threads[0].rank, 2);
	assert_int_equal(table.threads[0].tid, 4711);
	assert_sum(&table.threads[0].sum, 4, 81 * MS, 70 * MS);
	assert_int_equal(table.threads[0].n_untold, 1);
	assert_int_equal(table.threads[0].n_faults, 1);
	assert_int_equal(table.threads[0].fault_ns, 250000);
	assert_int_equal(table.threads[0].end_ns - table.threads[0].begin_ns, 141 * MS);
	assert_int_equal(table.threads[1].tid, 4720);
	assert_sum(&table.threads[1].sum, 2, 101 * MS, 1);
	assert_int_equal(table.threads[0].n_occupants, 3);
	assert_occupant(&table, &events, 0, "stress-ng", 9182);
	assert_sum(&table.occupants[0].sum, 2, 70 * MS, 68 * MS);
	assert_occupant(&table, &events, 1, "kworker/0:1", 17);
	assert_sum(&table.occupants[1].sum, 1, 10 * MS, 2 * MS);
	assert_occupant(&table, &events, 2, "swapper/0", 0);
	assert_sum(&table.occupants[2].sum, 1, MS, 0);
	assert_int_equal(table.n_cells, 0);
	fsl_host_table_fini(&table);
	fsl_host_events_fini(&events);
}

/* Ready to run is the end of an interval: 38 ms from 2 to 40 ms, 2 ms from 58 to 60 ms, 30 ms from
 * 100 to 130 ms. Steps of 50 ms from 20 ms on. */
static void times_are_divided_among_steps(void **state)
{
	struct fsl_host_events events;
	struct fsl_host_table table = {0};
	const int64_t base_ns = (int64_t)base_us * 1000;
	struct fsl_job_step items[] = {
		{.step = 41, .begin_ns = base_ns + 20 * MS, .dur_ns = 50 * MS},
		{.step = 42, .begin_ns = base_ns + 70 * MS, .dur_ns = 50 * MS},
		{.step = 43, .begin_ns = base_ns + 120 * MS, .dur_ns = 50 * MS},
	};
	const struct fsl_steps steps = {.items = items, .n_items = 3};
	(void)state;
	assert_int_equal(fsl_host_events_init(&events, NULL), FSL_OK);
	read_records(&events, contended, 7, "os_trace_20250615_15_rank_2_4711.pb");
	assert_int_equal(fsl_host_table_build(&table, &events, &steps, NULL), FSL_OK);
	assert_int_equal(table.n_cells, 3);
	assert_int_equal(table.cells[0].step, 41);
	assert_sum(&table.cells[0].sum, 3, 20 * MS + 10 * MS + 50 * MS, 22 * MS);
	assert_occupant(&table, &events, table.cells[0].occupant, "stress-ng", 9182);
	assert_int_equal(table.cells[0].occupant_ns, 20 * MS);
	assert_int_equal(table.cells[1].step, 42);
	assert_sum(&table.cells[1].sum, 2, 20 * MS + 30 * MS, 20 * MS + 1);
	assert_int_equal(table.cells[1].occupant_ns, 20 * MS);
	assert_int_equal(table.cells[2].step, 43);
	assert_sum(&table.cells[2].sum, 2, 10 * MS + MS, 10 * MS);
	fsl_host_table_fini(&table);
	fsl_host_events_fini(&events);
}

/* A delay that exceeds its interval, one that falls, and the same thread number on another rank. */
static void delays_that_cannot_be_are_bounded(void **state)
{
	static const struct record first[] = {
		{5, 4, 0, 10, 1000, "a", "b", 6, 0},
		{5, 4, 100, 10, 12500, "a", "b", 6, 0},
		{5, 4, 200, 10, 100, "a", "b", 7, 0},
	};
	static const struct record other[] = {{5, 4, 0, 3000, 0, "c", NULL, 0, 1}};
	struct fsl_host_events events;
	struct fsl_host_table table = {0};
	(void)state;
	assert_int_equal(fsl_host_events_init(&events, NULL), FSL_OK);
	read_records(&events, first, 3, "os_trace_a_rank_0_5.pb");
	read_records(&events, other, 1, "os_trace_a_rank_1_5.pb");
	assert_int_equal(fsl_host_table_build(&table, &events, NULL, NULL), FSL_OK);
	assert_int_equal(table.n_threads, 2);
	assert_sum(&table.threads[0].sum, 3, 30000, 10000);
	assert_int_equal(table.threads[0].n_untold, 2);
	assert_int_equal(table.threads[0].n_occupants, 2);
	assert_sum(&table.threads[1].sum, 1, 3000000, 0);
	assert_int_equal(table.threads[1].n_occupants, 1);
	assert_int_equal(table.occupants[table.threads[1].first_occupant].name_id, FSL_STR_NONE);
	fsl_host_table_fini(&table);
	fsl_host_events_fini(&events);
}

/* The begin of a task that moved is paired with a later end: impossibly long. */
static void memory_management_on_one_processor_does_not_overlap(void **state)
{
	static const struct record records[] = {
		{1, 3, 0, 500, 0, "kswapd0", NULL, 0, 0},
		{1, 3, 100, 50, 0, "kswapd0", NULL, 0, 0},
		{2, 3, 120, 70, 0, "kswapd0", NULL, 0, 0},
		{1, 1, 0, 20, 0, "python3", NULL, 0, 0},
		{1, 2, 0, 9, 0, "kcompactd0", NULL, 0, 0},
	};
	struct fsl_host_events events;
	struct fsl_host_table table = {0};
	(void)state;
	assert_int_equal(fsl_host_events_init(&events, NULL), FSL_OK);
	read_records(&events, records, 5, "os_trace_a_rank_0_5.pb");
	read_records(&events, records, 1, "os_trace_b_rank_8_5.pb");
	assert_int_equal(fsl_host_table_build(&table, &events, NULL, NULL), FSL_OK);
	assert_int_equal(table.n_threads, 0);
	assert_int_equal(table.n_stalls, 5);
	assert_int_equal(table.stalls[0].kind, FSL_HOST_SWAP);
	assert_int_equal(table.stalls[0].sum_ns, 20000);
	assert_int_equal(table.stalls[1].kind, FSL_HOST_COMPACTION);
	assert_int_equal(table.stalls[2].kind, FSL_HOST_RECLAIM);
	assert_int_equal(table.stalls[2].n, 2);
	assert_int_equal(table.stalls[2].n_overlapping, 1);
	assert_int_equal(table.stalls[2].sum_ns, 150000);
	assert_int_equal(table.stalls[3].cpu, 2);
	assert_int_equal(table.stalls[3].sum_ns, 70000);
	assert_int_equal(table.stalls[4].file, 1);
	assert_int_equal(table.stalls[4].sum_ns, 500000);
	fsl_host_table_fini(&table);
	fsl_host_events_fini(&events);
}

static void without_records_the_table_is_empty(void **state)
{
	struct fsl_host_events events;
	struct fsl_host_table table = {0};
	(void)state;
	assert_int_equal(fsl_host_events_init(&events, NULL), FSL_OK);
	assert_int_equal(fsl_host_table_build(&table, &events, NULL, NULL), FSL_OK);
	assert_int_equal(table.n_threads + table.n_cells + table.n_stalls, 0);
	fsl_host_table_fini(&table);
	fsl_host_events_fini(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_growth_of_the_delay_belongs_to_the_interval_before),
		cmocka_unit_test(times_are_divided_among_steps),
		cmocka_unit_test(delays_that_cannot_be_are_bounded),
		cmocka_unit_test(memory_management_on_one_processor_does_not_overlap),
		cmocka_unit_test(without_records_the_table_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
