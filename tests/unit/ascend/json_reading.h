/* For tests of the JSON readers: documents with ' for ", read whole or cut at a byte. */
#ifndef FSL_TESTS_PROFILE_JSON_READING_H
#define FSL_TESTS_PROFILE_JSON_READING_H

#include "reading.h"

/* Reader over @n_bytes of @text, every ' in it made a ". */
static inline struct fsl_reader *quoted_reader(const char *text, size_t n_bytes)
{
	char *copy = malloc(n_bytes + 1);
	assert_non_null(copy);
	for (size_t i = 0; i < n_bytes; i++) {
		copy[i] = text[i] == '\'' ? '"' : text[i];
	}
	struct fsl_reader *reader = memory_reader(copy, n_bytes);
	free(copy);
	assert_non_null(reader);
	return reader;
}

static inline void reading_piece(struct reading *reading, fsl_profile_reader read, const char *text,
				 size_t n_bytes)
{
	struct fsl_reader *reader = quoted_reader(text, n_bytes);
	assert_int_equal(reading_try(reading, read, reader, NULL), FSL_OK);
	fsl_reader_close(reader);
}

static inline void reading_document(struct reading *reading, fsl_profile_reader read,
				    const char *text)
{
	reading_piece(reading, read, text, strlen(text));
}

/* @read fails for want of memory at every allocation until it succeeds. */
static inline void reading_survives(fsl_profile_reader read, const char *text)
{
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status == FSL_ERR_MEMORY; nth++) {
		struct reading reading;
		struct fsl_reader *reader = quoted_reader(text, strlen(text));
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

#endif
