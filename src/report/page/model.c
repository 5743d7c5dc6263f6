/* From the document of a case to checked arrays. */
#include "report/page/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <failslow/stats.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "model/matrices.h"
#include "model/run.h"
#include "text/base64.h"

enum {
	STEPS_MAX = 100000,   /* of a series: fifty times what failslow writes */
	LINKS_MAX = 2048,     /* as failslow writes */
	ENDS_MAX = 64,        /* ranks of a link: likewise */
	HOSTS_MAX = 4096,     /* of a capture: each name is looked up among the others */
	CELLS_MAX = 64 << 20, /* of a matrix: 256 columns of 262,144 ranks */
};

const cJSON *fsl_html_at(const cJSON *object, const char *key)
{
	return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, key) : NULL;
}

const char *fsl_html_text(const cJSON *object, const char *key)
{
	const cJSON *item = fsl_html_at(object, key);
	return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *item)
{
	int64_t integer = 0;
	if (cJSON_IsRaw(item) &&
	    fsl_parse_i64(item->valuestring, strlen(item->valuestring), &integer)) {
		return (double)integer; /* as a document in memory holds it */
	}
	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

int64_t fsl_html_index_of(const cJSON *item)
{
	const double exact_max = 4.1e18; /* ns of the year 2099 */
	double value = number_of(item);
	return value >= 0.0 && value <= exact_max ? (int64_t)value : -1;
}

double fsl_html_number(const cJSON *object, const char *key)
{
	return number_of(fsl_html_at(object, key));
}

int64_t fsl_html_index(const cJSON *object, const char *key)
{
	return fsl_html_index_of(fsl_html_at(object, key));
}

static size_t length_of(const cJSON *list)
{
	size_t n = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		n++;
	}
	return cJSON_IsArray(list) ? n : 0;
}

size_t fsl_html_find(const struct fsl_html *page, int64_t rank)
{
	size_t low = 0, high = page->n_ranks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (page->ranks[middle].rank < rank) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < page->n_ranks && page->ranks[low].rank == rank ? low : SIZE_MAX;
}

const char *fsl_html_host(const struct fsl_html *page, const struct fsl_html_rank *rank)
{
	bool is_known = rank->host >= 0 && (size_t)rank->host < page->n_hosts;
	return is_known ? page->hosts[rank->host] : "";
}

int fsl_html_class(const struct fsl_html *page, double cost_ms)
{
	return fsl_cost_class(cost_ms / page->step_ms);
}

static enum fsl_status make_ranks(struct fsl_html *out, size_t n, struct fsl_error *err)
{
	if (n > FSL_RANKS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the case has too many ranks: ranks=%zu, most=%d", n,
				FSL_RANKS_MAX);
	}
	out->ranks = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->ranks));
	if (out->ranks == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", n);
	}
	out->n_ranks = n;
	for (size_t r = 0; r < n; r++) {
		out->ranks[r] =
			(struct fsl_html_rank){-1,  -1,  -1,   -1,    NAN,   NAN,   NAN,   NAN,
					       NAN, {0}, NULL, false, false, false, false, false};
		for (size_t p = 0; p < FSL_PAGE_PARTS_MAX; p++) {
			out->ranks[r].part_ms[p] = NAN;
		}
	}
	return FSL_OK;
}

/* Numbers of a list into one member of all ranks. */
static void take_numbers(struct fsl_html *out, const cJSON *list, size_t offset)
{
	size_t r = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		if (r == out->n_ranks) {
			return;
		}
		double value = number_of(item);
		memcpy((char *)&out->ranks[r++] + offset, &value, sizeof(value));
	}
}

static void take_indices(struct fsl_html *out, const cJSON *list, size_t offset)
{
	size_t r = 0;
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		if (r == out->n_ranks) {
			return;
		}
		int64_t value = fsl_html_index_of(item);
		memcpy((char *)&out->ranks[r++] + offset, &value, sizeof(value));
	}
}

static enum fsl_status take_hosts(struct fsl_html *out, const cJSON *list, struct fsl_error *err)
{
	size_t n = length_of(list);
	const cJSON *item = NULL;
	out->hosts = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->hosts));
	if (out->hosts == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: hosts=%zu", n);
	}
	cJSON_ArrayForEach(item, list)
	{
		out->hosts[out->n_hosts++] = cJSON_IsString(item) ? item->valuestring : "";
	}
	return FSL_OK;
}

