/* Each frame is looked up once, and each library is opened once. */
#include "source/systrace/frame_symbols.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/try.h"
#include "source/systrace/elf_library.h"
#include "source/systrace/host_stack.h"

enum {
	FRAMES_MAX = 1 << 16,     /* looked up: each costs a walk over the symbols of its library */
	FUNCTION_BYTES_MAX = 256, /* names of C++ templates have thousands */
	FRAME_BYTES = FUNCTION_BYTES_MAX + FSL_STACK_FRAME_BYTES + 8, /* "function (library);" */
	PATH_BYTES = (FSL_STACK_FRAMES_MAX + 1) * FRAME_BYTES,
};

struct library {
	struct fsl_elf_library *elf; /* NULL: not used */
	const char *reason;          /* NULL: all its frames are in it */
};

struct fsl_frame_symbols {
	const char *folders;
	bool is_absent;             /* libdw */
	struct fsl_strpool *frames; /* as they were */
	struct fsl_strpool *named;  /* as they become */
	uint32_t *named_of;         /* [n_named_of]: by id of the frame */
	size_t n_named_of, named_of_capacity;
	struct fsl_strpool *names; /* of libraries */
	struct library *libraries; /* [n_libraries], by id of the name */
	size_t n_libraries, libraries_capacity;
};

bool fsl_folder_list_next(const char **list, char *out, size_t size)
{
	while (**list != '\0') {
		size_t n = strcspn(*list, ":");
		bool fits = n > 0 && n < size;
		if (fits) {
			memcpy(out, *list, n);
			out[n] = '\0';
		}
		*list += n + ((*list)[n] == ':');
		if (fits) {
			return true;
		}
	}
	return false;
}

enum fsl_status fsl_frame_symbols_create(struct fsl_frame_symbols **out, const char *folders,
					 struct fsl_error *err)
{
	struct fsl_frame_symbols *symbols = NULL;
	FSL_TRY(FSL_NEW(symbols, 1, "symbols", err));
	*symbols = (struct fsl_frame_symbols){.folders = folders,
					      .is_absent = !fsl_elf_is_supported(),
					      .frames = fsl_strpool_create(),
					      .named = fsl_strpool_create(),
					      .names = fsl_strpool_create()};
	if (symbols->frames == NULL || symbols->named == NULL || symbols->names == NULL) {
		fsl_frame_symbols_destroy(symbols);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"symbols\"");
	}
	*out = symbols;
	return FSL_OK;
}

void fsl_frame_symbols_destroy(struct fsl_frame_symbols *symbols)
{
	if (symbols == NULL) {
		return;
	}
	for (size_t i = 0; i < symbols->n_libraries; i++) {
		fsl_elf_close(symbols->libraries[i].elf);
	}
	fsl_free(symbols->libraries);
	fsl_free(symbols->named_of);
	fsl_strpool_destroy(symbols->frames);
	fsl_strpool_destroy(symbols->named);
	fsl_strpool_destroy(symbols->names);
	fsl_free(symbols);
}

/* Takes one more file of the name of a library; files of other builds make it unusable. */
static enum fsl_status add_file(struct library *library, const char *path, struct fsl_error *err)
{
	static const char *const reasons[FSL_ELF_STATES_N] = {
		[FSL_ELF_TOO_LARGE] = "its file is larger than 4 GiB",
		[FSL_ELF_UNREADABLE] = "its file is no ELF file that libdw reads",
	};
	struct fsl_elf_library *elf = NULL;
	enum fsl_elf_state state = fsl_elf_open(&elf, path);
	if (state == FSL_ELF_NO_MEMORY) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	if (library->elf == NULL && state != FSL_ELF_ABSENT) {
		*library = (struct library){.elf = elf, .reason = reasons[state]};
		return FSL_OK;
	}
	if (state == FSL_ELF_OPEN && !fsl_elf_is_same_build(library->elf, elf)) {
		library->reason = "the folders have different builds of it";
	}
	fsl_elf_close(elf);
	return FSL_OK;
}

