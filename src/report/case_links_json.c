/* "links" of the case: what each link of the kind that is to blame takes, and links like it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <failslow/stats.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/sort.h"
#include "base/strpool.h"
#include "base/try.h"
#include "blame/blame.h"
#include "blame/link.h"
#include "capture/link_table.h"
#include "report/case_parts.h"

enum {
	LINKS_MAX = 2048, /* in a case: the costliest of more */
	RANKS_MAX = 64,   /* of one link: a larger group is no place to look for a cable */
	SIZED_MAX = 64,   /* links whose sizes are told */
	SIZES_MAX = 8,    /* of one link */
	DECIMALS = 6,     /* of their ms: small ones take less than a microsecond */
};

/* Transfers of one size. */
struct size {
	int64_t n_bytes;
	double sum_ms;
	int64_t n_times;
};

struct sizes {
	struct size items[SIZES_MAX];
	size_t n;
};

/* One link: members of a channel, or the two ends of a capture's link. */
struct told {
	const struct fsl_channel *channel; /* NULL: of a capture */
	int32_t src, dst;
	const char *operation;
	double ms, usual_ms; /* per step */
	size_t idx;
	struct size per_step; /* of a capture: bytes and ms of one step; else unused */
};

struct list {
	struct fsl_arena arena;
	struct told *items;
	size_t n;
};

static int by_excess(const void *a, const void *b)
{
	const struct told *x = a, *y = b;
	FSL_ORDER_BY(y->ms - y->usual_ms, x->ms - x->usual_ms);
	return FSL_ORDER(x->idx, y->idx);
}

/* End or member @m of a link. @run: that of its channel. */
static int32_t rank_of(const struct told *told, const struct fsl_run *run, size_t m)
{
	if (told->channel != NULL && run != NULL) {
		return run->ranks[told->channel->members[m]].rank;
	}
	return m == 0 ? told->src : told->dst;
}

/* Bytes of an element by the name of its type; 0: not known. */
static int64_t bytes_of(const char *dtype)
{
	static const struct {
		const char *name;
		int64_t n_bytes;
	} types[] = {
		{"bfp16", 2},  {"bf16", 2},    {"bfloat16", 2}, {"fp16", 2},  {"float16", 2},
		{"half", 2},   {"fp32", 4},    {"float32", 4},  {"float", 4}, {"fp64", 8},
		{"double", 8}, {"float64", 8}, {"int8", 1},     {"uint8", 1}, {"int16", 2},
		{"int32", 4},  {"int64", 8},   {"uint64", 8},   {"fp8", 1},   {"uint32", 4},
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcasecmp(types[i].name, dtype) == 0) {
			return types[i].n_bytes;
		}
	}
	return 0;
}

/* A transfer goes to those of its size, or, if there are too many sizes, of the nearest. */
static void add_size(struct sizes *sizes, int64_t n_bytes, double ms)
{
	size_t at = sizes->n;
	double nearest = INFINITY;
	for (size_t i = 0; i < sizes->n; i++) {
		double distance = fabs(log((double)sizes->items[i].n_bytes / (double)n_bytes));
		bool is_same = sizes->items[i].n_bytes == n_bytes;
		if (is_same || (sizes->n == SIZES_MAX && distance < nearest)) {
			nearest = is_same ? -1.0 : distance;
			at = i;
		}
	}
	if (at == sizes->n) {
		sizes->items[sizes->n++] = (struct size){n_bytes, 0.0, 0};
	}
	sizes->items[at].sum_ms += ms;
	sizes->items[at].n_times++;
}

/* The transfer of an instance: its shortest duration, in which nobody is waited for. Negative: a
 * member lacks. */
static int64_t transfer_ns(const struct fsl_channel *channel, size_t instance)
{
	int64_t least = INT64_MAX;
	for (size_t m = 0; m < channel->n_members; m++) {
		int64_t ns = fsl_channel_duration_ns(channel, instance, m);
		least = ns < least ? ns : least;
	}
	return least;
}

