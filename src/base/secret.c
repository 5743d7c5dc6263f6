/* Random numbers of this process. */
#include "base/secret.h"

#include <pthread.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static uint64_t keys[FSL_SECRET_KEYS_N];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A kernel without random numbers leaves the time, the process, and where it was loaded. */
static void make_keys(void)
{
	if (getrandom(keys, sizeof(keys), GRND_NONBLOCK) != (ssize_t)sizeof(keys)) {
		struct timespec now = {0};
		(void)clock_gettime(CLOCK_REALTIME, &now);
		uint64_t start = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 32) ^
				 (uint64_t)(uintptr_t)&now ^ ((uint64_t)getpid() << 20);
		for (int i = 0; i < FSL_SECRET_KEYS_N; i++) {
			start = (start + (uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15);
			keys[i] ^= start ^ (start >> 29);
		}
	}
	for (int i = 0; i < FSL_SECRET_KEYS_N; i++) {
		keys[i] |= 1;
	}
}

const uint64_t *fsl_secret_keys(void)
{
	(void)pthread_once(&once, make_keys);
	return keys;
}
