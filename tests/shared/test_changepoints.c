/*
 * Level shifts compared with people: series of the Turing change point dataset, scored as its
 * benchmark does (margin 5, index 0 a trivial change, precision against the union of annotators,
 * recall averaged over them), and compared with the scores of published methods with default
 * settings on the same series.
 */
#include <math.h>

#include "base/mem.h"
#include "base/shift.h"
#include "shared/shared.h"

enum { MARGIN = 5, CHANGES_MAX = 128, SERIES_MAX = 64, METHODS_MAX = 16, ANNOTATORS_MAX = 16 };

/* Change points of one annotator, of all of them, or of us; index 0 is one of them. */
struct points {
	int at[CHANGES_MAX];
	size_t n;
};

static void add_point(struct points *points, int at)
{
	for (size_t i = 0; i < points->n; i++) {
		if (points->at[i] == at) {
			return;
		}
	}
	assert_true(points->n < CHANGES_MAX);
	points->at[points->n++] = at;
}

static int compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left;
	int b = *(const int *)right;
	return (a > b) - (a < b);
}

/* For each true point in order, takes the nearest free prediction within the margin. */
static size_t n_hits(struct points truth, const struct points *found)
{
	bool is_taken[CHANGES_MAX] = {false};
	size_t hits = 0;
	qsort(truth.at, truth.n, sizeof(truth.at[0]), compare_ints);
	for (size_t t = 0; t < truth.n; t++) {
		size_t nearest = found->n;
		for (size_t i = 0; i < found->n; i++) {
			int distance = abs(found->at[i] - truth.at[t]);
			if (!is_taken[i] && distance <= MARGIN &&
			    (nearest == found->n ||
			     distance < abs(found->at[nearest] - truth.at[t]))) {
				nearest = i;
			}
		}
		if (nearest < found->n) {
			is_taken[nearest] = true;
			hits++;
		}
	}
	return hits;
}

static double f1_of(const cJSON *annotators, const struct points *found)
{
	struct points all = {.n = 1};
	double recall = 0.0;
	const cJSON *annotator = NULL;
	cJSON_ArrayForEach(annotator, annotators)
	{
		struct points own = {.n = 1};
		const cJSON *point = NULL;
		cJSON_ArrayForEach(point, annotator)
		{
			add_point(&own, point->valueint);
			add_point(&all, point->valueint);
		}
		recall += (double)n_hits(own, found) / (double)own.n;
	}
	recall /= cJSON_GetArraySize(annotators);
	double precision = (double)n_hits(all, found) / (double)found->n;
	return 2.0 * precision * recall / (precision + recall);
}

/* Values of a JSON array, null a hole; free with fsl_free. */
static double *read_values(const cJSON *list, size_t *n)
{
	*n = (size_t)cJSON_GetArraySize(list);
	double *values = fsl_calloc(*n, sizeof(*values));
	assert_non_null(values);
	size_t i = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		values[i++] = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
	}
	return values;
}

static struct points find_points(const double *values, size_t n,
				 const struct fsl_shift_options *options)
{
	struct points points = {.n = 1};
	struct fsl_shifts shifts = {0};
	assert_int_equal(fsl_shifts_find(&shifts, values, n, options, NULL), FSL_OK);
	for (size_t i = 0; i < shifts.n; i++) {
		add_point(&points, (int)shifts.items[i].at);
	}
	fsl_shifts_fini(&shifts);
	return points;
}

/* One series of the benchmark that is present. */
struct entry {
	char name[64];
	double published[METHODS_MAX];
	double *values;
	size_t n;
	double f1;
	size_t n_found;
};

struct benchmark {
	char methods[METHODS_MAX][32];
	size_t n_methods;
	struct entry entries[SERIES_MAX];
	size_t n_entries;
	cJSON *annotations;
};

static bool load_entry(struct entry *entry, char *line)
{
	char path[SHARED_PATH_BYTES];
	char file[80];
	char *rest = line;
	const char *name = strsep(&rest, ",");
	*entry = (struct entry){0};
	(void)snprintf(entry->name, sizeof(entry->name), "%s", name);
	for (size_t m = 0; m < METHODS_MAX && rest != NULL; m++) {
		entry->published[m] = strtod(strsep(&rest, ","), NULL);
	}
	(void)snprintf(file, sizeof(file), "%s.json", entry->name);
	if (access(shared_path(path, "changepoint/tcpd", file), R_OK) != 0) {
		return false;
	}
	cJSON *tree = shared_json("changepoint/tcpd", file);
	const cJSON *series = cJSON_GetArrayItem(cJSON_GetObjectItem(tree, "series"), 0);
	entry->values = read_values(cJSON_GetObjectItem(series, "raw"), &entry->n);
	cJSON_Delete(tree);
	return true;
}

