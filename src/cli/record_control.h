/* A recording that goes on by itself between `record start` and `record stop`: the file through
 * which both know of it. */
#ifndef FSL_CLI_RECORD_CONTROL_H
#define FSL_CLI_RECORD_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <failslow/error.h>

#include "record/record.h"

enum { FSL_RECORD_PATH_MAX = 4096 };

/* Contents of the file. */
struct fsl_record_state {
	int64_t pid;   /* of the recorder */
	int64_t begun; /* when the process began, clock ticks since boot: another process may get
			* its number */
	bool is_over;  /* the fields below count */
	char trace[FSL_RECORD_PATH_MAX];
	char failure[FSL_CAUSE_MESSAGE_MAX]; /* "": none */
	struct fsl_record_result result;
};

/* @folder, here and below: of the file. *is_there: a recording was started; *state is set then. */
enum fsl_status fsl_record_state_read(const char *folder, struct fsl_record_state *state,
				      bool *is_there, struct fsl_error *err);
enum fsl_status fsl_record_state_write(const char *folder, const struct fsl_record_state *state,
				       struct fsl_error *err);
void fsl_record_state_remove(const char *folder);

/* Sets pid and begin of this process. */
void fsl_record_state_take(struct fsl_record_state *state);
/* Whether the recorder still runs. */
bool fsl_record_state_is_alive(const struct fsl_record_state *state);
/* Asks the recorder to end, and waits until it has. FSL_ERR_IO. */
enum fsl_status fsl_record_state_stop(const struct fsl_record_state *state, struct fsl_error *err);

#endif
