/*
 * A simulated job on disk: mspti/ marker files, timeline/ files, truth.json and a configuration, as
 * sysTrace's collector writes them. Each rank's text is gathered in memory and appended to its file
 * in large blocks, so that any number of ranks needs only one open file at a time.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/os_error.h"
#include "sim/rows.h"

enum {
	PATH_BYTES = 4096,
	ROW_BYTES = 512,
	BLOCK_BYTES = 256 * 1024,           /* text of one rank before it is written */
	HELD_BYTES_MAX = 256 * 1024 * 1024, /* text of all ranks; with many ranks each holds less */
	PENDING_MAX = 32, /* device rows come in batches, as a profiler writes them */
	STREAM = 2,
	PROCESS_FIRST = 4000,
	FLAG_BEGIN = 16,
	FLAG_END = 32,
	NS_PER_US = 1000,
};

/* Text that is not yet appended to its file. */
struct page {
	char *text;
	size_t n_bytes, capacity;
};

struct pending {
	struct fsl_sim_op op;
	bool is_kept[FSL_SIM_ROWS_N];
};

/* Output of one rank. */
struct author {
	struct page markers, timeline;
	struct pending pending[PENDING_MAX]; /* operators whose device rows are still due */
	size_t n_pending;
	bool is_array_open; /* of the JSON file */
	bool is_lost, is_header_only, has_timeline;
};

struct tree {
	const struct fsl_sim_params *params;
	const char *dir;
	struct fsl_sim_losses losses;
	struct author *authors;
	size_t n_block; /* bytes of a rank before they are written */
};

enum { GZIP_BYTES_MAX = 1 << 20, ZSTD_LEVEL = 9 };

static bool append_plain(const char *path, const char *text, size_t n_bytes)
{
	FILE *file = fopen(path, "ab");
	bool is_written = file != NULL && fwrite(text, 1, n_bytes, file) == n_bytes;
	if (file != NULL) {
		is_written = fclose(file) == 0 && is_written;
	}
	return is_written;
}

static bool append_gzip(const char *path, const char *text, size_t n_bytes)
{
	gzFile file = gzopen(path, "ab9");
	bool is_written = file != NULL;
	while (n_bytes > 0 && is_written) {
		unsigned n_part = n_bytes < GZIP_BYTES_MAX ? (unsigned)n_bytes : GZIP_BYTES_MAX;
		is_written = gzwrite(file, text, n_part) > 0;
		text += n_part;
		n_bytes -= n_part;
	}
	if (file != NULL) {
		is_written = gzclose(file) == Z_OK && is_written;
	}
	return is_written;
}

static bool append_zstd(const char *path, const char *text, size_t n_bytes)
{
	size_t n_most = ZSTD_compressBound(n_bytes);
	char *packed = fsl_calloc(n_most, 1);
	if (packed == NULL) {
		errno = ENOMEM;
		return false;
	}
	size_t n_packed = ZSTD_compress(packed, n_most, text, n_bytes, ZSTD_LEVEL);
	bool is_written = ZSTD_isError(n_packed) == 0 && append_plain(path, packed, n_packed);
	fsl_free(packed);
	return is_written;
}

/* Appends to the file; if it is compressed, as a gzip member or zstd frame of its own. */
static enum fsl_status append_packed(const char *path, enum fsl_sim_compression compression,
				     const char *text, size_t n_bytes, struct fsl_error *err)
{
	static bool (*const appenders[])(const char *, const char *,
					 size_t) = {[FSL_SIM_PLAIN] = append_plain,
						    [FSL_SIM_GZIP] = append_gzip,
						    [FSL_SIM_ZSTD] = append_zstd};
	errno = 0;
	if (appenders[compression](path, text, n_bytes)) {
		return FSL_OK;
	}
	return FSL_FAIL(err, errno == ENOMEM ? FSL_ERR_MEMORY : FSL_ERR_IO,
			"cannot write, is the disk full: path=\"%s\", reason=\"%s\"", path,
			errno != 0 ? strerror(errno) : "the packing failed");
}

static const char csv_header[] =
	"Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,msptiObjectId_Ds_StreamId,"
	"msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId\n";

static enum fsl_status put(struct page *page, const char *text, size_t length,
			   struct fsl_error *err)
{
	enum fsl_status status = FSL_GROW(page->text, page->capacity, page->n_bytes + length, err);
	if (status == FSL_OK) {
		memcpy(page->text + page->n_bytes, text, length);
		page->n_bytes += length;
	}
	return status;
}

