/* Memory of messages that protobuf-c unpacks: it does not tell a lack of memory from a broken
 * message, so the allocator notes it. */
#ifndef FSL_SOURCE_SYSTRACE_PB_MEMORY_H
#define FSL_SOURCE_SYSTRACE_PB_MEMORY_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "base/mem.h"

static inline void *fsl_pb_alloc(void *is_short, size_t size)
{
	void *memory = fsl_calloc(1, size);
	*(bool *)is_short |= memory == NULL;
	return memory;
}

static inline void fsl_pb_free(void *is_short, void *memory)
{
	(void)is_short;
	fsl_free(memory);
}

/* @is_short (borrowed, started as false) becomes true if memory runs out. */
static inline ProtobufCAllocator fsl_pb_allocator(bool *is_short)
{
	return (ProtobufCAllocator){
		.alloc = fsl_pb_alloc, .free = fsl_pb_free, .allocator_data = is_short};
}

#endif
