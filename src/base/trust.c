/* Who can change a file: its owner, its group, everybody. */
#include "base/trust.h"

#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Many distributions give each user a group of the same name and let members write by default: such
 * a group is nobody else. Asked only about entries that a group may write. */
static bool is_private_group(gid_t group)
{
	const struct passwd *user = geteuid() != 0 ? getpwuid(geteuid()) : NULL;
	const struct group *entry = user != NULL ? getgrgid(group) : NULL;
	if (entry == NULL || user->pw_gid != group || strcmp(entry->gr_name, user->pw_name) != 0) {
		return false;
	}
	char *const *member = entry->gr_mem;
	while (*member != NULL && strcmp(*member, user->pw_name) == 0) {
		member++;
	}
	return *member == NULL;
}

enum fsl_status fsl_trust_entry(const char *path, const struct stat *facts, struct fsl_error *err)
{
	if (facts->st_uid != 0 && facts->st_uid != geteuid()) {
		return FSL_FAIL(err, FSL_ERR_IO, "belongs to another user: path=\"%s\", uid=%lu",
				path, (unsigned long)facts->st_uid);
	}
	if ((facts->st_mode & S_IWOTH) != 0 ||
	    ((facts->st_mode & S_IWGRP) != 0 && !is_private_group(facts->st_gid))) {
		return FSL_FAIL(err, FSL_ERR_IO, "others may write it: path=\"%s\", mode=%04o",
				path, (unsigned)facts->st_mode & 07777U);
	}
	return FSL_OK;
}