static enum fsl_status find_library(const struct fsl_frame_symbols *symbols,
				    struct library *library, const char *name,
				    struct fsl_error *err)
{
	const char *list = strchr(name, '/') == NULL ? symbols->folders : "";
	char folder[PATH_MAX], path[PATH_MAX];
	library->reason = "it is in none of the folders of --libraries";
	while (fsl_folder_list_next(&list, folder, sizeof(folder))) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) < sizeof(path)) {
			FSL_TRY(add_file(library, path, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status library_of(struct fsl_frame_symbols *symbols, struct library **out,
				  const char *name, size_t length, struct fsl_error *err)
{
	uint32_t id = 0;
	FSL_TRY(fsl_strpool_intern(symbols->names, name, length, &id, err));
	if (id == symbols->n_libraries) {
		const struct library none = {0};
		FSL_TRY(FSL_APPEND(symbols, libraries, &none, err));
		FSL_TRY(find_library(symbols, &symbols->libraries[id],
				     fsl_strpool_text(symbols->names, id), err));
	}
	*out = &symbols->libraries[id];
	return FSL_OK;
}

/* Splits "library+0xaddress"; false for other texts. */
static bool parse_frame(const char *frame, size_t length, size_t *n_library, uint64_t *address)
{
	static const char mark[] = "+0x";
	size_t at = length;
	while (at > 0 && frame[at - 1] != '+') {
		at--;
	}
	if (at < 2 || length - at < 2 || memcmp(frame + at - 1, mark, sizeof(mark) - 1) != 0) {
		return false;
	}
	*n_library = at - 1;
	*address = 0;
	for (size_t i = at + 2; i < length; i++) {
		int digit = frame[i] <= '9' ? frame[i] - '0' : frame[i] - 'a' + 10;
		*address = *address << 4 | (uint64_t)digit;
	}
	return length > at + 2;
}

/* Writes "function (library)"; returns its length. */
static size_t put_function(char out[FRAME_BYTES], const char *function, const char *library,
			   size_t n_library)
{
	size_t n = strnlen(function, FUNCTION_BYTES_MAX);
	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)function[i];
		out[i] = byte < ' ' || byte == 0x7f ? '?' : byte == ';' ? ':' : (char)byte;
	}
	return n + (size_t)snprintf(out + n, FRAME_BYTES - n, "%s (%.*s)",
				    function[n] != '\0' ? "..." : "", (int)n_library, library);
}

/* A frame of a call path as text, not terminated. */
struct frame {
	const char *text;
	size_t length;
};

/* A frame holds the address to which a call returns, which may be that of the next function. */
static enum fsl_status find_frame(struct fsl_frame_symbols *symbols, const struct frame *frame,
				  struct library **library, size_t *n_library, uint64_t *offset,
				  struct fsl_error *err)
{
	*library = NULL;
	if (!parse_frame(frame->text, frame->length, n_library, offset) || *n_library == 0 ||
	    *offset == 0) {
		return FSL_OK;
	}
	--*offset;
	return library_of(symbols, library, frame->text, *n_library, err);
}

/* Notes a library that lacks the address: names of another build would be wrong. */
static enum fsl_status check_frame(struct fsl_frame_symbols *symbols, struct frame *frame,
				   struct fsl_error *err)
{
	struct library *library = NULL;
	size_t n_library = 0;
	uint64_t offset = 0;
	FSL_TRY(find_frame(symbols, frame, &library, &n_library, &offset, err));
	if (library != NULL && library->elf != NULL && !fsl_elf_has(library->elf, offset)) {
		library->reason = "it is another build: addresses lie outside of it";
	}
	return FSL_OK;
}

/* Text for a frame that was not seen before. */
static enum fsl_status look_up(struct fsl_frame_symbols *symbols, const struct frame *frame,
			       uint32_t *id, struct fsl_error *err)
{
	char text[FRAME_BYTES];
	struct frame named = *frame;
	struct library *library = NULL;
	size_t n_library = 0;
	uint64_t offset = 0;
	FSL_TRY(find_frame(symbols, frame, &library, &n_library, &offset, err));
	const char *function = library != NULL && library->reason == NULL
				       ? fsl_elf_function(library->elf, offset)
				       : NULL;
	if (function != NULL && function[0] != '\0') {
		named.length = put_function(text, function, frame->text, n_library);
		named.text = text;
	}
	return fsl_strpool_intern(symbols->named, named.text, named.length, id, err);
}

/* Replaces @frame by its text with the function. */
static enum fsl_status name_frame(struct fsl_frame_symbols *symbols, struct frame *frame,
				  struct fsl_error *err)
{
	uint32_t id = fsl_strpool_find(symbols->frames, frame->text, frame->length), named = 0;
	if (id == FSL_STR_NONE && symbols->n_named_of >= FRAMES_MAX) {
		return FSL_OK;
	}
	if (id == FSL_STR_NONE) {
		FSL_TRY(fsl_strpool_intern(symbols->frames, frame->text, frame->length, &id, err));
		FSL_TRY(look_up(symbols, frame, &named, err));
		FSL_TRY(FSL_APPEND(symbols, named_of, &named, err));
	}
	frame->text = fsl_strpool_text(symbols->named, symbols->named_of[id]);
	frame->length = strlen(frame->text);
	return FSL_OK;
}

/* Calls @change for each frame of @path, and joins what it leaves of them in *out. */
static enum fsl_status join_frames(struct fsl_frame_symbols *symbols, const char *path,
				   char out[PATH_BYTES], size_t *n_out,
				   enum fsl_status (*change)(struct fsl_frame_symbols *symbols,
							     struct frame *frame,
							     struct fsl_error *err),
				   struct fsl_error *err)
{
	*n_out = 0;
	for (;;) {
		size_t length = strcspn(path, ";");
		struct frame frame = {path, length};
		FSL_TRY(change(symbols, &frame, err));
		if (*n_out + frame.length + 1 > PATH_BYTES) {
			return FSL_OK; /* no path has so many frames */
		}
		memcpy(out + *n_out, frame.text, frame.length);
		*n_out += frame.length;
		if (path[length] == '\0') {
			return FSL_OK;
		}
		out[(*n_out)++] = ';';
		path += length + 1;
	}
}

/* Fills @ids: the path in @out of each path. */
static enum fsl_status name_paths(struct fsl_frame_symbols *symbols, struct fsl_strpool *out,
				  uint32_t *ids, const struct fsl_strpool *paths,
				  struct fsl_error *err)
{
	char text[PATH_BYTES];
	size_t n = fsl_strpool_size(paths), n_text = 0;
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(join_frames(symbols, fsl_strpool_text(paths, (uint32_t)i), text, &n_text,
				    check_frame, err));
	}
	for (size_t i = 0; i < n; i++) {
		FSL_TRY(join_frames(symbols, fsl_strpool_text(paths, (uint32_t)i), text, &n_text,
				    name_frame, err));
		FSL_TRY(fsl_strpool_intern(out, text, n_text, &ids[i], err));
	}
	return FSL_OK;
}

