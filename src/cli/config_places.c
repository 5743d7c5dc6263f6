/* `failslow config init` and `where`: the file that is used if the command line names none. */
#include "cli/config_places.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/try.h"
#include "cli/command_output.h"
#include "config/config.h"
#include "report/document.h"

/* Keys that most jobs set, in the order of the file. All others keep their defaults. */
static const char *const first_keys[] = {
	"root_path",
	"training_log",
	"job_name",
	"fail_slow_perception_path",
	"slow_node_detection_path",
	"look_back",
	"hang_times_mins_thr",
	"causes",
};

static const struct fsl_config_key *row_of(const char *name)
{
	size_t n_keys = 0, i = 0;
	const struct fsl_config_key *rows = fsl_config_keys(&n_keys);
	while (i < n_keys && strcmp(rows[i].key, name) != 0) {
		i++;
	}
	return i < n_keys ? &rows[i] : NULL;
}

/* The keys with their defaults, and a comment that tells what each means. JSON has no comments, so
 * it is a member that nothing reads. NULL: out of memory. */
static const char *build_text(struct fsl_arena *arena)
{
	enum { N_KEYS = sizeof(first_keys) / sizeof(first_keys[0]) };
	const char *comment = "{\n  \"_comment\": [\n"
			      "    \"A key that is left out has its default.\",\n"
			      "    \"`failslow config keys` lists all keys.\",\n"
			      "    \"`failslow config check --strict FILE` checks this file.\"";
	const char *keys = "\n  ]";
	for (size_t i = 0; i < N_KEYS && comment != NULL && keys != NULL; i++) {
		const struct fsl_config_key *row = row_of(first_keys[i]);
		comment =
			fsl_arena_printf(arena, "%s,\n    \"%s%s%s: %s\"", comment, row->key,
					 row->unit[0] != '\0' ? " in " : "", row->unit, row->help);
		keys = fsl_arena_printf(arena, "%s,\n  \"%s\": %s", keys, row->key, row->fallback);
	}
	return comment != NULL && keys != NULL ? fsl_arena_printf(arena, "%s%s\n}\n", comment, keys)
					       : NULL;
}

/* The place that `init` writes to if no file is named. */
static const char *place_to_write(const struct fsl_config_place *places, size_t n_places)
{
	for (size_t i = 0; i < n_places; i++) {
		bool is_users = strcmp(places[i].origin, "user") == 0;
		if (!is_users || geteuid() != 0) {
			return places[i].path;
		}
	}
	return places[n_places - 1].path; /* not reached: there is a place of the system */
}

static enum fsl_status write_file(const char *path, const char *text, struct fsl_error *err)
{
	const char *slash = strrchr(path, '/');
	bool existed = false;
	if (slash != NULL && slash != path) {
		char folder[PATH_MAX];
		(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		FSL_TRY(fsl_dir_create(folder, err));
	}
	FSL_TRY(fsl_file_write_new(path, text, strlen(text), &existed, err));
	if (existed) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the file exists and stays as it is, name another one or move it "
				"away: file=\"%s\"",
				path);
	}
	return FSL_OK;
}

enum fsl_status fsl_config_init(const char *path, struct fsl_error *err)
{
	struct fsl_config_place places[FSL_CONFIG_PLACES_MAX];
	size_t n_places = fsl_config_places(places);
	struct fsl_arena arena = {0};
	const char *text = build_text(&arena);
	if (text == NULL) {
		fsl_arena_fini(&arena);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for the configuration");
	}
	path = path != NULL ? path : place_to_write(places, n_places);
	enum fsl_status status = write_file(path, text, err);
	fsl_arena_fini(&arena);
	if (status == FSL_OK) {
		(void)fsl_tell_print(
			stdout,
			"written: %s\nnext: set root_path, then run failslow config check --strict %s\n",
			path, path);
	}
	return status;
}

/* "in use" for the first that is usable, "behind it" for others, else why it is not. */
static const char *state_of(const struct fsl_config_place *place, bool *is_found)
{
	if (!place->is_usable) {
		return place->why;
	}
	bool is_first = !*is_found;
	*is_found = true;
	return is_first ? "in use" : "not used, an earlier place has a file";
}

static enum fsl_status print_json(const struct fsl_config_place *places, size_t n_places,
				  struct fsl_error *err)
{
	struct fsl_document document = {0};
	bool is_found = false;
	cJSON *list = fsl_document_array(&document, NULL, NULL);
	for (size_t i = 0; i < n_places; i++) {
		cJSON *object = fsl_document_object(&document, list, NULL);
		fsl_document_told(&document, object, "path", places[i].path);
		fsl_document_text(&document, object, "origin", places[i].origin);
		fsl_document_bool(&document, object, "inUse", places[i].is_usable && !is_found);
		fsl_document_text(&document, object, "state", state_of(&places[i], &is_found));
	}
	return fsl_print_json(fsl_document_finish(&document, list), err);
}

enum fsl_status fsl_config_where(bool as_json, struct fsl_error *err)
{
	enum { N_COLUMNS = 3 };
	struct fsl_config_place places[FSL_CONFIG_PLACES_MAX];
	const char *cells[(FSL_CONFIG_PLACES_MAX + 1) * N_COLUMNS] = {"file", "origin", "state"};
	size_t n_places = fsl_config_places(places);
	bool is_found = false;
	if (as_json) {
		return print_json(places, n_places, err);
	}
	for (size_t i = 0; i < n_places; i++) {
		const char **row = cells + (i + 1) * N_COLUMNS;
		row[0] = places[i].path;
		row[1] = places[i].origin;
		row[2] = state_of(&places[i], &is_found);
	}
	fsl_print_table(cells, n_places + 1, N_COLUMNS, fsl_terminal_width());
	if (!is_found) {
		(void)fsl_tell_print(stdout, "in use: built-in defaults\n");
	}
	return FSL_OK;
}
