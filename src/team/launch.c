/* Tells whether this process is one of several, without asking MPI: MPI takes most of a second to
 * start, and it searches for a launcher even if there is none. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "team/team.h"

/* In this order, because mpirun below Slurm sets both kinds of variables. The Slurm variables are
 * those of the step: a batch script has SLURM_NTASKS, too, and is one process. */
static const struct {
	const char *size, *place;
} launchers[] = {
	{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, /* Open MPI's mpirun */
	{"PMI_SIZE", "PMI_RANK"},                         /* MPICH, Intel MPI; srun --mpi=pmi2 */
	{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},         /* srun --mpi=pmix */
};

/* A number in [0, INT_MAX], else -1. */
static int number_of(const char *text)
{
	char *end = NULL;
	if (text == NULL || text[0] < '0' || text[0] > '9') {
		return -1;
	}
	errno = 0;
	long value = strtol(text, &end, 10);
	return errno == 0 && *end == '\0' && value <= INT_MAX ? (int)value : -1;
}

struct fsl_launch fsl_launch_read(char *(*lookup)(const char *name))
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		int size = number_of(lookup(launchers[i].size));
		int place = number_of(lookup(launchers[i].place));
		if (size > 0 && place >= 0 && place < size) {
			return (struct fsl_launch){.n_processes = size, .place = place};
		}
	}
	return (struct fsl_launch){.n_processes = 1, .place = 0};
}
