/*
 * Any bytes as a trace.dat. A process of its own reads it; what a sanitizer says of that process
 * goes to files with ASAN_OPTIONS=log_path=/tmp/asan.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/ftrace/read.h"
#include "source/ftrace/trace_dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	char path[64];
	struct fsl_ftrace_reader *reader = NULL;
	const struct fsl_sched_event *event = NULL;
	if (!fsl_trace_dat_is_supported()) {
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/tmp/failslow-fuzz-%ld.dat", (long)getpid());
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FSL_REQUIRE(file >= 0 && write(file, data, n_bytes) == (ssize_t)n_bytes);
	FSL_REQUIRE(close(file) == 0);
	if (fsl_ftrace_open(&reader, path, NULL) == FSL_OK) {
		while (fsl_ftrace_next(reader, &event, NULL) == FSL_OK && event != NULL) {
			FSL_REQUIRE(event->cpu >= 0 && event->cpu < FSL_SCHED_CPUS_MAX);
			FSL_REQUIRE(event->comm.length <= FSL_SCHED_COMM_MAX);
		}
	}
	fsl_ftrace_close(reader);
	(void)unlink(path);
	return 0;
}
