/* Tells damage of a database from other failures. */
#ifndef FSL_STATE_DAMAGE_H
#define FSL_STATE_DAMAGE_H

#include <stdbool.h>

#include <sqlite3.h>

#include "base/mem.h"

/* @code: of SQLite, which lacks memory for a damaged row that claims to have 2^64 bytes. No row of
 * ours needs what is asked for here. */
static inline bool fsl_is_damage(int code)
{
	enum { ROW_BYTES_MAX = 1 << 20 };
	code &= 0xff;
	return code == SQLITE_NOTADB || code == SQLITE_CORRUPT ||
	       (code == SQLITE_NOMEM && !fsl_mem_is_short(ROW_BYTES_MAX));
}

#endif
