/* Landlock, by its system calls: https://docs.kernel.org/userspace-api/landlock.html */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine_plan.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os_error.h"

/* The kernel's numbers. Headers of the C library may be older than the kernel. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_PATH_BENEATH = 1 };

enum {
	RIGHT_EXECUTE = 1 << 0,
	RIGHT_WRITE_FILE = 1 << 1,
	RIGHT_READ_FILE = 1 << 2,
	RIGHT_READ_DIR = 1 << 3,
	RIGHT_REMOVE_DIR = 1 << 4,
	RIGHT_REMOVE_FILE = 1 << 5,
	RIGHT_MAKE_DIR = 1 << 7,
	RIGHT_MAKE_REG = 1 << 8,
	RIGHT_REFER = 1 << 13,    /* from version 2 on */
	RIGHT_TRUNCATE = 1 << 14, /* from version 3 on */
	RIGHTS_OF_FILES = RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_READ_FILE | RIGHT_TRUNCATE,
	RIGHTS_NET = 1 << 0 | 1 << 1, /* to bind and to connect, from version 4 on */
	SCOPES_ALL = 1 << 0 | 1 << 1, /* abstract sockets and signals, from version 6 on */
};

/* Each version of the kernel's interface handles these rights: those that no rule allows are
 * refused then. Earlier versions know less of them. Version 5 adds ioctl on devices, which are no
 * inputs. */
static const struct {
	uint64_t files, net, scopes;
} versions[] = {
	{0, 0, 0},
	{(1 << 13) - 1, 0, 0},
	{(1 << 14) - 1, 0, 0},
	{(1 << 15) - 1, 0, 0},
	{(1 << 15) - 1, RIGHTS_NET, 0},
	{(1 << 16) - 1, RIGHTS_NET, 0},
	{(1 << 16) - 1, RIGHTS_NET, SCOPES_ALL},
};
enum { VERSION_MAX = sizeof(versions) / sizeof(versions[0]) - 1 };

static const uint64_t rights_of[] = {
	[FSL_CONFINE_READ] = RIGHT_READ_FILE | RIGHT_READ_DIR,
	[FSL_CONFINE_INPUT] = RIGHT_READ_FILE | RIGHT_READ_DIR,
	[FSL_CONFINE_RUN] = RIGHT_READ_FILE | RIGHT_READ_DIR | RIGHT_EXECUTE,
	[FSL_CONFINE_WRITE] = RIGHT_READ_FILE | RIGHT_READ_DIR | RIGHT_WRITE_FILE |
			      RIGHT_REMOVE_FILE | RIGHT_REMOVE_DIR | RIGHT_MAKE_DIR |
			      RIGHT_MAKE_REG | RIGHT_REFER | RIGHT_TRUNCATE,
};

/* A property of the process: the kernel takes it back as little. */
static bool is_active;

struct fsl_confine *fsl_confine_create(void)
{
	return fsl_calloc(1, sizeof(struct fsl_confine));
}

void fsl_confine_destroy(struct fsl_confine *plan)
{
	for (size_t i = 0; plan != NULL && i < plan->n_items; i++) {
		fsl_free(plan->items[i].path);
	}
	if (plan != NULL) {
		fsl_free(plan->items);
	}
	fsl_free(plan);
}

static bool is_file_need(enum fsl_confine_need need)
{
	return need != FSL_CONFINE_NETWORK && need != FSL_CONFINE_NOTHING;
}

void fsl_confine_allow(struct fsl_confine *plan, enum fsl_confine_need need, const char *path)
{
	if (plan == NULL) {
		return;
	}
	if (need == FSL_CONFINE_NOTHING) {
		plan->why_not = path;
	}
	plan->has_network = plan->has_network || need == FSL_CONFINE_NETWORK;
	if (!is_file_need(need) || path == NULL || path[0] == '\0' || strcmp(path, "-") == 0) {
		return;
	}
	const struct fsl_confine_item item = {need, fsl_path_join("", path)};
	if (item.path == NULL || FSL_APPEND(plan, items, &item, NULL) != FSL_OK) {
		fsl_free(item.path);
		plan->why_not = "out of memory";
	}
}

/* Folders in the environment variable @name, with ":" between them. */
static void allow_list(struct fsl_confine *plan, enum fsl_confine_need need, const char *name)
{
	char path[PATH_MAX];
	const char *list = getenv(name);
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ":");
		if (length > 0 && length < sizeof(path)) {
			(void)snprintf(path, sizeof(path), "%.*s", (int)length, list);
			fsl_confine_allow(plan, need, path);
		}
		list += length + (list[length] == ':');
	}
}

void fsl_confine_allow_usual(struct fsl_confine *plan)
{
	static const char *const run[] = {"/usr", "/lib", "/lib64"};
	static const char *const read[] = {
		"/etc/ld.so.cache", "/etc/localtime", "/proc/self",          "/proc/meminfo",
		"/proc/stat",       "/proc/cpuinfo",  "/sys/devices/system", "/sys/fs/cgroup",
		"/sys/kernel/mm",   "/proc/sys/vm",   "/dev/null",           "/dev/urandom"};
	static const char *const write[] = {"/var/tmp", "/tmp", /* of SQLite */
					    "/dev/shm"};        /* of LLVM's OpenMP */
	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
		fsl_confine_allow(plan, FSL_CONFINE_RUN, run[i]);
	}
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
		fsl_confine_allow(plan, FSL_CONFINE_READ, read[i]);
	}
	for (size_t i = 0; i < sizeof(write) / sizeof(write[0]); i++) {
		fsl_confine_allow(plan, FSL_CONFINE_WRITE, write[i]);
	}
	allow_list(plan, FSL_CONFINE_RUN, "LD_LIBRARY_PATH");
	allow_list(plan, FSL_CONFINE_READ, "TZDIR");
	allow_list(plan, FSL_CONFINE_WRITE, "TMPDIR");
	allow_list(plan, FSL_CONFINE_WRITE, "SQLITE_TMPDIR");
}

