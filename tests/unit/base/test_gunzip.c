/* Both ways of unpacking gzip give the same bytes and find the same faults. Without ISA-L both are
 * zlib. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/gunzip.h"

enum { BYTES_MAX = 60000, PACKED_MAX = 3 * BYTES_MAX, OUT_MAX = 3 * BYTES_MAX };

static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ (z >> 31);
}

/* Text with repetitions, zeros, or bytes that do not pack. */
static size_t fill(char *to, uint64_t *seed)
{
	size_t n = next_random(seed) % BYTES_MAX;
	unsigned kind = (unsigned)(next_random(seed) % 3);
	for (size_t i = 0; i < n; i++) {
		uint64_t random = next_random(seed);
		to[i] = kind == 0 ? (char)('a' + random % 7) : kind == 1 ? '\0' : (char)random;
		if (kind == 0 && i > 100 && random % 40 == 0) {
			size_t length = random / 64 % 90;
			for (size_t k = 0; k < length && i + 1 < n; k++, i++) {
				to[i + 1] = to[i - 99];
			}
		}
	}
	return n;
}

/* A member behind @at; the name is in its header. Returns its length. */
static size_t pack(char *at, const char *bytes, size_t n, int level, bool has_name)
{
	z_stream stream = {.next_in = NULL};
	gz_header header = {.name = (Bytef *)(has_name ? "a name.json" : NULL), .hcrc = has_name};
	assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
			 Z_OK);
	assert_int_equal(deflateSetHeader(&stream, &header), Z_OK);
	stream.next_in = (Bytef *)bytes;
	stream.avail_in = (uInt)n;
	stream.next_out = (Bytef *)at;
	stream.avail_out = BYTES_MAX + 1000;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	size_t length = BYTES_MAX + 1000 - stream.avail_out;
	assert_int_equal(deflateEnd(&stream), Z_OK);
	return length;
}

struct unpacked {
	char *bytes;
	size_t n, n_members;
	bool is_broken, is_inside;
	const char *reason;
};

/* Steps of at most @n_piece bytes of input and @n_room of output. */
static void unpack(struct unpacked *out, bool may_use_isal, const char *packed, size_t n_packed,
		   size_t n_piece, size_t n_room)
{
	struct fsl_gunzip *gunzip = fsl_gunzip_create(may_use_isal);
	*out = (struct unpacked){.bytes = malloc(OUT_MAX)};
	assert_non_null(gunzip);
	assert_non_null(out->bytes);
	size_t n_idle = 0;
	for (size_t at = 0; !out->is_broken && n_idle < 3;) {
		size_t n_in = n_packed - at < n_piece ? n_packed - at : n_piece;
		size_t n_out = OUT_MAX - out->n < n_room ? OUT_MAX - out->n : n_room;
		if (n_in == 0 && !out->is_inside) {
			break;
		}
		struct fsl_gunzip_step step = {packed + at, n_in, out->bytes + out->n, n_out, NULL};
		enum fsl_gunzip_result result = fsl_gunzip_run(gunzip, &step);
		assert_true(step.n_in <= n_in && step.n_out <= n_out);
		n_idle = n_in == 0 && step.n_out == n_out ? n_idle + 1 : 0;
		at += n_in - step.n_in;
		out->n += n_out - step.n_out;
		out->n_members += result == FSL_GUNZIP_MEMBER;
		out->is_inside = result != FSL_GUNZIP_MEMBER;
		out->is_broken = result == FSL_GUNZIP_BROKEN;
		out->reason = out->is_broken ? step.reason : NULL;
	}
	fsl_gunzip_destroy(gunzip);
}

static void assert_alike(const struct unpacked *a, const struct unpacked *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->bytes, b->bytes, a->n);
	assert_int_equal(a->n_members, b->n_members);
	assert_int_equal(a->is_broken, b->is_broken);
	assert_int_equal(a->is_inside, b->is_inside);
}

static const size_t pieces[] = {1, 2, 7, 100, 4096, PACKED_MAX};

