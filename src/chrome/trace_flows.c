/* Pairs of flow events: a table of sets with a few places each, and counts of lags by size. */
#include "chrome/trace_flows.h"

#include "base/log.h"
#include "base/mem.h"

enum {
	WAYS_N = 8,
	FIRST_BITS = 5,    /* of the number of sets: 256 open flows in 8 kB */
	MOST_BITS = 13,    /* 65,536 in 2 MB; streams of a device hold some thousand tasks */
	MANTISSA_BITS = 7, /* classes are 1/128 wide, their middles off by 0.4 % at most */
	MANTISSA_N = 1 << MANTISSA_BITS,
	CLASSES_N = (64 - MANTISSA_BITS) * MANTISSA_N,
};

/* One end that waits for the other. */
struct open {
	uint64_t id;
	int64_t ts_ns;
	uint64_t age; /* number of the event; 0: the place is free */
	uint8_t kind;
	bool is_begin;
};

struct lags {
	uint64_t n;
	int64_t max_ns;
	uint64_t counts[CLASSES_N];
};

struct fsl_trace_flows {
	uint64_t n_events;
	size_t n_kinds;
	struct lags *lags; /* by kind */
	unsigned sets_bits;
	bool is_short;
	struct open (*sets)[WAYS_N];
};

struct fsl_trace_flows *fsl_trace_flows_create(size_t n_kinds)
{
	FSL_ASSERT(n_kinds <= FSL_TRACE_FLOW_KINDS_MAX);
	struct fsl_trace_flows *flows = fsl_calloc(1, sizeof(*flows));
	if (flows == NULL) {
		return NULL;
	}
	flows->n_kinds = n_kinds;
	flows->sets_bits = FIRST_BITS;
	flows->lags = fsl_calloc(n_kinds, sizeof(*flows->lags));
	flows->sets = fsl_calloc((size_t)1 << FIRST_BITS, sizeof(*flows->sets));
	if (flows->lags == NULL || flows->sets == NULL) {
		fsl_trace_flows_destroy(flows);
		return NULL;
	}
	return flows;
}

void fsl_trace_flows_destroy(struct fsl_trace_flows *flows)
{
	if (flows != NULL) {
		fsl_free(flows->sets);
		fsl_free(flows->lags);
	}
	fsl_free(flows);
}

/* Small values have a class of their own, others share the upper bits. */
static size_t class_of(uint64_t value)
{
	if (value < MANTISSA_N) {
		return (size_t)value;
	}
	unsigned n_shift = 63 - (unsigned)__builtin_clzll(value) - MANTISSA_BITS;
	size_t in_row = (size_t)(value >> n_shift) - MANTISSA_N;
	return ((size_t)n_shift + 1) * MANTISSA_N + in_row;
}

/* Middle of a class. */
static int64_t value_of(size_t class)
{
	if (class < MANTISSA_N) {
		return (int64_t) class;
	}
	unsigned n_shift = (unsigned)(class / MANTISSA_N) - 1;
	uint64_t low = (uint64_t)(class % MANTISSA_N + MANTISSA_N) << n_shift;
	return (int64_t)(low + ((UINT64_C(1) << n_shift) >> 1));
}

static void count(struct lags *lags, int64_t lag_ns)
{
	lags->n++;
	lags->max_ns = lag_ns > lags->max_ns ? lag_ns : lags->max_ns;
	lags->counts[class_of((uint64_t)lag_ns)]++;
}

/* splitmix64's finisher: neighbouring ids to places far apart. */
static size_t set_of(const struct fsl_trace_flows *flows, uint64_t id, size_t kind)
{
	uint64_t z = id + (uint64_t)(kind + 1) * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (size_t)(z >> (64 - flows->sets_bits));
}

/* Twice as many sets: each becomes two neighbours, which have room for what was in it. False: there
 * are as many as there may be. */
