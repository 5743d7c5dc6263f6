/* Streams of ISA-L and zlib. */
#include "base/gunzip.h"

#include <stdint.h>
#include <threads.h>
#include <zlib.h>

#include "base/library.h"
#include "base/mem.h"

#ifdef FSL_HAVE_ISAL
#include <isa-l.h>
#endif

enum { WINDOW_BITS = 15 + 32 }; /* largest window; + 32: zlib detects the header itself */

/* Parts of the header of a member, in their order (RFC 1952). */
enum part { PART_FIXED, PART_EXTRA_LENGTH, PART_EXTRA, PART_NAME, PART_COMMENT, PART_CRC, PARTS_N };

/* A header up to the byte that came last; PARTS_N: it is over. */
struct header {
	enum part part;
	unsigned n_seen; /* bytes of the part */
	unsigned flags, n_extra, told_crc;
	uLong crc; /* of all bytes in front of the told one */
};

struct fsl_gunzip {
	z_stream zlib;
	bool has_zlib;
	struct inflate_state *isal; /* NULL: zlib is used */
	struct header header; /* of ISA-L: its own reader of headers refuses good ones in pieces */
};

#ifdef FSL_HAVE_ISAL

#define TEXT(macro)    TEXT_OF(macro)
#define TEXT_OF(value) #value
/* The library tells none: that of its headers. */
#define VERSION TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(ISAL_PATCH_VERSION)

enum { FIXED_BYTES = 10, LENGTH_BYTES = 2, CRC_BYTES = 2 };
enum { FLAG_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_UNKNOWN = 0xe0 };

/* The flag without which a part is left out. */
static const unsigned part_flags[PARTS_N] = {
	[PART_EXTRA_LENGTH] = FLAG_EXTRA, [PART_EXTRA] = FLAG_EXTRA, [PART_NAME] = FLAG_NAME,
	[PART_COMMENT] = FLAG_COMMENT,    [PART_CRC] = FLAG_CRC,
};

static void end_part(struct header *header)
{
	do {
		header->part++;
	} while (header->part < PARTS_N && ((header->flags & part_flags[header->part]) == 0 ||
					    (header->part == PART_EXTRA && header->n_extra == 0)));
	header->n_seen = 0;
}

/* The reason why a byte of the fixed part is wrong, in the words of zlib; NULL: it is not. */
static const char *fixed_fault(struct header *header, unsigned byte)
{
	static const unsigned magic[] = {0x1f, 0x8b};
	switch (header->n_seen) {
	case 0:
	case 1:
		return byte == magic[header->n_seen] ? NULL : "incorrect header check";
	case 2:
		return byte == Z_DEFLATED ? NULL : "unknown compression method";
	case 3:
		header->flags = byte;
		return (byte & FLAGS_UNKNOWN) == 0 ? NULL : "unknown header flags set";
	default:
		return NULL;
	}
}

/* Takes one byte of a header; the reason why it is wrong, or NULL. */
static const char *take_header(struct header *header, unsigned char byte)
{
	const char *reason = NULL;
	bool is_end = byte == 0; /* of texts */
	if (header->part == PART_FIXED) {
		reason = fixed_fault(header, byte);
		is_end = header->n_seen == FIXED_BYTES - 1;
	} else if (header->part == PART_EXTRA_LENGTH) {
		header->n_extra |= (unsigned)byte << (8 * header->n_seen);
		is_end = header->n_seen == LENGTH_BYTES - 1;
	} else if (header->part == PART_EXTRA) {
		is_end = header->n_seen == header->n_extra - 1;
	} else if (header->part == PART_CRC) {
		header->told_crc |= (unsigned)byte << (8 * header->n_seen);
		is_end = header->n_seen == CRC_BYTES - 1;
		reason = is_end && header->told_crc != (header->crc & UINT16_MAX)
				 ? "header crc mismatch"
				 : NULL;
	}
	header->crc = header->part != PART_CRC ? crc32(header->crc, &byte, 1) : header->crc;
	header->n_seen++;
	if (is_end && reason == NULL) {
		end_part(header);
	}
	return reason;
}

/* Functions of ISA-L 2.20 and later, once they are loaded. */
static struct {
	__typeof__(isal_inflate_init) *init;
	__typeof__(isal_inflate_reset) *reset;
	__typeof__(isal_inflate) *inflate;
	bool is_there;
} isal;

static once_flag once = ONCE_FLAG_INIT;

static void load_isal(void)
{
	const struct fsl_symbol symbols[] = {
		{"isal_inflate_init", &isal.init},
		{"isal_inflate_reset", &isal.reset},
		{"isal_inflate", &isal.inflate},
	};
	isal.is_there =
		fsl_library_load("libisal.so.2", symbols, sizeof(symbols) / sizeof(symbols[0]));
}

/* A member begins. */
static void begin_isal(struct inflate_state *state)
{
	isal.reset(state);
	state->crc_flag = ISAL_GZIP_NO_HDR_VER; /* without header, with the sums at the end */
}

static struct inflate_state *create_isal(void)
{
	call_once(&once, load_isal);
	struct inflate_state *state = isal.is_there ? fsl_calloc(1, sizeof(*state)) : NULL;
	if (state != NULL) {
		isal.init(state);
		begin_isal(state);
	}
	return state;
}

