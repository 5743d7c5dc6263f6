/* Files that appear whole or not at all, folders and paths. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/descriptors.h"
#include "base/mem.h"
#include "base/os_error.h"

/*
 * Number of temporary names tried: a crashed run with the same process id may have left some files.
 */
enum { TEMP_NAMES_MAX = 1000 };
/* The user's umask decides, which mkstemp would not allow. */
enum { OPEN_MODE = 0666 };
/* A temporary file that nobody wrote for so long is left over. */
enum { TEMP_AGE_S = 3600 };

char *fsl_path_join(const char *base, const char *path)
{
	size_t n_base = path[0] == '/' ? 0 : strlen(base);
	size_t n_path = strlen(path);
	bool has_slash = n_base == 0 || n_path == 0 || base[n_base - 1] == '/';
	char *joined = fsl_calloc(n_base + n_path + 2, 1);
	if (joined == NULL) {
		return NULL;
	}
	if (n_base > 0) {
		memcpy(joined, base, n_base);
	}
	if (!has_slash) {
		joined[n_base++] = '/';
	}
	memcpy(joined + n_base, path, n_path);
	return joined;
}

static enum fsl_status fail_write(const char *path, int code, struct fsl_error *err)
{
	const char *remedy = "look at the file system";
	if (code == ENOSPC || code == EDQUOT || code == EFBIG) {
		remedy = "free space there or write to another folder";
	} else if (code == EACCES || code == EPERM || code == EROFS || code == ENOENT ||
		   code == ENOTDIR) {
		remedy = "write to a folder that exists and that you may write to";
	} else if (code == EISDIR) {
		remedy = "remove the folder of that name or write to another";
	}
	return FSL_FAIL(err, FSL_ERR_IO,
			"cannot write the file: path=\"%s\", reason=\"%s\", remedy=\"%s\"", path,
			fsl_os_error(code).text, remedy);
}

/* Folder of @path, with its last "/"; "./" if it has none; NULL if out of memory. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 2;
	char *folder = fsl_calloc(length + 1, 1);
	if (folder != NULL) {
		memcpy(folder, slash != NULL ? path : "./", length);
	}
	return folder;
}

/* Creates a file with a free name in @folder; -1 with errno set, or the descriptor and *temp. */
static int create_temp(const char *folder, char **temp)
{
	size_t size = strlen(folder) + 64;
	char *name = fsl_calloc(size, 1);
	if (name == NULL) {
		errno = ENOMEM;
		return -1;
	}
	int fd = -1;
	for (int i = 0; fd < 0 && i < TEMP_NAMES_MAX; i++) {
		(void)snprintf(name, size, "%s" FSL_FILE_TEMP_BEGIN "%ld.%d" FSL_FILE_TEMP_END,
			       folder, (long)getpid(), i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, OPEN_MODE);
		if (fd < 0 && errno != EEXIST) {
			break;
		}
	}
	if (fd < 0) {
		int code = errno;
		fsl_free(name);
		errno = code;
		return -1;
	}
	*temp = name;
	return fd;
}

/* The content of a file and how to write it. */
struct content {
	const char *text;
	size_t length;
	bool is_exclusive; /* fails if the file exists; else its name is on the disk, too */
};

/* Writes the content and closes @fd in every case; 0 or errno. */
static int write_and_close(int fd, const struct content *content)
{
	const char *text = content->text;
	size_t length = content->length;
	int code = 0;
	while (length > 0 && code == 0) {
		ssize_t n = write(fd, text, length);
		if (n > 0) {
			text += n;
			length -= (size_t)n;
		} else if (n == 0) {
			code = ENOSPC;
		} else if (errno != EINTR) {
			code = errno;
		}
	}
	if (code == 0 && fsync(fd) != 0 && errno != EINVAL) {
		code = errno;
	}
	if (close(fd) != 0 && code == 0 && errno != EINTR) {
		code = errno;
	}
	return code;
}

/* Gives the finished file its name; 0 or errno. */
static int publish(const char *temp, const char *path, bool exclusive)
{
	if (!exclusive) {
		return rename(temp, path) == 0 ? 0 : errno;
	}
	if (link(temp, path) == 0) {
		(void)unlink(temp);
		return 0;
	}
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) {
		return errno;
	}
	/* The file system has no hard links. */
	return renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

/* Makes the new name survive a power cut. File systems that cannot do it say EINVAL. */
static int sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		return errno == EACCES ? 0 : errno; /* a folder may be writable but not readable */
	}
	int code = fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
	(void)close(fd);
	return code;
}