static void take_parts(struct fsl_html *out, const cJSON *list)
{
	const cJSON *part = NULL;
	cJSON_ArrayForEach(part, list)
	{
		if (out->n_parts == FSL_PAGE_PARTS_MAX) {
			return;
		}
		size_t offset =
			offsetof(struct fsl_html_rank, part_ms) + out->n_parts * sizeof(double);
		out->part_names[out->n_parts++] = fsl_html_text(part, "part");
		take_numbers(out, fsl_html_at(part, "ms"), offset);
	}
}

static enum fsl_status check_order(const struct fsl_html *out, struct fsl_error *err)
{
	for (size_t r = 1; r < out->n_ranks; r++) {
		if (out->ranks[r - 1].rank >= out->ranks[r].rank || out->ranks[0].rank < 0) {
			return FSL_FAIL(err, FSL_ERR_FORMAT,
					"the case lists ranks out of order: rank=%lld",
					(long long)out->ranks[r].rank);
		}
	}
	return FSL_OK;
}

static enum fsl_status take_ranks(struct fsl_html *out, const cJSON *ranks, struct fsl_error *err)
{
	const cJSON *item = NULL;
	size_t r = 0;
	FSL_TRY(make_ranks(out, length_of(fsl_html_at(ranks, "rank")), err));
	FSL_TRY(take_hosts(out, fsl_html_at(ranks, "hosts"), err));
	take_indices(out, fsl_html_at(ranks, "rank"), offsetof(struct fsl_html_rank, rank));
	take_indices(out, fsl_html_at(ranks, "host"), offsetof(struct fsl_html_rank, host));
	take_indices(out, fsl_html_at(ranks, "stage"), offsetof(struct fsl_html_rank, stage));
	take_indices(out, fsl_html_at(ranks, "peers"), offsetof(struct fsl_html_rank, peers));
	take_numbers(out, fsl_html_at(ranks, "costMs"), offsetof(struct fsl_html_rank, cost_ms));
	take_numbers(out, fsl_html_at(ranks, "ownMs"), offsetof(struct fsl_html_rank, own_ms));
	take_numbers(out, fsl_html_at(ranks, "peersMs"), offsetof(struct fsl_html_rank, peers_ms));
	take_numbers(out, fsl_html_at(ranks, "lateMs"), offsetof(struct fsl_html_rank, late_ms));
	take_numbers(out, fsl_html_at(ranks, "waitMs"), offsetof(struct fsl_html_rank, wait_ms));
	take_parts(out, fsl_html_at(ranks, "parts"));
	cJSON_ArrayForEach(item, fsl_html_at(ranks, "lastEvent"))
	{
		if (r < out->n_ranks) {
			out->ranks[r++].last_event =
				cJSON_IsString(item) ? item->valuestring : NULL;
		}
	}
	out->since_step = fsl_html_index(ranks, "sinceStep");
	out->until_step = fsl_html_index(ranks, "untilStep");
	return check_order(out, err);
}

static enum fsl_status take_steps(struct fsl_html *out, const cJSON *series, struct fsl_error *err)
{
	const double at_max_ms = 4.1e12; /* of a run: its end is a time in ns */
	const cJSON *step = NULL, *at = fsl_html_at(series, "atMs"),
		    *ms = fsl_html_at(series, "ms");
	size_t n = length_of(fsl_html_at(series, "step"));
	if (n > STEPS_MAX) {
		return FSL_FAIL(err, FSL_ERR_LIMIT,
				"the case has too many steps: steps=%zu, most=%d", n, STEPS_MAX);
	}
	out->steps = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->steps));
	if (out->steps == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n);
	}
	at = cJSON_IsArray(at) ? at->child : NULL;
	ms = cJSON_IsArray(ms) ? ms->child : NULL;
	cJSON_ArrayForEach(step, fsl_html_at(series, "step"))
	{
		bool is_known = number_of(ms) >= 0.0 && number_of(at) >= 0.0 &&
				number_of(at) <= at_max_ms && fsl_html_index_of(step) >= 0;
		if (is_known) {
			out->steps[out->n_steps++] = (struct fsl_html_step){
				fsl_html_index_of(step), number_of(at), number_of(ms), false};
		}
		at = at != NULL ? at->next : NULL;
		ms = ms != NULL ? ms->next : NULL;
	}
	out->every = fsl_html_index(series, "every");
	const cJSON *save = NULL;
	size_t i = 0;
	cJSON_ArrayForEach(save, fsl_html_at(series, "checkpoints"))
	{
		while (i < out->n_steps && out->steps[i].step < fsl_html_index_of(save)) {
			i++;
		}
		if (i < out->n_steps && out->steps[i].step == fsl_html_index_of(save)) {
			out->steps[i].has_checkpoint = true;
		}
	}
	return FSL_OK;
}

