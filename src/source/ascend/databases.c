/* Finds the databases of a folder and reads them in a fixed order. */
#include "source/ascend/databases.h"

#include <stdlib.h>
#include <string.h>

#include "base/try.h"
#include "source/ascend/find/listing.h"

typedef enum fsl_status (*reader)(struct fsl_profile_rank *rank, struct fsl_db *db,
				  const struct fsl_profile_input *input, struct fsl_error *err);

/* Kinds of databases by the beginning of their names; earlier kinds are read first. */
static const struct kind {
	const char *head, *format;
	reader read;
} kinds[] = {
	{"analysis.db", "analysis.db", fsl_profile_read_analysis_db},
	{"communication_analyzer.db", "analysis.db", fsl_profile_read_analysis_db},
	{"ascend_pytorch_profiler", "profiler.db", fsl_profile_read_profiler_db},
	{"ascend_mindspore_profiler", "profiler.db", fsl_profile_read_profiler_db},
	{"msprof_", "profiler.db", fsl_profile_read_profiler_db},
	{"msmonitor_", "profiler.db", fsl_profile_read_profiler_db},
};

enum { KINDS_N = sizeof(kinds) / sizeof(kinds[0]) };

static bool has_head(const char *name, const char *head)
{
	size_t length = strlen(name);
	return strncmp(name, head, strlen(head)) == 0 && length > 3 &&
	       strcmp(name + length - 3, ".db") == 0;
}

/* Number in "..._<N>.db", -1 if there is none. */
static long number_of(const char *name)
{
	const char *at = strrchr(name, '_');
	char *end = NULL;
	long number = at != NULL && at[1] >= '0' && at[1] <= '9' ? strtol(at + 1, &end, 10) : -1;
	return end != NULL && strcmp(end, ".db") == 0 ? number : -1;
}

/* Chooses among databases of one kind: the one with the rank's number in its name, else the last.
 * Names end in time stamps, and each export holds all data. */
static const char *choose(const struct fsl_profile_rank *rank, char *const *names, size_t n_names,
			  const struct kind *kind)
{
	const char *chosen = NULL;
	for (size_t i = 0; i < n_names; i++) {
		if (!has_head(names[i], kind->head)) {
			continue;
		}
		if (chosen == NULL || number_of(chosen) != rank->rank) {
			chosen = names[i];
		}
	}
	return chosen;
}

static enum fsl_status read_one(struct fsl_profile_rank *rank, struct fsl_file *file,
				const struct kind *kind, const struct fsl_profile_options *options,
				struct fsl_error *err)
{
	struct fsl_db *db = NULL;
	struct fsl_error own = {0};
	const struct fsl_profile_input input = {.path = file->path,
						.file = file,
						.steps = options->steps,
						.n_steps = options->n_steps};
	enum fsl_status status = fsl_db_open(&db, rank, file, err);
	if (status != FSL_OK || db == NULL) {
		return status;
	}
	status = kind->read(rank, db, &input, &own);
	if (status == FSL_ERR_LIMIT) {
		status = fsl_db_tell(db, FSL_FILE_PARTIAL, err, "%s", fsl_error_root(&own));
	} else if (status != FSL_OK) {
		status = FSL_CAUSE(err, status, "%s", fsl_error_root(&own));
	} else if (file->n_records == 0 && file->state == FSL_FILE_READ) {
		status = fsl_db_tell(db, FSL_FILE_EMPTY, err,
				     "no table of it is known, or all are empty");
	}
	rank->has_db = rank->has_db || file->n_records > 0;
	fsl_db_close(db);
	return status;
}

static enum fsl_status read_kind(struct fsl_profile_rank *rank, const char *folder,
				 char *const *names, size_t n_names, const struct kind *kind,
				 const struct fsl_profile_options *options, struct fsl_error *err)
{
	const char *chosen = choose(rank, names, n_names, kind);
	for (size_t i = 0; i < n_names; i++) {
		struct fsl_file *file = NULL;
		if (!has_head(names[i], kind->head)) {
			continue;
		}
		FSL_TRY(fsl_profile_add_file(rank, folder, names[i], kind->format, &file, err));
		if (names[i] == chosen) {
			FSL_TRY(read_one(rank, file, kind, options, err));
		} else {
			file->state = FSL_FILE_DUPLICATE;
			file->message = "another database of its kind is used";
		}
	}
	return FSL_OK;
}

static enum fsl_status read_folder(struct fsl_profile_rank *rank, const char *folder,
				   const struct fsl_profile_options *options, struct fsl_error *err)
{
	struct fsl_listing listing;
	struct fsl_error own = {0};
	enum fsl_status status = fsl_listing_read(&listing, folder, &own);
	if (status != FSL_OK) {
		return status == FSL_ERR_MEMORY ? FSL_CAUSE(err, status, "%s", fsl_error_root(&own))
						: fsl_profile_add_unlisted(rank, folder, &own, err);
	}
	fsl_listing_keep(&listing, rank->folder.file);
	for (size_t k = 0; k < KINDS_N && status == FSL_OK; k++) {
		status = read_kind(rank, folder, listing.names, listing.n_names, &kinds[k], options,
				   err);
	}
	fsl_free(listing.names);
	return status;
}

/* Most databases lie beside the text files. In raw captures they lie in the rank's own folder, and
 * the database of communication in a folder of its own. */
enum fsl_status fsl_profile_read_databases(struct fsl_profile_rank *rank,
					   const struct fsl_profile_options *options,
					   struct fsl_error *err)
{
	const char *own = rank->folder.path, *output = rank->folder.output_path;
	FSL_TRY(read_folder(rank, output, options, err));
	if (rank->folder.file != NULL) {
		return FSL_OK;
	}
	if (rank->folder.writer == FSL_PROFILE_MSPROF) {
		const char *analyze = fsl_arena_printf(&rank->arena, "%s/analyze", own);
		FSL_TRY(analyze != NULL ? read_folder(rank, analyze, options, err)
					: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
						   (int)rank->rank));
	}
	return own != NULL && strcmp(own, output) != 0 ? read_folder(rank, own, options, err)
						       : FSL_OK;
}
