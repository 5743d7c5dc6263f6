/* The files of the peer tool. */
#include "profile/peer_files.h"

#include "base/file.h"
#include "profile/peer_parts.h"

/* Returns FSL_OK when there is nothing to write. */
static enum fsl_status write_text(const char *folder, const char *name, bool has_data,
				  enum fsl_status (*write)(FILE *, const struct fsl_peer_index *,
							   struct fsl_error *),
				  const struct fsl_peer_index *index, struct fsl_error *err)
{
	struct fsl_draft *draft = NULL;
	char *path = fsl_path_join(folder, name);
	enum fsl_status status =
		path != NULL ? FSL_OK
			     : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", name);
	if (status == FSL_OK && has_data) {
		status = fsl_draft_create(&draft, path, err);
		if (status == FSL_OK) {
			status = write(fsl_draft_stream(draft), index, err);
		}
		if (status == FSL_OK) {
			status = fsl_draft_publish(draft, err);
		}
	}
	fsl_draft_destroy(draft);
	fsl_free(path);
	return status;
}

static enum fsl_status write_database(const char *folder, const struct fsl_peer_index *index,
				      struct fsl_error *err)
{
	struct fsl_draft *draft = NULL;
	char *path = fsl_path_join(folder, "cluster_analysis.db");
	enum fsl_status status = path != NULL ? fsl_draft_create(&draft, path, err)
					      : FSL_FAIL(err, FSL_ERR_MEMORY,
							 "out of memory: folder=\"%s\"", folder);
	if (status == FSL_OK) {
		status = fsl_peer_write_database(fsl_draft_path(draft), index, err);
	}
	if (status == FSL_OK) {
		status = fsl_draft_publish(draft, err);
	}
	fsl_draft_destroy(draft);
	fsl_free(path);
	return status;
}

static bool has_steps(const struct fsl_profile *profile)
{
	for (size_t r = 0; r < profile->n_ranks; r++) {
		if (profile->ranks[r].n_steps + profile->ranks[r].n_rebuilt > 0) {
			return true;
		}
	}
	return false;
}

static enum fsl_status write_all(const char *folder, const struct fsl_peer_index *index,
				 struct fsl_error *err)
{
	const struct {
		const char *name;
		bool has_data;
		enum fsl_status (*write)(FILE *, const struct fsl_peer_index *, struct fsl_error *);
	} files[] = {
		{"cluster_step_trace_time.csv", has_steps(index->profile), fsl_peer_write_steps},
		{"communication_group.json", index->cluster->n_groups > 0, fsl_peer_write_groups},
		{"cluster_communication.json", index->comms.n > 0, fsl_peer_write_comms},
		{"cluster_communication_matrix.json", index->links.n > 0, fsl_peer_write_matrix},
	};
	enum fsl_status status = fsl_dir_create(folder, err);
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]) && status == FSL_OK; f++) {
		status = write_text(folder, files[f].name, files[f].has_data, files[f].write, index,
				    err);
	}
	bool has_data = false;
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		has_data = has_data || files[f].has_data;
	}
	return status == FSL_OK && has_data ? write_database(folder, index, err) : status;
}

enum fsl_status fsl_profile_write_peer_files(const char *dir, const struct fsl_profile *profile,
					     const struct fsl_profile_cluster *cluster,
					     struct fsl_error *err)
{
	struct fsl_peer_index index = {0};
	char *folder = fsl_path_join(dir, "cluster_analysis_output");
	enum fsl_status status =
		folder != NULL ? fsl_peer_index_init(&index, profile, cluster, err)
			       : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: dir=\"%s\"", dir);
	if (status == FSL_OK) {
		status = write_all(folder, &index, err);
	}
	fsl_peer_index_fini(&index);
	fsl_free(folder);
	return status;
}
