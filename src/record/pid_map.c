/* Reads /proc/PID/task/TID/status of all threads. */
#include "record/pid_map.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"
#include "base/utf8.h"
#include "text/json_write.h"

enum {
	PATH_BYTES = 512,
	STATUS_BYTES = 4096, /* of a status; NSpid stands in the first 1,000 */
};

void fsl_pid_map_fini(struct fsl_pid_map *map)
{
	fsl_free(map->rows);
	*map = (struct fsl_pid_map){0};
}

/* The text behind "\n@key:\t" up to the end of its line; NULL: there is none. */
static const char *find(const char *status, const char *key, size_t *length)
{
	const char *at =
		strncmp(status, key + 1, strlen(key + 1)) == 0 ? status - 1 : strstr(status, key);
	if (at == NULL) {
		return NULL;
	}
	at += strlen(key);
	*length = strcspn(at, "\n");
	return at;
}

static int64_t number_of(const char *status, const char *key)
{
	size_t length = 0;
	int64_t number = 0;
	const char *text = find(status, key, &length);
	return text != NULL && fsl_parse_i64(text, length, &number) ? number : 0;
}

static void copy_name(char name[FSL_PID_NAME_MAX], const char *status)
{
	size_t length = 0;
	const char *text = find(status, "\nName:\t", &length);
	length = text == NULL ? 0 : length < FSL_PID_NAME_MAX ? length : FSL_PID_NAME_MAX - 1;
	memcpy(name, text != NULL ? text : "", length);
	name[length] = '\0';
	if (!fsl_utf8_is_valid(name)) {
		for (size_t i = 0; i < length; i++) {
			name[i] = ((unsigned char)name[i] & 0x80) != 0 ? '?' : name[i];
		}
	}
}

/* False if the thread has ended. */
static bool read_row(struct fsl_pid_row *row, const char *path)
{
	char status[STATUS_BYTES];
	size_t length = 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n_read = file >= 0 ? read(file, status, sizeof(status) - 1) : -1;
	if (file >= 0) {
		(void)close(file);
	}
	if (n_read <= 0) {
		return false;
	}
	status[n_read] = '\0';
	*row = (struct fsl_pid_row){.tid = number_of(status, "\nPid:\t"),
				    .tgid = number_of(status, "\nTgid:\t"),
				    .parent = number_of(status, "\nPPid:\t")};
	copy_name(row->name, status);
	row->inner = row->tid;
	const char *inner = find(status, "\nNSpid:\t", &length);
	for (const char *c = inner; c != NULL && c < inner + length; c++) {
		if (*c == '\t') {
			(void)fsl_parse_i64(c + 1, length - (size_t)(c + 1 - inner), &row->inner);
		}
	}
	return row->tid > 0;
}

static bool is_number(const char *text)
{
	return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static enum fsl_status add_threads(struct fsl_pid_map *map, const char *proc, const char *pid,
				   struct fsl_error *err)
{
	char path[PATH_BYTES];
	struct fsl_pid_row row;
	enum fsl_status status = FSL_OK;
	(void)snprintf(path, sizeof(path), "%s/%s/task", proc, pid);
	DIR *tasks = opendir(path);
	for (struct dirent *entry = NULL;
	     tasks != NULL && status == FSL_OK && (entry = readdir(tasks)) != NULL;) {
		int n = snprintf(path, sizeof(path), "%s/%s/task/%s/status", proc, pid,
				 entry->d_name);
		if (is_number(entry->d_name) && n < (int)sizeof(path) && read_row(&row, path)) {
			row.look = map->n_looks;
			status = FSL_APPEND(map, rows, &row, err);
		}
	}
	if (tasks != NULL) {
		(void)closedir(tasks);
	}
	return status;
}

static int compare_rows(const void *a, const void *b)
{
	const struct fsl_pid_row *first = a, *second = b;
	if (first->tid != second->tid) {
		return first->tid < second->tid ? -1 : 1;
	}
	return first->look - second->look;
}

/* The older of two rows of a thread goes; it stands first. */
static void drop_older(struct fsl_pid_map *map)
{
	size_t n_kept = 0;
	for (size_t i = 0; i < map->n_rows; i++) {
		if (n_kept > 0 && map->rows[n_kept - 1].tid == map->rows[i].tid) {
			n_kept--;
		}
		map->rows[n_kept++] = map->rows[i];
	}
	map->n_rows = n_kept;
}

enum fsl_status fsl_pid_map_add_present(struct fsl_pid_map *map, const char *proc,
					struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	map->n_looks++;
	DIR *processes = opendir(proc);
	if (processes == NULL) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot list the processes: path=\"%s\"", proc);
	}
	for (struct dirent *entry = NULL;
	     status == FSL_OK && (entry = readdir(processes)) != NULL;) {
		if (is_number(entry->d_name)) {
			status = add_threads(map, proc, entry->d_name, err);
		}
	}
	(void)closedir(processes);
	if (map->n_rows > 0) {
		qsort(map->rows, map->n_rows, sizeof(*map->rows), compare_rows);
		drop_older(map);
	}
	return status;
}

void fsl_pid_map_write(const struct fsl_pid_map *map, FILE *stream)
{
	struct fsl_json_writer json = {.stream = stream};
	fsl_json_write_open(&json, NULL, '{');
	for (size_t i = 0; i < map->n_rows; i++) {
		const struct fsl_pid_row *row = &map->rows[i];
		char key[24], number[24];
		(void)snprintf(key, sizeof(key), "%" PRId64, row->tid);
		fsl_json_write_open(&json, key, '{');
		(void)snprintf(number, sizeof(number), "%" PRId64, row->inner);
		fsl_json_write_text(&json, "NSpid", number);
		fsl_json_write_text(&json, "name", row->name);
		(void)snprintf(number, sizeof(number), "%" PRId64, row->tgid);
		fsl_json_write_text(&json, "Tgid", number);
		(void)snprintf(number, sizeof(number), "%" PRId64, row->parent);
		fsl_json_write_text(&json, "PPid", number);
		fsl_json_write_close(&json, '}');
	}
	fsl_json_write_close(&json, '}');
	(void)fputc('\n', stream);
}
