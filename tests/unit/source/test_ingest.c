/* A folder to a run: discovery, ranks, duplicates, compression, ranges, threads, bad files. */
#include <fcntl.h>
#include <zlib.h>
#include <zstd.h>

#include "source/discover.h"
#include "source/load.h"
#include "tree.h"

static struct tree tree;

static int setup(void **state)
{
	(void)state;
	tree_begin(&tree);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_end(&tree);
	return 0;
}

/* Four rows of one operator at @t (digits in front of the last three). */
#define OP(id, op, t)                                                                              \
	"16," id ",1,comm:" op "!g!f!1,0," t "100,7,7,7,7\n32," id ",1,,0," t                      \
	"200,7,7,7,7\n16," id ",1,,1," t "300,3,2,3,2\n32," id ",1,,1," t "400,3,2,3,2\n"
#define STAGE(type, begin, end)                                                                    \
	"{\"start_us\":" begin ",\"end_us\":" end ",\"stage_id\":1,\"stage_type\":\"" type "\"}\n"

static void a_tree_is_read_two_levels_deep(void **state)
{
	(void)state;
	tree_folder(&tree, "mspti");
	tree_folder(&tree, "timeline");
	tree_folder(&tree, "node1");
	tree_folder(&tree, "node1/mspti");
	tree_folder(&tree, "node1/mspti/deeper");
	tree_folder(&tree, ".hidden");
	tree_write(&tree, "mspti/hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "mspti/.hccl_activity-a-.9.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, ".hidden/hccl_activity-a-.8.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "node1/mspti/hccl_activity-b-.1.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "node1/mspti/deeper/hccl_activity-b-.7.csv",
		   MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "timeline/h--00000.timeline", STAGE("forward", "1", "2"));
	tree_write(&tree, "README.md", "# text\n");
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 3);
	assert_int_equal(tree.run.n_ranks, 2);
	assert_int_equal(tree_rank(&tree, 0)->n_stages, 1);
	assert_string_equal(tree_rank(&tree, 0)->server_ip, "a");
	assert_int_equal(tree_rank(&tree, 1)->n_ops, 1);
	for (size_t i = 1; i < tree.run.n_files; i++) {
		assert_true(strcmp(tree.run.files[i - 1].path, tree.run.files[i].path) < 0);
	}
}

static void timelines_beside_the_named_one_are_used(void **state)
{
	(void)state;
	char log[512], root[512];
	tree_folder(&tree, "mspti");
	tree_folder(&tree, "timeline");
	tree_write(&tree, "mspti/hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "mspti/hccl_activity-a-.1.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "timeline/h--00000.timeline", STAGE("forward", "1", "2"));
	tree_write(&tree, "timeline/h--00001.timeline", STAGE("forward", "3", "4"));
	tree_write(&tree, "timeline/hccl_activity-a-.5.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_path(&tree, "mspti", root, sizeof(root));
	tree_path(&tree, "timeline/h--00000.timeline", log, sizeof(log));
	tree.options.root_path = root;
	tree.options.training_log = log;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_ranks, 2);
	assert_int_equal(tree_rank(&tree, 1)->n_stages, 1);
	assert_int_equal(tree.run.n_files, 4);
}

static void json_timelines_beside_the_named_one_are_used(void **state)
{
	(void)state;
	char log[512];
	tree_write(&tree, "h--00000.json", STAGE("forward", "1", "2"));
	tree_write(&tree, "h--00001.json", STAGE("forward", "3", "4"));
	tree_path(&tree, "h--00000.json", log, sizeof(log));
	tree.options.root_path = NULL;
	tree.options.training_log = log;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 1)->n_stages, 1);
}

static void training_log_may_be_a_folder_or_missing(void **state)
{
	(void)state;
	char log[512];
	tree_folder(&tree, "timeline");
	tree_write(&tree, "hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "timeline/h--00000.timeline", STAGE("forward", "1", "2"));
	tree_path(&tree, "timeline", log, sizeof(log));
	tree.options.training_log = log;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 2);
	tree_path(&tree, "timeline/h--00007.timeline", log, sizeof(log));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 3);
	assert_int_equal(tree_file(&tree, "h--00007.timeline")->state, FSL_FILE_UNUSABLE);
	assert_contains(tree_file(&tree, "h--00007.timeline")->message, "training_log");
}

