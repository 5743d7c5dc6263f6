/* Fields of protobuf messages in memory. */
#ifndef FSL_CHROME_PFTRACE_WIRE_H
#define FSL_CHROME_PFTRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FSL_PF_VARINT = 0,
	FSL_PF_FIXED64 = 1,
	FSL_PF_BYTES = 2,
	FSL_PF_FIXED32 = 5,
	FSL_PF_HEAD_MAX = 20, /* bytes of a tag and of a length */
};

/* Bytes of a message; borrowed. */
struct fsl_pf_message {
	const char *at, *end; /* at NULL: there is none */
	bool is_bad;          /* something in it is no field */
};

struct fsl_pf_field {
	uint64_t number;
	unsigned wire;
	uint64_t value;              /* of numbers; of bytes their length */
	struct fsl_pf_message bytes; /* of FSL_PF_BYTES */
};

/* Takes the next field; false at the end, or if the rest is broken (@message->is_bad). */
bool fsl_pf_next(struct fsl_pf_message *message, struct fsl_pf_field *field);
/* The same for the tag and the number or length alone: the bytes may not be there. */
bool fsl_pf_head(struct fsl_pf_message *message, struct fsl_pf_field *field);

#endif
