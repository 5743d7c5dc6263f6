/* A folder of input files on disk that a test writes, reads as a run and removes again. */
#ifndef FSL_TESTS_UNIT_INGEST_TREE_H
#define FSL_TESTS_UNIT_INGEST_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "source/ingest.h"

#define MARKER_HEADER                                                                              \
	"Flag,Id,Kind,Name,SourceKind,Timestamp,msptiObjectId_Ds_DeviceId,"                        \
	"msptiObjectId_Ds_StreamId,msptiObjectId_Pt_ProcessId,msptiObjectId_Pt_ThreadId\n"

struct tree {
	char root[128];
	struct fsl_run run;
	struct fsl_error err;
	struct fsl_ingest_options options;
};

static inline void tree_path(const struct tree *tree, const char *name, char *path, size_t size)
{
	assert_true(snprintf(path, size, "%s/%s", tree->root, name) < (int)size);
}

static inline void tree_begin(struct tree *tree)
{
	const char *folder = getenv("TMPDIR");
	*tree = (struct tree){
		.options = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .n_threads = 2}};
	(void)snprintf(tree->root, sizeof(tree->root), "%s/failslow-ingest-XXXXXX",
		       folder != NULL && folder[0] != '\0' ? folder : "/tmp");
	assert_non_null(mkdtemp(tree->root));
	assert_int_equal(chmod(tree->root, 0755), 0);
	fsl_log_set_level(FSL_LOG_ERROR);
	tree->options.root_path = tree->root;
	assert_int_equal(fsl_run_init(&tree->run, &tree->err), FSL_OK);
}

static inline int tree_unlink(const char *path, const struct stat *facts, int type,
			      struct FTW *walk)
{
	(void)facts, (void)type, (void)walk;
	return remove(path);
}

static inline void tree_end(struct tree *tree)
{
	fsl_run_fini(&tree->run);
	(void)nftw(tree->root, tree_unlink, 8, FTW_DEPTH | FTW_PHYS);
}

/* For tests whose state is a tree of their own. */
static inline int tree_setup(void **state)
{
	static struct tree tree;
	tree_begin(&tree);
	*state = &tree;
	return 0;
}

static inline int tree_teardown(void **state)
{
	tree_end(*state);
	return 0;
}

static inline void tree_folder(const struct tree *tree, const char *name)
{
	char path[512];
	tree_path(tree, name, path, sizeof(path));
	assert_int_equal(mkdir(path, 0755), 0);
}

static inline void tree_write_bytes(const struct tree *tree, const char *name, const void *data,
				    size_t n_bytes)
{
	char path[512];
	tree_path(tree, name, path, sizeof(path));
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, n_bytes, file), n_bytes);
	assert_int_equal(fclose(file), 0);
}

static inline void tree_write(const struct tree *tree, const char *name, const char *text)
{
	tree_write_bytes(tree, name, text, strlen(text));
}

/* A run may be read several times. */
static inline enum fsl_status tree_read(struct tree *tree)
{
	fsl_run_fini(&tree->run);
	fsl_error_clear(&tree->err);
	assert_int_equal(fsl_run_init(&tree->run, &tree->err), FSL_OK);
	return fsl_ingest_run(&tree->run, &tree->options, &tree->err);
}

/* The file with this name without its folder; fails the test when there is none. */
static inline const struct fsl_file *tree_file(const struct tree *tree, const char *name)
{
	for (size_t i = 0; i < tree->run.n_files; i++) {
		const char *slash = strrchr(tree->run.files[i].path, '/');
		if (slash != NULL && strcmp(slash + 1, name) == 0) {
			return &tree->run.files[i];
		}
	}
	fail_msg("no file %s in the run", name);
	return NULL;
}

static inline const struct fsl_rank *tree_rank(const struct tree *tree, int32_t rank)
{
	const struct fsl_rank *found = fsl_run_rank(&tree->run, rank);
	assert_non_null(found);
	return found;
}

static inline const char *tree_name(const struct tree *tree, uint32_t id)
{
	return fsl_strpool_text(tree->run.names, id);
}

#define assert_contains(text, part) assert_non_null(strstr((text), (part)))

#endif
