/* From values to heights, and from heights to characters. */
#include "text/spark.h"

#include <math.h>
#include <string.h>

#include <failslow/stats.h>

enum { EIGHTHS = 8 };

void fsl_spark_begin(struct fsl_spark *spark, size_t n, size_t n_columns_max)
{
	size_t most = n_columns_max < FSL_SPARK_COLUMNS_MAX ? n_columns_max : FSL_SPARK_COLUMNS_MAX;
	spark->n_values = n;
	spark->n_columns = n < most ? n : most;
	spark->low = 0.0;
	spark->high = 1.0;
	for (size_t c = 0; c < spark->n_columns; c++) {
		spark->values[c] = (double)NAN;
	}
}

size_t fsl_spark_column(const struct fsl_spark *spark, size_t at)
{
	if (at >= spark->n_values) {
		return spark->n_columns > 0 ? spark->n_columns - 1 : 0;
	}
	double share = (double)at / (double)spark->n_values;
	size_t column = (size_t)(share * (double)spark->n_columns + 1e-9);
	return column < spark->n_columns ? column : spark->n_columns - 1;
}

void fsl_spark_add(struct fsl_spark *spark, size_t at, double value)
{
	if (spark->n_columns == 0 || !isfinite(value)) {
		return;
	}
	double *most = &spark->values[fsl_spark_column(spark, at)];
	*most = isnan(*most) || value > *most ? value : *most;
}

bool fsl_spark_frame(struct fsl_spark *spark)
{
	double sorted[FSL_SPARK_COLUMNS_MAX];
	size_t n = 0;
	for (size_t c = 0; c < spark->n_columns; c++) {
		if (!isnan(spark->values[c])) {
			sorted[n++] = spark->values[c];
		}
	}
	if (n == 0) {
		return false;
	}
	fsl_sort(sorted, n);
	/* A few values far from 90 % of all are cut, or all others would look alike. */
	double few = sorted[(n - 1) / 20], usual = sorted[(n - 1) * 19 / 20];
	double least = fmax(sorted[0], few - 2.0 * (usual - few) - 0.05 * fabs(few));
	double most = fmin(sorted[n - 1], usual + 2.0 * (usual - few) + 0.05 * fabs(usual));
	/* Differences of a few percent are noise: they get no more than a part of the height. */
	double margin = fmax(0.4 * (most - least), 0.05 * fmax(fabs(most), fabs(least)));
	spark->low = least - margin;
	if (least >= 0.0 && spark->low < 0.25 * most) {
		spark->low = 0.0;
	}
	spark->high = most + 0.5 * margin;
	if (!(spark->high > spark->low)) {
		spark->high = spark->low + 1.0;
	}
	return true;
}

/* Height in eighths of a line, at least 1; 0: no value. */
static size_t height_of(const struct fsl_spark *spark, size_t column, size_t n_lines)
{
	double share = (spark->values[column] - spark->low) / (spark->high - spark->low);
	double most = (double)(EIGHTHS * n_lines);
	if (isnan(share)) {
		return 0;
	}
	return (size_t)fmin(1.0 + floor(fmax(share, 0.0) * most), most);
}

static const char *glyph_of(size_t eighths, size_t n_lines, bool has_blocks)
{
	static const char *const blocks[EIGHTHS + 1] = {" ", "▁", "▂", "▃", "▄",
							"▅", "▆", "▇", "█"};
	static const char *const single[EIGHTHS + 1] = {" ", "_", ".", "-", "~",
							"=", "+", "*", "#"};
	static const char *const halves[EIGHTHS + 1] = {" ", ".", ".", ".", ".",
							":", ":", ":", ":"};
	return has_blocks ? blocks[eighths] : n_lines == 1 ? single[eighths] : halves[eighths];
}

void fsl_spark_draw(struct fsl_phrase *out, const struct fsl_spark *spark, size_t line,
		    size_t n_lines, bool has_blocks)
{
	size_t below = EIGHTHS * (n_lines - 1 - line), n_blanks = 0;
	for (size_t c = 0; c < spark->n_columns; c++) {
		size_t height = height_of(spark, c, n_lines);
		size_t eighths = height > below ? height - below : 0;
		eighths = eighths < EIGHTHS ? eighths : EIGHTHS;
		if (eighths == 0) {
			n_blanks++;
			continue;
		}
		fsl_phrase_add(out, "%*s%s", (int)n_blanks, "",
			       glyph_of(eighths, n_lines, has_blocks));
		n_blanks = 0;
	}
}