static void load(struct benchmark *benchmark)
{
	char path[SHARED_PATH_BYTES];
	char *text = NULL;
	size_t length = 0;
	if (access(shared_path(path, "changepoint/tcpd", "annotations.json"), R_OK) != 0) {
		skip();
	}
	*benchmark = (struct benchmark){
		.annotations = shared_json("changepoint/tcpd", "annotations.json")};
	shared_path(path, "changepoint/tcpd", "reference_default_f1.csv");
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	char *rest = text;
	char *header = strsep(&rest, "\n");
	(void)strsep(&header, ",");
	while (header != NULL && benchmark->n_methods < METHODS_MAX) {
		(void)snprintf(benchmark->methods[benchmark->n_methods++], 32, "%s",
			       strsep(&header, ",\r"));
	}
	while (rest != NULL && *rest != '\0' && benchmark->n_entries < SERIES_MAX) {
		struct entry *entry = &benchmark->entries[benchmark->n_entries];
		benchmark->n_entries += load_entry(entry, strsep(&rest, "\n")) ? 1 : 0;
	}
	fsl_free(text);
	assert_true(benchmark->n_entries > 0);
}

static void unload(struct benchmark *benchmark)
{
	for (size_t i = 0; i < benchmark->n_entries; i++) {
		fsl_free(benchmark->entries[i].values);
	}
	cJSON_Delete(benchmark->annotations);
}

/* Fills f1 of every series; returns the mean. */
static double score(struct benchmark *benchmark, const struct fsl_shift_options *options)
{
	double sum = 0.0;
	for (size_t i = 0; i < benchmark->n_entries; i++) {
		struct entry *entry = &benchmark->entries[i];
		struct points found = find_points(entry->values, entry->n, options);
		entry->f1 = f1_of(cJSON_GetObjectItem(benchmark->annotations, entry->name), &found);
		entry->n_found = found.n - 1;
		sum += entry->f1;
	}
	return sum / (double)benchmark->n_entries;
}

static double published_mean(const struct benchmark *benchmark, size_t method)
{
	double sum = 0.0;
	for (size_t i = 0; i < benchmark->n_entries; i++) {
		sum += benchmark->entries[i].published[method];
	}
	return sum / (double)benchmark->n_entries;
}

static size_t method_of(const struct benchmark *benchmark, const char *name)
{
	size_t method = 0;
	while (method < benchmark->n_methods && strcmp(benchmark->methods[method], name) != 0) {
		method++;
	}
	assert_true(method < benchmark->n_methods);
	return method;
}

static double best_published(const struct benchmark *benchmark)
{
	double best = 0.0;
	for (size_t m = 0; m < benchmark->n_methods; m++) {
		best = fmax(best, published_mean(benchmark, m));
	}
	return best;
}

static void scoring_is_that_of_the_benchmark(void **state)
{
	(void)state;
	static struct benchmark benchmark;
	load(&benchmark);
	size_t zero = method_of(&benchmark, "zero");
	for (size_t i = 0; i < benchmark.n_entries; i++) {
		const struct entry *entry = &benchmark.entries[i];
		struct points nothing = {.n = 1};
		double f1 =
			f1_of(cJSON_GetObjectItem(benchmark.annotations, entry->name), &nothing);
		assert_true(fabs(f1 - entry->published[zero]) < 1e-4);
	}
	unload(&benchmark);
}

static void defaults_beat_every_published_default(void **state)
{
	(void)state;
	static struct benchmark benchmark;
	load(&benchmark);
	double ours = score(&benchmark, &fsl_shift_series);
	for (size_t i = 0; i < benchmark.n_entries; i++) {
		const struct entry *entry = &benchmark.entries[i];
		printf("%-20s %4zu values %2zu changes F1 %.3f\n", entry->name, entry->n,
		       entry->n_found, entry->f1);
	}
	printf("mean default F1 of %zu series: ours %.4f", benchmark.n_entries, ours);
	for (size_t m = 0; m < benchmark.n_methods; m++) {
		printf(", %s %.4f", benchmark.methods[m], published_mean(&benchmark, m));
	}
	printf("\n");
	double best = best_published(&benchmark);
	unload(&benchmark);
	assert_true(ours > best);
}

/* Values around the defaults that the choice could have fallen on. */
enum { GRID_SEGMENTS = 3, GRID_PENALTIES = 3, GRID_SPREADS = 3, GRID_LIMITS = 3, GRID_LINES = 2 };
enum { GRID_N = GRID_SEGMENTS * GRID_PENALTIES * GRID_SPREADS * GRID_LIMITS * GRID_LINES };

static struct fsl_shift_options grid_options(size_t idx)
{
	static const size_t segments[GRID_SEGMENTS] = {5, 10, 15};
	static const double penalties[GRID_PENALTIES] = {2.0, 3.0, 6.0};
	static const double spreads[GRID_SPREADS] = {0.5, 0.75, 1.0};
	static const double limits[GRID_LIMITS] = {0.05, 0.01, 0.002};
	struct fsl_shift_options options = fsl_shift_series;
	options.segment_min = segments[idx % GRID_SEGMENTS];
	idx /= GRID_SEGMENTS;
	options.penalty = penalties[idx % GRID_PENALTIES];
	idx /= GRID_PENALTIES;
	options.spread_min = spreads[idx % GRID_SPREADS];
	idx /= GRID_SPREADS;
	options.p_max = limits[idx % GRID_LIMITS];
	options.must_beat_line = idx / GRID_LIMITS == 0;
	return options;
}

