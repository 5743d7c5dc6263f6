/* A tree of captures on disk that a test writes, looks through and removes again. */
#ifndef FSL_TESTS_PROFILE_CAPTURE_TREE_H
#define FSL_TESTS_PROFILE_CAPTURE_TREE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "source/ascend/find/discover.h"
#include "support/program.h"

#define STEP_HEADER                                                                                \
	"Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble," \
	"Communication(Not Overlapped and Exclude Receive),Preparing\n"
#define STEP_FILE STEP_HEADER "1,10,20,0,20,5,35,0,20,1\n"

struct tree {
	char root[128];
	struct fsl_profile profile;
	struct fsl_error err;
};

static inline int tree_setup(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	const char *folder = getenv("TMPDIR");
	assert_non_null(tree);
	(void)snprintf(tree->root, sizeof(tree->root), "%s/failslow-profile-XXXXXX",
		       folder != NULL && folder[0] != '\0' ? folder : "/tmp");
	assert_non_null(mkdtemp(tree->root));
	*state = tree;
	return 0;
}

static inline int tree_teardown(void **state)
{
	struct tree *tree = *state;
	fsl_profile_fini(&tree->profile);
	scratch_remove(tree->root);
	free(tree);
	return 0;
}

static inline void tree_path(const struct tree *tree, const char *name, char *path, size_t size)
{
	const char *slash = name[0] != '\0' ? "/" : "";
	assert_true(snprintf(path, size, "%s%s%s", tree->root, slash, name) < (int)size);
}

static inline void tree_folder(const struct tree *tree, const char *name)
{
	char path[1024];
	tree_path(tree, name, path, sizeof(path));
	assert_int_equal(fsl_dir_create(path, NULL), FSL_OK);
}

/* Makes the folders to it, too. */
static inline void tree_write(const struct tree *tree, const char *name, const char *text)
{
	char path[1024], folder[1024];
	tree_path(tree, name, path, sizeof(path));
	(void)snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	assert_int_equal(fsl_dir_create(folder, NULL), FSL_OK);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	assert_int_equal(fclose(file), 0);
}

/* A folder of PyTorch whose profiler_info names the rank. */
static inline void tree_rank(const struct tree *tree, const char *folder, int rank)
{
	char name[512], text[64];
	(void)snprintf(name, sizeof(name), "%s/profiler_info_%d.json", folder, rank);
	(void)snprintf(text, sizeof(text), "{\"rank_id\": %d}", rank);
	tree_write(tree, name, text);
	(void)snprintf(name, sizeof(name), "%s/ASCEND_PROFILER_OUTPUT/step_trace_time.csv", folder);
	tree_write(tree, name, STEP_FILE);
}

static inline enum fsl_status tree_try(struct tree *tree, const char *below)
{
	char path[1024];
	tree_path(tree, below, path, sizeof(path));
	fsl_profile_fini(&tree->profile);
	fsl_error_clear(&tree->err);
	return fsl_profile_discover(&tree->profile, path, &tree->err);
}

static inline void tree_discover(struct tree *tree)
{
	assert_int_equal(tree_try(tree, ""), FSL_OK);
}

static inline void tree_read(struct tree *tree, const char *below)
{
	char path[1024];
	tree_path(tree, below, path, sizeof(path));
	const struct fsl_profile_options options = {.path = path, .n_threads = 1};
	fsl_profile_fini(&tree->profile);
	assert_int_equal(fsl_profile_read(&tree->profile, &options, &tree->err), FSL_OK);
}

/* Fails unless folder @i is that rank's, lies there below the root, and was told so. */
static inline void tree_expect(const struct tree *tree, size_t i, int32_t rank, const char *name,
			       enum fsl_profile_rank_source source)
{
	char path[1024];
	tree_path(tree, name, path, sizeof(path));
	assert_true(i < tree->profile.n_folders);
	const struct fsl_profile_folder *folder = &tree->profile.folders[i];
	assert_string_equal(folder->path, path);
	assert_int_equal(folder->rank, rank);
	assert_int_equal(folder->rank_source, source);
}

/* How many remarks hold the text. */
static inline size_t tree_remarks(const struct tree *tree, const char *part)
{
	size_t n = 0;
	for (size_t i = 0; i < tree->profile.n_remarks; i++) {
		n += strstr(tree->profile.remarks[i], part) != NULL ? 1 : 0;
	}
	return n;
}

/* All that was found, for comparing. */
static inline char *tree_print(const struct tree *tree)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	assert_non_null(stream);
	for (size_t i = 0; i < tree->profile.n_folders; i++) {
		const struct fsl_profile_folder *folder = &tree->profile.folders[i];
		(void)fprintf(stream, "%d %s\n", (int)folder->rank,
			      folder->path + strlen(tree->root));
	}
	for (size_t i = 0; i < tree->profile.n_remarks; i++) {
		(void)fprintf(stream, "%s\n", tree->profile.remarks[i]);
	}
	assert_int_equal(fclose(stream), 0);
	return text;
}

#endif
