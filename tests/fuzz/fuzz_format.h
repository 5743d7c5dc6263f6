/*
 * Fuzzing of one input format; fuzz_<format>.c is then
 *
 *     #include "fuzz/fuzz_format.h"
 *     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
 *     {
 *             return fuzz_format("<format>", data, n_bytes);
 *     }
 */
#ifndef FSL_TESTS_FUZZ_FUZZ_FORMAT_H
#define FSL_TESTS_FUZZ_FUZZ_FORMAT_H

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/ingest.h"

/* Probes and reads the input as @name, whatever the probe says. */
static inline int fuzz_format(const char *name, const uint8_t *data, size_t n_bytes)
{
	const struct fsl_format *format = fsl_format_by_name(name);
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	struct fsl_file file = {.path = name};
	struct fsl_sink sink;
	FSL_REQUIRE(format != NULL);
	if (reader == NULL) {
		return 0;
	}
	struct fsl_probe probe = {.file_name = name};
	if (fsl_sink_init(&sink, &file, NULL) == FSL_OK) {
		if (fsl_reader_peek(reader, FSL_FILE_HEAD_BYTES, &probe.head, &probe.n_head,
				    NULL) == FSL_OK) {
			int weight = format->probe(&probe);
			FSL_REQUIRE(weight >= 0 && weight <= 100);
			(void)format->read(reader, &sink, NULL);
		}
		fsl_sink_fini(&sink);
	}
	fsl_reader_close(reader);
	return 0;
}

#endif
