/* Runs a program as a user would: arguments, exit code, what it printed. And folders to do it in.
 */
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
 * Runs argv[0] with the NULL-terminated @argv in @dir (NULL: here) and waits for it. Standard input
 * is empty. Returns false when it could not be started. @run is always safe to give to
 * program_run_fini.
 */
bool program_run(struct program_run *run, const char *dir, char *const argv[]);
void program_run_fini(struct program_run *run);

/* An empty folder @name below @parent, whatever was there before. False: could not be made. */
bool scratch_create(const char *parent, const char *name, char *path, size_t size);
/* Removes a folder with everything in it, or a file. */
void scratch_remove(const char *path);

#endif