static void a_root_that_is_one_file_is_read(void **state)
{
	(void)state;
	char root[512];
	tree_write(&tree, "markers", MARKER_HEADER OP("1", "A", "1"));
	tree_path(&tree, "markers", root, sizeof(root));
	tree.options.root_path = root;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
}

static void a_missing_root_and_an_empty_one_are_input_errors(void **state)
{
	(void)state;
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_contains(fsl_error_root(&tree.err), "no input found");
	tree.options.root_path = "/nonexistent/failslow";
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_contains(fsl_error_root(&tree.err), "root_path");
	tree.options.root_path = tree.root;
	tree_write(&tree, "hccl_activity-a-.0.csv", "nonsense\n");
	assert_int_equal(tree_read(&tree), FSL_ERR_INPUT);
	assert_int_equal(tree.run.n_files, 1);
	assert_contains(fsl_error_root(&tree.err), "column");
}

static void a_file_reached_twice_is_read_once(void **state)
{
	(void)state;
	char target[512], link_path[512];
	tree_folder(&tree, "mspti");
	tree_write(&tree, "mspti/hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_path(&tree, "mspti", target, sizeof(target));
	tree_path(&tree, "latest", link_path, sizeof(link_path));
	assert_int_equal(symlink(target, link_path), 0);
	tree_path(&tree, "mspti/self", link_path, sizeof(link_path));
	assert_int_equal(symlink(tree.root, link_path), 0);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 1);
}

