/*
 * For tests that start with an empty folder for databases: makes and removes it around each test.
 */
#ifndef FSL_TESTS_PROFILE_ONE_DATABASE_FOLDER_H
#define FSL_TESTS_PROFILE_ONE_DATABASE_FOLDER_H

#include "database_folder.h"

/* Folder of the running test, from folder_setup() to folder_teardown(). */
static struct database_folder folder;
static struct fsl_profile_rank *const rank = &folder.reading.rank;

static inline int folder_setup(void **state)
{
	(void)state;
	database_folder_begin(&folder);
	return 0;
}

static inline int folder_teardown(void **state)
{
	(void)state;
	database_folder_end(&folder);
	return 0;
}

#endif
