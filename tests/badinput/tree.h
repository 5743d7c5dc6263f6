/* A tree with one slow rank, ways to damage it, and the program's answer about it. */
#ifndef TESTS_BADINPUT_TREE_H
#define TESTS_BADINPUT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "support/program.h"

enum { TREE_PATH_MAX = 1024, TREE_RANKS = 8, TREE_SLOW_RANK = 5, ARGUMENTS_MAX = 24 };

struct tree {
	char dir[TREE_PATH_MAX];
	int64_t now_ns;
};

/* A job of 8 ranks (tp 4, dp 2) in which rank TREE_SLOW_RANK is slow; fails the test on trouble. */
void tree_create(struct tree *tree, const char *name);
void tree_remove(struct tree *tree);

/* Path of the marker file of a rank. */
const char *tree_markers(const struct tree *tree, int rank, char path[TREE_PATH_MAX]);
const char *tree_path(const struct tree *tree, const char *name, char path[TREE_PATH_MAX]);

/* Whole file; freed by the caller. *n_bytes without the NUL that is added. */
char *file_read(const char *path, size_t *n_bytes);
void file_write(const char *path, const void *data, size_t n_bytes);
void file_append(const char *path, const void *data, size_t n_bytes);
void file_truncate(const char *path, size_t n_bytes);
size_t file_size(const char *path);
/* Replaces the whole file by @text. */
void file_write_text(const char *path, const char *text);

/* Digest of names, sizes and contents of everything below @path, in any order of the directory. */
uint64_t tree_digest(const char *path);

/* Output of the program. */
struct answer {
	struct program_run run;
	cJSON *json; /* NULL: no JSON on its output */
};

/*
 * Runs `failslow detect` on the tree, with further arguments up to NULL (@more may be NULL), into
 * the folder "out" of the tree unless @more says otherwise.
 */
void tree_run(const struct tree *tree, struct answer *answer, const char *const more[]);
/* Likewise; fails the test when an input changed, or when something half-written is left. */
void tree_detect(const struct tree *tree, struct answer *answer, const char *const more[]);
void answer_fini(struct answer *answer);

/* Fails the test unless the verdict names the slow rank and nobody else. */
void assert_slow_rank_found(const struct answer *answer);
/* Fails unless coverage lists a file whose path ends in @file in this state, with a message that
 * holds each of the NULL-terminated @words. */
void assert_problem(const struct answer *answer, const char *file, const char *state,
		    const char *const words[]);
/* Value of coverage.rowsDropped.@key; 0 when absent. */
double rows_dropped(const struct answer *answer, const char *key);
/* A number of the coverage; 0 when absent. */
double coverage_number(const struct answer *answer, const char *key);
int n_culprits(const struct answer *answer);
bool is_missing_rank(const struct answer *answer, int rank);
/* Fails unless the run ended with @exit_code and its messages hold each of the words. */
void assert_refused(const struct answer *answer, int exit_code, const char *const words[]);

#endif
