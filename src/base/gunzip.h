/*
 * Unpacks gzip: by ISA-L if that library is installed, which is three times as fast, else by zlib.
 * Both find the same bytes and the same kinds of faults.
 */
#ifndef FSL_BASE_GUNZIP_H
#define FSL_BASE_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

struct fsl_gunzip; /* opaque; one stream of members behind each other */

/* NULL when out of memory. @may_use_isal: false asks for zlib. */
struct fsl_gunzip *fsl_gunzip_create(bool may_use_isal);
/* NULL is fine. */
void fsl_gunzip_destroy(struct fsl_gunzip *gunzip);

enum fsl_gunzip_result {
	FSL_GUNZIP_MORE,   /* wants more input or more room */
	FSL_GUNZIP_MEMBER, /* the end of a member; another one may follow */
	FSL_GUNZIP_BROKEN,
	FSL_GUNZIP_NO_MEMORY,
};

/* Bytes of one step; a step moves them on. */
struct fsl_gunzip_step {
	const char *in;
	size_t n_in;
	char *out;
	size_t n_out;
	const char *reason; /* of FSL_GUNZIP_BROKEN; static text */
};
enum fsl_gunzip_result fsl_gunzip_run(struct fsl_gunzip *gunzip, struct fsl_gunzip_step *step);

/* Version of ISA-L; "no": it is not installed. */
const char *fsl_gunzip_isal(void);

struct z_stream_s;
/* A stream of zlib takes its memory from fsl_calloc then, so that tests can make it fail. Call it
 * before inflateInit2 or deflateInit2. */
void fsl_gunzip_own_memory(struct z_stream_s *zlib);

#endif
