/*
 * The two-rank databases of the reference data, compared with the results of msprof-analyze's
 * recipes for the same data. tests/profile/check_recipes.py compares the program's output; this
 * test compares the values behind it.
 */
#include "unit/ascend/whole_set.h"

#include <math.h>

#include <sqlite3.h>

#include "base/number.h"
#include "blame/host_losses.h"

#define CAPTURE "insight-2rank-db/level1"
#define RECIPES "expected/insight-2rank-db/level1-recipes/"

/* Rows of a recipe's table, walked with what one test compares. */
struct recipe {
	const struct fsl_profile *profile;
	size_t n_rows;
	size_t n_compared; /* by the test */
};

typedef int (*on_row)(void *recipe, int n_columns, char **values, char **names);

/* Every row of @sql in the database of a recipe; opened as a file that nobody changes. */
static void walk_recipe(struct recipe *recipe, const char *name, const char *sql, on_row row)
{
	const char *folder = getenv("FSL_SHARED_DIR");
	char uri[1024], *message = NULL;
	sqlite3 *db = NULL;
	(void)snprintf(uri, sizeof(uri), "file:%s/data/ascend/" RECIPES "%s.db?immutable=1",
		       folder != NULL && folder[0] != '\0' ? folder : FSL_SHARED_DIR, name);
	assert_int_equal(sqlite3_open_v2(uri, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
			 SQLITE_OK);
	if (sqlite3_exec(db, sql, row, recipe, &message) != SQLITE_OK) {
		fail_msg("%s: %s", name, message);
	}
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_true(recipe->n_rows > 0);
}

static const struct fsl_profile_rank *rank_of(const struct recipe *recipe, const char *number)
{
	const struct fsl_profile_rank *rank =
		fsl_profile_rank_of(recipe->profile, (int32_t)strtol(number, NULL, 10));
	assert_non_null(rank);
	return rank;
}

/* Whole ns, however the column writes them. */
static int64_t ns_of(const char *text)
{
	int64_t ns = 0;
	assert_true(fsl_parse_scaled(text, strlen(text), 1, &ns));
	return ns;
}

/* Count, sum and extremes, as all of these recipes tell them. */
struct sums {
	int64_t count, total_ns, min_ns, max_ns;
};

static void add_sums(struct sums *sums, int64_t count, int64_t total_ns, int64_t min_ns,
		     int64_t max_ns)
{
	bool is_first = sums->count == 0;
	sums->min_ns = is_first || min_ns < sums->min_ns ? min_ns : sums->min_ns;
	sums->max_ns = is_first || max_ns > sums->max_ns ? max_ns : sums->max_ns;
	sums->count += count;
	sums->total_ns += total_ns;
}

/* @values: count, sum, least, greatest. */
static void assert_sums(const struct sums *ours, char **values)
{
	assert_int_equal(ours->count, ns_of(values[0]));
	assert_int_equal(ours->total_ns, ns_of(values[1]));
	assert_int_equal(ours->min_ns, ns_of(values[2]));
	assert_int_equal(ours->max_ns, ns_of(values[3]));
}

static bool is_text(const struct fsl_profile_rank *rank, uint32_t id, const char *text)
{
	return strcmp(fsl_strpool_text(rank->names, id), text) == 0;
}

/* Input shapes stand in front of data types. */
static bool has_shapes(const struct fsl_profile_rank *rank, uint32_t id, const char *shapes)
{
	const char *own = fsl_strpool_text(rank->names, id);
	size_t length = strlen(shapes);
	return strncmp(own, shapes, length) == 0 && (own[length] == '|' || own[length] == '\0');
}

/* Rank, type, core, count, sum, least, greatest, and perhaps shapes. */
static int compare_kernels(void *context, int n_columns, char **values, char **names)
{
	struct recipe *recipe = context;
	const struct fsl_profile_rank *rank = rank_of(recipe, values[0]);
	struct sums ours = {0};
	(void)names;
	for (size_t k = 0; k < rank->n_kernels; k++) {
		const struct fsl_profile_kernels *own = &rank->kernels[k];
		if (is_text(rank, own->type_id, values[1]) &&
		    is_text(rank, own->core_id, values[2]) &&
		    (n_columns < 8 || has_shapes(rank, own->shape_id, values[7]))) {
			add_sums(&ours, own->count, own->total_ns, own->min_ns, own->max_ns);
		}
	}
	assert_sums(&ours, &values[3]);
	recipe->n_rows++;
	recipe->n_compared += (size_t)ours.count;
	return 0;
}

static void kernels_are_those_of_compute_op_sum(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin_shared(&set, CAPTURE);
	struct recipe by_type = {.profile = &set.profile}, by_shape = by_type;
	walk_recipe(&by_type, "compute_op_sum",
		    "SELECT Rank, OpType, TaskType, Count, SumNs, MinNs, MaxNs "
		    "FROM ComputeOpPerRankStatsByOpType",
		    compare_kernels);
	/* Names are not kept: kernels of one type and shape are alike. */
	walk_recipe(&by_shape, "compute_op_sum",
		    "SELECT Rank, OpType, TaskType, SUM(Count), SUM(SumNs), MIN(MinNs), "
		    "MAX(MaxNs), REPLACE(REPLACE(InputShapes, '\"', ''), 'N/A', '') AS Shapes "
		    "FROM ComputeOpPerRankStatsByOpName GROUP BY Rank, OpType, TaskType, Shapes",
		    compare_kernels);
	size_t n = 0;
	for (size_t r = 0; r < set.profile.n_ranks; r++) {
		for (size_t k = 0; k < set.profile.ranks[r].n_kernels; k++) {
			n += (size_t)set.profile.ranks[r].kernels[k].count;
		}
	}
	assert_int_equal(by_type.n_compared, n); /* nothing more than the recipe has */
	assert_int_equal(by_shape.n_compared, n);
	whole_set_end(&set);
}

/* Rank, name, count, sum, least, greatest. */
static int compare_calls(void *context, int n_columns, char **values, char **names)
{
	struct recipe *recipe = context;
	const struct fsl_profile_rank *rank = rank_of(recipe, values[0]);
	struct sums ours = {0};
	(void)n_columns;
	(void)names;
	for (size_t i = 0; i < rank->n_api_statistics; i++) {
		const struct fsl_profile_statistic *own = &rank->api_statistics[i];
		if (is_text(rank, own->name_id, values[1])) {
			add_sums(&ours, own->count, own->total_ns, own->min_ns, own->max_ns);
		}
	}
	assert_sums(&ours, &values[2]);
	recipe->n_rows++;
	recipe->n_compared += (size_t)ours.count;
	return 0;
}

static void calls_of_the_host_are_those_of_cann_api_sum(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin_shared(&set, CAPTURE);
	struct recipe recipe = {.profile = &set.profile};
	walk_recipe(&recipe, "cann_api_sum",
		    "SELECT rank, name, totalCount, totalTimeNs, minNs, maxNs FROM CannApiSumRank",
		    compare_calls);
	size_t n = 0;
	for (size_t r = 0; r < set.profile.n_ranks; r++) {
		for (size_t i = 0; i < set.profile.ranks[r].n_api_statistics; i++) {
			n += (size_t)set.profile.ranks[r].api_statistics[i].count;
		}
	}
	assert_int_equal(recipe.n_compared, n);
	whole_set_end(&set);
}

/* Who has the greatest part in a gap, in the words of the recipe. */
static const char *turn_of(const struct fsl_profile_rank *rank, size_t place)
{
	struct fsl_profile_rank alone = *rank;
	alone.trace.n_idle = 1;
	alone.trace.idle[0] = rank->trace.idle[place];
	const struct fsl_host_view view = fsl_host_view_of(&alone);
	double most_ms = fmax(view.framework_ms, fmax(view.cann_ms, view.device_ms));
	assert_true(most_ms > 0.0);
	if (view.framework_ms == most_ms) {
		return "Idle Pytorch layer";
	}
	return view.cann_ms == most_ms ? "Abnormal CANN layer" : "Device task running";
}

/*
 * Rank, index among its gaps, begin and duration in us, reason. If a copy of 3 us lies in a gap of
 * 1 ms, the recipe gives the copy as the reason ("max remaining free 889.978 us" of 892.698). That
 * is wrong: here the reason is the framework, which called the next operator 0.2 ms before the end.
 */
static int compare_gap(void *context, int n_columns, char **values, char **names)
{
	struct recipe *recipe = context;
	const struct fsl_profile_rank *rank = rank_of(recipe, values[0]);
	size_t place = (size_t)ns_of(values[1]) - 1;
	int64_t begin_ns = 0, dur_ns = 0;
	(void)n_columns;
	(void)names;
	assert_true(place < rank->trace.n_idle);
	const struct fsl_profile_idle *own = &rank->trace.idle[place];
	assert_true(fsl_parse_scaled(values[2], strlen(values[2]), FSL_NS_PER_US, &begin_ns));
	assert_true(fsl_parse_scaled(values[3], strlen(values[3]), FSL_NS_PER_US, &dur_ns));
	assert_int_equal(own->begin_ns, begin_ns);
	assert_int_equal(own->dur_ns, dur_ns);
	const char *turn = turn_of(rank, place);
	if (strstr(values[4], "1 MEMCPY_ASYNC tasks") != NULL) {
		assert_string_equal(turn, "Idle Pytorch layer");
	} else {
		assert_memory_equal(values[4], turn, strlen(turn));
		recipe->n_compared++;
	}
	recipe->n_rows++;
	return 0;
}

static void the_longest_gaps_and_their_reasons_are_those_of_free_analysis(void **state)
{
	(void)state;
	struct whole_set set;
	whole_set_begin_shared(&set, CAPTURE);
	struct recipe recipe = {.profile = &set.profile};
	walk_recipe(&recipe, "free_analysis",
		    "SELECT rankId, ROW_NUMBER() OVER (PARTITION BY rankId "
		    "ORDER BY \"duration(us)\" DESC), \"startTime(us)\", \"duration(us)\", reason "
		    "FROM FreeAnalysis",
		    compare_gap);
	assert_int_equal(recipe.n_rows, 20);
	assert_int_equal(recipe.n_compared, 17);
	whole_set_end(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_are_those_of_compute_op_sum),
		cmocka_unit_test(calls_of_the_host_are_those_of_cann_api_sum),
		cmocka_unit_test(the_longest_gaps_and_their_reasons_are_those_of_free_analysis),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
