/*
 * Numbers, texts and columns to bytes and back, for messages between processes. Little-endian, so
 * that hosts of different kinds understand each other.
 */
#ifndef FSL_BASE_PACK_H
#define FSL_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* Bytes that grow. Start as {0}. After memory was short, further calls do nothing: check is_failed
 * once, at the end. */
struct fsl_pack {
	unsigned char *bytes;
	size_t n_bytes, capacity;
	bool is_failed;
};

void fsl_pack_u8(struct fsl_pack *pack, uint8_t value);
void fsl_pack_u32(struct fsl_pack *pack, uint32_t value);
void fsl_pack_u64(struct fsl_pack *pack, uint64_t value);
void fsl_pack_f64(struct fsl_pack *pack, double value); /* bit for bit, also NaN */
void fsl_pack_text(struct fsl_pack *pack, const char *text);
/* A message inside a message: its length and its bytes. */
void fsl_pack_bytes(struct fsl_pack *pack, const void *bytes, size_t n_bytes);
/* Appends bytes that were packed before, unchanged. */
void fsl_pack_packed(struct fsl_pack *pack, const void *bytes, size_t n_bytes);
void fsl_pack_fini(struct fsl_pack *pack);

/*
 * One field of an array of structs: 4 or 8 bytes wide (@n_field_bytes), the first at @field, each
 * further one @stride bytes on. The message holds the first value and then the difference of each
 * value to the one before it. All differences are as narrow as the widest needs: 1, 2, 4 or 8
 * bytes.
 */
struct fsl_pack_field {
	size_t n_field_bytes, stride;
};
void fsl_pack_column(struct fsl_pack *pack, const void *field, struct fsl_pack_field shape,
		     size_t n);

/* Bytes to read, borrowed and not trusted. A value that does not fit sets is_bad, and from then on
 * every value is 0 or "". Check is_bad before you use a value as a size. */
struct fsl_unpack {
	const unsigned char *at;
	size_t n_left;
	bool is_bad;
};

uint8_t fsl_unpack_u8(struct fsl_unpack *unpack);
uint32_t fsl_unpack_u32(struct fsl_unpack *unpack);
uint64_t fsl_unpack_u64(struct fsl_unpack *unpack);
double fsl_unpack_f64(struct fsl_unpack *unpack);
/* A text of at most @n_max bytes without a NUL: borrowed from the bytes, and not ended by a NUL. */
const char *fsl_unpack_text(struct fsl_unpack *unpack, size_t n_max, size_t *n_text);
/* A message inside the message, borrowed. */
const void *fsl_unpack_bytes(struct fsl_unpack *unpack, size_t *n_bytes);
/*
 * Reads a count of rows of @n_columns columns each. The count is bad if it exceeds @n_max, or if
 * fewer bytes are left than so many rows need at least: a short message cannot ask for much memory.
 */
size_t fsl_unpack_count(struct fsl_unpack *unpack, size_t n_max, size_t n_columns);
void fsl_unpack_column(struct fsl_unpack *unpack, void *field, struct fsl_pack_field shape,
		       size_t n);
/* True if every value was sound and no byte is left. */
bool fsl_unpack_is_done(const struct fsl_unpack *unpack);

#endif
