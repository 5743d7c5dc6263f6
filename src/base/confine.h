/*
 * Confines this process to the files that its run needs, by Landlock of the Linux kernel. A fault
 * in a parser that a hostile file finds can then neither read other files nor change any. Without
 * Landlock (Linux before 5.13, some containers) nothing changes: a run never fails for it.
 *
 * A plan lists what stays allowed; fsl_confine_begin() makes it true for the rest of the process,
 * for the calling thread and for all threads and processes that it starts afterwards.
 */
#ifndef FSL_BASE_CONFINE_H
#define FSL_BASE_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/os_error.h"

struct fsl_confine;

enum fsl_confine_need {
	/* To read the file, or all that lies below the folder. */
	FSL_CONFINE_READ,
	/* The same for inputs: a file with the files beside it, a folder with the targets of links
	 * in it. A link counts if root, the user, or the owner of its target made it. */
	FSL_CONFINE_INPUT,
	/* To read and to run what lies there: libraries. */
	FSL_CONFINE_RUN,
	/* Below the folder files and folders are read, made, changed and removed. If the folder is
	 * absent: below the nearest folder above it. */
	FSL_CONFINE_WRITE,
	/* Connections over TCP; the path is ignored. */
	FSL_CONFINE_NETWORK,
	/* The process must not be confined; in place of the path: why not, a literal. */
	FSL_CONFINE_NOTHING,
};

/* NULL if out of memory; all functions take such a plan, and it confines nothing. */
struct fsl_confine *fsl_confine_create(void);
void fsl_confine_destroy(struct fsl_confine *plan);

/* Adds a need. @path is copied; NULL and "-" are no files and are ignored. */
void fsl_confine_allow(struct fsl_confine *plan, enum fsl_confine_need need, const char *path);

/* Adds what each run needs: libraries, time zones, limits of memory, and temporary folders. */
void fsl_confine_allow_usual(struct fsl_confine *plan);

/*
 * Confines the process, and says so at level INFO, or says why not. Once it is confined, a second
 * call changes nothing. @abi: version of Landlock to use; fsl_confine_abi() is that of the kernel,
 * tests name others.
 */
void fsl_confine_begin(struct fsl_confine *plan, int abi);

/* Version of the kernel's Landlock; 0: it has none, or it is switched off. */
int fsl_confine_abi(void);

/* True if fsl_confine_begin() confined this process. */
bool fsl_confine_is_active(void);

/* A static text if open(2) of @path failed with @code only because the process is confined, else
 * NULL. */
const char *fsl_confine_reason(const char *path, int code);

/* The reason for a message why open(2) of @path failed with @code, with the remedy if there is one
 * that the text of the system does not tell. */
struct fsl_os_error fsl_open_error(const char *path, int code);

#endif
