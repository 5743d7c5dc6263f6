/* Maps chunks of a file that was removed as it was made. */
#include "capture/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/try.h"

/* Not all file systems have O_TMPFILE. */
static int open_in(const char *folder)
{
	char path[4096];
	int file = open(folder, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	int length = snprintf(path, sizeof(path), "%s/failslow-XXXXXX", folder);
	if (file >= 0 || length < 0 || (size_t)length >= sizeof(path)) {
		return file;
	}
	file = mkostemp(path, O_CLOEXEC);
	if (file >= 0) {
		(void)unlink(path);
	}
	return file;
}

static bool is_open(struct fsl_spill *spill)
{
	const char *const folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !spill->is_open; i++) {
		spill->file =
			folders[i] != NULL && folders[i][0] != '\0' ? open_in(folders[i]) : -1;
		spill->is_open = spill->file >= 0;
	}
	return spill->is_open;
}

/* NULL: the chunk must lie in memory. */
static unsigned char *map_chunk(struct fsl_spill *spill)
{
	size_t memory_max = spill->memory_max != 0 ? spill->memory_max : FSL_SPILL_MEMORY_MAX;
	if (spill->is_off || memory_max - spill->n_memory >= FSL_SPILL_CHUNK) {
		spill->n_memory += spill->is_off ? 0 : FSL_SPILL_CHUNK;
		return NULL;
	}
	/* The space is taken now: a page that the disk has no place for would end the process. */
	void *bytes = MAP_FAILED;
	if (is_open(spill) && posix_fallocate(spill->file, spill->n_file, FSL_SPILL_CHUNK) == 0) {
		bytes = mmap(NULL, FSL_SPILL_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file,
			     spill->n_file);
	}
	if (bytes == MAP_FAILED) {
		spill->is_off = true;
		return NULL;
	}
	spill->n_file += FSL_SPILL_CHUNK;
	return bytes;
}

static enum fsl_status add_chunk(struct fsl_spill_list *list, size_t capacity,
				 struct fsl_error *err)
{
	struct fsl_spill_chunk chunk = {.capacity = capacity};
	FSL_TRY(FSL_GROW(list->chunks, list->chunks_capacity, list->n_chunks + 1, err));
	if (list->n_chunks > 0) {
		fsl_spill_rest(list, list->n_chunks - 1);
	}
	if (list->spill != NULL && capacity == FSL_SPILL_CHUNK) {
		chunk.bytes = map_chunk(list->spill);
		chunk.is_in_file = chunk.bytes != NULL;
	}
	if (chunk.bytes == NULL) {
		FSL_TRY(FSL_NEW(chunk.bytes, capacity, "bytes", err));
	}
	list->chunks[list->n_chunks++] = chunk;
	return FSL_OK;
}

enum fsl_status fsl_spill_room(struct fsl_spill_list *list, size_t n_wanted, size_t capacity,
			       struct fsl_spill_chunk **out, struct fsl_error *err)
{
	*out = list->n_chunks > 0 ? &list->chunks[list->n_chunks - 1] : NULL;
	if (*out == NULL || (*out)->capacity - (*out)->n_bytes < n_wanted) {
		FSL_TRY(add_chunk(list, capacity, err));
		*out = &list->chunks[list->n_chunks - 1];
	}
	return FSL_OK;
}

void fsl_spill_rest(const struct fsl_spill_list *list, size_t i)
{
	if (list->chunks[i].is_in_file) {
		(void)madvise(list->chunks[i].bytes, FSL_SPILL_CHUNK, MADV_DONTNEED);
	}
}

void fsl_spill_fini(struct fsl_spill_list *list)
{
	for (size_t i = 0; i < list->n_chunks; i++) {
		if (list->chunks[i].is_in_file) {
			(void)munmap(list->chunks[i].bytes, FSL_SPILL_CHUNK);
		} else {
			fsl_free(list->chunks[i].bytes);
		}
	}
	fsl_free(list->chunks);
	*list = (struct fsl_spill_list){.spill = list->spill};
}

void fsl_spill_close(struct fsl_spill *spill)
{
	if (spill->is_open) {
		(void)close(spill->file);
	}
	*spill = (struct fsl_spill){.memory_max = spill->memory_max};
}
