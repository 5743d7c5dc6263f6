/* Columns as differences: times of a rank rise in small steps, so half of their bytes are
 * redundant. */
#include "base/pack.h"

#include <endian.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

/* Room for @n more bytes; NULL, and is_failed, if memory is short. */
static unsigned char *extend(struct fsl_pack *pack, size_t n)
{
	size_t n_wanted = 0;
	if (pack->is_failed || !fsl_add_size(pack->n_bytes, n, &n_wanted) ||
	    FSL_GROW(pack->bytes, pack->capacity, n_wanted, NULL) != FSL_OK) {
		pack->is_failed = true;
		return NULL;
	}
	unsigned char *to = pack->bytes + pack->n_bytes;
	pack->n_bytes = n_wanted;
	return to;
}

static void append(struct fsl_pack *pack, const void *bytes, size_t n)
{
	unsigned char *to = extend(pack, n);
	if (to != NULL && n > 0) {
		memcpy(to, bytes, n);
	}
}

void fsl_pack_u8(struct fsl_pack *pack, uint8_t value)
{
	append(pack, &value, sizeof(value));
}

void fsl_pack_u32(struct fsl_pack *pack, uint32_t value)
{
	value = htole32(value);
	append(pack, &value, sizeof(value));
}

void fsl_pack_u64(struct fsl_pack *pack, uint64_t value)
{
	value = htole64(value);
	append(pack, &value, sizeof(value));
}

void fsl_pack_f64(struct fsl_pack *pack, double value)
{
	uint64_t bits = 0;
	memcpy(&bits, &value, sizeof(bits));
	fsl_pack_u64(pack, bits);
}

void fsl_pack_bytes(struct fsl_pack *pack, const void *bytes, size_t n_bytes)
{
	fsl_pack_u64(pack, n_bytes);
	append(pack, bytes, n_bytes);
}

void fsl_pack_packed(struct fsl_pack *pack, const void *bytes, size_t n_bytes)
{
	append(pack, bytes, n_bytes);
}

void fsl_pack_text(struct fsl_pack *pack, const char *text)
{
	size_t n = strlen(text);
	if (n > UINT32_MAX) {
		pack->is_failed = true;
		return;
	}
	fsl_pack_u32(pack, (uint32_t)n);
	append(pack, text, n);
}

void fsl_pack_fini(struct fsl_pack *pack)
{
	fsl_free(pack->bytes);
	*pack = (struct fsl_pack){0};
}

/* Four bytes are widened with their sign, so that -1 is close to small positive numbers. */
static uint64_t load_field(const unsigned char *field, size_t n_field_bytes)
{
	if (n_field_bytes == sizeof(uint64_t)) {
		uint64_t value = 0;
		memcpy(&value, field, sizeof(value));
		return value;
	}
	int32_t value = 0;
	memcpy(&value, field, sizeof(value));
	return (uint64_t)value;
}

static void store_field(unsigned char *field, size_t n_field_bytes, uint64_t value)
{
	if (n_field_bytes == sizeof(uint64_t)) {
		memcpy(field, &value, sizeof(value));
	} else {
		uint32_t narrow = (uint32_t)value;
		memcpy(field, &narrow, sizeof(narrow));
	}
}

/* Difference modulo 2^64 with its sign in the lowest bit, so that small differences of either sign
 * have small codes. Every pair of values has a code. */
