/* Folded stacks, and the JSON of speedscope. */
#include "report/trace/memory_stacks.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "base/utf8.h"

typedef bool (*block_test)(const struct fsl_memory_replay *replay,
			   const struct fsl_memory_block *block);

static bool is_shown(const struct fsl_memory_stacks *stacks, size_t process)
{
	const struct fsl_memory_process *item = &stacks->memory->items[process];
	return item->n_records > 0 && stacks->is_wanted(stacks->context, item->rank);
}

enum fsl_status fsl_memory_write_folded(FILE *stream, const struct fsl_memory_stacks *stacks,
					struct fsl_error *err)
{
	const struct fsl_memory *memory = stacks->memory;
	for (size_t p = 0; p < memory->n_items; p++) {
		struct fsl_memory_holder *holders = NULL;
		size_t n = 0;
		if (!is_shown(stacks, p)) {
			continue;
		}
		FSL_TRY(fsl_memory_holders(&holders, &n, &stacks->replays[p], fsl_memory_is_at_peak,
					   err));
		for (size_t i = 0; i < n; i++) {
			if (holders[i].n_bytes > 0) {
				(void)fprintf(stream, "rank %d;%s %" PRId64 "\n",
					      (int)memory->items[p].rank,
					      fsl_strpool_text(memory->paths, holders[i].path_id),
					      holders[i].n_bytes);
			}
		}
		fsl_free(holders);
	}
	return FSL_OK;
}

/* A text as JSON; bytes that are no UTF-8 become U+FFFD. */
static void put_text(FILE *stream, const char *text, size_t n_bytes)
{
	const char *end = text + n_bytes;
	(void)fputc('"', stream);
	while (text < end) {
		size_t n = fsl_utf8_sequence(text);
		unsigned char byte = (unsigned char)*text;
		if (n == 0 || n > (size_t)(end - text)) {
			(void)fputs("\xef\xbf\xbd", stream);
			n = 1;
		} else if (byte < ' ' || byte == 0x7f) {
			(void)fprintf(stream, "\\u%04x", byte);
		} else {
			if (byte == '"' || byte == '\\') {
				(void)fputc('\\', stream);
			}
			(void)fwrite(text, 1, n, stream);
		}
		text += n;
	}
	(void)fputc('"', stream);
}

/* The frames of all call paths, numbered. */
struct frames {
	struct fsl_strpool *names;
	uint32_t *of_path; /* frames of all paths, one after the other */
	size_t n_of_path, of_path_capacity;
	size_t *begin; /* [n_paths + 1]: first frame of a path in of_path */
};

static enum fsl_status add_path(struct frames *frames, const char *path, struct fsl_error *err)
{
	for (;;) {
		const char *end = strchrnul(path, ';');
		uint32_t id = 0;
		FSL_TRY(fsl_strpool_intern(frames->names, path, (size_t)(end - path), &id, err));
		FSL_TRY(FSL_APPEND(frames, of_path, &id, err));
		if (*end == '\0') {
			return FSL_OK;
		}
		path = end + 1;
	}
}

static enum fsl_status number_frames(struct frames *frames, const struct fsl_strpool *paths,
				     struct fsl_error *err)
{
	size_t n = fsl_strpool_size(paths);
	frames->names = fsl_strpool_create();
	if (frames->names == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: paths=%zu", n);
	}
	FSL_TRY(FSL_NEW(frames->begin, n + 1, "paths", err));
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(add_path(frames, fsl_strpool_text(paths, (uint32_t)i), err));
		frames->begin[i + 1] = frames->n_of_path;
	}
	return FSL_OK;
}

/* One profile: a sample for each call path, with its bytes as weight. */
static enum fsl_status put_profile(FILE *stream, const struct frames *frames, const char *name,
				   const struct fsl_memory_replay *replay, block_test is_meant,
				   struct fsl_error *err)
{
	struct fsl_memory_holder *holders = NULL;
	size_t n = 0;
	int64_t total = 0;
	FSL_TRY(fsl_memory_holders(&holders, &n, replay, is_meant, err));
	(void)fprintf(stream,
		      "{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"bytes\",\"samples\":[",
		      name);
	for (size_t i = 0; i < n; i++) {
		uint32_t path = holders[i].path_id;
		for (size_t f = frames->begin[path]; f < frames->begin[path + 1]; f++) {
			(void)fprintf(stream, "%s%" PRIu32,
				      f > frames->begin[path] ? ","
				      : i > 0                 ? ",["
							      : "[",
				      frames->of_path[f]);
		}
		(void)fputs("]", stream);
		total += holders[i].n_bytes;
	}
	(void)fputs("],\"weights\":[", stream);
	for (size_t i = 0; i < n; i++) {
		(void)fprintf(stream, "%s%" PRId64, i > 0 ? "," : "", holders[i].n_bytes);
	}
	(void)fprintf(stream, "],\"startValue\":0,\"endValue\":%" PRId64 "}", total);
	fsl_free(holders);
	return FSL_OK;
}

static bool is_left(const struct fsl_memory_replay *replay, const struct fsl_memory_block *block)
{
	(void)replay;
	return block->end == SIZE_MAX;
}

static enum fsl_status put_profiles(FILE *stream, const struct frames *frames,
				    const struct fsl_memory_stacks *stacks, struct fsl_error *err)
{
	static const struct {
		const char *what;
		block_test is_meant;
	} kinds[] = {{"held at the peak", fsl_memory_is_at_peak}, {"never freed", is_left}};
	enum { KINDS_N = sizeof(kinds) / sizeof(kinds[0]) };
	bool is_behind = false;
	for (size_t p = 0; p < stacks->memory->n_items; p++) {
		for (size_t k = 0; k < KINDS_N && is_shown(stacks, p); k++) {
			char name[64];
			(void)snprintf(name, sizeof(name), "rank %d: %s",
				       (int)stacks->memory->items[p].rank, kinds[k].what);
			(void)fputs(is_behind ? ",\n" : "\n", stream);
			is_behind = true;
			FSL_TRY(put_profile(stream, frames, name, &stacks->replays[p],
					    kinds[k].is_meant, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status put_document(FILE *stream, const struct frames *frames,
				    const struct fsl_memory_stacks *stacks, struct fsl_error *err)
{
	(void)fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"failslow " FSL_VERSION "\",\"shared\":{\"frames\":[",
		    stream);
	for (size_t i = 0; i < fsl_strpool_size(frames->names); i++) {
		const char *name = fsl_strpool_text(frames->names, (uint32_t)i);
		(void)fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", stream);
		put_text(stream, name, strlen(name));
		(void)fputs("}", stream);
	}
	(void)fputs("]},\"profiles\":[", stream);
	FSL_TRY(put_profiles(stream, frames, stacks, err));
	(void)fputs("]}\n", stream);
	return FSL_OK;
}

enum fsl_status fsl_memory_write_speedscope(FILE *stream, const struct fsl_memory_stacks *stacks,
					    struct fsl_error *err)
{
	struct frames frames = {0};
	enum fsl_status status = number_frames(&frames, stacks->memory->paths, err);
	FSL_THEN(status, put_document(stream, &frames, stacks, err));
	fsl_strpool_destroy(frames.names);
	fsl_free(frames.of_path);
	fsl_free(frames.begin);
	return status;
}