/* In the words of zlib. */
static const char *isal_reason(int code)
{
	static const struct {
		int code;
		const char *text;
	} reasons[] = {
		{ISAL_INVALID_BLOCK, "invalid block"},
		{ISAL_INVALID_SYMBOL, "invalid code"},
		{ISAL_INVALID_LOOKBACK, "invalid distance too far back"},
		{ISAL_INCORRECT_CHECKSUM, "incorrect data check"},
	};
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].code == code) {
			return reasons[i].text;
		}
	}
	return "data error";
}

static enum fsl_gunzip_result run_isal(struct fsl_gunzip *gunzip, struct fsl_gunzip_step *step)
{
	struct inflate_state *state = gunzip->isal;
	for (; step->n_in > 0 && gunzip->header.part < PARTS_N; step->in++, step->n_in--) {
		step->reason = take_header(&gunzip->header, (unsigned char)*step->in);
		if (step->reason != NULL) {
			return FSL_GUNZIP_BROKEN;
		}
	}
	if (gunzip->header.part < PARTS_N) {
		return FSL_GUNZIP_MORE;
	}
	state->next_in = (uint8_t *)step->in;
	state->avail_in = (uint32_t)step->n_in;
	state->next_out = (uint8_t *)step->out;
	state->avail_out = (uint32_t)step->n_out;
	int code = isal.inflate(state);
	step->in += step->n_in - state->avail_in;
	step->n_in = state->avail_in;
	step->out += step->n_out - state->avail_out;
	step->n_out = state->avail_out;
	if (code < 0 || code == ISAL_NEED_DICT) {
		step->reason = isal_reason(code);
		return FSL_GUNZIP_BROKEN;
	}
	if (state->block_state != ISAL_BLOCK_FINISH) {
		return FSL_GUNZIP_MORE;
	}
	begin_isal(state);
	gunzip->header = (struct header){0};
	return FSL_GUNZIP_MEMBER;
}

const char *fsl_gunzip_isal(void)
{
	call_once(&once, load_isal);
	return isal.is_there ? VERSION : "no";
}

#else

static struct inflate_state *create_isal(void)
{
	return NULL;
}

static enum fsl_gunzip_result run_isal(struct fsl_gunzip *gunzip, struct fsl_gunzip_step *step)
{
	(void)gunzip;
	step->reason = "data error";
	return FSL_GUNZIP_BROKEN;
}

const char *fsl_gunzip_isal(void)
{
	return "no";
}

#endif

static voidpf zlib_calloc(voidpf unused, uInt n, uInt size)
{
	(void)unused;
	return fsl_calloc(n, size);
}

static void zlib_free(voidpf unused, voidpf memory)
{
	(void)unused;
	fsl_free(memory);
}

void fsl_gunzip_own_memory(struct z_stream_s *zlib)
{
	zlib->zalloc = zlib_calloc;
	zlib->zfree = zlib_free;
}

struct fsl_gunzip *fsl_gunzip_create(bool may_use_isal)
{
	struct fsl_gunzip *gunzip = fsl_calloc(1, sizeof(*gunzip));
	if (gunzip == NULL) {
		return NULL;
	}
	gunzip->isal = may_use_isal ? create_isal() : NULL;
	if (gunzip->isal != NULL) {
		return gunzip;
	}
	fsl_gunzip_own_memory(&gunzip->zlib);
	gunzip->has_zlib = inflateInit2(&gunzip->zlib, WINDOW_BITS) == Z_OK;
	if (!gunzip->has_zlib) {
		fsl_gunzip_destroy(gunzip);
		return NULL;
	}
	return gunzip;
}

void fsl_gunzip_destroy(struct fsl_gunzip *gunzip)
{
	if (gunzip == NULL) {
		return;
	}
	if (gunzip->has_zlib) {
		(void)inflateEnd(&gunzip->zlib);
	}
	fsl_free(gunzip->isal);
	fsl_free(gunzip);
}

static enum fsl_gunzip_result run_zlib(z_stream *zlib, struct fsl_gunzip_step *step)
{
	zlib->next_in = (Bytef *)step->in;
	zlib->avail_in = (uInt)step->n_in;
	zlib->next_out = (Bytef *)step->out;
	zlib->avail_out = (uInt)step->n_out;
	int code = inflate(zlib, Z_NO_FLUSH);
	step->in += step->n_in - zlib->avail_in;
	step->n_in = zlib->avail_in;
	step->out += step->n_out - zlib->avail_out;
	step->n_out = zlib->avail_out;
	if (code == Z_STREAM_END) {
		step->reason = "zlib state";
		return inflateReset(zlib) == Z_OK ? FSL_GUNZIP_MEMBER : FSL_GUNZIP_BROKEN;
	}
	if (code == Z_OK || code == Z_BUF_ERROR) {
		return FSL_GUNZIP_MORE;
	}
	step->reason = zlib->msg != NULL ? zlib->msg : zError(code);
	return code == Z_MEM_ERROR ? FSL_GUNZIP_NO_MEMORY : FSL_GUNZIP_BROKEN;
}

enum fsl_gunzip_result fsl_gunzip_run(struct fsl_gunzip *gunzip, struct fsl_gunzip_step *step)
{
	return gunzip->isal != NULL ? run_isal(gunzip, step) : run_zlib(&gunzip->zlib, step);
}