static void marker_path(const struct tree *tree, int32_t rank, int format, int compression,
			char *path)
{
	static const char *const suffixes[] = {"", ".gz", ".zst"};
	char server_ip[32];
	int32_t label = fsl_sim_label(tree->params, rank);
	fsl_sim_server_ip(tree->params, rank, server_ip, sizeof(server_ip));
	(void)snprintf(path, PATH_BYTES, "%s/mspti/hccl_activity-%s-.%d.%s%s", tree->dir, server_ip,
		       (int)label, format == FSL_SIM_JSON ? "json" : "csv", suffixes[compression]);
}

static void timeline_path(const struct tree *tree, int32_t rank, char *path)
{
	int32_t label = fsl_sim_label(tree->params, rank);
	(void)snprintf(path, PATH_BYTES, "%s/timeline/host%d--%05d.timeline", tree->dir,
		       (int)(rank / tree->params->ranks_per_host), (int)label);
}

/* Appends the page to its file; the first block of a job creates the file. */
static enum fsl_status append(struct page *page, const char *path, int compression,
			      struct fsl_error *err)
{
	size_t n_bytes = page->n_bytes;
	if (n_bytes == 0) {
		return FSL_OK;
	}
	page->n_bytes = 0;
	return append_packed(path, (enum fsl_sim_compression)compression, page->text, n_bytes, err);
}

static enum fsl_status append_rank(struct tree *tree, int32_t rank, struct fsl_error *err)
{
	char path[PATH_BYTES];
	int compression = tree->params->compression;
	marker_path(tree, rank, tree->params->format, compression, path);
	FSL_TRY(append(&tree->authors[rank].markers, path, compression, err));
	timeline_path(tree, rank, path);
	return append(&tree->authors[rank].timeline, path, FSL_SIM_PLAIN, err);
}

static enum fsl_status make_room(struct tree *tree, int32_t rank, struct fsl_error *err)
{
	const struct author *author = &tree->authors[rank];
	bool is_full = author->markers.n_bytes + author->timeline.n_bytes >= tree->n_block;
	return is_full ? append_rank(tree, rank, err) : FSL_OK;
}

/* Writes one row of a marker file. Only the host's begin carries the name. */
static enum fsl_status put_row(struct tree *tree, int32_t rank, const struct fsl_sim_op *op,
			       enum fsl_sim_row which, struct fsl_error *err)
{
	char row[ROW_BYTES], name[ROW_BYTES / 2] = "";
	struct author *author = &tree->authors[rank];
	int32_t label = fsl_sim_label(tree->params, rank);
	bool is_json = tree->params->format == FSL_SIM_JSON;
	bool is_device = which == FSL_SIM_DEV_BEGIN || which == FSL_SIM_DEV_END;
	bool is_begin = which == FSL_SIM_HOST_BEGIN || which == FSL_SIM_DEV_BEGIN;
	const int64_t times_ns[FSL_SIM_ROWS_N] = {op->host_begin_ns, op->host_end_ns,
						  op->dev_begin_ns, op->dev_end_ns};
	int32_t first = is_device ? rank % tree->params->ranks_per_host : PROCESS_FIRST + label;
	int32_t second = is_device ? STREAM : PROCESS_FIRST + label;
	int flag = is_begin ? FLAG_BEGIN : FLAG_END, n = 0;
	if (which == FSL_SIM_HOST_BEGIN) {
		(void)snprintf(name, sizeof(name),
			       is_json ? "comm:%s,%s,bfp16,%" PRIu64 : "comm:%s!%s!bfp16!%" PRIu64,
			       op->name, op->group, op->n_elements);
	}
	if (is_json) {
		n = snprintf(row, sizeof(row),
			     "%s{\"Domain\":\"\",\"Flag\":%d,\"Id\":%" PRIu64
			     ",\"Kind\":1,\"Name\":\"%s\",\"SourceKind\":%d,\"Timestamp\":%" PRId64
			     ",\"msptiObjectId\":{\"Ds\":{\"DeviceId\":%d,\"StreamId\":%d},"
			     "\"Pt\":{\"ProcessId\":%d,\"ThreadId\":%d}}}",
			     author->is_array_open ? "," : "[", flag, op->id, name, is_device,
			     times_ns[which], (int)first, (int)second, (int)first, (int)second);
		author->is_array_open = true;
	} else {
		n = snprintf(row, sizeof(row), "%d,%" PRIu64 ",1,%s,%d,%" PRId64 ",%d,%d,%d,%d\n",
			     flag, op->id, name, is_device, times_ns[which], (int)first,
			     (int)second, (int)first, (int)second);
	}
	return put(&author->markers, row, (size_t)n, err);
}

