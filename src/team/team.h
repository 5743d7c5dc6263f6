/*
 * The processes that read one run together, started by mpirun or srun. The first of them asks, the
 * others answer: it alone knows the run, analyses and writes. Without MPI (FSL_MPI=OFF), and where
 * one process was started, there is no team and MPI is not touched.
 */
#ifndef FSL_TEAM_TEAM_H
#define FSL_TEAM_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* What the launcher's environment says of this process. */
struct fsl_launch {
	int n_processes; /* 1: alone, or no launcher */
	int place;       /* 0: the first */
};

/* Reads the variables of Open MPI, of MPICH and its relatives, and of Slurm. @lookup: getenv. */
struct fsl_launch fsl_launch_read(char *(*lookup)(const char *name));

/*
 * Joins the processes that were started with this one; every one of them has to call it. Alone,
 * or without MPI, it does nothing. FSL_ERR_CONFIG when the launcher started several processes that
 * MPI does not bring together. The membership is the process's own, as MPI keeps it: fsl_team_*
 * speak of it.
 */
enum fsl_status fsl_team_join(struct fsl_error *err);

/* Waits, asleep, until all others leave too. Nothing when alone. In a broken team it ends the
 * others and this process with @exit_code. */
void fsl_team_leave(int exit_code);
/* Says that questions and answers no longer meet: the others cannot be told to end. */
void fsl_team_break(void);

int fsl_team_size(void);  /* 1 before joining, and in a broken team */
int fsl_team_place(void); /* 0: the first; before joining as the launcher says */
/* Cores for this process while all work: those that it may use, divided among the processes of the
 * host that share them. 0 when alone: all. */
int fsl_team_threads(void);
const char *fsl_team_host(void); /* name of this host; borrowed for good */

/* The library and its version for `failslow version`, "no" where it is not built in. */
const char *fsl_team_library(void);

/* A message that arrived. Start as {0}; the next one may take the same memory. The receiver frees
 * @bytes with fsl_free. */
struct fsl_message {
	unsigned char *bytes;
	size_t n_bytes, capacity;
};

/*
 * Sends to the process at @place, which is waiting or will; returns when the bytes may change.
 * Losing a process ends all of them: the launcher sees to that, and MPI's own error handler.
 */
void fsl_team_send(int place, const void *bytes, size_t n_bytes);
/* Waits, asleep, for the next message of @place. FSL_ERR_MEMORY when it does not fit. */
enum fsl_status fsl_team_receive(int place, struct fsl_message *message, struct fsl_error *err);

#endif
