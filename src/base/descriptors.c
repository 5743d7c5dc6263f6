/* Waits for descriptors that other threads are going to close. */
#include "base/descriptors.h"

#include <errno.h>
#include <stdatomic.h>
#include <time.h>

enum {
	PAUSE_NS = 2000000,      /* most files are read faster */
	TRIES_MAX = 60,          /* of a call: 0.12 s */
	TRIES_OF_PROCESS = 1000, /* 2 s: if no thread ever closes a file, a large tree ends soon */
};

/* Not a lock, but a bound: each pause of any thread takes one. */
static atomic_int n_left = TRIES_OF_PROCESS;

bool fsl_may_open_again(int code, int *n_tries)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	bool is_short = code == EMFILE || code == ENFILE;
	bool waits = is_short && ++*n_tries <= TRIES_MAX && atomic_load(&n_left) > 0 &&
		     atomic_fetch_sub(&n_left, 1) > 0;
	if (waits) {
		(void)nanosleep(&pause, NULL);
	}
	errno = code;
	return waits;
}
