/* A process that is not the first: reads the files that it is told and answers with their content.
 * It prints nothing; the first process reports its faults. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/try.h"
#include "source/load_pack.h"
#include "source/share_parts.h"
#include "team/team.h"

enum { PATH_BYTES_MAX = 1 << 16, PATTERNS_MAX = 1 << 10 };

static void drop_loads(struct fsl_server *server)
{
	for (size_t i = 0; i < server->n_loads; i++) {
		fsl_sink_fini(&server->loads[i].sink);
		fsl_pack_fini(&server->packs[i]);
	}
	fsl_free(server->loads);
	fsl_free(server->packs);
	fsl_inputs_fini(&server->inputs);
	server->loads = NULL;
	server->packs = NULL;
	server->n_loads = server->n_answered = 0;
	server->fault = NULL;
}

void fsl_server_fini(struct fsl_server *server)
{
	drop_loads(server);
	fsl_arena_fini(&server->arena);
}

static const char *take_text(struct fsl_unpack *unpack, struct fsl_arena *arena)
{
	size_t n = 0;
	const char *text = fsl_unpack_text(unpack, PATH_BYTES_MAX, &n);
	return fsl_arena_strndup(arena, text, n);
}

/* The reason why @path cannot be seen; NULL when it can, or when there is nothing to see. */
static const char *why_unseen(const char *path)
{
	struct stat facts;
	return path[0] == '\0' || stat(path, &facts) == 0 ? NULL : strerrordesc_np(errno);
}

/* The reason why this process cannot read the run, with remedy; NULL: it can. */
static const char *find_obstacle(struct fsl_arena *arena, const char *version,
				 const char *const paths[], size_t n_paths)
{
	if (strcmp(version, FSL_VERSION) != 0) {
		return fsl_arena_printf(arena,
					"install the same version on its host: host=\"%s\", "
					"version=\"%s\", wanted=\"%s\"",
					fsl_team_host(), FSL_VERSION, version);
	}
	for (size_t i = 0; i < n_paths; i++) {
		const char *reason = why_unseen(paths[i]);
		if (reason != NULL) {
			return fsl_arena_printf(arena,
						"mount the run's folder on its host or leave that "
						"host out: host=\"%s\", path=\"%s\", reason=\"%s\"",
						fsl_team_host(), paths[i], reason);
		}
	}
	return NULL;
}

static enum fsl_status take_patterns(struct fsl_server *server, struct fsl_unpack *unpack)
{
	size_t n = fsl_unpack_count(unpack, PATTERNS_MAX, sizeof(uint32_t));
	FSL_TRY(FSL_ARENA_NEW(server->log_patterns, &server->arena, n, "patterns", NULL));
	for (server->n_log_patterns = 0; server->n_log_patterns < n; server->n_log_patterns++) {
		const char *text = take_text(unpack, &server->arena);
		if (text == NULL) {
			return FSL_ERR_MEMORY;
		}
		server->log_patterns[server->n_log_patterns] = text;
	}
	return FSL_OK;
}

static enum fsl_status look(struct fsl_server *server, struct fsl_unpack *unpack,
			    struct fsl_pack *answer)
{
	struct fsl_arena arena = {0};
	const char *version = take_text(unpack, &arena);
	const char *paths[3] = {NULL}; /* root_path, training_log, the largest file */
	bool is_short = version == NULL;
	for (size_t i = 0; i < 3; i++) {
		paths[i] = take_text(unpack, &arena);
		is_short = is_short || paths[i] == NULL;
	}
	server->from_ns = (int64_t)fsl_unpack_u64(unpack);
	server->to_ns = (int64_t)fsl_unpack_u64(unpack);
	server->is_range_for_stages = fsl_unpack_u8(unpack) != 0;
	server->keeps_stacks = fsl_unpack_u8(unpack) != 0;
	uint32_t n_threads = fsl_unpack_u32(unpack);
	server->n_threads =
		n_threads > 0 && n_threads < INT32_MAX ? (int)n_threads : fsl_team_threads();
	is_short = is_short || take_patterns(server, unpack) != FSL_OK;
	if (!is_short && fsl_unpack_is_done(unpack)) {
		const char *obstacle = find_obstacle(&arena, version, paths, 3);
		fsl_pack_u8(answer, obstacle == NULL);
		fsl_pack_text(answer, obstacle != NULL ? obstacle : "");
	}
	fsl_arena_fini(&arena);
	return is_short ? FSL_ERR_MEMORY : FSL_OK;
}

static enum fsl_status take_input(struct fsl_inputs *inputs, struct fsl_unpack *unpack)
{
	const char *path = take_text(unpack, &inputs->arena);
	if (path == NULL) {
		return FSL_ERR_MEMORY;
	}
	const char *slash = strrchr(path, '/');
	struct fsl_input *input = &inputs->items[inputs->n_items++];
	*input = (struct fsl_input){
		.path = path,
		.name = slash != NULL ? slash + 1 : path,
		.n_bytes = fsl_unpack_u64(unpack),
		.kinds = fsl_unpack_u32(unpack),
	};
	input->is_explicit = fsl_unpack_u8(unpack) != 0;
	input->is_log = fsl_unpack_u8(unpack) != 0;
	input->told = fsl_file_name_parse(input->name);
	return FSL_OK;
}

