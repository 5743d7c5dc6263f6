/* Five clocks of this host, read at one moment: a trace that has one of them finds the others. */
#ifndef FSL_RECORD_CLOCKS_H
#define FSL_RECORD_CLOCKS_H

#include <stdint.h>

#include "text/json_write.h"

enum { FSL_RECORD_CLOCKS_N = 5 };

struct fsl_record_clocks {
	int64_t ns[FSL_RECORD_CLOCKS_N]; /* realtime, monotonic, monotonic_raw, boottime, TAI */
};

/* Reads all clocks as close to each other as it can: within 1 us on a machine that is not busy. */
struct fsl_record_clocks fsl_record_clocks_now(void);
/* Writes one member of the open object for each clock: "CLOCK_REALTIME": nanoseconds. */
void fsl_record_clocks_write(struct fsl_json_writer *json, const struct fsl_record_clocks *clocks);

#endif
