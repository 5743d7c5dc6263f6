/* The team of a build without MPI: one process, however it was started. */
#include "team/team.h"

#include "base/log.h"

enum fsl_status fsl_team_join(struct fsl_error *err)
{
	(void)err;
	return FSL_OK;
}

void fsl_team_leave(int exit_code)
{
	(void)exit_code;
}

void fsl_team_break(void)
{
}

int fsl_team_size(void)
{
	return 1;
}

int fsl_team_place(void)
{
	return 0;
}

int fsl_team_threads(void)
{
	return 0;
}

const char *fsl_team_host(void)
{
	return "localhost";
}

const char *fsl_team_library(void)
{
	return "no";
}

/* There is no other process to send to or receive from. */
void fsl_team_send(int place, const void *bytes, size_t n_bytes)
{
	(void)bytes, (void)n_bytes;
	FSL_REQUIRE(place < 0);
}

enum fsl_status fsl_team_receive(int place, struct fsl_message *message, struct fsl_error *err)
{
	*message = (struct fsl_message){0};
	FSL_REQUIRE(place < 0);
	return FSL_FAIL(err, FSL_ERR_INTERNAL, "no process to hear from: place=%d", place);
}
