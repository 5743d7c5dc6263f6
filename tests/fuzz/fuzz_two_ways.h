/* For fuzz targets of formats with a fast way: it gives the same as the careful way. */
#ifndef FSL_TESTS_FUZZ_FUZZ_TWO_WAYS_H
#define FSL_TESTS_FUZZ_FUZZ_TWO_WAYS_H

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "fuzz/two_ways.h"

/* Broken archives: how much comes out in front of the fault depends on the pieces they come in. */
static inline bool is_packed(const uint8_t *data, size_t n_bytes)
{
	return n_bytes >= 2 &&
	       ((data[0] == 0x1f && data[1] == 0x8b) || (data[0] == 0x28 && data[1] == 0xb5));
}

/* The first byte belongs to fuzz_reader(). */
static inline void fuzz_two_ways(const char *format, const uint8_t *data, size_t n_bytes)
{
	if (n_bytes < 2 || is_packed(data + 1, n_bytes - 1)) {
		return;
	}
	struct reading whole, pieces;
	size_t n_piece = 1 + n_bytes / 200; /* as many pieces as a pipe holds */
	bool is_read = reading_begin(&whole, format, memory_reader(data + 1, n_bytes - 1));
	is_read = reading_begin(&pieces, format, chunked_reader(data + 1, n_bytes - 1, n_piece)) &&
		  is_read;
	FSL_REQUIRE(!is_read || reading_is_alike(&whole, &pieces));
	reading_end(&whole);
	reading_end(&pieces);
}

#endif