static void the_larger_of_two_marker_files_of_a_rank_is_used(void **state)
{
	(void)state;
	tree_write(&tree, "hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "hccl_activity-b-.0.csv",
		   MARKER_HEADER OP("1", "A", "1") OP("2", "A", "2"));
	tree_write(&tree, "hccl_activity-c-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 2);
	assert_string_equal(tree_rank(&tree, 0)->server_ip, "b");
	assert_int_equal(tree_file(&tree, "hccl_activity-a-.0.csv")->state, FSL_FILE_DUPLICATE);
	assert_contains(tree_file(&tree, "hccl_activity-a-.0.csv")->message,
			"hccl_activity-b-.0.csv");
	assert_int_equal(tree_file(&tree, "hccl_activity-c-.0.csv")->state, FSL_FILE_DUPLICATE);
}

static void a_broken_larger_twin_does_not_hide_the_good_one(void **state)
{
	(void)state;
	tree_write(&tree, "hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	char broken[2048];
	memset(broken, 'x', sizeof(broken));
	tree_write_bytes(&tree, "hccl_activity-a-.0.json", broken, sizeof(broken));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
	assert_int_equal(tree_file(&tree, "hccl_activity-a-.0.csv")->state, FSL_FILE_READ);
	assert_int_equal(tree_file(&tree, "hccl_activity-a-.0.json")->state, FSL_FILE_UNUSABLE);
}

static void an_empty_second_file_does_not_hide_the_open_operator(void **state)
{
	(void)state;
	tree_write(&tree, "hccl_activity-a-.0.csv",
		   MARKER_HEADER OP("1", "A", "1") "16,2,1,comm:B!g2!f!1,0,2000,7,7,7,7\n");
	tree_write(&tree, "hccl_activity-b-.0.csv", MARKER_HEADER);
	assert_int_equal(tree_read(&tree), FSL_OK);
	const struct fsl_rank *rank = tree_rank(&tree, 0);
	assert_int_equal(rank->n_ops, 1);
	assert_string_equal(tree_name(&tree, rank->open_op_id), "B");
	assert_string_equal(tree_name(&tree, rank->open_group_id), "g2");
	assert_int_equal(rank->open_begin_ns, 2000);
	assert_int_equal(rank->last_event_ns, 2000);
	assert_string_equal(rank->server_ip, "a");
	assert_int_equal(tree_file(&tree, "hccl_activity-b-.0.csv")->state, FSL_FILE_EMPTY);
}

static void a_rank_of_minus_one_is_usable_only_when_alone(void **state)
{
	(void)state;
	tree_write(&tree, "hccl_activity-a-.-1.csv", MARKER_HEADER OP("1", "A", "1"));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
	tree_write(&tree, "hccl_activity-b-.-1.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "hccl_activity-b-.4.csv", MARKER_HEADER OP("1", "A", "1"));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_ranks, 1);
	assert_int_equal(tree_rank(&tree, 4)->n_ops, 1);
	assert_int_equal(tree_file(&tree, "hccl_activity-a-.-1.csv")->state, FSL_FILE_UNUSABLE);
	assert_int_equal(tree_file(&tree, "hccl_activity-b-.-1.csv")->rank, FSL_RANK_UNKNOWN);
	assert_contains(tree_file(&tree, "hccl_activity-b-.-1.csv")->message, "rank");
}

static void timelines_of_several_processes_of_a_rank_are_joined(void **state)
{
	(void)state;
	tree_write(&tree, "h--00000--10.timeline", STAGE("forward", "1", "2"));
	tree_write(&tree, "h--00000--20.timeline",
		   STAGE("forward", "3", "4") STAGE("forward", "1", "2"));
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_stages, 2);
}

static void a_log_of_the_job_belongs_to_its_lowest_rank(void **state)
{
	(void)state;
	tree_write(&tree, "hccl_activity-a-.8.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "hccl_activity-a-.9.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "a.log", "2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	tree_write(&tree, "b.log",
		   "2025-06-15 15:07:22,001 per_step_time: 100ms\n"
		   "2025-06-15 15:07:23,001 per_step_time: 100ms\n");
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_ranks, 2);
	assert_int_equal(tree_rank(&tree, 8)->n_steps, 2);
	assert_int_equal(tree_file(&tree, "a.log")->state, FSL_FILE_DUPLICATE);
}

static void compressed_files_are_read_like_plain_ones(void **state)
{
	(void)state;
	static const char text[] = MARKER_HEADER OP("1", "A", "1");
	char path[512], packed[1024];
	tree_path(&tree, "hccl_activity-a-.0.csv.gz", path, sizeof(path));
	gzFile file = gzopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(gzclose(file), Z_OK);
	size_t n_packed = ZSTD_compress(packed, sizeof(packed), text, sizeof(text) - 1, 3);
	assert_false(ZSTD_isError(n_packed));
	tree_write_bytes(&tree, "hccl_activity-a-.1.csv.zst", packed, n_packed);
	tree_write_bytes(&tree, "hccl_activity-a-.2.csv.zst", packed, n_packed - 8);
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
	assert_int_equal(tree_rank(&tree, 1)->n_ops, 1);
	assert_int_equal(tree_rank(&tree, 2)->n_ops, 0);
	assert_string_equal(tree_file(&tree, "hccl_activity-a-.1.csv.zst")->format, "mspti_csv");
	assert_contains(tree_file(&tree, "hccl_activity-a-.2.csv.zst")->message, "compressed");
}

static void operators_are_kept_by_their_end(void **state)
{
	(void)state;
	tree_write(&tree, "hccl_activity-a-.0.csv",
		   MARKER_HEADER OP("1", "A", "1") OP("2", "A", "2") OP("3", "A", "3"));
	tree.options.from_ns = 2400;
	tree.options.to_ns = 3399;
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
	assert_int_equal(tree_rank(&tree, 0)->ops[0].id, 2);
	assert_int_equal(tree_rank(&tree, 0)->last_event_ns, 3400);
	assert_int_equal(tree.run.files[0].n_dropped[FSL_DROP_OUT_OF_RANGE], 2);
}

static void a_file_that_cannot_be_opened_leaves_the_others_alone(void **state)
{
	(void)state;
	char path[512];
	tree_write(&tree, "hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "hccl_activity-a-.1.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_path(&tree, "hccl_activity-a-.1.csv", path, sizeof(path));
	assert_int_equal(chmod(path, 0), 0);
	bool is_root = geteuid() == 0;
	assert_true(!is_root || seteuid(65534) == 0);
	enum fsl_status status = tree_read(&tree);
	assert_true(!is_root || seteuid(0) == 0);
	assert_int_equal(status, FSL_OK);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
	assert_true(tree_rank(&tree, 1)->has_markers_file);
	const struct fsl_file *file = tree_file(&tree, "hccl_activity-a-.1.csv");
	assert_int_equal(file->state, FSL_FILE_UNUSABLE);
	assert_contains(file->message, "Permission denied");
}

static void a_folder_that_cannot_be_listed_is_named(void **state)
{
	(void)state;
	char path[512];
	tree_write(&tree, "hccl_activity-a-.-1.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_folder(&tree, "closed");
	tree_path(&tree, "closed", path, sizeof(path));
	assert_int_equal(chmod(path, 0), 0);
	bool is_root = geteuid() == 0;
	assert_true(!is_root || seteuid(65534) == 0);
	enum fsl_status status = tree_read(&tree);
	assert_true(!is_root || seteuid(0) == 0);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(status, FSL_OK);
	assert_int_equal(tree_file(&tree, "closed")->state, FSL_FILE_UNUSABLE);
	assert_contains(tree_file(&tree, "closed")->message, "Permission denied");
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
}

static void compressed_files_are_more_to_read_than_they_are_long(void **state)
{
	(void)state;
	struct fsl_inputs inputs = {0};
	tree_write(&tree, "hccl_activity.0.csv", "0123456789");
	tree_write(&tree, "hccl_activity.1.csv.gz", "0123456789");
	tree_write(&tree, "hccl_activity.2.csv.zst", "0123456789");
	assert_int_equal(fsl_inputs_find(&inputs, &tree.options, &tree.err), FSL_OK);
	assert_int_equal(fsl_inputs_bytes(&inputs), 10 + 80 + 80 + 3 * (16 << 10));
	fsl_inputs_fini(&inputs);
}

/* Reads @name after @change was done to it between finding and reading. */
static void load_after(const char *name, void (*change)(const char *path), struct fsl_file *file,
		       char *message, size_t size)
{
	char path[512];
	struct fsl_inputs inputs = {0};
	tree_path(&tree, name, path, sizeof(path));
	assert_int_equal(fsl_inputs_find(&inputs, &tree.options, &tree.err), FSL_OK);
	assert_int_equal(inputs.n_items, 1);
	change(path);
	struct fsl_load load = {.input = &inputs.items[0]};
	assert_int_equal(fsl_load_read(&load, INT64_MIN, INT64_MAX, &tree.err), FSL_OK);
	*file = load.file;
	(void)snprintf(message, size, "%s", load.file.message);
	fsl_sink_fini(&load.sink);
	fsl_inputs_fini(&inputs);
}

static void remove_file(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void shrink_file(const char *path)
{
	assert_int_equal(truncate(path, (off_t)(sizeof(MARKER_HEADER OP("1", "A", "1")) - 1)), 0);
}

static void a_file_that_disappears_is_unusable(void **state)
{
	(void)state;
	struct fsl_file file;
	char message[1024];
	tree_write(&tree, "hccl_activity-a-.0.csv", MARKER_HEADER OP("1", "A", "1"));
	load_after("hccl_activity-a-.0.csv", remove_file, &file, message, sizeof(message));
	assert_int_equal(file.state, FSL_FILE_UNUSABLE);
	assert_contains(message, "No such file");
}

static void a_file_that_shrinks_is_partial(void **state)
{
	(void)state;
	struct fsl_file file;
	char message[1024];
	tree_write(&tree, "hccl_activity-a-.0.csv",
		   MARKER_HEADER OP("1", "A", "1") OP("2", "A", "2"));
	load_after("hccl_activity-a-.0.csv", shrink_file, &file, message, sizeof(message));
	assert_int_equal(file.state, FSL_FILE_PARTIAL);
	assert_int_equal(file.n_records, 4);
	assert_contains(message, "shrank");
}

static void unnamed_files_are_told_by_content(void **state)
{
	(void)state;
	tree_write(&tree, "dump.bin", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "steps.txt", "step_id,step_start_time,step_exec_time\n1,5,6\n");
	tree_write(&tree, "noise.csv", "a,b,c\n1,2,3\n");
	assert_int_equal(tree_read(&tree), FSL_OK);
	assert_int_equal(tree.run.n_files, 2);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 1);
	assert_int_equal(tree_rank(&tree, 0)->n_steps, 1);
}

/* One line per operator of the run. */
static void dump_run(const struct fsl_run *run, FILE *out)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		for (size_t i = 0; i < rank->n_ops; i++) {
			const struct fsl_op *op = &rank->ops[i];
			(void)fprintf(out, "%d %llu %u %u %lld\n", rank->rank,
				      (unsigned long long)op->id, op->op_id, op->group_id,
				      (long long)op->dev_end_ns);
		}
	}
	for (size_t i = 0; i < run->n_files; i++) {
		(void)fprintf(out, "%s %d %d %s\n", run->files[i].path, run->files[i].rank,
			      (int)run->files[i].state, run->files[i].message);
	}
}

static char *read_and_dump(int n_threads)
{
	char *text = NULL;
	size_t length = 0;
	tree.options.n_threads = n_threads;
	assert_int_equal(tree_read(&tree), FSL_OK);
	FILE *out = open_memstream(&text, &length);
	assert_non_null(out);
	dump_run(&tree.run, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void the_run_does_not_depend_on_threads(void **state)
{
	(void)state;
	/* More files than one batch holds, each with a name of its own. */
	for (int i = 0; i < 1100; i++) {
		char name[64], text[2048];
		(void)snprintf(name, sizeof(name), "hccl_activity-a-.%d.csv", i);
		(void)snprintf(text, sizeof(text),
			       MARKER_HEADER "16,1,1,comm:Op%d!g%d!f!1,0,100,7,7,7,7\n"
					     "32,1,1,,0,%d,7,7,7,7\n",
			       i % 7, i, 200 + i);
		tree_write(&tree, name, i % 100 == 99 ? "" : text);
	}
	char *one = read_and_dump(1), *four = read_and_dump(4);
	assert_int_equal(tree.run.n_ranks, 1100);
	assert_string_equal(one, four);
	free(one);
	free(four);
}

static void every_failed_allocation_ends_cleanly(void **state)
{
	(void)state;
	char text[4096] = "[";
	for (int i = 0; i < 8; i++) {
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "%s{\"Flag\":%d,\"Id\":%d,\"Name\":\"%s\",\"SourceKind\":%d,"
			       "\"Timestamp\":%d}",
			       i > 0 ? "," : "", i % 2 == 0 ? 16 : 32, i / 4,
			       i % 4 == 0 ? "comm:A,g,f,1" : "", i % 4 / 2, 100 + i);
	}
	(void)strcat(text, "]");
	tree_write(&tree, "hccl_activity-a-.0.json", text);
	tree_write(&tree, "hccl_activity-a-.1.csv", MARKER_HEADER OP("1", "A", "1"));
	tree_write(&tree, "hccl_activity-a-.2.csv", "kernel,t1,t2,t3,t4\nA,1,2,3,4\n");
	tree_write(&tree, "h--00000.timeline", STAGE("forward", "1", "2"));
	tree_write_bytes(&tree, "h--00001.timeline", "\x0a\x08\x12\x02GC\x18\x01\x20\x02", 10);
	tree_write(&tree, "training-step-time-a-0.csv",
		   "step_id,step_start_time,step_end_time\n1,2,3\n");
	tree_write(&tree, "a.log", "2025-06-15 15:07:22,000 per_step_time: 100ms\n");
	tree.options.n_threads = 1;
	enum fsl_status status = FSL_ERR_MEMORY;
	uint64_t nth = 1;
	for (; status != FSL_OK; nth++) {
		fsl_run_fini(&tree.run);
		fsl_error_clear(&tree.err);
		assert_int_equal(fsl_run_init(&tree.run, &tree.err), FSL_OK);
		fsl_mem_fail_at(nth);
		status = fsl_ingest_run(&tree.run, &tree.options, &tree.err);
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_true(nth < 100000);
	}
	assert_true(nth > 50);
	assert_int_equal(tree.run.n_files, 7);
	assert_int_equal(tree_rank(&tree, 0)->n_ops, 2);
	assert_int_equal(tree_rank(&tree, 1)->n_stages, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_tree_is_read_two_levels_deep),
		TEST(timelines_beside_the_named_one_are_used),
		TEST(json_timelines_beside_the_named_one_are_used),
		TEST(training_log_may_be_a_folder_or_missing),
		TEST(a_root_that_is_one_file_is_read),
		TEST(a_missing_root_and_an_empty_one_are_input_errors),
		TEST(a_file_reached_twice_is_read_once),
		TEST(the_larger_of_two_marker_files_of_a_rank_is_used),
		TEST(a_broken_larger_twin_does_not_hide_the_good_one),
		TEST(an_empty_second_file_does_not_hide_the_open_operator),
		TEST(a_rank_of_minus_one_is_usable_only_when_alone),
		TEST(timelines_of_several_processes_of_a_rank_are_joined),
		TEST(a_log_of_the_job_belongs_to_its_lowest_rank),
		TEST(compressed_files_are_read_like_plain_ones),
		TEST(operators_are_kept_by_their_end),
		TEST(a_file_that_cannot_be_opened_leaves_the_others_alone),
		TEST(a_folder_that_cannot_be_listed_is_named),
		TEST(compressed_files_are_more_to_read_than_they_are_long),
		TEST(a_file_that_disappears_is_unusable),
		TEST(a_file_that_shrinks_is_partial),
		TEST(unnamed_files_are_told_by_content),
		TEST(the_run_does_not_depend_on_threads),
		TEST(every_failed_allocation_ends_cleanly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
