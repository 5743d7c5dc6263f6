/*
 * For tests of the readers: reads one file's text, or a file of the reference data, into one rank.
 */
#ifndef FSL_TESTS_PROFILE_READING_H
#define FSL_TESTS_PROFILE_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/memory_reader.h"
#include "source/ascend/files.h"
#include "source/ascend/trace_sums.h"

struct reading {
	struct fsl_profile_rank rank;
	struct fsl_file file;
	const int64_t *steps; /* wanted */
	size_t n_steps;
};

static inline void reading_begin(struct reading *reading)
{
	*reading = (struct reading){.file = {.message = ""}};
	reading->rank.trace.begin_ns = reading->rank.trace.end_ns = FSL_NS_ABSENT;
	reading->rank.names = fsl_strpool_create();
	assert_non_null(reading->rank.names);
}

static inline void reading_end(struct reading *reading)
{
	fsl_profile_rank_fini(&reading->rank);
}

static inline enum fsl_status reading_try(struct reading *reading, fsl_profile_reader read,
					  struct fsl_reader *reader, struct fsl_error *err)
{
	reading->file = (struct fsl_file){.path = "memory", .message = ""};
	const struct fsl_profile_input input = {.reader = reader,
						.path = "memory",
						.file = &reading->file,
						.steps = reading->steps,
						.n_steps = reading->n_steps};
	return read(&reading->rank, &input, err);
}

/* Reads @text; may be called again, for another file of the same rank. */
static inline void reading_text(struct reading *reading, fsl_profile_reader read, const char *text)
{
	struct fsl_reader *reader = memory_reader(text, strlen(text));
	assert_non_null(reader);
	assert_int_equal(reading_try(reading, read, reader, NULL), FSL_OK);
	fsl_reader_close(reader);
}

/* @read fails for want of memory at every allocation until it succeeds. */
static inline void reading_survives_text(fsl_profile_reader read, const char *text)
{
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status == FSL_ERR_MEMORY; nth++) {
		struct reading reading;
		struct fsl_reader *reader = memory_reader(text, strlen(text));
		assert_non_null(reader);
		assert_true(nth < 1000);
		reading_begin(&reading);
		fsl_mem_fail_at(nth);
		status = reading_try(&reading, read, reader, NULL);
		fsl_mem_fail_at(0);
		fsl_reader_close(reader);
		reading_end(&reading);
	}
	assert_int_equal(status, FSL_OK);
}

static inline const char *reading_name(const struct reading *reading, uint32_t id)
{
	return fsl_strpool_text(reading->rank.names, id);
}

static inline void reading_shared_path(char *path, size_t size, const char *name)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	(void)snprintf(path, size, "%s/data/ascend/%s",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, name);
}

/* Reads a file of the reference data; skips the test when there is none. */
static inline void reading_shared(struct reading *reading, fsl_profile_reader read,
				  const char *name)
{
	char path[1024];
	struct fsl_reader *reader = NULL;
	reading_shared_path(path, sizeof(path), name);
	if (access(path, R_OK) != 0) {
		reading_end(reading); /* which may be done twice */
		skip();
	}
	assert_int_equal(fsl_reader_open(&reader, path, NULL), FSL_OK);
	assert_int_equal(reading_try(reading, read, reader, NULL), FSL_OK);
	fsl_reader_close(reader);
}

#endif