static enum fsl_status put_rows(struct tree *tree, int32_t rank, const struct pending *pending,
				bool is_device, struct fsl_error *err)
{
	enum fsl_sim_row begin = is_device ? FSL_SIM_DEV_BEGIN : FSL_SIM_HOST_BEGIN;
	enum fsl_sim_row end = is_device ? FSL_SIM_DEV_END : FSL_SIM_HOST_END;
	if (pending->is_kept[begin]) {
		FSL_TRY(put_row(tree, rank, &pending->op, begin, err));
	}
	if (pending->is_kept[end]) {
		FSL_TRY(put_row(tree, rank, &pending->op, end, err));
	}
	return FSL_OK;
}

/* A JSON file has one array per batch; arrays follow each other without a comma. */
static enum fsl_status flush_pending(struct tree *tree, int32_t rank, struct fsl_error *err)
{
	struct author *author = &tree->authors[rank];
	for (size_t i = 0; i < author->n_pending; i++) {
		FSL_TRY(put_rows(tree, rank, &author->pending[i], true, err));
	}
	author->n_pending = 0;
	if (author->is_array_open) {
		author->is_array_open = false;
		FSL_TRY(put(&author->markers, "]\n", 2, err));
	}
	return FSL_OK;
}

static enum fsl_status put_op(void *context, int32_t rank, const struct fsl_sim_op *op,
			      struct fsl_error *err)
{
	struct tree *tree = context;
	struct author *author = &tree->authors[rank];
	struct pending pending = {.op = *op};
	fsl_sim_losses_draw(&tree->losses, rank, op, pending.is_kept);
	if (author->is_lost || author->is_header_only) {
		return FSL_OK;
	}
	FSL_TRY(put_rows(tree, rank, &pending, false, err));
	author->pending[author->n_pending++] = pending;
	if (author->n_pending == PENDING_MAX) {
		FSL_TRY(flush_pending(tree, rank, err));
	}
	return make_room(tree, rank, err);
}

/* Protobuf wire format of one message (src/source/systrace/timeline.proto). */
struct message {
	char bytes[ROW_BYTES];
	size_t n_bytes;
};

static void put_varint(struct message *message, uint64_t value)
{
	while (value >= 0x80) {
		message->bytes[message->n_bytes++] = (char)(value | 0x80);
		value >>= 7;
	}
	message->bytes[message->n_bytes++] = (char)value;
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
	put_varint(message, field << 3);
	put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const char *data, size_t n_bytes)
{
	enum { WIRE_BYTES = 2 };
	put_varint(message, field << 3 | WIRE_BYTES);
	put_varint(message, n_bytes);
	memcpy(message->bytes + message->n_bytes, data, n_bytes);
	message->n_bytes += n_bytes;
}

static enum fsl_status put_stage_json(struct tree *tree, int32_t rank,
				      const struct fsl_sim_stage *stage, struct fsl_error *err)
{
	char line[ROW_BYTES];
	int n = snprintf(line, sizeof(line),
			 "{\"rank\":%d,\"comm\":\"job0\",\"stage_id\":%d,\"stage_type\":\"%s\","
			 "\"start_us\":%" PRId64 ",\"end_us\":%" PRId64 "}\n",
			 (int)fsl_sim_label(tree->params, rank), (int)stage->step,
			 fsl_sim_stage_text(stage->kind), stage->begin_ns / NS_PER_US,
			 stage->end_ns / NS_PER_US);
	return put(&tree->authors[rank].timeline, line, (size_t)n, err);
}

static enum fsl_status put_stage_pb(struct tree *tree, int32_t rank,
				    const struct fsl_sim_stage *stage, struct fsl_error *err)
{
	struct message inner = {.n_bytes = 0}, outer = {.n_bytes = 0};
	const char *text = fsl_sim_stage_text(stage->kind);
	put_number(&inner, 1, (uint64_t)stage->step);
	put_bytes(&inner, 2, text, strlen(text));
	put_number(&inner, 3, (uint64_t)(stage->begin_ns / NS_PER_US));
	put_number(&inner, 4, (uint64_t)(stage->end_ns / NS_PER_US));
	put_bytes(&outer, 1, inner.bytes, inner.n_bytes);
	return put(&tree->authors[rank].timeline, outer.bytes, outer.n_bytes, err);
}