static uint64_t code_of(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static uint64_t difference_of(uint64_t code)
{
	return (code >> 1) ^ (0 - (code & 1));
}

static unsigned width_of(uint64_t codes)
{
	if (codes <= UINT8_MAX) {
		return 1;
	}
	if (codes <= UINT16_MAX) {
		return 2;
	}
	return codes <= UINT32_MAX ? 4 : 8;
}

/* Encodes the values behind the first, @width bytes each. */
static inline void encode(unsigned char *to, const unsigned char *from, struct fsl_pack_field shape,
			  size_t n, size_t width)
{
	uint64_t last = load_field(from, shape.n_field_bytes);
	for (size_t i = 1; i < n; i++, to += width) {
		uint64_t value = load_field(from + i * shape.stride, shape.n_field_bytes);
		uint64_t code = htole64(code_of(value - last));
		memcpy(to, &code, width);
		last = value;
	}
}

static inline void decode(unsigned char *to, const unsigned char *from, struct fsl_pack_field shape,
			  size_t n, size_t width)
{
	uint64_t value = load_field(to, shape.n_field_bytes);
	for (size_t i = 1; i < n; i++, from += width) {
		uint64_t code = 0;
		memcpy(&code, from, width);
		value += difference_of(le64toh(code));
		store_field(to + i * shape.stride, shape.n_field_bytes, value);
	}
}

void fsl_pack_column(struct fsl_pack *pack, const void *field, struct fsl_pack_field shape,
		     size_t n)
{
	FSL_REQUIRE(shape.n_field_bytes == 4 || shape.n_field_bytes == 8);
	if (n == 0) {
		return;
	}
	const unsigned char *from = field;
	uint64_t first = load_field(from, shape.n_field_bytes), last = first, codes = 0;
	for (size_t i = 1; i < n; i++) {
		uint64_t value = load_field(from + i * shape.stride, shape.n_field_bytes);
		codes |= code_of(value - last);
		last = value;
	}
	unsigned width = width_of(codes);
	fsl_pack_u8(pack, (uint8_t)width);
	fsl_pack_u64(pack, first);
	size_t n_bytes = 0;
	unsigned char *to = fsl_mul_size(n - 1, width, &n_bytes) ? extend(pack, n_bytes) : NULL;
	if (to == NULL) {
		pack->is_failed = true;
		return;
	}
	switch (width) { /* each width has a loop of its own, with one store for a code */
	case 1:
		encode(to, from, shape, n, 1);
		break;
	case 2:
		encode(to, from, shape, n, 2);
		break;
	case 4:
		encode(to, from, shape, n, 4);
		break;
	default:
		encode(to, from, shape, n, 8);
	}
}

/* The next @n bytes; NULL, and is_bad, if there are fewer. */
static const unsigned char *take(struct fsl_unpack *unpack, size_t n)
{
	if (unpack->is_bad || n > unpack->n_left) {
		unpack->is_bad = true;
		return NULL;
	}
	const unsigned char *bytes = unpack->at;
	unpack->at += n;
	unpack->n_left -= n;
	return bytes;
}

uint8_t fsl_unpack_u8(struct fsl_unpack *unpack)
{
	const unsigned char *bytes = take(unpack, 1);
	return bytes != NULL ? bytes[0] : 0;
}

uint32_t fsl_unpack_u32(struct fsl_unpack *unpack)
{
	uint32_t value = 0;
	const unsigned char *bytes = take(unpack, sizeof(value));
	if (bytes != NULL) {
		memcpy(&value, bytes, sizeof(value));
	}
	return le32toh(value);
}

uint64_t fsl_unpack_u64(struct fsl_unpack *unpack)
{
	uint64_t value = 0;
	const unsigned char *bytes = take(unpack, sizeof(value));
	if (bytes != NULL) {
		memcpy(&value, bytes, sizeof(value));
	}
	return le64toh(value);
}

double fsl_unpack_f64(struct fsl_unpack *unpack)
{
	uint64_t bits = fsl_unpack_u64(unpack);
	double value = 0.0;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

const char *fsl_unpack_text(struct fsl_unpack *unpack, size_t n_max, size_t *n_text)
{
	size_t n = fsl_unpack_u32(unpack);
	unpack->is_bad = unpack->is_bad || n > n_max;
	const unsigned char *bytes = take(unpack, n);
	if (bytes != NULL && memchr(bytes, '\0', n) != NULL) {
		unpack->is_bad = true;
	}
	*n_text = unpack->is_bad ? 0 : n;
	return unpack->is_bad ? "" : (const char *)bytes;
}

const void *fsl_unpack_bytes(struct fsl_unpack *unpack, size_t *n_bytes)
{
	uint64_t n = fsl_unpack_u64(unpack);
	unpack->is_bad = unpack->is_bad || n > unpack->n_left;
	*n_bytes = unpack->is_bad ? 0 : (size_t)n;
	return take(unpack, *n_bytes);
}

size_t fsl_unpack_count(struct fsl_unpack *unpack, size_t n_max, size_t n_columns)
{
	uint64_t n = fsl_unpack_u64(unpack);
	FSL_REQUIRE(n_columns > 0);
	if (n > n_max || n > unpack->n_left / n_columns) {
		unpack->is_bad = true;
	}
	return unpack->is_bad ? 0 : (size_t)n;
}

void fsl_unpack_column(struct fsl_unpack *unpack, void *field, struct fsl_pack_field shape,
		       size_t n)
{
	FSL_REQUIRE(shape.n_field_bytes == 4 || shape.n_field_bytes == 8);
	if (n == 0) {
		return;
	}
	unsigned width = fsl_unpack_u8(unpack);
	uint64_t value = fsl_unpack_u64(unpack);
	size_t n_bytes = 0;
	bool is_width = width == 1 || width == 2 || width == 4 || width == 8;
	if (!is_width || !fsl_mul_size(n - 1, width, &n_bytes)) {
		unpack->is_bad = true;
	}
	const unsigned char *from = take(unpack, n_bytes);
	if (from == NULL) {
		return;
	}
	unsigned char *to = field;
	store_field(to, shape.n_field_bytes, value);
	switch (width) {
	case 1:
		decode(to, from, shape, n, 1);
		break;
	case 2:
		decode(to, from, shape, n, 2);
		break;
	case 4:
		decode(to, from, shape, n, 4);
		break;
	default:
		decode(to, from, shape, n, 8);
	}
}

bool fsl_unpack_is_done(const struct fsl_unpack *unpack)
{
	return !unpack->is_bad && unpack->n_left == 0;
}