static void replace_ids(struct fsl_memory *memory, const uint32_t *ids)
{
	for (size_t i = 0; i < memory->n_items; i++) {
		struct fsl_memory_process *process = &memory->items[i];
		for (size_t r = 0; r < process->n_records; r++) {
			uint32_t *id = &process->records[r].path_id;
			*id = *id != FSL_STR_NONE ? ids[*id] : *id;
		}
	}
}

enum fsl_status fsl_frame_symbols_apply(struct fsl_frame_symbols *symbols,
					struct fsl_memory *memory, struct fsl_error *err)
{
	size_t n = fsl_strpool_size(memory->paths);
	uint32_t *ids = NULL;
	if (symbols->is_absent) {
		return FSL_OK;
	}
	struct fsl_strpool *paths = fsl_strpool_create();
	enum fsl_status status = FSL_OK;
	if (paths == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: paths=%zu", n);
	}
	FSL_THEN(status, FSL_NEW(ids, n + 1, "paths", err));
	FSL_THEN(status, name_paths(symbols, paths, ids, memory->paths, err));
	if (status == FSL_OK) {
		struct fsl_strpool *before = memory->paths;
		replace_ids(memory, ids);
		memory->paths = paths;
		paths = before;
	}
	fsl_strpool_destroy(paths);
	fsl_free(ids);
	return status;
}

bool fsl_frame_symbols_note(const struct fsl_frame_symbols *symbols, size_t number,
			    struct fsl_frame_note *note)
{
	if (symbols->is_absent) {
		*note = (struct fsl_frame_note){"", "libdw is not installed"};
		return number == 0;
	}
	for (size_t i = 0; i < symbols->n_libraries; i++) {
		if (symbols->libraries[i].reason != NULL && number-- == 0) {
			*note = (struct fsl_frame_note){
				fsl_strpool_text(symbols->names, (uint32_t)i),
				symbols->libraries[i].reason};
			return true;
		}
	}
	return false;
}

const char *fsl_frame_symbols_version(void)
{
	return fsl_elf_version();
}
