/* Runs a program as a user would, with its arguments, and gives its exit code and output. Makes
 * folders for it. */
#ifndef TESTS_SUPPORT_PROGRAM_H
#define TESTS_SUPPORT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

struct program_run {
	int exit_code; /* -1: killed by a signal, see @signal */
	int signal;
	char *out; /* NUL-terminated; freed by program_run_fini */
	char *err;
};

/*
 * Runs argv[0] with the NULL-terminated @argv in @dir (NULL: the present folder) and waits for it.
 * Standard input is empty. False if it could not be started. @run may always be passed to
 * program_run_fini.
 */
bool program_run(struct program_run *run, const char *dir, char *const argv[]);
void program_run_fini(struct program_run *run);

/* Makes an empty folder @name below @parent and removes an earlier one. False if it could not be
 * made. */
bool scratch_create(const char *parent, const char *name, char *path, size_t size);
/* Removes a folder with everything in it, or a file. */
void scratch_remove(const char *path);

#endif
