/*
 * The processes that read one run together, started by mpirun or srun. The first process asks and
 * the others answer: it alone knows the run, analyses it and writes. Without MPI (FSL_MPI=OFF), or
 * if only one process was started, there is no team and MPI is not touched.
 */
#ifndef FSL_TEAM_TEAM_H
#define FSL_TEAM_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* The launcher's environment variables about this process. */
struct fsl_launch {
	int n_processes; /* 1: alone, or no launcher */
	int place;       /* 0: the first */
};

/* Reads the variables of Open MPI, of MPICH and its relatives, and of Slurm. @lookup: getenv. */
struct fsl_launch fsl_launch_read(char *(*lookup)(const char *name));

/*
 * Joins the processes that were started together; each of them must call this function. Does
 * nothing in a single process or without MPI. FSL_ERR_CONFIG if the launcher started several
 * processes that MPI does not bring together. MPI keeps the membership for the process as a whole;
 * all fsl_team_* functions refer to it.
 */
enum fsl_status fsl_team_join(struct fsl_error *err);

/* Waits, asleep, until all other processes leave, too. Returns at once if alone. In a broken team
 * it ends all processes, this one with @exit_code. */
void fsl_team_leave(int exit_code);
/*
 * Marks the team as broken: questions and answers no longer match, so it cannot be ended in order.
 */
void fsl_team_break(void);

int fsl_team_size(void);  /* 1 before joining and in a broken team */
int fsl_team_place(void); /* 0: the first; before joining by the launcher's variables */
/* Cores for this process while all processes work: its allowed cores, divided among the processes
 * of the host that share them. 0 if alone: all cores. */
int fsl_team_threads(void);
const char *fsl_team_host(void); /* name of this host; static */

/* The library and its version for `failslow version`; "no" if it is not built in. */
const char *fsl_team_library(void);

/* A received message. Start as {0}; the next message may reuse the memory. The receiver frees
 * @bytes with fsl_free. */
struct fsl_message {
	unsigned char *bytes;
	size_t n_bytes, capacity;
};

/*
 * Sends to the process at @place, which waits for the message or will do so. Returns when the bytes
 * may be changed. If a process is lost, the launcher and MPI's own error handler end all of them.
 */
void fsl_team_send(int place, const void *bytes, size_t n_bytes);
/* Waits, asleep, for the next message of @place. FSL_ERR_MEMORY if it does not fit. */
enum fsl_status fsl_team_receive(int place, struct fsl_message *message, struct fsl_error *err);

#endif
