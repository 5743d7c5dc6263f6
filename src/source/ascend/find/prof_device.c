/* The device of a PROF_* folder. */
#include "source/ascend/find/prof_device.h"

#include <limits.h>
#include <stdio.h>

#include "source/ascend/find/listing.h"
#include "text/small_json.h"

/* Name of info.json or info.json.<N>, not info.json.<N>.done; NULL if there is none. */
static const char *info_name(const struct fsl_listing *listing)
{
	for (size_t i = fsl_listing_first(listing, "info.json");
	     i < listing->n_names && fsl_text_begins(listing->names[i], "info.json"); i++) {
		int64_t number = 0;
		if (listing->names[i][9] == '\0' ||
		    fsl_name_number(listing->names[i], "info.json.", "", &number)) {
			return listing->names[i];
		}
	}
	return NULL;
}

/* Adds the content of a file of one device, or of the host. */
static enum fsl_status take_info(struct fsl_prof_device *out, const char *folder,
				 struct fsl_arena *arena, struct fsl_error *err)
{
	char path[PATH_MAX], fault[FSL_SMALL_JSON_FAULT_BYTES];
	struct fsl_listing listing;
	struct fsl_error own = {0};
	cJSON *root = NULL;
	enum fsl_status status = fsl_listing_read(&listing, folder, &own);
	if (status != FSL_OK) {
		return status == FSL_ERR_MEMORY ? FSL_FAIL(err, status, "%s", fsl_error_root(&own))
						: FSL_OK;
	}
	const char *name = info_name(&listing);
	if (name != NULL &&
	    (size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path)) {
		status = fsl_small_json_read(path, &root, fault, err);
	}
	fsl_free(listing.names);
	if (out->rank < 0) {
		(void)fsl_small_json_i64(cJSON_GetObjectItemCaseSensitive(root, "rank_id"),
					 &out->rank);
	}
	if (out->host_uid[0] == '\0') {
		const char *uid = fsl_small_json_text(root, "hostUid");
		uid = uid[0] != '\0' ? uid : fsl_small_json_text(root, "hostname");
		out->host_uid = fsl_arena_strdup(arena, uid);
	}
	cJSON_Delete(root);
	if (status == FSL_OK && out->host_uid == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", folder);
	}
	return status;
}

static void find_devices(struct fsl_prof_device *out, const struct fsl_listing *listing)
{
	for (size_t i = fsl_listing_first(listing, "device_"); i < listing->n_names; i++) {
		int64_t number = 0;
		if (fsl_name_number(listing->names[i], "device_", "", &number)) {
			out->n_devices++;
			out->device =
				out->device < 0 || number < out->device ? number : out->device;
		}
	}
}

enum fsl_status fsl_prof_device_read(struct fsl_prof_device *out, const char *path,
				     struct fsl_arena *arena, struct fsl_error *err)
{
	char folder[PATH_MAX];
	struct fsl_listing listing;
	struct fsl_error own = {0};
	*out = (struct fsl_prof_device){.rank = -1, .device = -1, .host_uid = ""};
	enum fsl_status status = fsl_listing_read(&listing, path, &own);
	if (status != FSL_OK) {
		return status == FSL_ERR_MEMORY ? FSL_FAIL(err, status, "%s", fsl_error_root(&own))
						: FSL_OK;
	}
	find_devices(out, &listing);
	fsl_free(listing.names);
	if (out->device >= 0 && (size_t)snprintf(folder, sizeof(folder), "%s/device_%lld", path,
						 (long long)out->device) < sizeof(folder)) {
		status = take_info(out, folder, arena, err);
	}
	if (status == FSL_OK &&
	    (size_t)snprintf(folder, sizeof(folder), "%s/host", path) < sizeof(folder)) {
		status = take_info(out, folder, arena, err);
	}
	return status;
}
