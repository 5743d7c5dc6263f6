/* The number by which the profiler's files name a communication group. */
#include <inttypes.h>
#include <stdio.h>

#include "capture/cluster.h"

enum { TEXT_BYTES = 24 };

void fsl_profile_group_hash(const char *id, char *out)
{
	uint32_t upper = 0, lower = 0; /* overflow wraps, as in the profiler */
	for (const char *at = id; *at != '\0'; at++) {
		upper = upper * 29 + (unsigned char)*at;
		lower = lower * 131 + (unsigned char)*at;
	}
	(void)snprintf(out, TEXT_BYTES, "%" PRIu64, (uint64_t)upper << 32 | lower);
}
