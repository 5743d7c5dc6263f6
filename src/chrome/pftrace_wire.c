/* Tags, varints, lengths. */
#include "chrome/pftrace_wire.h"

#include <endian.h>
#include <string.h>

enum { VARINT_MAX = 10, FIELD_BITS = 29 };

static bool take_varint(struct fsl_pf_message *message, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < VARINT_MAX && message->at < message->end; i++) {
		uint64_t byte = (unsigned char)*message->at++;
		*value |= (byte & 0x7f) << 7 * i;
		if (byte < 0x80) {
			return true;
		}
	}
	return false;
}

static bool take_fixed(struct fsl_pf_message *message, size_t n, uint64_t *value)
{
	uint64_t bytes = 0;
	if ((size_t)(message->end - message->at) < n) {
		return false;
	}
	memcpy(&bytes, message->at, n);
	message->at += n;
	*value = le64toh(bytes);
	return true;
}

bool fsl_pf_head(struct fsl_pf_message *message, struct fsl_pf_field *field)
{
	uint64_t tag = 0;
	bool is_good = false;
	if (message->at == NULL || message->at == message->end || message->is_bad) {
		return false;
	}
	*field = (struct fsl_pf_field){0};
	if (take_varint(message, &tag)) {
		field->number = tag >> 3;
		field->wire = (unsigned)(tag & 7);
		switch (field->wire) {
		case FSL_PF_VARINT:
		case FSL_PF_BYTES:
			is_good = take_varint(message, &field->value);
			break;
		case FSL_PF_FIXED64:
			is_good = take_fixed(message, sizeof(uint64_t), &field->value);
			break;
		case FSL_PF_FIXED32:
			is_good = take_fixed(message, sizeof(uint32_t), &field->value);
			break;
		default: /* groups are of no use since long */
			break;
		}
	}
	message->is_bad =
		!is_good || field->number == 0 || field->number >= UINT64_C(1) << FIELD_BITS;
	return !message->is_bad;
}

bool fsl_pf_next(struct fsl_pf_message *message, struct fsl_pf_field *field)
{
	if (!fsl_pf_head(message, field)) {
		return false;
	}
	if (field->wire != FSL_PF_BYTES) {
		return true;
	}
	if (field->value > (uint64_t)(message->end - message->at)) {
		message->is_bad = true;
		return false;
	}
	field->bytes = (struct fsl_pf_message){message->at, message->at + field->value, false};
	message->at += field->value;
	return true;
}
