/* Reads tables of operations: CSV with a header, plain, gzip or zstd. */
#ifndef FSL_SOURCE_OPTABLE_OP_TABLE_FILE_H
#define FSL_SOURCE_OPTABLE_OP_TABLE_FILE_H

#include "base/file.h"
#include "model/op_table.h"

enum { FSL_OP_ROWS_MAX = 1 << 24 };

/* True if the file begins with a header that has the columns of such a table. */
bool fsl_op_table_is_file(const char *path);
/*
 * Reads the columns dp_rank, stage, rank, step, optype, start_ts (s), duration (s), seq_id, mc and
 * gmc, in any order, among others. Rows that are no operations are counted. FSL_ERR_INPUT if none
 * is left or there are more than FSL_OP_ROWS_MAX. Release @out in any case.
 */
enum fsl_status fsl_op_table_read(struct fsl_op_table *out, const char *path,
				  struct fsl_error *err);
/* The same from a reader, which stays the caller's. */
enum fsl_status fsl_op_table_read_from(struct fsl_op_table *out, struct fsl_reader *reader,
				       struct fsl_error *err);

#endif
