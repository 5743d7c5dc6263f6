/* Files of tracefs, the file system through which the kernel's tracer is set and read. */
#ifndef FSL_RECORD_TRACEFS_H
#define FSL_RECORD_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include <failslow/error.h>

enum {
	FSL_TRACEFS_PATH_MAX = 512, /* bytes of the name of a file, with its end */
	/* Bytes of a setting: masks of 4096 CPUs take 1152 characters. */
	FSL_TRACEFS_TEXT_MAX = 1280,
};

/* Finds where tracefs is mounted. @given: a folder to use instead, NULL: none. FSL_ERR_IO says
 * whether the kernel has none, it is not mounted, or this user may not use it. */
enum fsl_status fsl_tracefs_find(char root[FSL_TRACEFS_PATH_MAX], const char *given,
				 struct fsl_error *err);

/* Here and below: @root is tracefs or an instance in it, @name a file below @root. */
bool fsl_tracefs_has(const char *root, const char *name);
/* Replaces what the file holds. FSL_ERR_IO names the file. */
enum fsl_status fsl_tracefs_write(const char *root, const char *name, const char *text,
				  struct fsl_error *err);
/* Reads a setting without the newline at its end; longer text is cut. FSL_ERR_IO. */
enum fsl_status fsl_tracefs_read(const char *root, const char *name,
				 char text[FSL_TRACEFS_TEXT_MAX], struct fsl_error *err);

#endif