static enum fsl_status put_stage(void *context, int32_t rank, const struct fsl_sim_stage *stage,
				 struct fsl_error *err)
{
	struct tree *tree = context;
	if (!tree->authors[rank].has_timeline) {
		return FSL_OK;
	}
	FSL_TRY(tree->params->timeline_json ? put_stage_json(tree, rank, stage, err)
					    : put_stage_pb(tree, rank, stage, err));
	return make_room(tree, rank, err);
}

static enum fsl_status open_author(struct tree *tree, int32_t rank, struct fsl_error *err)
{
	struct author *author = &tree->authors[rank];
	author->is_lost = fsl_sim_is_lost(tree->params, rank, &author->is_header_only);
	author->has_timeline = fsl_sim_has_timeline(tree->params, rank);
	if (author->is_lost || tree->params->format != FSL_SIM_CSV) {
		return FSL_OK;
	}
	return put(&author->markers, csv_header, sizeof(csv_header) - 1, err);
}

static enum fsl_status close_author(struct tree *tree, int32_t rank, struct fsl_error *err)
{
	struct author *author = &tree->authors[rank];
	FSL_TRY(flush_pending(tree, rank, err));
	if (author->has_timeline && !tree->params->timeline_json) {
		struct message tail = {.n_bytes = 0};
		put_number(&tail, 2, (uint64_t)fsl_sim_label(tree->params, rank));
		put_number(&tail, 3, (uint64_t)tree->params->steps);
		put_bytes(&tail, 4, "job0", 4);
		FSL_TRY(put(&author->timeline, tail.bytes, tail.n_bytes, err));
	}
	return append_rank(tree, rank, err);
}

/* Every file name of a simulated rank; # is a number. Other files in the folders are not ours. */
static const struct {
	const char *folder, *pattern;
} rank_files[] = {
	{"mspti", "hccl_activity-10.#.#.#-.#.csv"},
	{"mspti", "hccl_activity-10.#.#.#-.#.csv.gz"},
	{"mspti", "hccl_activity-10.#.#.#-.#.csv.zst"},
	{"mspti", "hccl_activity-10.#.#.#-.#.json"},
	{"mspti", "hccl_activity-10.#.#.#-.#.json.gz"},
	{"mspti", "hccl_activity-10.#.#.#-.#.json.zst"},
	{"timeline", "host#--#.timeline"},
	{"steps", "training-step-time-10.#.#.#-#.csv"},
	{"log", "training.log"},
};

static bool has_form(const char *name, const char *pattern)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern != '#' && *name++ != *pattern) {
			return false;
		}
		if (*pattern == '#' && !isdigit((unsigned char)*name)) {
			return false;
		}
		while (*pattern == '#' && isdigit((unsigned char)*name)) {
			name++;
		}
	}
	return *name == '\0';
}

static bool is_rank_file(const char *folder, const char *name)
{
	for (size_t i = 0; i < sizeof(rank_files) / sizeof(rank_files[0]); i++) {
		if (strcmp(rank_files[i].folder, folder) == 0 &&
		    has_form(name, rank_files[i].pattern)) {
			return true;
		}
	}
	return false;
}

static enum fsl_status remove_rank_files(const char *dir, const char *folder, struct fsl_error *err)
{
	char path[PATH_BYTES], **names = NULL;
	size_t n_names = 0;
	(void)snprintf(path, sizeof(path), "%s/%s", dir, folder);
	if (access(path, F_OK) != 0) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_dir_list(path, &names, &n_names, err);
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		if (!is_rank_file(folder, names[i])) {
			continue;
		}
		(void)snprintf(path, sizeof(path), "%s/%s/%s", dir, folder, names[i]);
		if (unlink(path) != 0) {
			status = FSL_FAIL(err, FSL_ERR_IO,
					  "cannot remove a file of the earlier job: path=\"%s\", "
					  "reason=\"%s\"",
					  path, fsl_os_error(errno).text);
		}
	}
	fsl_free(names);
	return status;
}

/* Removes the files of all ranks of the simulated job below @dir, also of ranks that the next job
 * does not have. */
static enum fsl_status remove_earlier(const char *dir, struct fsl_error *err)
{
	static const char *const all[] = {"mspti", "timeline", "steps", "log"};
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && status == FSL_OK; i++) {
		status = remove_rank_files(dir, all[i], err);
	}
	return status;
}