/* Fills the open temporary file and gives it its name, or removes it; 0 or errno. */
static int finish_temp(int fd, const char *temp, const char *path, const struct content *content)
{
	int code = write_and_close(fd, content);
	if (code == 0) {
		code = publish(temp, path, content->is_exclusive);
	}
	if (code != 0) {
		(void)unlink(temp);
	}
	return code;
}

static enum fsl_status write_content(const char *path, const struct content *content, bool *existed,
				     struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	char *temp = NULL;
	bool is_found = false;
	char *folder = folder_of(path);
	int fd = folder != NULL ? create_temp(folder, &temp) : -1;
	int code = fd < 0 ? errno : 0;
	if (folder == NULL || (fd < 0 && code == ENOMEM)) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
		goto out;
	}
	if (fd >= 0) {
		code = finish_temp(fd, temp, path, content);
		is_found = content->is_exclusive && code == EEXIST;
	}
	if (fd >= 0 && code == 0 && !content->is_exclusive) {
		code = sync_folder(folder);
	}
	if ((fd < 0 || code != 0) && !is_found) {
		status = fail_write(path, code, err);
	}
out:
	if (status == FSL_OK && existed != NULL) {
		*existed = is_found;
	}
	fsl_free(temp);
	fsl_free(folder);
	return status;
}

enum fsl_status fsl_file_write_atomic(const char *path, const char *text, size_t length,
				      struct fsl_error *err)
{
	const struct content content = {text, length, false};
	return write_content(path, &content, NULL, err);
}

enum fsl_status fsl_file_write_new(const char *path, const char *text, size_t length, bool *existed,
				   struct fsl_error *err)
{
	const struct content content = {text, length, true};
	return write_content(path, &content, existed, err);
}

enum fsl_status fsl_dir_sync(const char *path, struct fsl_error *err)
{
	int code = sync_folder(path);
	return code == 0 ? FSL_OK : fail_write(path, code, err);
}

/* True for .failslow.<pid>.<n>.tmp and nothing else. */
static bool is_temp_name(const char *name)
{
	static const char digits[] = "0123456789";
	const size_t n_begin = strlen(FSL_FILE_TEMP_BEGIN);
	if (strncmp(name, FSL_FILE_TEMP_BEGIN, n_begin) != 0) {
		return false;
	}
	size_t n_pid = strspn(name + n_begin, digits);
	const char *number = name + n_begin + n_pid;
	size_t n_number = number[0] == '.' ? strspn(number + 1, digits) : 0;
	return n_pid > 0 && n_number > 0 && strcmp(number + 1 + n_number, FSL_FILE_TEMP_END) == 0;
}

static bool is_left_over(int folder, const char *name, time_t now)
{
	struct stat facts;
	return is_temp_name(name) && fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
	       facts.st_mtime < now - TEMP_AGE_S;
}

size_t fsl_dir_sweep(const char *path)
{
	size_t n_removed = 0;
	time_t now = time(NULL);
	DIR *folder = opendir(path);
	const struct dirent *entry = NULL;
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (is_left_over(dirfd(folder), entry->d_name, now)) {
			n_removed += unlinkat(dirfd(folder), entry->d_name, 0) == 0;
		}
	}
	if (folder != NULL) {
		(void)closedir(folder);
	}
	return n_removed;
}

struct fsl_draft {
	char *path, *folder, *temp;
	FILE *stream; /* NULL once it is closed */
	bool is_published;
};

enum fsl_status fsl_draft_create(struct fsl_draft **out, const char *path, struct fsl_error *err)
{
	struct fsl_draft *draft = fsl_calloc(1, sizeof(*draft));
	if (draft != NULL) {
		draft->path = fsl_path_join("", path);
		draft->folder = folder_of(path);
	}
	if (draft == NULL || draft->path == NULL || draft->folder == NULL) {
		fsl_draft_destroy(draft);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	int fd = create_temp(draft->folder, &draft->temp);
	draft->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (draft->stream == NULL) {
		int code = errno;
		if (fd >= 0) {
			(void)close(fd);
		}
		fsl_draft_destroy(draft);
		return code == ENOMEM
			       ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path)
			       : fail_write(path, code, err);
	}
	*out = draft;
	return FSL_OK;
}

FILE *fsl_draft_stream(struct fsl_draft *draft)
{
	return draft->stream;
}

const char *fsl_draft_path(const struct fsl_draft *draft)
{
	return draft->temp;
}

/* Flushes everything to the disk; 0 or errno. */
static int close_stream(struct fsl_draft *draft)
{
	/* Flushes again what could not be written before: errno then tells why not. */
	int code = fflush(draft->stream) != 0 ? errno : 0;
	if (code == 0 && ferror(draft->stream) != 0) {
		code = EIO;
	}
	if (code == 0 && fsync(fileno(draft->stream)) != 0 && errno != EINVAL) {
		code = errno;
	}
	if (fclose(draft->stream) != 0 && code == 0) {
		code = errno;
	}
	draft->stream = NULL;
	return code;
}