/* Transfers of a channel in the steps [@begin, @end) by their size. */
static void collect_sizes(struct sizes *out, const struct fsl_channel *channel,
			  const struct fsl_run *run, size_t begin, size_t end)
{
	const struct fsl_rank *rank = &run->ranks[channel->members[0]];
	for (size_t i = 0; i < channel->n_instances; i++) {
		uint32_t step = channel->step_idx[i], op = channel->op_idx[i * channel->n_members];
		int64_t ns = transfer_ns(channel, i);
		if (step < begin || step >= end || op == FSL_NO_OP || ns <= 0) {
			continue;
		}
		const struct fsl_op *item = &rank->ops[op];
		int64_t n_each = item->dtype_id != FSL_STR_NONE
					 ? bytes_of(fsl_strpool_text(run->names, item->dtype_id))
					 : 0;
		const uint64_t n_most = UINT64_C(1) << 50; /* a petabyte is no message */
		if (n_each > 0 && item->n_elements > 0 && item->n_elements < n_most) {
			add_size(out, (int64_t)item->n_elements * n_each,
				 (double)ns / FSL_NS_PER_MS);
		}
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct size *x = a, *y = b;
	return FSL_ORDER(x->n_bytes, y->n_bytes);
}

static void put_sizes(struct fsl_document *document, cJSON *entry, struct sizes *sizes)
{
	cJSON *list = fsl_document_array(document, entry, "sizes");
	qsort(sizes->items, sizes->n, sizeof(sizes->items[0]), by_bytes);
	for (size_t i = 0; i < sizes->n && !document->has_failed; i++) {
		const struct size *size = &sizes->items[i];
		cJSON *item = fsl_document_object(document, list, NULL);
		fsl_document_integer(document, item, "bytes", size->n_bytes);
		fsl_document_number(document, item, "ms", size->sum_ms / (double)size->n_times,
				    DECIMALS);
		fsl_document_integer(document, item, "times", size->n_times);
	}
}

/* @run NULL: of a capture. @begin, @end: steps of the run. */
static void put_list(struct fsl_document *document, cJSON *parent, struct list *list,
		     const struct fsl_run *run, size_t begin, size_t end)
{
	cJSON *links = fsl_document_array(document, parent, "links");
	qsort(list->items, list->n, sizeof(*list->items), by_excess);
	for (size_t i = 0; i < list->n && i < LINKS_MAX && !document->has_failed; i++) {
		const struct told *told = &list->items[i];
		cJSON *entry = fsl_document_object(document, links, NULL);
		cJSON *ranks = fsl_document_array(document, entry, "ranks");
		size_t n = told->channel != NULL ? told->channel->n_members : 2;
		for (size_t m = 0; m < n && m < RANKS_MAX; m++) {
			fsl_document_integer(document, ranks, NULL, rank_of(told, run, m));
		}
		fsl_document_bool(document, entry, "isDirected", told->channel == NULL);
		fsl_document_text(document, entry, "operation", told->operation);
		fsl_document_number(document, entry, "ms", told->ms, FSL_DECIMALS_MS);
		fsl_document_number(document, entry, "usualMs", told->usual_ms, FSL_DECIMALS_MS);
		struct sizes sizes = {.n = 0};
		if (i < SIZED_MAX && told->channel != NULL) {
			collect_sizes(&sizes, told->channel, run, begin, end);
		} else if (i < SIZED_MAX && told->per_step.n_bytes > 0) {
			sizes = (struct sizes){{told->per_step}, 1};
		}
		put_sizes(document, entry, &sizes);
	}
}

static double mean_of(const double *values, size_t begin, size_t end)
{
	double sum = 0.0;
	size_t n = 0;
	for (size_t s = begin; s < end; s++) {
		sum += isnan(values[s]) ? 0.0 : values[s];
		n += isnan(values[s]) ? 0 : 1;
	}
	return n > 0 ? sum / (double)n : NAN;
}

static bool has_member(const struct fsl_channel *channel, const struct fsl_run *run, int32_t rank)
{
	for (size_t m = 0; m < channel->n_members; m++) {
		if (run->ranks[channel->members[m]].rank == rank) {
			return true;
		}
	}
	return false;
}

/* The costliest channel between the ends of the first link that is named; NULL: there is none. */
static const struct told *find_named(const struct list *list, const struct fsl_report *report)
{
	const struct fsl_culprit *worst = &report->localisation->culprits[0];
	const struct told *named = NULL;
	for (size_t i = 0; i < list->n; i++) {
		const struct told *told = &list->items[i];
		if (has_member(told->channel, report->run, worst->rank) &&
		    (worst->peer < 0 || has_member(told->channel, report->run, worst->peer)) &&
		    (named == NULL || told->ms - told->usual_ms > named->ms - named->usual_ms)) {
			named = told;
		}
	}
	return named;
}

/* Leaves channels of the kind of the one that is named: others tell nothing about links like it. */
static void keep_like(struct list *list, const struct fsl_report *report)
{
	const struct told *named = find_named(list, report);
	const struct fsl_group *groups = report->topology->groups;
	size_t n = 0;
	if (named == NULL) {
		return;
	}
	const struct fsl_channel *like = named->channel;
	enum fsl_group_kind kind = groups[like->group_idx].kind;
	for (size_t i = 0; i < list->n; i++) {
		const struct fsl_channel *channel = list->items[i].channel;
		if (groups[channel->group_idx].kind == kind &&
		    (channel->n_members == 2) == (like->n_members == 2)) {
			list->items[n++] = list->items[i];
		}
	}
	list->n = n;
}

static enum fsl_status list_channels(struct list *list, const struct fsl_case_parts *parts,
				     size_t begin, size_t end, struct fsl_error *err)
{
	const struct fsl_report *report = parts->report;
	const struct fsl_case facts = {.config = parts->config,
				       .run = report->run,
				       .topology = report->topology,
				       .steps = report->steps,
				       .match = report->match,
				       .own = report->own,
				       .blame = report->blame};
	struct fsl_transfers transfers;
	FSL_TRY(fsl_transfers_build(&transfers, &facts, err));
	enum fsl_status status =
		FSL_ARENA_NEW(list->items, &list->arena, transfers.n_channels + 1, "links", err);
	for (size_t c = 0; status == FSL_OK && c < transfers.n_channels; c++) {
		const struct fsl_channel *channel = &report->match->channels[c];
		size_t at = c * transfers.n_steps;
		double ms = mean_of(transfers.transfer_ms + at, begin, end);
		double usual_ms = mean_of(transfers.reference_ms + at, begin, end);
		if (channel->n_members < 2 || isnan(ms) || isnan(usual_ms)) {
			continue;
		}
		list->items[list->n++] = (struct told){
			.channel = channel,
			.src = -1,
			.dst = -1,
			.operation = fsl_strpool_text(report->run->names, channel->op_id),
			.ms = ms,
			.usual_ms = usual_ms,
			.idx = c};
	}
	fsl_transfers_fini(&transfers);
	return status;
}

void fsl_case_put_links(const struct fsl_case_parts *parts, cJSON *pictures, size_t begin,
			size_t end)
{
	const struct fsl_report *report = parts->report;
	const struct fsl_localisation *verdict = parts->verdict;
	struct list list = {0};
	if (verdict->kind != FSL_VERDICT_SLOW_LINK || verdict->n_culprits == 0 ||
	    report->match == NULL || report->topology == NULL || parts->config == NULL) {
		fsl_document_null(parts->document, pictures, "links");
		return;
	}
	if (list_channels(&list, parts, begin, end, NULL) != FSL_OK) {
		parts->document->has_failed = true;
	} else {
		keep_like(&list, report);
		put_list(parts->document, pictures, &list, report->run, begin, end);
	}
	fsl_arena_fini(&list.arena);
}

/* Links that are alike, rows [begin, end): the usual bandwidth is their median. @work: 2 * rows. */
static void add_alike(struct list *list, const struct fsl_link_table *table, size_t begin,
		      size_t end, double *work)
{
	for (size_t i = begin; i < end; i++) {
		work[i - begin] = fsl_link_gb_per_s(&table->rows[i]);
	}
	double usual = fsl_median(work, end - begin, work + (end - begin));
	for (size_t i = begin; i < end; i++) {
		const struct fsl_link_row *row = &table->rows[i];
		double n_steps = row->n_steps > 0 ? (double)row->n_steps : 1.0;
		if (row->dst >= 0) {
			double ms = (double)row->time_ns / FSL_NS_PER_MS / n_steps;
			int64_t n_bytes = (int64_t)((double)row->n_bytes / n_steps);
			list->items[list->n++] = (struct told){
				.src = row->src,
				.dst = row->dst,
				.operation = row->type,
				.ms = ms,
				.usual_ms = (double)row->n_bytes / usual / FSL_NS_PER_MS / n_steps,
				.idx = i,
				.per_step = {n_bytes, ms, 1}};
		}
	}
}

/* The list borrows texts from @table. */
static enum fsl_status list_table(struct list *list, const struct fsl_link_table *table,
				  struct fsl_error *err)
{
	double *work = NULL;
	size_t n = table->n_rows;
	FSL_TRY(FSL_ARENA_NEW(list->items, &list->arena, n + 1, "links", err));
	FSL_TRY(FSL_ARENA_NEW(work, &list->arena, 2 * n + 1, "links", err));
	for (size_t begin = 0, end = 0; begin < n; begin = end) {
		end = begin + 1;
		while (end < n &&
		       fsl_link_compare_kind(&table->rows[begin], &table->rows[end]) == 0) {
			end++;
		}
		add_alike(list, table, begin, end, work);
	}
	return FSL_OK;
}

void fsl_document_capture_links(struct fsl_document *document, cJSON *capture,
				const struct fsl_report *report)
{
	struct list list = {0};
	struct fsl_link_table table = {0};
	const struct fsl_localisation *verdict = report->localisation;
	if (verdict == NULL || verdict->kind != FSL_VERDICT_SLOW_LINK) {
		fsl_document_null(document, capture, "links");
		return;
	}
	enum fsl_status status =
		fsl_link_table_build(&table, report->profile, report->cluster, NULL);
	FSL_THEN(status, list_table(&list, &table, NULL));
	if (status == FSL_OK) {
		put_list(document, capture, &list, NULL, 0, 0);
	}
	document->has_failed |= status != FSL_OK;
	fsl_link_table_fini(&table);
	fsl_arena_fini(&list.arena);
}