static void take_sizes(struct fsl_html_link *link, const cJSON *list)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_size size = {fsl_html_number(item, "bytes"),
					     fsl_html_number(item, "ms")};
		bool is_sound = size.n_bytes >= 1.0 && size.n_bytes < 1e18 && size.ms > 0.0 &&
				size.ms < 1e12;
		if (is_sound && link->n_sizes < FSL_PAGE_SIZES_MAX) {
			link->sizes[link->n_sizes++] = size;
		}
	}
}

static enum fsl_status take_links(struct fsl_html *out, const cJSON *list, struct fsl_error *err)
{
	size_t n = length_of(list);
	const cJSON *item = NULL;
	n = n < LINKS_MAX ? n : LINKS_MAX;
	out->links = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->links));
	if (out->links == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: links=%zu", n);
	}
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_link *link = &out->links[out->n_links];
		const cJSON *rank = NULL, *ranks = fsl_html_at(item, "ranks");
		if (out->n_links == n) {
			break;
		}
		*link = (struct fsl_html_link){
			.ranks = fsl_arena_alloc(&out->arena, ENDS_MAX * sizeof(*link->ranks)),
			.operation = fsl_html_text(item, "operation"),
			.ms = fsl_html_number(item, "ms"),
			.usual_ms = fsl_html_number(item, "usualMs"),
			.is_directed = cJSON_IsTrue(fsl_html_at(item, "isDirected"))};
		if (link->ranks == NULL) {
			return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: links=%zu", n);
		}
		cJSON_ArrayForEach(rank, ranks)
		{
			if (link->n_ranks < ENDS_MAX) {
				link->ranks[link->n_ranks++] = fsl_html_index_of(rank);
			}
		}
		take_sizes(link, fsl_html_at(item, "sizes"));
		out->n_links += link->ms >= 0.0 && link->usual_ms > 0.0 && link->n_ranks >= 2;
	}
	return FSL_OK;
}

/* Unpacks a matrix; leaves it out if its text is not sound. */
static enum fsl_status take_matrix(struct fsl_html *out, struct fsl_html_matrix *matrix,
				   const char *text, struct fsl_error *err)
{
	size_t n = out->n_ranks * out->n_columns, n_packed = 0;
	uLongf n_codes = n;
	if (*text == '\0' || n == 0 || n > CELLS_MAX) {
		return FSL_OK;
	}
	unsigned char *packed = fsl_base64_decode(text, &n_packed);
	unsigned char *codes = fsl_arena_alloc(&out->arena, n);
	if (packed != NULL && codes != NULL &&
	    uncompress(codes, &n_codes, packed, n_packed) == Z_OK && n_codes == n) {
		matrix->codes = codes;
	}
	fsl_free(packed);
	return codes != NULL ? FSL_OK
			     : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: cells=%zu", n);
}

static enum fsl_status take_pictures(struct fsl_html *out, const cJSON *pictures,
				     struct fsl_error *err)
{
	const cJSON *over_time = fsl_html_at(pictures, "overTime");
	int64_t n_columns = fsl_html_index(over_time, "columns");
	FSL_TRY(take_ranks(out, fsl_html_at(pictures, "ranks"), err));
	FSL_TRY(take_steps(out, fsl_html_at(pictures, "steps"), err));
	FSL_TRY(take_links(out, fsl_html_at(pictures, "links"), err));
	out->n_columns =
		n_columns > 0 && n_columns <= FSL_MATRIX_COLUMNS_MAX ? (size_t)n_columns : 0;
	FSL_TRY(take_matrix(out, &out->own, fsl_html_text(over_time, "own"), err));
	return take_matrix(out, &out->loss, fsl_html_text(over_time, "loss"), err);
}

