/* Parts of files, claimed and scanned by idle threads, and handed over to the files' readers. */
#include "source/ahead.h"

#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

enum {
	/* A file that has no more whole parts than this is not offered: its reader reaches the next
	 * part before a helper has scanned it. */
	LEAD_PARTS = 2,
	/* Bytes in front of a part that are read, too: they show whether a row ends there. */
	LOOK_BACK_BYTES = 1,
	ROW_BYTES = 48, /* few are shorter */
	/* Time that one part costs its reader (relative, measured): to scan it, or to take over the
	 * rows that a helper scanned. */
	SCAN_COST = 10,
	TAKE_COST = 3,
};

struct fsl_ahead {
	pthread_mutex_t
		mutex;        /* guards all below, except the content of a part that is not ready */
	pthread_cond_t work;  /* tells helpers that there may be more work */
	pthread_cond_t ready; /* tells readers that a part is ready */
	size_t part_bytes;
	size_t n_parts, n_parts_max;
	struct fsl_ahead_part *spare;
	size_t n_reading; /* files that are not done */
	struct fsl_ahead_file *files;
	size_t n_files; /* files that readers have offered */
};

struct fsl_ahead_file {
	struct fsl_ahead *ahead;
	const struct fsl_reader *reader;
	struct fsl_ahead_scanner scanner;
	uint64_t offset; /* of part 0 */
	size_t n_parts;  /* whole ones */
	size_t at;       /* the part that the reader is in */
	size_t n_seen;   /* parts from here on nobody has claimed */
	/* Claimed ones in order. */
	struct fsl_ahead_part *first, *last;
	struct fsl_ahead_part *used; /* by the reader */
	struct fsl_ahead_file *next;
};

struct fsl_ahead *fsl_ahead_create(size_t n_files, size_t n_parts, size_t part_bytes)
{
	struct fsl_ahead *ahead = n_parts > 0 ? fsl_calloc(1, sizeof(*ahead)) : NULL;
	if (ahead == NULL) {
		return NULL;
	}
	ahead->part_bytes = part_bytes;
	ahead->n_parts_max = n_parts;
	ahead->n_reading = n_files;
	(void)pthread_mutex_init(&ahead->mutex, NULL); /* without attributes none of them fails */
	(void)pthread_cond_init(&ahead->work, NULL);
	(void)pthread_cond_init(&ahead->ready, NULL);
	return ahead;
}

void fsl_ahead_destroy(struct fsl_ahead *ahead)
{
	if (ahead == NULL) {
		return;
	}
	FSL_REQUIRE(ahead->files == NULL);
	while (ahead->spare != NULL) {
		struct fsl_ahead_part *part = ahead->spare;
		ahead->spare = part->next;
		fsl_free(part->rows);
		fsl_free(part->bytes);
		fsl_free(part);
	}
	(void)pthread_cond_destroy(&ahead->ready);
	(void)pthread_cond_destroy(&ahead->work);
	(void)pthread_mutex_destroy(&ahead->mutex);
	fsl_free(ahead);
}

/* The functions from here on to the comment "end here" are called with the mutex held. */

static struct fsl_ahead_part *take_spare(struct fsl_ahead *ahead)
{
	struct fsl_ahead_part *part = ahead->spare;
	if (part != NULL) {
		ahead->spare = part->next;
		return part;
	}
	if (ahead->n_parts == ahead->n_parts_max) {
		return NULL;
	}
	part = fsl_calloc(1, sizeof(*part));
	if (part != NULL) {
		ahead->n_parts++;
	}
	return part;
}

static void put_spare(struct fsl_ahead *ahead, struct fsl_ahead_part *part)
{
	if (part != NULL) {
		part->next = ahead->spare;
		ahead->spare = part;
		(void)pthread_cond_signal(&ahead->work);
	}
}

/*
 * The first part that a helper can scan before the reader comes to it; n_parts if there is none.
 * The reader passes scanned parts fast. So helpers leave some parts between them to the reader:
 * else it would wait for each.
 */