/* Folders of each kind of output: the root, and another one. */
static const char *const folders[][2] = {[FSL_SIM_MARKERS] = {"mspti", "timeline"},
					 [FSL_SIM_STEP_TIMES] = {"steps", NULL},
					 [FSL_SIM_LOG] = {"log", NULL}};

static enum fsl_status make_folders(const char *dir, enum fsl_sim_output output,
				    struct fsl_error *err)
{
	char path[PATH_BYTES], config[ROW_BYTES];
	for (size_t i = 0; i < 2 && folders[output][i] != NULL; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, folders[output][i]);
		FSL_TRY(fsl_dir_create(path, err));
	}
	int n = snprintf(config, sizeof(config),
			 "{\n"
			 "  \"root_path\": \"%s\",\n"
			 "%s"
			 "  \"fail_slow_perception_path\": \"out\",\n"
			 "  \"slow_node_detection_path\": \"out\"\n"
			 "}\n",
			 folders[output][0],
			 output == FSL_SIM_MARKERS ? "  \"training_log\": \"timeline\",\n" : "");
	(void)snprintf(path, sizeof(path), "%s/model_config.json", dir);
	return fsl_file_write_atomic(path, config, (size_t)n, err);
}

/* Writes a truth.json below @dir that marks the job as incomplete. It shows that the folder belongs
 * to the simulator before any other file is written. */