/* Mean F1 on the series that @is_judged says, with the options that are best on all others. */
static double chosen_elsewhere(const struct benchmark *benchmark, double f1[][SERIES_MAX],
			       bool (*is_judged)(size_t entry, size_t fold), size_t n_folds)
{
	double sum = 0.0;
	for (size_t fold = 0; fold < n_folds; fold++) {
		double best_elsewhere = -1.0;
		double judged = 0.0;
		for (size_t g = 0; g < GRID_N; g++) {
			double elsewhere = 0.0;
			double here = 0.0;
			for (size_t i = 0; i < benchmark->n_entries; i++) {
				*(is_judged(i, fold) ? &here : &elsewhere) += f1[g][i];
			}
			if (elsewhere > best_elsewhere) {
				best_elsewhere = elsewhere;
				judged = here;
			}
		}
		sum += judged;
	}
	return sum / (double)benchmark->n_entries;
}

static bool is_left_out(size_t entry, size_t fold)
{
	return entry == fold;
}

static bool is_in_half(size_t entry, size_t fold)
{
	return entry % 2 == fold;
}

static void settings_chosen_on_other_series_beat_never_alarming(void **state)
{
	(void)state;
	static struct benchmark benchmark;
	static double f1[GRID_N][SERIES_MAX];
	load(&benchmark);
	size_t n_better = 0;
	double best = best_published(&benchmark);
	double never = published_mean(&benchmark, method_of(&benchmark, "zero"));
	for (size_t g = 0; g < GRID_N; g++) {
		struct fsl_shift_options options = grid_options(g);
		n_better += score(&benchmark, &options) > best ? 1 : 0;
		for (size_t i = 0; i < benchmark.n_entries; i++) {
			f1[g][i] = benchmark.entries[i].f1;
		}
	}
	double one_out = chosen_elsewhere(&benchmark, f1, is_left_out, benchmark.n_entries);
	double halves = chosen_elsewhere(&benchmark, f1, is_in_half, 2);
	printf("of %d neighbouring settings %zu beat the best published default %.4f; chosen with "
	       "one series left out %.4f, on the other half %.4f\n",
	       GRID_N, n_better, best, one_out, halves);
	unload(&benchmark);
	assert_true(one_out > never && halves > never);
}

static void tigerbeetle_changes_are_those_that_otava_asserts(void **state)
{
	(void)state;
	char path[SHARED_PATH_BYTES];
	char *text = NULL;
	size_t length = 0;
	shared_path(path, "changepoint/otava_tigerbeetle", "tigerbeetle.csv");
	if (access(path, R_OK) != 0) {
		skip();
	}
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	double values[512];
	size_t n = 0;
	char *end = NULL;
	for (char *at = text; n < 512; at = end) {
		values[n] = strtod(at, &end);
		if (end == at) {
			break;
		}
		n++;
	}
	fsl_free(text);
	struct points found = find_points(values, n, &fsl_shift_series);
	assert_int_equal(n, 365);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.at[1], 15);
	assert_int_equal(found.at[2], 71);
}

/* MongoDB's E-divisive: its statistic for every place to cut, and its greatest is its first change.
 */
static void the_first_change_of_e_divisive_is_one_of_ours(void **state)
{
	(void)state;
	static const char name[] = "changepoint/mongodb_edivisive/tests/data";
	char path[SHARED_PATH_BYTES];
	size_t n = 0;
	size_t n_expected = 0;
	if (access(shared_path(path, name, "robust_series.json"), R_OK) != 0) {
		skip();
	}
	cJSON *series = shared_json(name, "robust_series.json");
	cJSON *expected = shared_json(name, "expected_result_robust_series_proper_division.json");
	double *values = read_values(series, &n);
	double *statistic = read_values(expected, &n_expected);
	assert_int_equal(n, n_expected);
	size_t greatest = 0;
	for (size_t i = 1; i < n; i++) {
		greatest = statistic[i] > statistic[greatest] ? i : greatest;
	}
	struct points found = find_points(values, n, &fsl_shift_series);
	struct points wanted = {.at = {0, (int)greatest}, .n = 2};
	assert_int_equal(greatest, 114);
	assert_int_equal(n_hits(wanted, &found), 2);
	fsl_free(statistic);
	fsl_free(values);
	cJSON_Delete(expected);
	cJSON_Delete(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scoring_is_that_of_the_benchmark),
		cmocka_unit_test(defaults_beat_every_published_default),
		cmocka_unit_test(settings_chosen_on_other_series_beat_never_alarming),
		cmocka_unit_test(tigerbeetle_changes_are_those_that_otava_asserts),
		cmocka_unit_test(the_first_change_of_e_divisive_is_one_of_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
