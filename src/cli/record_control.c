/* The state of a recording that was started, as a file. */
#include "cli/record_control.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"
#include "text/json_tree.h"
#include "text/json_write.h"

#define STATE_NAME "record.json"

enum {
	BEGUN_FIELD = 20, /* of /proc/PID/stat, counted behind the name */
	STOP_WAIT_MS = 20,
	STOP_WAITS_MAX = 15000, /* five minutes: a large buffer on a slow disk */
};

/* When a process began; -1: there is none. */
static int64_t begun_of(int64_t pid)
{
	char path[64], text[1024];
	int64_t begun = -1;
	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n_read = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
	if (file >= 0) {
		(void)close(file);
	}
	text[n_read > 0 ? n_read : 0] = '\0';
	const char *at = strrchr(text, ')');
	for (int i = 0; at != NULL && i < BEGUN_FIELD; i++) {
		at = strchr(at + 1, ' ');
	}
	if (at != NULL) {
		(void)fsl_parse_i64(at + 1, strcspn(at + 1, " "), &begun);
	}
	return begun;
}

void fsl_record_state_take(struct fsl_record_state *state)
{
	state->pid = getpid();
	state->begun = begun_of(state->pid);
}

bool fsl_record_state_is_alive(const struct fsl_record_state *state)
{
	return state->begun >= 0 && begun_of(state->pid) == state->begun;
}

enum fsl_status fsl_record_state_stop(const struct fsl_record_state *state, struct fsl_error *err)
{
	const struct timespec wait = {.tv_nsec = STOP_WAIT_MS * FSL_NS_PER_MS};
	if (fsl_record_state_is_alive(state) && kill((pid_t)state->pid, SIGTERM) != 0 &&
	    errno != ESRCH) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot stop the recording: pid=%" PRId64 ", reason=\"%s\"",
				state->pid, fsl_os_error(errno).text);
	}
	for (int i = 0; i < STOP_WAITS_MAX; i++) {
		if (!fsl_record_state_is_alive(state)) {
			return FSL_OK;
		}
		(void)nanosleep(&wait, NULL);
	}
	return FSL_FAIL(err, FSL_ERR_IO,
			"the recording does not end, look whether its disk hangs: pid=%" PRId64,
			state->pid);
}

static int64_t integer_of(const cJSON *root, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(root, key));
	int64_t number = 0;
	return text != NULL && fsl_parse_i64(text, strlen(text), &number) ? number : 0;
}

static void copy_text(char *to, size_t size, const cJSON *root, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(root, key));
	(void)snprintf(to, size, "%s", text != NULL ? text : "");
}

static void fill(struct fsl_record_state *state, const cJSON *root)
{
	const cJSON *seconds = cJSON_GetObjectItem(root, "seconds");
	*state = (struct fsl_record_state){
		.pid = integer_of(root, "pid"),
		.begun = integer_of(root, "begun"),
		.is_over = cJSON_IsTrue(cJSON_GetObjectItem(root, "over")) != 0,
		.result = {.end = (enum fsl_record_end)integer_of(root, "end"),
			   .seconds = cJSON_IsNumber(seconds) ? seconds->valuedouble : 0.0,
			   .n_lines = (uint64_t)integer_of(root, "lines"),
			   .n_bytes = (uint64_t)integer_of(root, "bytes"),
			   .n_lost = (uint64_t)integer_of(root, "lost"),
			   .n_cpus = (size_t)integer_of(root, "cpus")}};
	copy_text(state->trace, sizeof(state->trace), root, "trace");
	copy_text(state->failure, sizeof(state->failure), root, "failure");
}

enum fsl_status fsl_record_state_read(const char *folder, struct fsl_record_state *state,
				      bool *is_there, struct fsl_error *err)
{
	char *text = NULL, *path = fsl_path_join(folder, STATE_NAME);
	size_t length = 0;
	bool is_short = path == NULL;
	*is_there = false;
	if (path != NULL && access(path, F_OK) == 0 &&
	    fsl_file_read_text(path, &text, &length, NULL) == FSL_OK) {
		cJSON *root = fsl_json_tree(text, length, NULL, &is_short);
		if (root != NULL) {
			fill(state, root);
			*is_there = true;
		}
		cJSON_Delete(root);
	}
	fsl_free(text);
	fsl_free(path);
	return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folder=\"%s\"", folder)
			: FSL_OK;
}

/* Numbers as text: a tree of JSON has doubles. */
static void write_number(struct fsl_json_writer *json, const char *key, int64_t value)
{
	char text[32];
	(void)snprintf(text, sizeof(text), "%" PRId64, value);
	fsl_json_write_text(json, key, text);
}

enum fsl_status fsl_record_state_write(const char *folder, const struct fsl_record_state *state,
				       struct fsl_error *err)
{
	struct fsl_draft *draft = NULL;
	FSL_TRY(fsl_dir_create(folder, err));
	char *path = fsl_path_join(folder, STATE_NAME);
	if (path == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: folder=\"%s\"", folder);
	}
	enum fsl_status status = fsl_draft_create(&draft, path, err);
	if (status == FSL_OK) {
		struct fsl_json_writer json = {.stream = fsl_draft_stream(draft)};
		fsl_json_write_open(&json, NULL, '{');
		write_number(&json, "pid", state->pid);
		write_number(&json, "begun", state->begun);
		fsl_json_write_raw(&json, "over", state->is_over ? "true" : "false");
		fsl_json_write_text(&json, "trace", state->trace);
		fsl_json_write_text(&json, "failure", state->failure);
		write_number(&json, "end", (int64_t)state->result.end);
		fsl_json_write_real(&json, "seconds", state->result.seconds);
		write_number(&json, "lines", (int64_t)state->result.n_lines);
		write_number(&json, "bytes", (int64_t)state->result.n_bytes);
		write_number(&json, "lost", (int64_t)state->result.n_lost);
		write_number(&json, "cpus", (int64_t)state->result.n_cpus);
		fsl_json_write_close(&json, '}');
		status = fsl_draft_publish(draft, err);
		fsl_draft_destroy(draft);
	}
	fsl_free(path);
	return status;
}

void fsl_record_state_remove(const char *folder)
{
	char *path = fsl_path_join(folder, STATE_NAME);
	if (path != NULL) {
		(void)unlink(path);
	}
	fsl_free(path);
}