static enum fsl_status announce(const char *dir, struct fsl_error *err)
{
	static const char text[] =
		"{\n\t\"unfinished\": \"the job is being written, or could not be "
		"written to its end: simulate it again\"\n}\n";
	char path[PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s/truth.json", dir);
	return fsl_file_write_atomic(path, text, sizeof(text) - 1, err);
}

/*
 * Makes the folders and removes the files of an earlier job. truth.json is written first, so that a
 * job that was not written to its end can be written again. It describes no job while files of two
 * jobs are there.
 */
static enum fsl_status prepare(const char *dir, enum fsl_sim_output output, struct fsl_error *err)
{
	char path[PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s/truth.json", dir);
	bool has_earlier = access(path, F_OK) == 0;
	FSL_TRY(fsl_dir_create(dir, err));
	FSL_TRY(announce(dir, err));
	if (has_earlier) {
		FSL_TRY(remove_earlier(dir, err));
	}
	return make_folders(dir, output, err);
}

static size_t block_bytes(int32_t n_ranks)
{
	size_t n_each = HELD_BYTES_MAX / (size_t)n_ranks;
	return n_each < BLOCK_BYTES ? n_each : BLOCK_BYTES;
}

static void tree_fini(struct tree *tree)
{
	for (int32_t r = 0; tree->authors != NULL && r < fsl_sim_n_ranks(tree->params); r++) {
		fsl_free(tree->authors[r].markers.text);
		fsl_free(tree->authors[r].timeline.text);
	}
	fsl_free(tree->authors);
	if (tree->losses.streams != NULL) {
		fsl_sim_losses_fini(&tree->losses);
	}
}

/* Measured steps of rank 0. */
static enum fsl_status write_step_times(const struct fsl_sim_params *params, const char *dir,
					const struct fsl_sim_clock *clock, struct fsl_error *err)
{
	static const char header[] = "step_id,step_start_time,step_end_time\n";
	char path[PATH_BYTES], row[ROW_BYTES], server_ip[32];
	struct page page = {0};
	enum fsl_status status = put(&page, header, sizeof(header) - 1, err);
	for (int32_t i = 0; i < clock->n_steps && status == FSL_OK; i++) {
		int n = snprintf(row, sizeof(row), "%d,%" PRId64 ",%" PRId64 "\n",
				 (int)fsl_sim_step_number(params, FSL_SIM_ALL_FAULTS, i),
				 fsl_sim_written_ns(params, clock->step_begin_ns[i]),
				 fsl_sim_written_ns(params, clock->step_end_ns[i]));
		status = clock->step_end_ns[i] == FSL_SIM_NEVER ? FSL_OK
								: put(&page, row, (size_t)n, err);
	}
	fsl_sim_server_ip(params, 0, server_ip, sizeof(server_ip));
	(void)snprintf(path, sizeof(path), "%s/steps/training-step-time-%s-0.csv", dir, server_ip);
	FSL_THEN(status, append(&page, path, FSL_SIM_PLAIN, err));
	fsl_free(page.text);
	return status;
}

/*
 * The log of Megatron-LM. Its timer stands during saves and evaluations; steps count from 1; the
 * line is printed when the step is over, before it is saved.
 */
static enum fsl_status write_log(const struct fsl_sim_params *params, const char *dir,
				 const struct fsl_sim_clock *clock, struct fsl_error *err)
{
	char path[PATH_BYTES], row[ROW_BYTES], stamp[32], fraction[16] = "";
	struct page page = {0};
	enum fsl_status status = FSL_OK;
	for (int32_t i = 0; i < clock->n_steps && status == FSL_OK; i++) {
		struct tm at;
		int64_t trained_ns =
			clock->step_end_ns[i] - clock->save_ns[i] - clock->evaluation_ns[i];
		int64_t written_ns = fsl_sim_written_ns(params, trained_ns);
		time_t end_s = written_ns / FSL_NS_PER_S;
		double step_ms =
			(double)fsl_sim_scaled_ns(params, trained_ns - clock->step_begin_ns[i]) /
			FSL_NS_PER_MS;
		if (clock->step_end_ns[i] == FSL_SIM_NEVER) {
			break;
		}
		(void)strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", gmtime_r(&end_s, &at));
		if (params->log_us) {
			(void)snprintf(fraction, sizeof(fraction), ".%06d",
				       (int)(written_ns % FSL_NS_PER_S / NS_PER_US));
		}
		int n = snprintf(
			row, sizeof(row),
			" [%s%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per "
			"iteration (ms): %.1f | learning rate: 1.000E-05 | global batch "
			"size: %5d |\n",
			stamp, fraction,
			(int)fsl_sim_step_number(params, FSL_SIM_ALL_FAULTS, i) + 1,
			(int)params->steps, (int)(i + 1) * 64, step_ms, 64);
		status = put(&page, row, (size_t)n, err);
	}
	(void)snprintf(path, sizeof(path), "%s/log/training.log", dir);
	FSL_THEN(status, append(&page, path, FSL_SIM_PLAIN, err));
	fsl_free(page.text);
	return status;
}

/* Marker files and timelines of all ranks. */
static enum fsl_status write_ranks(const struct fsl_sim_params *params, const char *dir,
				   struct fsl_arena *arena, struct fsl_sim_clock *clock,
				   struct fsl_error *err)
{
	struct tree tree = {.params = params, .dir = dir};
	struct fsl_sim_sink sink = {&tree, put_op, put_stage};
	int32_t n_ranks = fsl_sim_n_ranks(params);
	enum fsl_status status = fsl_sim_losses_init(&tree.losses, params, err);
	FSL_THEN(status, FSL_NEW(tree.authors, (size_t)n_ranks, "ranks", err));
	tree.n_block = block_bytes(n_ranks);
	for (int32_t r = 0; r < n_ranks && status == FSL_OK; r++) {
		status = open_author(&tree, r, err);
	}
	FSL_THEN(status, fsl_sim_run(params, FSL_SIM_ALL_FAULTS, &sink, arena, clock, err));
	for (int32_t r = 0; r < n_ranks && status == FSL_OK; r++) {
		status = close_author(&tree, r, err);
	}
	tree_fini(&tree);
	return status;
}

enum fsl_status fsl_sim_write_tree(const struct fsl_sim_params *params, const char *dir,
				   struct fsl_sim_truth *truth, struct fsl_error *err)
{
	struct fsl_arena scratch = {0};
	struct fsl_sim_clock clock = {0};
	struct fsl_sim_truth found = {0};
	enum fsl_sim_output output = (enum fsl_sim_output)params->output;
	enum fsl_status status = fsl_sim_params_check(params, err);
	FSL_THEN(status, prepare(dir, output, err));
	if (output == FSL_SIM_MARKERS) {
		FSL_THEN(status, write_ranks(params, dir, &scratch, &clock, err));
	} else {
		FSL_THEN(status,
			 fsl_sim_run(params, FSL_SIM_ALL_FAULTS, NULL, &scratch, &clock, err));
		FSL_THEN(status, output == FSL_SIM_LOG
					 ? write_log(params, dir, &clock, err)
					 : write_step_times(params, dir, &clock, err));
	}
	FSL_THEN(status, fsl_sim_truth_build(&found, params, &clock, err));
	FSL_THEN(status, fsl_sim_truth_write(&found, params, dir, err));
	if (status == FSL_OK && truth != NULL) {
		*truth = found;
	} else {
		fsl_sim_truth_fini(&found);
	}
	fsl_arena_fini(&scratch);
	return status;
}