/* Adds the steps of a captured rank: sums of parts that become means. */
static void add_captured(struct fsl_html *out, const cJSON *step, double *n_steps)
{
	static const char *const keys[] = {"computingMs", "exposedMs", "freeMs"};
	size_t r = fsl_html_find(out, fsl_html_index(step, "rank"));
	if (r == SIZE_MAX || !isfinite(fsl_html_number(step, "wholeMs"))) {
		return;
	}
	n_steps[r] += 1.0;
	for (size_t p = 0; p < sizeof(keys) / sizeof(keys[0]); p++) {
		double *mean = &out->ranks[r].part_ms[p], ms = fsl_html_number(step, keys[p]);
		*mean = (isnan(*mean) ? 0.0 : *mean) +
			((isnan(ms) ? 0.0 : ms) - (isnan(*mean) ? 0.0 : *mean)) / n_steps[r];
	}
}

static int by_step(const void *a, const void *b)
{
	const struct fsl_html_step *x = a, *y = b;
	FSL_ORDER_BY(x->step, y->step);
	return FSL_ORDER(y->ms, x->ms);
}

/* Steps of a capture: the longest of all ranks, one behind the other. */
static enum fsl_status take_captured_steps(struct fsl_html *out, const cJSON *list,
					   struct fsl_error *err)
{
	size_t n = length_of(list), n_read = 0;
	const cJSON *item = NULL;
	double at_ms = 0.0;
	out->steps = fsl_arena_alloc(&out->arena, (n + 1) * sizeof(*out->steps));
	if (out->steps == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: steps=%zu", n);
	}
	cJSON_ArrayForEach(item, list)
	{
		int64_t step = fsl_html_index(item, "step");
		double ms = fsl_html_number(item, "wholeMs");
		if (ms >= 0.0) { /* a rebuilt step may have no number */
			out->steps[n_read++] =
				(struct fsl_html_step){step >= 0 ? step : 0, 0.0, ms, false};
		}
	}
	qsort(out->steps, n_read, sizeof(*out->steps), by_step);
	for (size_t i = 0; i < n_read; i++) {
		if (out->n_steps == 0 || out->steps[out->n_steps - 1].step < out->steps[i].step) {
			struct fsl_html_step *step = &out->steps[out->n_steps++];
			*step = out->steps[i];
			step->at_ms = at_ms;
			at_ms += step->ms;
		}
	}
	return FSL_OK;
}

/* Index of a host among those that are known so far; -1: it has no name. */
static int64_t add_host(struct fsl_html *out, const char *name)
{
	size_t h = 0;
	while (h < out->n_hosts && strcmp(out->hosts[h], name) != 0) {
		h++;
	}
	if (*name == '\0' || h == HOSTS_MAX) {
		return -1;
	}
	out->hosts[h] = name;
	out->n_hosts += h == out->n_hosts;
	return (int64_t)h;
}

/* Ranks that are no culprits, as of an imbalance, cost what comes back at the level of peers; ranks
 * of a stage what the stage costs. */
static void take_gains(struct fsl_html *out)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, fsl_html_at(out->root, "whatIf"))
	{
		int64_t number = -1;
		const char *name = fsl_html_text(item, "name"), *kind = fsl_html_text(item, "kind");
		bool is_rank = strcmp(kind, "rank") == 0, is_stage = strcmp(kind, "stage") == 0;
		double ms = fsl_html_number(item, "ms");
		is_stage &= strcmp(fsl_html_text(out->root, "verdict"), "stage_imbalance") == 0;
		if ((!is_rank && !is_stage) || !fsl_parse_i64(name, strlen(name), &number)) {
			continue;
		}
		for (size_t r = 0; r < out->n_ranks; r++) {
			struct fsl_html_rank *rank = &out->ranks[r];
			int64_t is_of = is_rank ? rank->rank : rank->stage;
			rank->cost_ms = is_of == number ? fmax(rank->cost_ms, ms) : rank->cost_ms;
		}
	}
}

/* Ranks of a capture, from its own lists: they cost what the verdict says of culprits or gains,
 * else 0. */