static size_t next_claim(const struct fsl_ahead_file *file)
{
	const struct fsl_ahead_part *claimed = file->first;
	size_t idx = file->at + 1;
	/* The reader is somewhere in the part: on average it has half of the part left. */
	int cost = (file->used != NULL ? TAKE_COST : SCAN_COST) / 2;
	for (; idx < file->n_parts && (idx < file->n_seen || cost < SCAN_COST); idx++) {
		bool is_claimed = claimed != NULL && claimed->idx == idx;
		cost += is_claimed ? TAKE_COST : SCAN_COST;
		claimed = is_claimed ? claimed->next : claimed;
	}
	return idx;
}

/* The file that has most parts left; NULL if no file has parts left. */
static struct fsl_ahead_file *choose_file(const struct fsl_ahead *ahead)
{
	struct fsl_ahead_file *best = NULL;
	size_t most = 0;
	for (struct fsl_ahead_file *file = ahead->files; file != NULL; file = file->next) {
		size_t n_left = file->n_parts - next_claim(file);
		if (n_left > most) {
			best = file;
			most = n_left;
		}
	}
	return best;
}

static struct fsl_ahead_part *claim(struct fsl_ahead *ahead, struct fsl_ahead_file *file)
{
	struct fsl_ahead_part *part = file != NULL ? take_spare(ahead) : NULL;
	if (part == NULL) {
		return NULL;
	}
	part->idx = next_claim(file);
	part->is_ready = false;
	part->next = NULL;
	file->n_seen = part->idx + 1;
	*(file->first == NULL ? &file->first : &file->last->next) = part;
	file->last = part;
	return part;
}

/* Takes the first claimed part out, once it is ready. */
static struct fsl_ahead_part *wait_for_first(struct fsl_ahead_file *file)
{
	struct fsl_ahead_part *part = file->first;
	while (!part->is_ready) {
		(void)pthread_cond_wait(&file->ahead->ready, &file->ahead->mutex);
	}
	file->first = part->next;
	return part;
}

/* The functions that are called with the mutex held end here. */

/* Reads the bytes of a part and finds the begin of its first row. False: the part cannot be
 * scanned. */
static bool read_bytes(const struct fsl_ahead_file *file, struct fsl_ahead_part *part)
{
	size_t n_most = LOOK_BACK_BYTES + file->ahead->part_bytes + FSL_CSV_PLAIN_REACH_BYTES - 1;
	if (part->bytes == NULL) {
		part->bytes = fsl_calloc(1, n_most);
		/* As far as there is memory: there is another try with the first row. */
		(void)FSL_GROW(part->rows, part->rows_capacity, n_most / ROW_BYTES, NULL);
	}
	part->offset = file->offset + part->idx * file->ahead->part_bytes - LOOK_BACK_BYTES;
	if (part->bytes == NULL || fsl_reader_sample(file->reader, part->offset, part->bytes,
						     n_most, &part->n_bytes, NULL) != FSL_OK) {
		return false;
	}
	const char *newline = memchr(part->bytes, '\n', part->n_bytes);
	if (newline == NULL) {
		return false;
	}
	part->begin = part->end = (size_t)(newline - part->bytes) + 1;
	return true;
}

/* A part that could not be scanned begins nowhere. */
static void scan(const struct fsl_ahead_file *file, struct fsl_ahead_part *part)
{
	part->n_rows = 0;
	if (!read_bytes(file, part) || !file->scanner.scan(file->scanner.context, part)) {
		part->begin = SIZE_MAX;
	}
}

void fsl_ahead_note_done(struct fsl_ahead *ahead)
{
	if (ahead == NULL) {
		return;
	}
	(void)pthread_mutex_lock(&ahead->mutex);
	ahead->n_reading--;
	(void)pthread_cond_broadcast(&ahead->work);
	(void)pthread_mutex_unlock(&ahead->mutex);
}

