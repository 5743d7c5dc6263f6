/* The team over MPI. Two rules: only the thread that joined talks, and no process polls without
 * pause, because MPI's own waiting would take a core from the processes that read. */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "team/team.h"

enum {
	TAG_SIZE = 1,
	TAG_BYTES = 2,
	CHUNK_BYTES = 1 << 30, /* MPI counts are int */
	POLLS_AWAKE = 2000,    /* about a millisecond: most answers come at once */
	PAUSE_NS_MIN = 50 * 1000,
	PAUSE_NS_MAX = 2 * 1000 * 1000,
};

/* The membership of this process; size 0: not joined. One per process, as in MPI itself. */
static struct {
	int size, place, n_threads;
	bool is_broken;
	char host[MPI_MAX_PROCESSOR_NAME];
} team;

static struct fsl_launch launch(void)
{
	return fsl_launch_read(getenv);
}

/* Waits for a message on its way and yields the core to other processes meanwhile. */
static void wait_awake(MPI_Request *request, int n_polls_max)
{
	int is_done = 0;
	for (int n_polls = 0; !is_done && n_polls < n_polls_max; n_polls++) {
		(void)MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
		if (!is_done) {
			(void)sched_yield();
		}
	}
}

/* Waits for another process, which may be busy for long: in pauses that grow. */
static void wait_asleep(MPI_Request *request)
{
	struct timespec pause = {.tv_nsec = PAUSE_NS_MIN};
	wait_awake(request, POLLS_AWAKE);
	while (*request != MPI_REQUEST_NULL) {
		(void)nanosleep(&pause, NULL);
		wait_awake(request, 1);
		pause.tv_nsec = pause.tv_nsec < PAUSE_NS_MAX / 2 ? pause.tv_nsec * 2 : PAUSE_NS_MAX;
	}
}

static void wait_moving(MPI_Request *request)
{
	while (*request != MPI_REQUEST_NULL) {
		wait_awake(request, POLLS_AWAKE);
	}
}

/*
 * mpirun may bind each process to its own cores or leave all cores to all processes. The allowed
 * cores of this process are divided by the number of processes on the host whose allowed cores
 * overlap with them.
 */
static int share_of_cores(void)
{
	MPI_Comm local = MPI_COMM_NULL;
	cpu_set_t mine;
	int n_local = 0, n_sharing = 0;
	CPU_ZERO(&mine);
	(void)sched_getaffinity(0, sizeof(mine), &mine);
	(void)MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, team.place, MPI_INFO_NULL,
				  &local);
	(void)MPI_Comm_size(local, &n_local);
	cpu_set_t *all = fsl_calloc((size_t)n_local, sizeof(*all));
	FSL_REQUIRE(all != NULL);
	(void)MPI_Allgather(&mine, (int)sizeof(mine), MPI_BYTE, all, (int)sizeof(mine), MPI_BYTE,
			    local);
	for (int i = 0; i < n_local; i++) {
		cpu_set_t both;
		CPU_AND(&both, &mine, &all[i]);
		n_sharing += CPU_COUNT(&both) > 0;
	}
	fsl_free(all);
	(void)MPI_Comm_free(&local);
	int n_threads = n_sharing > 0 ? CPU_COUNT(&mine) / n_sharing : 1;
	return n_threads > 0 ? n_threads : 1;
}

enum fsl_status fsl_team_join(struct fsl_error *err)
{
	struct fsl_launch told = launch();
	int level = 0, size = 0, n_host = 0;
	if (told.n_processes < 2) {
		return FSL_OK;
	}
	(void)MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
	(void)MPI_Comm_size(MPI_COMM_WORLD, &size);
	(void)MPI_Comm_rank(MPI_COMM_WORLD, &team.place);
	if (size != told.n_processes) {
		(void)MPI_Finalize();
		if (told.place > 0) {
			return FSL_OK; /* the first process reports it */
		}
		return FSL_FAIL(
			err, FSL_ERR_CONFIG,
			"the launcher started processes that MPI does not bring together, use "
			"mpirun of the MPI that failslow was built with, or srun --mpi=pmix: "
			"started=%d, together=%d",
			told.n_processes, size);
	}
	team.size = size;
	(void)MPI_Get_processor_name(team.host, &n_host);
	team.n_threads = share_of_cores();
	return FSL_OK;
}

void fsl_team_break(void)
{
	team.is_broken = team.size > 0;
}

void fsl_team_leave(int exit_code)
{
	MPI_Request all_leave = MPI_REQUEST_NULL;
	if (team.size == 0) {
		return;
	}
	if (team.is_broken) {
		(void)MPI_Abort(MPI_COMM_WORLD, exit_code);
	}
	(void)MPI_Ibarrier(MPI_COMM_WORLD, &all_leave);
	wait_asleep(&all_leave);
	(void)MPI_Finalize();
	team.size = 0;
}

int fsl_team_size(void)
{
	return team.size > 0 && !team.is_broken ? team.size : 1;
}

int fsl_team_place(void)
{
	return team.size > 0 ? team.place : launch().place;
}

int fsl_team_threads(void)
{
	return team.n_threads;
}

const char *fsl_team_host(void)
{
	return team.host;
}

const char *fsl_team_library(void)
{
	/* "Open MPI v4.1.4, package: ..." -> "Open MPI v4.1.4" */
	static char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int n = 0;
	(void)MPI_Get_library_version(text, &n);
	text[strcspn(text, ",\n")] = '\0';
	return text;
}

static int chunk_of(size_t n_left)
{
	return n_left < CHUNK_BYTES ? (int)n_left : CHUNK_BYTES;
}

void fsl_team_send(int place, const void *bytes, size_t n_bytes)
{
	uint64_t size = n_bytes;
	MPI_Request sent = MPI_REQUEST_NULL;
	(void)MPI_Send(&size, 1, MPI_UINT64_T, place, TAG_SIZE, MPI_COMM_WORLD);
	for (size_t at = 0; at < n_bytes; at += CHUNK_BYTES) {
		(void)MPI_Isend((const char *)bytes + at, chunk_of(n_bytes - at), MPI_BYTE, place,
				TAG_BYTES, MPI_COMM_WORLD, &sent);
		wait_moving(&sent);
	}
}

enum fsl_status fsl_team_receive(int place, struct fsl_message *message, struct fsl_error *err)
{
	uint64_t size = 0;
	MPI_Request received = MPI_REQUEST_NULL;
	/* The sender of the size sends the bytes next: only the size is waited for asleep. */
	(void)MPI_Irecv(&size, 1, MPI_UINT64_T, place, TAG_SIZE, MPI_COMM_WORLD, &received);
	wait_asleep(&received);
	message->n_bytes = 0;
	enum fsl_status status = FSL_GROW(message->bytes, message->capacity, size, err);
	if (status != FSL_OK) {
		return FSL_CAUSE(err, status, "cannot take a message: bytes=%llu",
				 (unsigned long long)size);
	}
	for (size_t at = 0; at < size; at += CHUNK_BYTES) {
		(void)MPI_Irecv(message->bytes + at, chunk_of(size - at), MPI_BYTE, place,
				TAG_BYTES, MPI_COMM_WORLD, &received);
		wait_moving(&received);
	}
	message->n_bytes = size;
	return FSL_OK;
}
