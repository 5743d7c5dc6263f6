/* The places of the configuration that is used if the command line names none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"

#define FILE_NAME "model_config.json"

/* Adds the file @folder/@name unless an earlier place has its path or the path is too long. */
static void add(struct fsl_config_place *places, size_t *n_places, const char *origin,
		const char *folder, const char *name)
{
	struct fsl_config_place *place = &places[*n_places];
	int length = snprintf(place->path, sizeof(place->path), "%s%s", folder, name);
	bool is_new = length > 0 && (size_t)length < sizeof(place->path);
	for (size_t i = 0; i < *n_places; i++) {
		is_new = is_new && strcmp(places[i].path, place->path) != 0;
	}
	if (!is_new) {
		return;
	}
	place->origin = origin;
	place->why = access(place->path, F_OK) != 0   ? "absent"
		     : access(place->path, R_OK) != 0 ? "not readable"
						      : "";
	place->is_usable = place->why[0] == '\0';
	++*n_places;
}

/* A file in a user's folder may name plug-ins, so nobody else may have put it there: after sudo,
 * HOME may be the folder of another user. */
static void refuse_strangers(struct fsl_config_place *place)
{
	struct stat facts;
	if (place->is_usable &&
	    (stat(place->path, &facts) != 0 || (facts.st_uid != geteuid() && facts.st_uid != 0) ||
	     (facts.st_mode & S_IWOTH) != 0)) {
		place->is_usable = false;
		place->why = "another user owns it or anybody may write it";
	}
}

static void add_user(struct fsl_config_place *places, size_t *n_places)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	size_t n_before = *n_places;
	if (folder != NULL && folder[0] == '/') {
		add(places, n_places, "user", folder, "/failslow/" FILE_NAME);
	} else if (home != NULL && home[0] == '/') {
		add(places, n_places, "user", home, "/.config/failslow/" FILE_NAME);
	}
	if (*n_places > n_before) {
		refuse_strangers(&places[n_before]);
	}
}

/* PREFIX/etc/failslow of a program in PREFIX/bin: cmake --install may name another prefix than the
 * build. */
static void add_prefix(struct fsl_config_place *places, size_t *n_places)
{
	static const char bin[] = "/bin";
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (length <= 0) {
		return;
	}
	program[length] = '\0';
	char *slash = strrchr(program, '/');
	if (slash == NULL || (size_t)(slash - program) < strlen(bin)) {
		return;
	}
	*slash = '\0';
	char *end = slash - strlen(bin);
	if (strcmp(end, bin) == 0 && end > program) {
		*end = '\0';
		add(places, n_places, "prefix", program, "/etc/failslow/" FILE_NAME);
	}
}

size_t fsl_config_places(struct fsl_config_place places[FSL_CONFIG_PLACES_MAX])
{
	size_t n_places = 0;
	const char *named = getenv("FAILSLOW_CONFIG");
	if (named != NULL && named[0] != '\0') {
		add(places, &n_places, "FAILSLOW_CONFIG", named, "");
		places[0].is_usable = n_places > 0;
	}
	add_user(places, &n_places);
	add_prefix(places, &n_places);
	add(places, &n_places, "system", FSL_CONFIG_DIR, "/" FILE_NAME);
	add(places, &n_places, "system", "/etc/failslow", "/" FILE_NAME);
	add(places, &n_places, "systrace", "/etc/systrace/config", "/" FILE_NAME);
	return n_places;
}

bool fsl_config_find_default(struct fsl_config_place *place)
{
	struct fsl_config_place places[FSL_CONFIG_PLACES_MAX];
	size_t n_places = fsl_config_places(places);
	for (size_t i = 0; i < n_places; i++) {
		if (places[i].is_usable) {
			*place = places[i];
			return true;
		}
	}
	return false;
}
