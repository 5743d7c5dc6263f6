/* Values of analysis.db, with the units of the text files. */
#include "source/ascend/read_analysis_parts.h"

#include <string.h>

#include "base/number.h"

/* Noise below 0 becomes 0 in whole ns. */
int64_t fsl_analysis_time(const struct fsl_db_rows *rows, size_t column, int64_t unit_ns)
{
	int64_t value = 0;
	return fsl_db_scaled(rows, column, unit_ns, &value) && value >= 0 ? value : FSL_NS_ABSENT;
}

int64_t fsl_analysis_duration(const struct fsl_db_rows *rows, size_t column, int16_t *rest_ps)
{
	int64_t ps = 0;
	*rest_ps = 0;
	if (!fsl_db_scaled(rows, column, INT64_C(1000) * FSL_NS_PER_MS, &ps) || ps < 0 ||
	    ps > INT64_MAX - 500) {
		return fsl_analysis_time(rows, column, FSL_NS_PER_MS);
	}
	int64_t ns = (ps + 500) / 1000;
	*rest_ps = (int16_t)(ps - ns * 1000);
	return ns;
}

int64_t fsl_analysis_amount(const struct fsl_db_rows *rows, size_t column, int64_t scale)
{
	int64_t value = 0;
	return fsl_db_scaled(rows, column, scale, &value) && value > 0 ? value : 0;
}

/* Reads "50", "step50" or a number. */
int64_t fsl_analysis_step(const struct fsl_db_rows *rows, size_t column)
{
	size_t length = 0;
	int64_t step = FSL_STEP_ABSENT;
	const char *text = fsl_db_text(rows, column, &length);
	if (text != NULL) {
		return fsl_profile_step_from_text(text, length);
	}
	return fsl_db_i64(rows, column, &step) && step >= 0 ? step : FSL_STEP_ABSENT;
}

bool fsl_analysis_is_p2p(const struct fsl_db_rows *rows, size_t type, const char *name)
{
	size_t length = 0;
	const char *text = fsl_db_text(rows, type, &length);
	return text != NULL ? length == 3 && memcmp(text, "p2p", 3) == 0
			    : fsl_profile_is_p2p(name, strlen(name));
}

enum fsl_profile_transport fsl_analysis_transport(const struct fsl_db_rows *rows, size_t column)
{
	size_t length = 0;
	const char *text = fsl_db_text(rows, column, &length);
	return text != NULL ? fsl_profile_transport_from_text(text, length) : FSL_TRANSPORT_OTHER;
}

enum fsl_status fsl_analysis_read_table(struct fsl_profile_rank *rank, struct fsl_db *db,
					const struct fsl_db_select *select, fsl_analysis_adder add,
					const struct fsl_profile_input *input,
					struct fsl_error *err)
{
	struct fsl_db_rows *rows = NULL;
	enum fsl_status status = fsl_db_select(&rows, db, select, err);
	bool has_row = rows != NULL;
	while (status == FSL_OK && has_row) {
		status = fsl_db_next(rows, &has_row, err);
		if (status == FSL_OK && has_row) {
			status = add(rank, rows, input, err);
		}
	}
	fsl_db_rows_close(rows);
	return status;
}