/* Two members; returns the bytes of both, packed and not. */
static size_t pack_two(char *packed, char *bytes, size_t *n_bytes, uint64_t *seed)
{
	size_t n = fill(bytes, seed);
	size_t n_packed = pack(packed, bytes, n, (int)(*seed % 10), *seed % 2 == 0);
	size_t n_second = fill(bytes + n, seed);
	n_packed += pack(packed + n_packed, bytes + n, n_second, 6, *seed % 2 == 1);
	*n_bytes = n + n_second;
	return n_packed;
}

static void members_are_unpacked_whatever_the_pieces(void **state)
{
	static char bytes[2 * BYTES_MAX], packed[PACKED_MAX];
	(void)state;
	for (uint64_t round = 1; round <= 30; round++) {
		uint64_t seed = round;
		size_t n_bytes = 0, n_packed = pack_two(packed, bytes, &n_bytes, &seed);
		for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
			for (int way = 0; way < 2; way++) {
				struct unpacked out;
				unpack(&out, way == 1, packed, n_packed, pieces[i],
				       i % 2 == 0 ? 1000 : OUT_MAX);
				assert_false(out.is_broken || out.is_inside);
				assert_int_equal(out.n_members, 2);
				assert_int_equal(out.n, n_bytes);
				assert_memory_equal(out.bytes, bytes, n_bytes);
				free(out.bytes);
			}
		}
	}
}

static void cut_members_are_told_alike(void **state)
{
	static char bytes[2 * BYTES_MAX], packed[PACKED_MAX];
	(void)state;
	for (uint64_t round = 1; round <= 60; round++) {
		uint64_t seed = round * 31;
		size_t n_bytes = 0, n_packed = pack_two(packed, bytes, &n_bytes, &seed);
		size_t n_left = next_random(&seed) % n_packed;
		n_left = round % 4 == 0 ? n_packed - 1 - round % 9 : n_left;
		struct unpacked zlib, isal;
		unpack(&zlib, false, packed, n_left, 4096, OUT_MAX);
		unpack(&isal, true, packed, n_left, 4096, OUT_MAX);
		assert_alike(&zlib, &isal);
		free(zlib.bytes);
		free(isal.bytes);
	}
}

/* Sums that are cut are broken for one of the libraries, and too short for the other one. */
static bool has_fault(const struct unpacked *unpacked)
{
	return unpacked->is_broken || unpacked->is_inside;
}

static void broken_members_are_told_alike(void **state)
{
	static char bytes[2 * BYTES_MAX], packed[PACKED_MAX];
	size_t n_broken = 0;
	(void)state;
	for (uint64_t round = 1; round <= 200; round++) {
		uint64_t seed = round * 77;
		size_t n = fill(bytes, &seed);
		size_t n_packed = pack(packed, bytes, n, 6, false);
		size_t at = round % 5 == 0 ? round % 10 : next_random(&seed) % n_packed;
		packed[at] = (char)(packed[at] ^ (char)(1 << round % 8));
		struct unpacked zlib, isal;
		unpack(&zlib, false, packed, n_packed, 4096, OUT_MAX);
		unpack(&isal, true, packed, n_packed, 4096, OUT_MAX);
		/* A code that nothing uses may be wrong for zlib alone. */
		bool is_whole = isal.n == n && memcmp(isal.bytes, bytes, n) == 0;
		assert_true(has_fault(&zlib) == has_fault(&isal) || is_whole);
		assert_true(!isal.is_broken || strlen(isal.reason) > 0);
		size_t n_both = zlib.n < isal.n ? zlib.n : isal.n;
		assert_memory_equal(zlib.bytes, isal.bytes, n_both);
		n_broken += zlib.is_broken;
		free(zlib.bytes);
		free(isal.bytes);
	}
	assert_true(n_broken > 100);
}

static void bytes_that_are_no_gzip_are_refused(void **state)
{
	(void)state;
	for (int way = 0; way < 2; way++) {
		struct unpacked out;
		unpack(&out, way == 1, "\x1f\x8b\x07 no method of gzip", 20, 4096, OUT_MAX);
		assert_true(out.is_broken);
		assert_string_equal(out.reason, "unknown compression method");
		free(out.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_unpacked_whatever_the_pieces),
		cmocka_unit_test(cut_members_are_told_alike),
		cmocka_unit_test(broken_members_are_told_alike),
		cmocka_unit_test(bytes_that_are_no_gzip_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
