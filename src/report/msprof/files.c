/* The files of the peer tool. */
#include "report/msprof/files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os_error.h"
#include "report/msprof/parts.h"

/* One of the files. */
struct target {
	const char *name;
	bool has_data;
	/* NULL for the database, which is not written to a stream. */
	enum fsl_status (*write)(FILE *, const struct fsl_peer_index *, struct fsl_error *);
};

static enum fsl_status write_draft(const struct target *target, const char *path,
				   const struct fsl_peer_index *index, struct fsl_error *err)
{
	struct fsl_draft *draft = NULL;
	enum fsl_status status = fsl_draft_create(&draft, path, err);
	if (status == FSL_OK) {
		status = target->write != NULL
				 ? target->write(fsl_draft_stream(draft), index, err)
				 : fsl_peer_write_database(fsl_draft_path(draft), index, err);
	}
	if (status == FSL_OK) {
		status = fsl_draft_publish(draft, err);
	}
	fsl_draft_destroy(draft);
	return status;
}

/* Removes a file of an earlier capture, which would be taken for this one's. */
static enum fsl_status remove_old(const char *path, struct fsl_error *err)
{
	if (unlink(path) != 0 && errno != ENOENT) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot remove the file of another capture: path=\"%s\", "
				"reason=\"%s\"",
				path, fsl_os_error(errno).text);
	}
	return FSL_OK;
}

static enum fsl_status write_target(const struct target *target, const char *folder,
				    const struct fsl_peer_index *index, struct fsl_error *err)
{
	char *path = fsl_path_join(folder, target->name);
	enum fsl_status status = FSL_OK;
	if (path == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", target->name);
	} else if (target->has_data) {
		status = write_draft(target, path, index, err);
	} else {
		status = remove_old(path, err);
	}
	fsl_free(path);
	return status;
}

/* Whoever may write in the folder of the results could have files of any other folder replaced. */
static enum fsl_status refuse_link(const char *folder, struct fsl_error *err)
{
	struct stat facts;
	if (lstat(folder, &facts) == 0 && S_ISLNK(facts.st_mode)) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"does not write through a link, remove it: path=\"%s\"", folder);
	}
	return FSL_OK;
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
	bool has_rows = has_steps(index->profile);
	size_t n_groups = index->cluster->n_groups;
	const struct target targets[] = {
		{"cluster_step_trace_time.csv", has_rows, fsl_peer_write_steps},
		{"communication_group.json", n_groups > 0, fsl_peer_write_groups},
		{"cluster_communication.json", index->comms.n > 0, fsl_peer_write_comms},
		{"cluster_communication_matrix.json", index->links.n > 0, fsl_peer_write_matrix},
		{"cluster_analysis.db", has_rows || n_groups > 0, NULL},
	};
	enum fsl_status status = refuse_link(folder, err);
	if (status == FSL_OK) {
		status = fsl_dir_create(folder, err);
	}
	(void)fsl_dir_sweep(folder);
	for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]) && status == FSL_OK; t++) {
		status = write_target(&targets[t], folder, index, err);
	}
	return status;
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
