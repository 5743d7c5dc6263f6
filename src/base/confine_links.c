/*
 * Links in folders of inputs that lead out of them. A tree of sysTrace often has links to another
 * disk. Whoever may write into the tree could also make a link to a file that only root may read:
 * such a link has another owner than its target.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine_plan.h"
#include "base/file.h"
#include "base/mem.h"

enum {
	DEPTH_MAX = 10,        /* levels of folders, as many as readers of inputs go down */
	LINKS_MAX = 1 << 16,   /* links that are followed: more than a job has ranks */
	TARGETS_MAX = 1 << 10, /* folders behind links, which are looked through, too */
	NAMES_MAX = 1 << 21,   /* names looked at: about a second */
};

struct folder {
	char *path; /* owned */
	int depth;
};

struct identity {
	dev_t device;
	ino_t inode;
};

struct walk {
	struct fsl_confine *plan;
	struct folder *folders; /* still to be looked into */
	size_t n_folders, folders_capacity;
	struct identity targets[TARGETS_MAX]; /* folders behind links */
	size_t n_targets, n_links, n_names;
};

/* Takes @path over. */
static void push(struct walk *walk, char *path, int depth)
{
	const struct folder folder = {path, depth};
	if (path == NULL || depth > DEPTH_MAX ||
	    FSL_APPEND(walk, folders, &folder, NULL) != FSL_OK) {
		fsl_free(path);
	}
}

/* Links may form circles. */
static bool is_new_target(struct walk *walk, const struct stat *target)
{
	for (size_t i = 0; i < walk->n_targets; i++) {
		if (walk->targets[i].device == target->st_dev &&
		    walk->targets[i].inode == target->st_ino) {
			return false;
		}
	}
	if (walk->n_targets == TARGETS_MAX) {
		return false;
	}
	walk->targets[walk->n_targets++] = (struct identity){target->st_dev, target->st_ino};
	return true;
}

/* Takes @path over. */
static void visit(struct walk *walk, char *path, int depth)
{
	struct stat link, target;
	if (path == NULL || lstat(path, &link) != 0) {
		fsl_free(path);
		return;
	}
	if (S_ISDIR(link.st_mode)) {
		push(walk, path, depth + 1);
		return;
	}
	bool may_follow =
		S_ISLNK(link.st_mode) && walk->n_links < LINKS_MAX && stat(path, &target) == 0 &&
		(link.st_uid == 0 || link.st_uid == geteuid() || link.st_uid == target.st_uid);
	if (!may_follow) {
		fsl_free(path);
		return;
	}
	walk->n_links++;
	fsl_confine_allow(walk->plan, FSL_CONFINE_READ, path);
	if (S_ISDIR(target.st_mode) && is_new_target(walk, &target)) {
		push(walk, path, depth + 1);
		return;
	}
	fsl_free(path);
}

static void look_into(struct walk *walk, const struct folder *folder)
{
	DIR *dir = opendir(folder->path);
	const struct dirent *entry = NULL;
	while (dir != NULL && walk->n_names < NAMES_MAX && (entry = readdir(dir)) != NULL) {
		bool is_worth_it = entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN ||
				   entry->d_type == DT_DIR;
		walk->n_names++;
		if (is_worth_it && entry->d_name[0] != '.') {
			visit(walk, fsl_path_join(folder->path, entry->d_name), folder->depth);
		}
	}
	if (dir != NULL) {
		(void)closedir(dir);
	}
}

/* A folder is walked through; of a file, the names beside it are looked at. */
static void begin(struct walk *walk, const char *path)
{
	struct stat facts;
	char *folder = fsl_path_join("", path);
	if (folder == NULL || stat(folder, &facts) != 0 || S_ISDIR(facts.st_mode)) {
		push(walk, folder, 0);
		return;
	}
	char *slash = strrchr(folder, '/');
	if (!S_ISREG(facts.st_mode)) {
		fsl_free(folder);
		return;
	}
	if (slash == NULL) {
		fsl_free(folder);
		folder = fsl_path_join("", ".");
	} else {
		slash[slash == folder ? 1 : 0] = '\0';
	}
	fsl_confine_allow(walk->plan, FSL_CONFINE_READ, folder);
	push(walk, folder, DEPTH_MAX);
}

void fsl_confine_complete_inputs(struct fsl_confine *plan)
{
	size_t n_items = plan->n_items;
	struct walk *walk = fsl_calloc(1, sizeof(*walk));
	if (walk == NULL) {
		plan->why_not = "out of memory";
		return;
	}
	walk->plan = plan;
	for (size_t i = 0; i < n_items; i++) {
		if (plan->items[i].need == FSL_CONFINE_INPUT) {
			begin(walk, plan->items[i].path);
		}
	}
	while (walk->n_folders > 0) {
		struct folder folder = walk->folders[--walk->n_folders];
		look_into(walk, &folder);
		fsl_free(folder.path);
	}
	fsl_free(walk->folders);
	fsl_free(walk);
}
