/* Reading five clocks at one moment. */
#include "record/clocks.h"

#include <stddef.h>
#include <time.h>

#include "base/number.h"

enum { TRIES = 16 }; /* one of so many is not interrupted */

static const struct {
	const char *name;
	clockid_t id;
} clocks_known[FSL_RECORD_CLOCKS_N] = {
	{"CLOCK_REALTIME", CLOCK_REALTIME},
	{"CLOCK_MONOTONIC", CLOCK_MONOTONIC},
	{"CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW},
	{"CLOCK_BOOTTIME", CLOCK_BOOTTIME},
	{"CLOCK_TAI", CLOCK_TAI},
};

static int64_t read_ns(clockid_t id)
{
	struct timespec now = {0};
	(void)clock_gettime(id, &now);
	return (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
}

struct fsl_record_clocks fsl_record_clocks_now(void)
{
	struct fsl_record_clocks best = {{0}};
	int64_t least_ns = INT64_MAX;
	for (int i = 0; i < TRIES; i++) {
		struct fsl_record_clocks now;
		int64_t before_ns = read_ns(CLOCK_MONOTONIC_RAW);
		for (size_t k = 0; k < FSL_RECORD_CLOCKS_N; k++) {
			now.ns[k] = read_ns(clocks_known[k].id);
		}
		int64_t took_ns = read_ns(CLOCK_MONOTONIC_RAW) - before_ns;
		if (took_ns < least_ns) {
			least_ns = took_ns;
			best = now;
		}
	}
	return best;
}

void fsl_record_clocks_write(struct fsl_json_writer *json, const struct fsl_record_clocks *clocks)
{
	for (size_t k = 0; k < FSL_RECORD_CLOCKS_N; k++) {
		fsl_json_write_integer(json, clocks_known[k].name, clocks->ns[k]);
	}
}