void fsl_ahead_help(struct fsl_ahead *ahead)
{
	if (ahead == NULL) {
		return;
	}
	(void)pthread_mutex_lock(&ahead->mutex);
	while (ahead->n_reading > 0) {
		struct fsl_ahead_file *file = choose_file(ahead);
		struct fsl_ahead_part *part = claim(ahead, file);
		if (part != NULL) {
			(void)pthread_mutex_unlock(&ahead->mutex);
			scan(file, part);
			(void)pthread_mutex_lock(&ahead->mutex);
			part->is_ready = true;
			(void)pthread_cond_broadcast(&ahead->ready);
		} else if (file == NULL && ahead->n_files == ahead->n_reading) {
			break; /* all have been offered, and nothing of them is left */
		} else {
			(void)pthread_cond_wait(&ahead->work, &ahead->mutex);
		}
	}
	(void)pthread_mutex_unlock(&ahead->mutex);
}

struct fsl_ahead_file *fsl_ahead_offer(struct fsl_ahead *ahead, const struct fsl_reader *reader,
				       uint64_t offset, uint64_t end,
				       struct fsl_ahead_scanner scanner)
{
	uint64_t n_bytes = fsl_reader_disk_bytes(reader);
	n_bytes = end < n_bytes ? end : n_bytes;
	if (ahead == NULL || offset < LOOK_BACK_BYTES || !fsl_reader_can_seek(reader) ||
	    n_bytes < offset || (n_bytes - offset) / ahead->part_bytes <= LEAD_PARTS) {
		return NULL;
	}
	struct fsl_ahead_file *file = fsl_calloc(1, sizeof(*file));
	if (file == NULL) {
		return NULL;
	}
	*file = (struct fsl_ahead_file){
		.ahead = ahead,
		.reader = reader,
		.scanner = scanner,
		.offset = offset,
		.n_parts = (size_t)((n_bytes - offset) / ahead->part_bytes),
	};
	(void)pthread_mutex_lock(&ahead->mutex);
	file->next = ahead->files;
	ahead->files = file;
	ahead->n_files++;
	(void)pthread_cond_broadcast(&ahead->work);
	(void)pthread_mutex_unlock(&ahead->mutex);
	return file;
}

void fsl_ahead_withdraw(struct fsl_ahead_file *file)
{
	if (file == NULL) {
		return;
	}
	struct fsl_ahead *ahead = file->ahead;
	(void)pthread_mutex_lock(&ahead->mutex);
	struct fsl_ahead_file **link = &ahead->files;
	while (*link != file) {
		link = &(*link)->next;
	}
	*link = file->next;
	ahead->n_files--;
	put_spare(ahead, file->used);
	while (file->first != NULL) {
		put_spare(ahead, wait_for_first(file));
	}
	(void)pthread_mutex_unlock(&ahead->mutex);
	fsl_free(file);
}

uint64_t fsl_ahead_fence(const struct fsl_ahead_file *file)
{
	bool has_next = file != NULL && file->at + 1 < file->n_parts;
	return has_next ? file->offset + (file->at + 1) * file->ahead->part_bytes : UINT64_MAX;
}

const struct fsl_ahead_part *fsl_ahead_meet(struct fsl_ahead_file *file, uint64_t offset)
{
	struct fsl_ahead *ahead = file->ahead;
	struct fsl_ahead_part *part = NULL;
	(void)pthread_mutex_lock(&ahead->mutex);
	put_spare(ahead, file->used);
	file->at = (size_t)((offset - file->offset) / ahead->part_bytes);
	while (file->first != NULL && file->first->idx <= file->at) {
		put_spare(ahead, part);
		part = wait_for_first(file);
	}
	file->used = part;
	(void)pthread_mutex_unlock(&ahead->mutex);
	bool is_met = part != NULL && part->idx == file->at && part->begin != SIZE_MAX &&
		      part->offset + part->begin == offset;
	return is_met ? part : NULL;
}