static enum fsl_status take_inputs(struct fsl_inputs *inputs, struct fsl_unpack *unpack)
{
	size_t n = fsl_unpack_count(unpack, FSL_BATCH_FILES, sizeof(uint32_t));
	FSL_TRY(FSL_GROW(inputs->items, inputs->capacity, n, NULL));
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(take_input(inputs, unpack));
	}
	return FSL_OK;
}

static enum fsl_status read_inputs(struct fsl_server *server)
{
	size_t n = server->inputs.n_items;
	server->loads = fsl_calloc(n, sizeof(*server->loads));
	server->packs = fsl_calloc(n, sizeof(*server->packs));
	if (server->loads == NULL || server->packs == NULL) {
		return FSL_ERR_MEMORY;
	}
	server->n_loads = n;
	for (size_t i = 0; i < n; i++) {
		server->loads[i].input = &server->inputs.items[i];
		server->loads[i].is_range_for_stages = server->is_range_for_stages;
		server->loads[i].keeps_stacks = server->keeps_stacks;
		server->loads[i].log_patterns = server->log_patterns;
		server->loads[i].n_log_patterns = server->n_log_patterns;
		server->loads[i].answer = &server->packs[i];
	}
	return fsl_batch_read(server->loads, n, server->from_ns, server->to_ns,
			      server->n_threads > 0 ? server->n_threads : 1, NULL);
}

/* Reads a batch. If memory is short, the answer for the first file says so. */
static void read_files(struct fsl_server *server, struct fsl_unpack *unpack)
{
	drop_loads(server);
	enum fsl_status status = take_inputs(&server->inputs, unpack);
	if (status == FSL_OK && server->inputs.n_items > 0 && fsl_unpack_is_done(unpack)) {
		status = read_inputs(server);
	}
	server->fault = status == FSL_OK ? NULL : "out of memory";
}

static void answer_failure(struct fsl_pack *answer, const char *why)
{
	struct fsl_arena arena = {0};
	const char *text = fsl_arena_printf(&arena, "%s: host=\"%s\"", why, fsl_team_host());
	fsl_pack_u8(answer, 0);
	fsl_pack_text(answer, text != NULL ? text : why);
	fsl_arena_fini(&arena);
}

static void answer_next(struct fsl_server *server, struct fsl_pack *answer)
{
	if (server->fault != NULL || server->n_answered >= server->n_loads) {
		answer_failure(answer, server->fault != NULL ? server->fault : "no file is left");
		return;
	}
	struct fsl_pack *pack = &server->packs[server->n_answered++];
	if (pack->is_failed) {
		answer_failure(answer, "out of memory");
		return;
	}
	*answer = *pack;
	*pack = (struct fsl_pack){0};
}

enum fsl_status fsl_server_do(struct fsl_server *server, const void *bytes, size_t n_bytes,
			      struct fsl_pack *answer, bool *is_end, struct fsl_error *err)
{
	struct fsl_unpack unpack = {.at = bytes, .n_left = n_bytes};
	enum fsl_status status = FSL_OK;
	*is_end = false;
	switch (fsl_unpack_u8(&unpack)) {
	case FSL_ASK_LOOK:
		status = look(server, &unpack, answer);
		break;
	case FSL_ASK_READ:
		read_files(server, &unpack);
		break;
	case FSL_ASK_NEXT:
		answer_next(server, answer);
		break;
	case FSL_ASK_END:
		*is_end = true;
		break;
	default:
		unpack.is_bad = true;
	}
	if (status == FSL_OK && server->fault == NULL && !fsl_unpack_is_done(&unpack)) {
		status = FSL_ERR_FORMAT;
	}
	return status == FSL_OK
		       ? FSL_OK
		       : FSL_FAIL(err, status, "cannot do what the first process asks: bytes=%zu",
				  n_bytes);
}

enum fsl_status fsl_share_serve(struct fsl_error *err)
{
	struct fsl_server server = {0};
	bool is_end = false;
	enum fsl_status status = FSL_OK;
	fsl_log_set_level(FSL_LOG_ERROR);
	while (status == FSL_OK && !is_end) {
		struct fsl_message message = {0};
		struct fsl_pack answer = {0};
		status = fsl_team_receive(0, &message, err);
		if (status == FSL_OK) {
			status = fsl_server_do(&server, message.bytes, message.n_bytes, &answer,
					       &is_end, err);
		}
		if (status == FSL_OK && answer.is_failed) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: host=\"%s\"",
					  fsl_team_host());
		}
		if (status == FSL_OK && answer.n_bytes > 0) {
			fsl_team_send(0, answer.bytes, answer.n_bytes);
		}
		fsl_pack_fini(&answer);
		fsl_free(message.bytes);
	}
	fsl_server_fini(&server);
	return status;
}
