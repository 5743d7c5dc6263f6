/* CANN_API and AICORE_FREQ: the host's calls, and the clock of the cores. */
#include "source/ascend/read_profiler_parts.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"

enum { STATISTICS_MAX = 1 << 16, FREQS_MAX = 8, MHZ_MAX = 100000 };

enum call_column { LEVEL, NAME, BEGIN, END, CALL_COLUMNS_N };

static const struct fsl_db_column call_columns[CALL_COLUMNS_N] = {
	[LEVEL] = {{"type"}, true, 0},
	[NAME] = {{"name"}, true, 0},
	[BEGIN] = {{"startNs"}, true, 0},
	[END] = {{"endNs"}, true, 0},
};

static const struct fsl_db_select call_select = {
	{"CANN_API"}, NULL, call_columns, CALL_COLUMNS_N, ""};

/* Levels of ENUM_API_TYPE, with their names in api_statistic.csv. */
static const struct level {
	int64_t type;
	const char *text;
} levels[] = {{20000, "acl"}, {15000, "model"}, {10000, "node"}, {5000, "runtime"}, {5500, "hccl"}};

enum { LEVELS_N = sizeof(levels) / sizeof(levels[0]) };

/* Sums by level and name. */
struct calls {
	struct fsl_profiler *profiler;
	uint32_t kind_ids[LEVELS_N];
	struct fsl_strpool *keys; /* of rank->api_statistics: the id is the index */
};

static enum fsl_status name_levels(struct calls *calls, struct fsl_error *err)
{
	for (size_t i = 0; i < LEVELS_N; i++) {
		FSL_TRY(fsl_strpool_intern(calls->profiler->rank->names, levels[i].text,
					   strlen(levels[i].text), &calls->kind_ids[i], err));
	}
	return FSL_OK;
}

static uint32_t kind_of(const struct calls *calls, int64_t type)
{
	for (size_t i = 0; i < LEVELS_N; i++) {
		if (levels[i].type == type) {
			return calls->kind_ids[i];
		}
	}
	return FSL_STR_NONE;
}

/* Row of this level and name, added if new; *out is NULL if there are too many. */
static enum fsl_status row_of(struct calls *calls, uint32_t kind_id, uint32_t name_id,
			      struct fsl_profile_statistic **out, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = calls->profiler->rank;
	const uint32_t key[] = {kind_id, name_id};
	uint32_t at = fsl_strpool_find(calls->keys, (const char *)key, sizeof(key));
	*out = NULL;
	if (at == FSL_STR_NONE) {
		if (rank->n_api_statistics == STATISTICS_MAX) {
			return fsl_db_tell(
				calls->profiler->db, FSL_FILE_PARTIAL, err,
				"more than 65536 kinds of calls; further ones are left out");
		}
		FSL_TRY(FSL_GROW(rank->api_statistics, rank->api_statistics_capacity,
				 rank->n_api_statistics + 1, err));
		FSL_TRY(fsl_strpool_intern(calls->keys, (const char *)key, sizeof(key), &at, err));
		rank->api_statistics[rank->n_api_statistics++] = (struct fsl_profile_statistic){
			.name_id = name_id, .kind_id = kind_id, .min_ns = INT64_MAX};
	}
	*out = &rank->api_statistics[at];
	return FSL_OK;
}

static enum fsl_status add_call(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	struct calls *calls = context;
	int64_t type = 0, begin_ns = 0, end_ns = 0;
	uint32_t name_id = FSL_STR_NONE;
	struct fsl_profile_statistic *row = NULL;
	if (!fsl_db_i64(rows, LEVEL, &type) ||
	    !fsl_profiler_times(rows, BEGIN, END, &begin_ns, &end_ns)) {
		fsl_db_drop(rows, "a call without times or level");
		return FSL_OK;
	}
	enum fsl_status status =
		fsl_profiler_column_name(calls->profiler, rows, NAME, &name_id, err);
	if (status == FSL_OK && name_id != FSL_STR_NONE) {
		status = row_of(calls, kind_of(calls, type), name_id, &row, err);
	}
	if (row != NULL) {
		int64_t dur_ns = end_ns - begin_ns;
		row->count++;
		row->total_ns = fsl_sum_i64(row->total_ns, dur_ns);
		row->min_ns = dur_ns < row->min_ns ? dur_ns : row->min_ns;
		row->max_ns = dur_ns > row->max_ns ? dur_ns : row->max_ns;
	}
	return status;
}