enum fsl_status fsl_draft_publish(struct fsl_draft *draft, struct fsl_error *err)
{
	int code = close_stream(draft);
	if (code == 0) {
		code = publish(draft->temp, draft->path, false);
		draft->is_published = code == 0;
	}
	if (code == 0) {
		code = sync_folder(draft->folder);
	}
	return code == 0 ? FSL_OK : fail_write(draft->path, code, err);
}

enum fsl_status fsl_draft_fail(const struct fsl_draft *draft, int code, struct fsl_error *err)
{
	return fail_write(draft->path, code, err);
}

void fsl_draft_destroy(struct fsl_draft *draft)
{
	if (draft == NULL) {
		return;
	}
	if (draft->stream != NULL) {
		(void)fclose(draft->stream);
	}
	if (draft->temp != NULL && !draft->is_published) {
		(void)unlink(draft->temp);
	}
	fsl_free(draft->temp);
	fsl_free(draft->folder);
	fsl_free(draft->path);
	fsl_free(draft);
}

static bool is_folder(const char *path)
{
	struct stat info;
	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum fsl_status fsl_dir_create(const char *path, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	if (is_folder(path)) { /* one stat() instead of two for each folder above */
		return FSL_OK;
	}
	char *prefix = fsl_path_join("", path);
	if (prefix == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	}
	for (char *end = prefix; status == FSL_OK && *end != '\0';) {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		char kept = *end;
		*end = '\0';
		if (mkdir(prefix, 0777) != 0) {
			int code = errno;
			/* Checks the folder, not only EEXIST: mkdir("/") sets another code. */
			if (!is_folder(prefix)) {
				status = FSL_FAIL(
					err, FSL_ERR_IO,
					"cannot create the folder: path=\"%s\", "
					"reason=\"%s\"",
					prefix, fsl_os_error(code == EEXIST ? ENOTDIR : code).text);
			}
		}
		*end = kept;
	}
	fsl_free(prefix);
	return status;
}

/* Names in one text, each ended by a NUL. */
struct name_list {
	char *text;
	size_t n_text, text_capacity;
	size_t n_names;
};

static enum fsl_status read_names(DIR *dir, const char *path, struct name_list *list,
				  struct fsl_error *err)
{
	for (;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir); /* @dir is not shared */
		if (entry == NULL && errno != 0) {
			return FSL_FAIL(err, FSL_ERR_IO,
					"cannot list the folder: path=\"%s\", reason=\"%s\"", path,
					fsl_os_error(errno).text);
		}
		if (entry == NULL) {
			return FSL_OK;
		}
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
			continue;
		}
		size_t size = strlen(entry->d_name) + 1;
		FSL_TRY(FSL_GROW(list->text, list->text_capacity, list->n_text + size, err));
		memcpy(list->text + list->n_text, entry->d_name, size);
		list->n_text += size;
		list->n_names++;
	}
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Builds the pointers (NULL at the end) and then the texts in one block; NULL if out of memory. */
static char **sorted_names(const struct name_list *list)
{
	size_t n_pointers = (list->n_names + 1) * sizeof(char *);
	char **names = fsl_calloc(n_pointers + list->n_text, 1);
	if (names == NULL) {
		return NULL;
	}
	char *text = (char *)names + n_pointers;
	if (list->n_text > 0) {
		memcpy(text, list->text, list->n_text);
	}
	for (size_t i = 0; i < list->n_names; i++) {
		names[i] = text;
		text += strlen(text) + 1;
	}
	qsort(names, list->n_names, sizeof(*names), compare_names);
	return names;
}

enum fsl_status fsl_dir_list(const char *path, char ***names, size_t *n_names,
			     struct fsl_error *err)
{
	struct name_list list = {0};
	char **sorted = NULL;
	DIR *dir = NULL;
	int n_tries = 0;
	do {
		dir = opendir(path);
	} while (dir == NULL && fsl_may_open_again(errno, &n_tries));
	if (dir == NULL) {
		return FSL_FAIL(err, errno == ENOMEM ? FSL_ERR_MEMORY : FSL_ERR_IO,
				"cannot list the folder: path=\"%s\", reason=\"%s\"", path,
				fsl_open_error(path, errno).text);
	}
	enum fsl_status status = read_names(dir, path, &list, err);
	(void)closedir(dir);
	if (status == FSL_OK) {
		sorted = sorted_names(&list);
		if (sorted == NULL) {
			status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
		}
	}
	fsl_free(list.text);
	if (status == FSL_OK) {
		*names = sorted;
		*n_names = list.n_names;
	}
	return status;
}
