/* Shared by database.c and database_rows.c. */
#ifndef FSL_SOURCE_ASCEND_DATABASE_PARTS_H
#define FSL_SOURCE_ASCEND_DATABASE_PARTS_H

#include <sqlite3.h>

#include "source/ascend/database.h"

struct fsl_db {
	sqlite3 *handle;
	struct fsl_profile_rank *rank;
	struct fsl_file *file;
	uint64_t budget; /* remaining steps of SQLite's virtual machine, thousands */
};

/* Reports the failure of the last call; FSL_ERR_MEMORY if that was the reason. */
enum fsl_status fsl_db_fail(struct fsl_db *db, enum fsl_file_state state, const char *what,
			    const char *table, struct fsl_error *err);

#endif