enum fsl_status fsl_profiler_read_calls(struct fsl_profiler *profiler, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = profiler->rank;
	if (rank->n_api_statistics > 0) {
		return FSL_OK; /* api_statistic.csv has them already */
	}
	struct calls calls = {.profiler = profiler, .keys = fsl_strpool_create()};
	enum fsl_status status =
		calls.keys != NULL
			? name_levels(&calls, err)
			: FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d", (int)rank->rank);
	if (status == FSL_OK) {
		status = fsl_db_read(profiler->db, &call_select, add_call, &calls, err);
	}
	for (size_t i = 0; i < rank->n_api_statistics; i++) {
		struct fsl_profile_statistic *row = &rank->api_statistics[i];
		row->mean_ns = row->total_ns / row->count;
	}
	fsl_strpool_destroy(calls.keys);
	return status;
}

enum freq_column { FREQ_TIME, FREQ, FREQ_DEVICE, FREQ_COLUMNS_N };

static const struct fsl_db_column freq_columns[FREQ_COLUMNS_N] = {
	[FREQ_TIME] = {{"timestampNs"}, true, 0},
	[FREQ] = {{"freq"}, true, 0},
	[FREQ_DEVICE] = {{"deviceId"}, false, 0},
};

static const struct fsl_db_select freq_select = {
	{"AICORE_FREQ"}, NULL, freq_columns, FREQ_COLUMNS_N, "ORDER BY 1"};

/* Adds a time at a frequency, ascending; drops frequencies beyond the eighth. */
static void add_freq(struct fsl_profile_trace *trace, int32_t mhz, int64_t dur_ns)
{
	size_t at = 0;
	while (at < trace->n_freqs && trace->freqs_mhz[at] < mhz) {
		at++;
	}
	if (at == trace->n_freqs || trace->freqs_mhz[at] != mhz) {
		if (trace->n_freqs == FREQS_MAX) {
			return;
		}
		size_t n_behind = trace->n_freqs - at;
		memmove(&trace->freqs_mhz[at + 1], &trace->freqs_mhz[at],
			n_behind * sizeof(trace->freqs_mhz[0]));
		memmove(&trace->freq_ns[at + 1], &trace->freq_ns[at],
			n_behind * sizeof(trace->freq_ns[0]));
		trace->freqs_mhz[at] = mhz;
		trace->freq_ns[at] = 0;
		trace->n_freqs++;
	}
	trace->freq_ns[at] = fsl_sum_i64(trace->freq_ns[at], dur_ns);
}

/* The newest row: its frequency holds until the next one. */
struct freqs {
	struct fsl_profiler *profiler;
	int64_t last_ns, last_mhz;
};

static enum fsl_status take_freq(struct fsl_db_rows *rows, void *context, struct fsl_error *err)
{
	(void)err;
	struct freqs *freqs = context;
	int64_t time_ns = 0, mhz = 0;
	if (!fsl_db_i64(rows, FREQ_TIME, &time_ns) || time_ns < 0 ||
	    !fsl_db_i64(rows, FREQ, &mhz) || mhz <= 0 || mhz > MHZ_MAX ||
	    !fsl_profiler_is_own(freqs->profiler, rows, FREQ_DEVICE)) {
		return FSL_OK;
	}
	if (freqs->last_ns != FSL_NS_ABSENT && time_ns >= freqs->last_ns) {
		add_freq(&freqs->profiler->rank->trace, (int32_t)freqs->last_mhz,
			 time_ns - freqs->last_ns);
	}
	freqs->last_ns = time_ns;
	freqs->last_mhz = mhz;
	return FSL_OK;
}

enum fsl_status fsl_profiler_read_freqs(struct fsl_profiler *profiler, struct fsl_error *err)
{
	struct fsl_profile_trace *trace = &profiler->rank->trace;
	struct freqs freqs = {.profiler = profiler, .last_ns = FSL_NS_ABSENT};
	if (trace->n_freqs > 0) {
		return FSL_OK; /* trace_view.json has them already */
	}
	enum fsl_status status = fsl_db_read(profiler->db, &freq_select, take_freq, &freqs, err);
	if (freqs.last_ns != FSL_NS_ABSENT) {
		add_freq(trace, (int32_t)freqs.last_mhz, 0); /* the end of this one is unknown */
	}
	return status;
}
