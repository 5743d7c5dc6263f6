/* Shared by the files that read analysis.db: values with their units, and traffic over links. */
#ifndef FSL_SOURCE_ASCEND_READ_ANALYSIS_PARTS_H
#define FSL_SOURCE_ASCEND_READ_ANALYSIS_PARTS_H

#include "source/ascend/comms.h"
#include "source/ascend/databases.h"

#define FSL_ANALYSIS_BYTES_PER_MB 1000000

/* A time in @unit_ns as ns; FSL_NS_ABSENT if missing. */
int64_t fsl_analysis_time(const struct fsl_db_rows *rows, size_t column, int64_t unit_ns);
/* A duration in ms as ns, and the rest below a ns in *rest_ps. */
int64_t fsl_analysis_duration(const struct fsl_db_rows *rows, size_t column, int16_t *rest_ps);
/* A number times @scale; 0 if missing or negative. */
int64_t fsl_analysis_amount(const struct fsl_db_rows *rows, size_t column, int64_t scale);
int64_t fsl_analysis_step(const struct fsl_db_rows *rows, size_t column);
/* True for p2p, by column @type if it has a value, else by the operator's name. */
bool fsl_analysis_is_p2p(const struct fsl_db_rows *rows, size_t type, const char *name);
enum fsl_profile_transport fsl_analysis_transport(const struct fsl_db_rows *rows, size_t column);

typedef enum fsl_status (*fsl_analysis_adder)(struct fsl_profile_rank *rank,
					      struct fsl_db_rows *rows,
					      const struct fsl_profile_input *input,
					      struct fsl_error *err);
/* Calls @add for all rows; does nothing if there is no such table. */
enum fsl_status fsl_analysis_read_table(struct fsl_profile_rank *rank, struct fsl_db *db,
					const struct fsl_db_select *select, fsl_analysis_adder add,
					const struct fsl_profile_input *input,
					struct fsl_error *err);
/* Reads CommAnalyzerBandwidth for the operators in rank->comms from @first on. */
enum fsl_status fsl_analysis_read_traffic(struct fsl_profile_rank *rank, size_t first,
					  struct fsl_db *db, struct fsl_error *err);

#endif