static enum fsl_status take_capture(struct fsl_html *out, const cJSON *capture,
				    struct fsl_error *err)
{
	static const char *const names[] = {"computing", "exposedCommunication", "free"};
	const cJSON *item = NULL, *list = fsl_html_at(capture, "ranks");
	size_t r = 0;
	FSL_TRY(make_ranks(out, length_of(list), err));
	FSL_TRY(take_links(out, fsl_html_at(capture, "links"), err));
	FSL_TRY(take_captured_steps(out, fsl_html_at(capture, "steps"), err));
	out->hosts = fsl_arena_alloc(&out->arena, HOSTS_MAX * sizeof(*out->hosts));
	if (out->hosts == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: hosts=%d", HOSTS_MAX);
	}
	cJSON_ArrayForEach(item, list)
	{
		struct fsl_html_rank *rank = &out->ranks[r < out->n_ranks ? r++ : 0];
		rank->rank = fsl_html_index(item, "rank");
		rank->host = add_host(out, fsl_html_text(item, "host"));
		rank->stage = fsl_html_index(item, "stage");
		rank->peers = rank->stage;
		rank->cost_ms = 0.0;
	}
	FSL_TRY(check_order(out, err));
	double *n_steps = fsl_arena_alloc(&out->arena, (out->n_ranks + 1) * sizeof(*n_steps));
	if (n_steps == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: ranks=%zu", out->n_ranks);
	}
	for (size_t p = 0; p < sizeof(names) / sizeof(names[0]); p++) {
		out->part_names[out->n_parts++] = names[p];
	}
	cJSON_ArrayForEach(item, fsl_html_at(capture, "steps"))
	{
		add_captured(out, item, n_steps);
	}
	cJSON_ArrayForEach(item, fsl_html_at(out->root, "culprits"))
	{
		size_t at = fsl_html_find(out, fsl_html_index(item, "rank"));
		if (at != SIZE_MAX) {
			out->ranks[at].cost_ms = fsl_html_number(item, "lostMsPerStep");
		}
	}
	take_gains(out);
	return FSL_OK;
}

static void mark(struct fsl_html *out, const cJSON *list, const char *key, size_t offset)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, list)
	{
		size_t r = fsl_html_find(out, key != NULL ? fsl_html_index(item, key)
							  : fsl_html_index_of(item));
		if (r != SIZE_MAX) {
			const bool is_marked = true;
			memcpy((char *)&out->ranks[r] + offset, &is_marked, sizeof(is_marked));
		}
	}
}

/* The stage that the verdict says most comes back of; -1: none. Captures tell it there alone. */
static int64_t first_stage(const struct fsl_html *page)
{
	int64_t stage = -1;
	const cJSON *list = fsl_html_at(page->root, "whatIf");
	const cJSON *first = cJSON_IsArray(list) ? list->child : NULL;
	const char *name = fsl_html_text(first, "name");
	bool is_stage = strcmp(fsl_html_text(first, "kind"), "stage") == 0 &&
			fsl_parse_i64(name, strlen(name), &stage);
	return is_stage ? stage : -1;
}

/* Names all ranks of a pipeline stage that has more to do than the others. */
static void mark_stage(struct fsl_html *out, int64_t stage)
{
	stage = stage >= 0 ? stage : first_stage(out);
	out->is_of_stage =
		strcmp(fsl_html_text(out->root, "verdict"), "stage_imbalance") == 0 && stage >= 0;
	(void)snprintf(out->stage_name, sizeof(out->stage_name), "%" PRId64, stage);
	for (size_t r = 0; out->is_of_stage && r < out->n_ranks; r++) {
		out->ranks[r].is_named = out->ranks[r].stage == stage;
	}
}

/* Without culprits a loss names ranks, as of stalls, and captures name the rank of a finding. */
static void mark_named(struct fsl_html *out)
{
	const cJSON *loss = fsl_html_at(out->root, "losses"),
		    *finding = fsl_html_at(out->root, "findings");
	size_t offset = offsetof(struct fsl_html_rank, is_named);
	loss = cJSON_IsArray(loss) ? loss->child : NULL;
	finding = cJSON_IsArray(finding) ? finding->child : NULL;
	for (size_t r = 0; r < out->n_ranks; r++) {
		out->ranks[r].is_named = out->ranks[r].is_culprit || out->ranks[r].is_stopped;
		out->n_culprits += out->ranks[r].is_culprit;
		out->n_victims += out->ranks[r].is_victim && !out->ranks[r].is_culprit;
		out->n_named += out->ranks[r].is_named;
	}
	if (out->n_named > 0 || loss == NULL) {
		return;
	}
	mark(out, fsl_html_at(loss, "ranks"), NULL, offset);
	mark_stage(out, fsl_html_index(loss, "stage"));
	size_t at = fsl_html_find(out, fsl_html_index(finding, "rank"));
	const cJSON *ranks = fsl_html_at(loss, "ranks");
	if ((!cJSON_IsArray(ranks) || ranks->child == NULL) && at != SIZE_MAX) {
		out->ranks[at].is_named = true;
	}
	for (size_t r = 0; r < out->n_ranks; r++) {
		out->n_named += out->ranks[r].is_named;
	}
}

