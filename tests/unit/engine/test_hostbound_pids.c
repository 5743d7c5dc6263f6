/* Processes of ranks: those of markers of the trace's host, and none that several ranks claim. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "engine/hostbound_parts.h"
#include "source/file_name.h"

enum { FILES_MAX = 8, PATH_BYTES = 128 };

static char g_folder[64];
static char g_paths[FILES_MAX][PATH_BYTES], g_trace_path[PATH_BYTES];
static struct fsl_rank_teller g_tellers[FILES_MAX];
static size_t g_n_tellers;
static struct fsl_host_trace g_trace;
static const char *g_trace_paths[] = {g_trace_path};
static const struct fsl_ftrace_trace g_trace_files = {g_trace_paths, 1, NULL};

static int set_up(void **state)
{
	(void)state;
	strcpy(g_folder, "/tmp/pidsXXXXXX");
	g_n_tellers = 0;
	g_trace = (struct fsl_host_trace){.files = &g_trace_files};
	return mkdtemp(g_folder) == NULL;
}

static int tear_down(void **state)
{
	char command[PATH_BYTES];
	(void)state;
	fsl_ftrace_ranks_fini(&g_trace.ranks);
	(void)snprintf(command, sizeof(command), "rm -rf %s", g_folder);
	return system(command);
}

/* Markers of a rank in "FOLDER/NAME"; the name has no folders, or one. */
static void add_markers(const char *name, int32_t rank, int32_t pid)
{
	char *path = g_paths[g_n_tellers];
	const char *slash = strchr(name, '/');
	if (slash != NULL) {
		(void)snprintf(path, PATH_BYTES, "%s/%.*s", g_folder, (int)(slash - name), name);
		(void)mkdir(path, 0755);
	}
	(void)snprintf(path, PATH_BYTES, "%s/%s", g_folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fprintf(file,
			    "Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,"
			    "msptiObjectId_Ds_StreamId,msptiObjectId_Pt_ProcessId,"
			    "msptiObjectId_Pt_ThreadId\n"
			    "16,1,1,,1,10,0,0,999,999\n16,1,1,a,0,10,0,0,%d,%d\n",
			    (int)pid, (int)pid) > 0);
	assert_int_equal(fclose(file), 0);
	struct fsl_file_name parts = fsl_file_name_parse(strrchr(path, '/') + 1);
	g_tellers[g_n_tellers++] = (struct fsl_rank_teller){
		.path = path, .host = parts.host, .n_host = parts.n_host, .rank = rank};
}

/* Adds processes to the ranks of the trace "FOLDER/NAME". */
static void look(const char *name)
{
	(void)snprintf(g_trace_path, sizeof(g_trace_path), "%s/%s", g_folder, name);
	assert_int_equal(fsl_host_trace_add_pids(&g_trace, g_tellers, g_n_tellers, NULL), FSL_OK);
}

/* 0: the trace has no such rank. */
static int32_t pid_of(int32_t rank)
{
	for (size_t i = 0; i < g_trace.ranks.n_items; i++) {
		if (g_trace.ranks.items[i].rank == rank) {
			return g_trace.ranks.items[i].pid;
		}
	}
	return 0;
}

static void ranks_of_one_host_have_the_processes_of_their_markers(void **state)
{
	(void)state;
	add_markers("hccl_activity-10.0.0.1-.0.csv", 0, 100);
	add_markers("hccl_activity-10.0.0.1-.1.csv", 1, 200);
	look("trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 2);
	assert_int_equal(pid_of(0), 100);
	assert_int_equal(pid_of(1), 200);
}

static void markers_of_other_hosts_are_left_out_if_the_path_has_the_address(void **state)
{
	(void)state;
	add_markers("hccl_activity-10.0.0.1-.0.csv", 0, 100);
	add_markers("hccl_activity-10.0.0.12-.1.csv", 1, 100);
	add_markers("hccl_activity-10.0.0.12-.2.csv", 2, 200);
	look("trace-10.0.0.12.txt");
	assert_int_equal(g_trace.ranks.n_items, 2);
	assert_int_equal(pid_of(1), 100);
	assert_int_equal(pid_of(2), 200);
}

static void ranks_beside_the_trace_tell_its_host(void **state)
{
	(void)state;
	add_markers("hccl_activity-10.0.0.1-.0.csv", 0, 100);
	add_markers("hccl_activity-10.0.0.2-.1.csv", 1, 150);
	add_markers("hccl_activity-10.0.0.2-.2.csv", 2, 200);
	assert_non_null(fsl_ftrace_ranks_get(&g_trace.ranks, 2, 201, NULL));
	look("trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 2);
	assert_int_equal(pid_of(1), 150);
	assert_int_equal(pid_of(2), 201);
}

static void the_folder_of_the_trace_tells_its_host(void **state)
{
	(void)state;
	add_markers("node0/mspti-marker-0.csv", 0, 100);
	add_markers("node1/mspti-marker-1.csv", 1, 100);
	add_markers("node1/mspti-marker-2.csv", 2, 300);
	look("node1/ftrace/trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 2);
	assert_int_equal(pid_of(1), 100);
	assert_int_equal(pid_of(2), 300);
}

static void folders_of_ranks_are_no_hosts(void **state)
{
	(void)state;
	add_markers("rank0/mspti-marker-0.csv", 0, 100);
	add_markers("rank1/mspti-marker-1.csv", 1, 200);
	look("rank1/trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 2);
}

static void a_process_that_two_ranks_claim_is_none_of_them(void **state)
{
	(void)state;
	add_markers("hccl_activity-10.0.0.1-.0.csv", 0, 100);
	add_markers("hccl_activity-10.0.0.2-.1.csv", 1, 100);
	add_markers("hccl_activity-10.0.0.2-.2.csv", 2, 200);
	look("trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 1);
	assert_int_equal(pid_of(2), 200);
}

static void a_process_that_is_told_beside_the_trace_is_that_rank(void **state)
{
	(void)state;
	add_markers("mspti-marker-3.csv", 3, 100);
	add_markers("mspti-marker-4.csv", 4, 400);
	assert_non_null(fsl_ftrace_ranks_get(&g_trace.ranks, 7, 100, NULL));
	look("trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 2);
	assert_int_equal(pid_of(7), 100);
	assert_int_equal(pid_of(4), 400);
}

static void a_rank_of_several_files_claims_its_process_once(void **state)
{
	(void)state;
	add_markers("a/mspti-marker-5.csv", 5, 500);
	add_markers("b/mspti-marker-5.csv", 5, 500);
	look("trace.txt");
	assert_int_equal(g_trace.ranks.n_items, 1);
	assert_int_equal(pid_of(5), 500);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(ranks_of_one_host_have_the_processes_of_their_markers),
		TEST(markers_of_other_hosts_are_left_out_if_the_path_has_the_address),
		TEST(ranks_beside_the_trace_tell_its_host),
		TEST(the_folder_of_the_trace_tells_its_host),
		TEST(folders_of_ranks_are_no_hosts),
		TEST(a_process_that_two_ranks_claim_is_none_of_them),
		TEST(a_process_that_is_told_beside_the_trace_is_that_rank),
		TEST(a_rank_of_several_files_claims_its_process_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
