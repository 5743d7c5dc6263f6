/* Which hosts have incidents again and again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"
#include "state/incidents.h"
#include "state/limits.h"
#include "state/state_parts.h"
#include "text/comma_list.h"

#define DAY_NS (24.0 * 3600.0 * FSL_NS_PER_S)

void fsl_host_records_fini(struct fsl_host_records *records)
{
	fsl_free(records->items);
	fsl_arena_fini(&records->arena);
	*records = (struct fsl_host_records){0};
}

static enum fsl_status add_host(void *records, sqlite3_stmt *row, struct fsl_error *err)
{
	struct fsl_host_records *out = records;
	const char *host = (const char *)sqlite3_column_text(row, 0);
	char *kept = fsl_arena_strdup(&out->arena, host != NULL ? host : "");
	if (kept == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: hosts=%zu", out->n_items);
	}
	FSL_TRY(FSL_GROW(out->items, out->capacity, out->n_items + 1, err));
	out->items[out->n_items++] =
		(struct fsl_host_record){.host = kept,
					 .job_days = (double)sqlite3_column_int64(row, 1) / DAY_NS,
					 .last_ns = FSL_NS_ABSENT,
					 .p_value = 1.0};
	return FSL_OK;
}

static enum fsl_status load_hosts(struct fsl_state *state, struct fsl_host_records *out,
				  struct fsl_error *err)
{
	sqlite3_stmt *statement = NULL;
	int code = fsl_state_ask(
		state, &statement,
		"SELECT host, sum(observed_ns) FROM hosts GROUP BY host ORDER BY host", "");
	return fsl_state_each(state, statement, code, add_host, out, err);
}

static int compare_host(const void *key, const void *record)
{
	const struct fsl_comma_item *item = key;
	const char *host = ((const struct fsl_host_record *)record)->host;
	int order = strncmp(item->text, host, item->length);
	return order != 0 ? order : host[item->length] != '\0' ? -1 : 0;
}

/* The jobs that a host had incidents in are counted by their names, as they come sorted by job. */
struct seen_job {
	const char *job; /* the last one that counted for the host */
};

static void count_host(struct fsl_host_records *out, struct seen_job *seen,
		       const struct fsl_comma_item *host, const struct fsl_incident *item)
{
	struct fsl_host_record *record =
		out->n_items > 0
			? bsearch(host, out->items, out->n_items, sizeof(*out->items), compare_host)
			: NULL;
	if (record == NULL) {
		return;
	}
	struct seen_job *last = &seen[record - out->items];
	record->n_jobs += last->job == NULL || strcmp(last->job, item->job) != 0;
	last->job = item->job;
	record->n_incidents++;
	record->last_ns = item->seen_ns > record->last_ns || record->last_ns == FSL_NS_ABSENT
				  ? item->seen_ns
				  : record->last_ns;
}

static int compare_jobs(const void *left, const void *right)
{
	const struct fsl_incident *a = left, *b = right;
	int order = strcmp(a->job, b->job);
	return order != 0 ? order : strcmp(a->id, b->id);
}

static enum fsl_status count_incidents(struct fsl_state *state, int64_t since_ns,
				       struct fsl_host_records *out, struct fsl_error *err)
{
	struct fsl_incidents all = {0};
	const struct fsl_incident_filter filter = {.since_ns = since_ns};
	struct seen_job *seen = NULL;
	enum fsl_status status = FSL_ARENA_NEW(seen, &out->arena, out->n_items + 1, "hosts", err);
	FSL_THEN(status, fsl_incidents_find(state, &filter, &all, err));
	if (status == FSL_OK && all.n_items > 1) {
		qsort(all.items, all.n_items, sizeof(*all.items), compare_jobs);
	}
	for (size_t i = 0; i < all.n_items && status == FSL_OK; i++) {
		const char *rest = all.items[i].hosts;
		struct fsl_comma_item item;
		while (fsl_comma_next(&rest, &item)) {
			count_host(out, seen, &item, &all.items[i]);
		}
	}
	fsl_incidents_fini(&all);
	return status;
}

static int compare_records(const void *left, const void *right)
{
	const struct fsl_host_record *a = left, *b = right;
	if (a->p_value != b->p_value) {
		return a->p_value < b->p_value ? -1 : 1;
	}
	return a->n_incidents != b->n_incidents ? FSL_ORDER(b->n_incidents, a->n_incidents)
						: strcmp(a->host, b->host);
}

/* Two Poisson rates are compared by how many of all their events fall on the first: that number is
 * binomial (Przyborowski and Wilenski 1940). */
static void test_hosts(struct fsl_host_records *out)
{
	double all_days = 0.0;
	int64_t n_all = 0;
	for (size_t i = 0; i < out->n_items; i++) {
		all_days += out->items[i].job_days;
		n_all += out->items[i].n_incidents;
	}
	for (size_t i = 0; i < out->n_items && n_all > 0 && all_days > 0.0; i++) {
		struct fsl_host_record *record = &out->items[i];
		double share = record->job_days / all_days;
		record->expected = share * (double)n_all;
		if (record->n_incidents > 0) {
			record->p_value = gsl_cdf_binomial_Q((unsigned)record->n_incidents - 1,
							     share, (unsigned)n_all);
		}
		record->stands_out = out->n_items > 1 &&
				     record->n_incidents >= FSL_REPEAT_INCIDENTS_MIN &&
				     record->p_value * (double)out->n_items < FSL_REPEAT_P_MAX;
	}
	if (out->n_items > 1) {
		qsort(out->items, out->n_items, sizeof(*out->items), compare_records);
	}
}

enum fsl_status fsl_hosts_rank(struct fsl_state *state, int64_t since_ns,
			       struct fsl_host_records *out, struct fsl_error *err)
{
	*out = (struct fsl_host_records){0};
	enum fsl_status status = fsl_state_begin(state, err);
	FSL_THEN(status, load_hosts(state, out, err));
	FSL_THEN(status, count_incidents(state, since_ns, out, err));
	if (status != FSL_OK) {
		fsl_host_records_fini(out);
		return status;
	}
	test_hosts(out);
	return fsl_state_settle(state, true, err);
}