static void mark_ranks(struct fsl_html *out)
{
	const cJSON *hang = fsl_html_at(out->root, "hang");
	mark(out, fsl_html_at(out->root, "culprits"), "rank",
	     offsetof(struct fsl_html_rank, is_culprit));
	mark(out, fsl_html_at(out->root, "culprits"), "peer",
	     offsetof(struct fsl_html_rank, is_culprit));
	mark(out, fsl_html_at(out->root, "victims"), "rank",
	     offsetof(struct fsl_html_rank, is_victim));
	mark(out, fsl_html_at(hang, "stopped"), NULL, offsetof(struct fsl_html_rank, is_stopped));
	mark(out, fsl_html_at(hang, "missing"), NULL, offsetof(struct fsl_html_rank, is_stopped));
	mark(out, fsl_html_at(hang, "waiting"), NULL, offsetof(struct fsl_html_rank, is_waiting));
	const cJSON *worst = fsl_html_at(out->root, "culprits");
	int64_t rank = fsl_html_index(cJSON_IsArray(worst) ? worst->child : NULL, "rank");
	out->worst = fsl_html_find(out, rank);
	mark_named(out);
	for (size_t r = 0; rank < 0 && r < out->n_ranks; r++) {
		double most = out->worst != SIZE_MAX ? out->ranks[out->worst].cost_ms : -1.0;
		bool is_candidate = out->n_named == 0 || out->ranks[r].is_named;
		out->worst = is_candidate && out->ranks[r].cost_ms > most ? r : out->worst;
	}
	for (size_t r = 1; r < out->n_ranks; r++) {
		out->has_stages |= out->ranks[r].stage != out->ranks[0].stage;
	}
}

bool fsl_html_is_peer(const struct fsl_html *page, size_t rank_idx, size_t other_idx)
{
	const struct fsl_html_rank *rank = &page->ranks[rank_idx], *other = &page->ranks[other_idx];
	return page->is_of_stage ? other->stage != rank->stage
				 : other_idx != rank_idx && other->peers == rank->peers;
}

double fsl_html_peers_median(const struct fsl_html *page, size_t rank_idx, size_t offset)
{
	double *values = fsl_calloc(2 * page->n_ranks + 1, sizeof(*values)), median = NAN;
	size_t n = 0;
	for (size_t r = 0; values != NULL && r < page->n_ranks; r++) {
		if (fsl_html_is_peer(page, rank_idx, r)) {
			memcpy(&values[n++], (const char *)&page->ranks[r] + offset,
			       sizeof(*values));
		}
	}
	if (n > 0) {
		median = fsl_median(values, n, values + page->n_ranks);
	}
	fsl_free(values);
	return median;
}

enum fsl_status fsl_html_read(struct fsl_html *out, const cJSON *document, struct fsl_error *err)
{
	*out = (struct fsl_html){.root = document, .worst = SIZE_MAX, .step_ms = NAN, .every = 1};
	if (strcmp(fsl_html_text(document, "schema"), "failslow.case/2") != 0) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"the file is no case, give a failslow_<job>.json that this version "
				"wrote: schema=\"%.40s\"",
				fsl_html_text(document, "schema"));
	}
	out->step_ms = fsl_html_number(document, "stepMs");
	out->is_capture = cJSON_IsObject(fsl_html_at(document, "capture"));
	const cJSON *pictures = fsl_html_at(document, "pictures");
	enum fsl_status status = FSL_OK;
	if (cJSON_IsObject(pictures)) {
		status = take_pictures(out, pictures, err);
	}
	if (status == FSL_OK && out->ranks == NULL && out->is_capture) {
		status = take_capture(out, fsl_html_at(document, "capture"), err);
	}
	if (status == FSL_OK && out->ranks == NULL) {
		status = make_ranks(out, 0, err);
	}
	if (status == FSL_OK) {
		mark_ranks(out);
	}
	if (status != FSL_OK) {
		fsl_html_fini(out);
	}
	return status;
}

void fsl_html_fini(struct fsl_html *page)
{
	fsl_arena_fini(&page->arena);
	*page = (struct fsl_html){.worst = SIZE_MAX};
}

const cJSON *fsl_html_host_trace(const struct fsl_html *page)
{
	const cJSON *host = fsl_html_at(fsl_html_at(page->root, "pictures"), "host");
	return cJSON_IsObject(host) ? host : NULL;
}
