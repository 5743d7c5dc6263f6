/* What earlier runs found and a later one need not find again: a file for each folder of a job. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os_error.h"
#include "base/pack.h"
#include "state/state_parts.h"

/* "FSLKEPT1"; folder, rules, what is kept, and the checksum of all that. */
#define MAGIC UINT64_C(0x315450454b4c5346)

enum {
	CHECKSUM_BYTES = sizeof(uint64_t),
	TEXT_BYTES_MAX = 1 << 13, /* a path, or the rules */
	FILE_BYTES_MAX = 1 << 28,
	KEPT_BYTES_MAX = FILE_BYTES_MAX - 4 * TEXT_BYTES_MAX, /* the rest is more than the head */
};

static enum fsl_status fail_memory(const char *state_path, struct fsl_error *err)
{
	return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for state: path=\"%s\"", state_path);
}

/* All bytes of the file, which the checksum tells to be whole; none where it is no such file. */
static enum fsl_status read_whole(int fd, struct fsl_pack *out, struct fsl_error *err)
{
	struct stat facts;
	if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= 0 ||
	    facts.st_size > FILE_BYTES_MAX) {
		return FSL_OK;
	}
	size_t size = (size_t)facts.st_size;
	enum fsl_status status = FSL_GROW(out->bytes, out->capacity, size, err);
	while (status == FSL_OK && out->n_bytes < size) {
		ssize_t n = read(fd, out->bytes + out->n_bytes, size - out->n_bytes);
		if (n == 0 || (n < 0 && errno != EINTR)) {
			break;
		}
		out->n_bytes += n > 0 ? (size_t)n : 0;
	}
	return status;
}

static bool is_text(struct fsl_unpack *unpack, const char *text)
{
	size_t n = 0;
	const char *found = fsl_unpack_text(unpack, TEXT_BYTES_MAX, &n);
	return !unpack->is_bad && n == strlen(text) && memcmp(found, text, n) == 0;
}

/* How many bytes behind its head the file keeps; 0 when they are not what was written, of another
 * folder or found by other rules. */
static size_t count_kept(const struct fsl_pack *content, const char *root, const char *rules)
{
	if (content->n_bytes < CHECKSUM_BYTES) {
		return 0;
	}
	size_t n_summed = content->n_bytes - CHECKSUM_BYTES;
	struct fsl_unpack end = {.at = content->bytes + n_summed, .n_left = CHECKSUM_BYTES};
	struct fsl_unpack unpack = {.at = content->bytes, .n_left = n_summed};
	bool is_sound = fsl_unpack_u64(&unpack) == MAGIC &&
			fsl_unpack_u64(&end) == fsl_hash_large(content->bytes, n_summed) &&
			is_text(&unpack, root) && is_text(&unpack, rules);
	return is_sound ? unpack.n_left : 0;
}

/* Nothing is there, or nothing that we would have written. */
static bool is_absent(int code)
{
	return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
}

static enum fsl_status read_file(struct fsl_pack *out, const char *path, struct fsl_error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && !is_absent(errno)) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"cannot read what was kept, make it readable or delete it: "
				"path=\"%s\", reason=\"%s\"",
				path, fsl_os_error(errno).text);
	}
	enum fsl_status status = fd >= 0 ? read_whole(fd, out, err) : FSL_OK;
	if (fd >= 0) {
		(void)close(fd);
	}
	return status;
}

enum fsl_status fsl_state_get_kept(const char *state_path, const char *root, const char *rules,
				   void **bytes, size_t *n_bytes, struct fsl_error *err)
{
	struct fsl_pack content = {0};
	*bytes = NULL;
	*n_bytes = 0;
	char *path = fsl_state_beside(state_path, FSL_BESIDE_KEPT, root);
	if (path == NULL) {
		return fail_memory(state_path, err);
	}
	enum fsl_status status = read_file(&content, path, err);
	size_t n_kept = status == FSL_OK ? count_kept(&content, root, rules) : 0;
	if (n_kept > 0) {
		memmove(content.bytes, content.bytes + content.n_bytes - CHECKSUM_BYTES - n_kept,
			n_kept);
		*bytes = content.bytes;
		*n_bytes = n_kept;
	} else {
		fsl_pack_fini(&content);
	}
	fsl_free(path);
	return status;
}

static enum fsl_status write_file(const char *path, const struct fsl_pack *content,
				  const char *state_path, struct fsl_error *err)
{
	bool is_new = access(path, F_OK) != 0;
	enum fsl_status status = fsl_file_replace(path, content->bytes, content->n_bytes, err);
	if (status == FSL_OK && is_new) {
		fsl_state_sweep_beside(state_path);
	}
	return status;
}

enum fsl_status fsl_state_put_kept(const char *state_path, const char *root, const char *rules,
				   const void *bytes, size_t n_bytes, struct fsl_error *err)
{
	struct fsl_pack content = {0};
	if (n_bytes > KEPT_BYTES_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT, "too much to be kept: bytes=%zu, max=%d",
				n_bytes, KEPT_BYTES_MAX);
	}
	char *path = fsl_state_beside(state_path, FSL_BESIDE_KEPT, root);
	fsl_pack_u64(&content, MAGIC);
	fsl_pack_text(&content, root);
	fsl_pack_text(&content, rules);
	fsl_pack_packed(&content, bytes, n_bytes);
	fsl_pack_u64(&content, fsl_hash_large(content.bytes, content.n_bytes));
	enum fsl_status status = path == NULL || content.is_failed
					 ? fail_memory(state_path, err)
					 : write_file(path, &content, state_path, err);
	fsl_pack_fini(&content);
	fsl_free(path);
	return status;
}
