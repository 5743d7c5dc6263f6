/* Writes rows into a new SQLite file. */
#include "report/msprof/table.h"

#include <stdbool.h>
#include <stddef.h>

static void note(struct fsl_peer_table *table, int code)
{
	if (table->code == SQLITE_OK && code != SQLITE_OK) {
		table->code = code;
	}
}

static void execute(struct fsl_peer_table *table, const char *sql)
{
	if (table->code == SQLITE_OK) {
		note(table, sqlite3_exec(table->db, sql, NULL, NULL, NULL));
	}
}

void fsl_peer_table_open(struct fsl_peer_table *table, const char *path)
{
	*table = (struct fsl_peer_table){.code = SQLITE_OK};
	note(table,
	     sqlite3_open_v2(path, &table->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
	/* No journal: the file gets its name when it is whole, and is synced then. */
	execute(table, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
}

void fsl_peer_table_begin(struct fsl_peer_table *table, const char *create, const char *insert)
{
	note(table, sqlite3_finalize(table->row));
	table->row = NULL;
	table->column = 1;
	table->create = create;
	table->insert = insert;
}

/* True if a value can be bound. */
static bool is_ready(struct fsl_peer_table *table)
{
	if (table->create != NULL) {
		execute(table, table->create);
		table->create = NULL;
		if (table->code == SQLITE_OK) {
			note(table,
			     sqlite3_prepare_v2(table->db, table->insert, -1, &table->row, NULL));
		}
	}
	return table->code == SQLITE_OK;
}

void fsl_peer_table_text(struct fsl_peer_table *table, const char *text)
{
	if (is_ready(table)) {
		note(table,
		     sqlite3_bind_text(table->row, table->column++, text, -1, SQLITE_TRANSIENT));
	}
}

void fsl_peer_table_integer(struct fsl_peer_table *table, int64_t value)
{
	if (is_ready(table)) {
		note(table, sqlite3_bind_int64(table->row, table->column++, value));
	}
}

void fsl_peer_table_real(struct fsl_peer_table *table, double value)
{
	if (is_ready(table)) {
		note(table, sqlite3_bind_double(table->row, table->column++, value));
	}
}

void fsl_peer_table_none(struct fsl_peer_table *table)
{
	if (is_ready(table)) {
		note(table, sqlite3_bind_null(table->row, table->column++));
	}
}

void fsl_peer_table_end_row(struct fsl_peer_table *table)
{
	if (table->code == SQLITE_OK && sqlite3_step(table->row) != SQLITE_DONE) {
		note(table, sqlite3_errcode(table->db));
	}
	if (table->code == SQLITE_OK) {
		note(table, sqlite3_reset(table->row));
	}
	table->column = 1;
}

enum fsl_status fsl_peer_table_finish(struct fsl_peer_table *table, const char *path,
				      struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	(void)sqlite3_finalize(table->row);
	table->row = NULL;
	execute(table, "COMMIT");
	if (table->code == SQLITE_NOMEM || table->db == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
	} else if (table->code != SQLITE_OK) {
		status = FSL_FAIL(err, FSL_ERR_IO,
				  "cannot write the database: path=\"%s\", reason=\"%s\"", path,
				  sqlite3_errstr(table->code));
	}
	if (sqlite3_close(table->db) != SQLITE_OK && status == FSL_OK) {
		status = FSL_FAIL(err, FSL_ERR_IO, "cannot close the database: path=\"%s\"", path);
	}
	table->db = NULL;
	return status;
}