int fsl_confine_abi(void)
{
#ifdef FSL_UNCONFINED /* counters of coverage are written beside objects when the program ends */
	return 0;
#else
	long version = syscall(CREATE_RULESET, NULL, (size_t)0, ASK_VERSION);
	return version > 0 && version <= INT_MAX ? (int)version : 0;
#endif
}

/* Opens the nearest folder above @path that is there. */
static int open_above(const char *path)
{
	int file = -1;
	char *above = fsl_path_join("", path);
	while (above != NULL && file < 0) {
		char *slash = strrchr(above, '/');
		if (slash == NULL || (slash == above && above[1] == '\0')) {
			file = open(slash == NULL ? "." : "/", O_PATH | O_CLOEXEC);
			break;
		}
		slash[slash == above ? 1 : 0] = '\0';
		file = open(above, O_PATH | O_CLOEXEC);
		if (file < 0 && errno != ENOENT) {
			break;
		}
	}
	fsl_free(above);
	return file;
}

/* False if a file that is there got no rule: the run could not read it. */
static bool add_rule(int rules, const struct fsl_confine_item *item, uint64_t handled)
{
	struct {
		uint64_t allowed;
		int32_t parent;
	} __attribute__((packed)) rule = {rights_of[item->need] & handled, -1};
	struct stat facts;
	int file = open(item->path, O_PATH | O_CLOEXEC);
	if (file < 0 && errno == ENOENT && item->need == FSL_CONFINE_WRITE) {
		file = open_above(item->path);
	}
	if (file < 0) {
		return errno != EMFILE && errno != ENFILE && errno != ENOMEM;
	}
	if (fstat(file, &facts) == 0 && !S_ISDIR(facts.st_mode)) {
		rule.allowed &= RIGHTS_OF_FILES;
	}
	rule.parent = file;
	/* Pipes have no rules, and need none: EBADFD. */
	bool is_good =
		syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0) == 0 || errno == EBADFD;
	(void)close(file);
	return is_good;
}

/* The reason why the process is not confined; NULL: it is. */
static const char *confine(const struct fsl_confine *plan, int abi)
{
	int known = abi < VERSION_MAX ? abi : VERSION_MAX;
	const struct {
		uint64_t files, net, scopes;
	} handled = {versions[known].files, plan->has_network ? 0 : versions[known].net,
		     versions[known].scopes};
	/* Kernels of earlier versions know a shorter struct, and take zeros behind it. */
	int rules = (int)syscall(CREATE_RULESET, &handled, sizeof(handled), 0);
	if (rules < 0) {
		return "no rules can be made";
	}
	const char *why_not = NULL;
	for (size_t i = 0; i < plan->n_items && why_not == NULL; i++) {
		why_not = add_rule(rules, &plan->items[i], handled.files) ? NULL
									  : plan->items[i].path;
	}
	if (why_not == NULL && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
				syscall(RESTRICT_SELF, rules, 0) != 0)) {
		why_not = strerrordesc_np(errno);
	}
	(void)close(rules);
	return why_not;
}

void fsl_confine_begin(struct fsl_confine *plan, int abi)
{
	if (is_active) {
		return;
	}
	const char *why_not = plan == NULL ? "out of memory"
			      : abi <= 0   ? "the kernel has no Landlock"
					   : plan->why_not;
	if (why_not == NULL) {
		fsl_confine_complete_inputs(plan);
		why_not = plan->why_not != NULL ? plan->why_not : confine(plan, abi);
	}
	is_active = why_not == NULL;
	if (is_active) {
		fsl_log(FSL_LOG_INFO, "confine",
			"reads inputs alone, writes results alone from now on: landlock=%d, "
			"paths=%zu",
			abi, plan->n_items);
	} else {
		fsl_log(FSL_LOG_INFO, "confine", "not confined: reason=\"%s\"", why_not);
	}
}

bool fsl_confine_is_active(void)
{
	return is_active;
}

const char *fsl_confine_reason(const char *path, int code)
{
	/* Landlock decides nothing about access(2). */
	if (!is_active || code != EACCES || access(path, R_OK) != 0) {
		return NULL;
	}
	return "leads out of the folders that this run may read, name its target as an operand or "
	       "switch the key confine off";
}

struct fsl_os_error fsl_open_error(const char *path, int code)
{
	struct fsl_os_error error = fsl_os_error(code);
	const char *reason = fsl_confine_reason(path, code);
	if (code == EMFILE) {
		reason = "too many open files, raise the limit (ulimit -n) or use --jobs 1";
	}
	if (reason != NULL) {
		(void)snprintf(error.text, sizeof(error.text), "%s", reason);
	}
	return error;
}
