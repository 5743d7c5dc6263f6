/* Bars, values of the edges, and the axis with its marks. */
#include "cli/series_chart.h"

#include <string.h>

#include "base/columns.h"
#include "base/language.h"
#include "text/spark.h"

enum {
	LINES = 4,
	EDGE_COLUMNS = 10, /* "-1.234e+05", or the index of the first value */
	GAPS = 2,          /* blanks beside the bars */
};

static void print_bars(FILE *stream, const struct fsl_series_chart *chart,
		       const struct fsl_spark *spark)
{
	for (size_t line = 0; line < LINES; line++) {
		struct fsl_phrase bars = {0};
		char edge[32] = "";
		if (line == 0 || line == LINES - 1) {
			(void)snprintf(edge, sizeof(edge), "%.4g",
				       line == 0 ? spark->high : spark->low);
		}
		fsl_spark_draw(&bars, spark, line, LINES, chart->has_blocks);
		(void)fprintf(stream, "%*s%s%s\n",
			      bars.length > 0 || *edge != '\0' ? EDGE_COLUMNS : 0, edge,
			      bars.length > 0 ? " " : "", bars.text);
	}
}

static void print_axis(FILE *stream, const struct fsl_series_chart *chart,
		       const struct fsl_spark *spark)
{
	char axis[FSL_SPARK_COLUMNS_MAX + 1];
	memset(axis, '-', spark->n_columns);
	axis[spark->n_columns] = '\0';
	if (chart->drift->is_found) {
		size_t begin = fsl_spark_column(spark, chart->drift->begin);
		size_t end = fsl_spark_column(spark, chart->drift->end);
		memset(axis + begin, '~', end - begin + 1);
	}
	for (size_t i = 0; i < chart->shifts->n && !chart->drift->is_found; i++) {
		axis[fsl_spark_column(spark, chart->shifts->items[i].at)] = '^';
	}
	char first[64];
	struct fsl_told told;
	(void)snprintf(first, sizeof(first), "%.20s %zu", fsl_tell("index", &told), chart->first);
	const char *shown = first;
	if (fsl_columns(shown, strlen(shown)) > EDGE_COLUMNS) {
		shown = strchr(shown, ' ') + 1;
	}
	(void)fprintf(stream, "%*s%s", EDGE_COLUMNS - fsl_columns(shown, strlen(shown)), "", shown);
	(void)fprintf(stream, " %s %zu\n", axis, chart->first + chart->n - 1);
}

void fsl_series_chart_print(FILE *stream, const struct fsl_series_chart *chart)
{
	struct fsl_spark spark;
	char last[32];
	int n_last = snprintf(last, sizeof(last), "%zu", chart->first + chart->n);
	int room = chart->width - EDGE_COLUMNS - GAPS - n_last;
	if (chart->n == 0 || room <= 0) {
		return;
	}
	fsl_spark_begin(&spark, chart->n, (size_t)room);
	for (size_t i = 0; i < chart->n; i++) {
		fsl_spark_add(&spark, i, chart->values[i]);
	}
	if (fsl_spark_frame(&spark)) {
		print_bars(stream, chart, &spark);
		print_axis(stream, chart, &spark);
	}
}