static bool grow(struct fsl_trace_flows *flows)
{
	size_t n_sets = (size_t)1 << flows->sets_bits;
	struct open(*old)[WAYS_N] = flows->sets;
	if (flows->sets_bits == MOST_BITS || flows->is_short) {
		return false;
	}
	flows->sets = fsl_calloc(2 * n_sets, sizeof(*flows->sets));
	flows->is_short = flows->sets == NULL;
	if (flows->is_short) {
		flows->sets = old;
		return false;
	}
	flows->sets_bits++;
	for (size_t s = 0; s < n_sets; s++) {
		size_t n_moved[2] = {0, 0};
		for (size_t w = 0; w < WAYS_N; w++) {
			size_t set = set_of(flows, old[s][w].id, old[s][w].kind);
			if (old[s][w].age > 0) {
				flows->sets[set][n_moved[set % 2]++] = old[s][w];
			}
		}
	}
	fsl_free(old);
	return true;
}

static bool is_of(const struct open *open, uint64_t id, size_t kind)
{
	return open->age > 0 && open->id == id && open->kind == kind;
}

/* The place of the flow; if there is none, a free place in its set; else the oldest place. */
static struct open *place_of(struct fsl_trace_flows *flows, uint64_t id, size_t kind)
{
	struct open *set = flows->sets[set_of(flows, id, kind)], *oldest = &set[0];
	for (size_t w = 0; w < WAYS_N; w++) {
		if (is_of(&set[w], id, kind)) {
			return &set[w];
		}
		oldest = set[w].age < oldest->age ? &set[w] : oldest;
	}
	return oldest;
}

bool fsl_trace_flows_add(struct fsl_trace_flows *flows, size_t kind,
			 const struct fsl_trace_event *event, int64_t *end_ns, int64_t *lag_ns)
{
	FSL_ASSERT(kind < flows->n_kinds);
	if (!event->has_id || event->ts_ns == FSL_NS_ABSENT) {
		return false;
	}
	bool is_begin = event->phase == 's';
	struct open *open = place_of(flows, event->id, kind);
	while (open->age > 0 && !is_of(open, event->id, kind) && grow(flows)) {
		open = place_of(flows, event->id, kind);
	}
	bool is_open = is_of(open, event->id, kind);
	if (is_open && open->is_begin != is_begin) {
		int64_t lag = is_begin ? open->ts_ns - event->ts_ns : event->ts_ns - open->ts_ns;
		*end_ns = is_begin ? open->ts_ns : event->ts_ns;
		*lag_ns = lag > 0 ? lag : 0;
		count(&flows->lags[kind], *lag_ns);
		open->age = 0;
		return true;
	}
	if (open->age > 0 && !is_open && !is_begin) {
		return false; /* its begin was forgotten: no reason to forget another one */
	}
	/* An id that is used again begins anew. */
	*open = (struct open){.id = event->id,
			      .ts_ns = event->ts_ns,
			      .age = ++flows->n_events,
			      .kind = (uint8_t)kind,
			      .is_begin = is_begin};
	return false;
}

bool fsl_trace_flows_is_short(const struct fsl_trace_flows *flows)
{
	return flows->is_short;
}

/* Smallest class with at least @wanted values in it and below. */
static int64_t value_at(const struct lags *lags, uint64_t wanted)
{
	uint64_t n = 0;
	size_t class = 0;
	while (class < CLASSES_N && (n += lags->counts[class]) < wanted) {
		class ++;
	}
	int64_t value = value_of(class);
	return value < lags->max_ns ? value : lags->max_ns;
}

struct fsl_trace_lag fsl_trace_flows_lag(const struct fsl_trace_flows *flows, size_t kind)
{
	FSL_ASSERT(kind < flows->n_kinds);
	const struct lags *lags = &flows->lags[kind];
	struct fsl_trace_lag lag = {.n = lags->n, .max_ns = lags->max_ns};
	if (lags->n > 0) {
		lag.median_ns = value_at(lags, (lags->n + 1) / 2);
		lag.p95_ns = value_at(lags, lags->n - lags->n / 20);
	}
	return lag;
}
