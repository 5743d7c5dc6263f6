/* Entries of abnormalDetail and normalDetail. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "detect/classical_parts.h"

const char *fsl_entries_host(const struct fsl_classical *classical, int32_t rank)
{
	const struct fsl_rank *seen = fsl_run_rank(classical->run, rank);
	const char *host = fsl_topology_host(classical->topology, rank);
	if (host == NULL && seen != NULL) {
		host = seen->server_ip;
	}
	return host != NULL ? host : "localhost";
}

void fsl_entries_flag(struct fsl_localisation *out, const char *type)
{
	out->result_code = 201;
	if (strcmp(type, "network") == 0) {
		out->network = true;
	} else if (strcmp(type, "storage") == 0) {
		out->storage = true;
	} else {
		out->compute = true;
	}
}

/*
 * Peers that an abnormal entry lists: the first max_num_normal_results are named, the rest omitted.
 */
struct peers {
	int32_t *named, *omitted;
	size_t n_named, n_omitted;
};

/* Lists the peers; none without an entry of the space detector to compare with. */
static enum fsl_status list_peers(struct peers *peers, struct fsl_localisation *out,
				  const struct fsl_classical *classical,
				  const struct fsl_entries *entries, struct fsl_error *err)
{
	size_t n = entries->windows->n_members;
	int64_t n_most = classical->config->max_num_normal_results;
	*peers = (struct peers){0};
	if (entries->method != FSL_METHOD_SPACE) {
		return FSL_OK;
	}
	FSL_TRY(FSL_ARENA_NEW(peers->named, &out->arena, n, "named", err));
	FSL_TRY(FSL_ARENA_NEW(peers->omitted, &out->arena, n, "omitted", err));
	for (size_t m = 0; m < n; m++) {
		if (entries->is_anomalous[m]) {
			continue;
		}
		if ((int64_t)peers->n_named < n_most) {
			peers->named[peers->n_named++] = entries->windows->ranks[m];
		} else {
			peers->omitted[peers->n_omitted++] = entries->windows->ranks[m];
		}
	}
	return FSL_OK;
}

static enum fsl_status fill_kpi(struct fsl_detail *detail, struct fsl_arena *arena,
				const struct fsl_entries *entries, size_t member,
				struct fsl_error *err)
{
	const struct fsl_windows *windows = entries->windows;
	size_t first = member * windows->n_windows;
	FSL_TRY(FSL_ARENA_NEW(detail->kpi, arena, windows->n_windows, "kpi", err));
	for (size_t w = 0; w < windows->n_windows; w++) {
		if (!isnan(windows->values[first + w])) {
			detail->kpi[detail->n_kpi++] = (struct fsl_kpi_point){
				.timestamp_ms =
					(double)windows->first_ns[first + w] / FSL_NS_PER_MS,
				.value = windows->values[first + w],
				.abnormal = entries->labels[first + w],
			};
		}
	}
	return FSL_OK;
}

static enum fsl_status add_entry(struct fsl_localisation *out,
				 const struct fsl_classical *classical,
				 const struct fsl_entries *entries, size_t member,
				 struct fsl_detail *detail, struct fsl_error *err)
{
	detail->rank = entries->windows->ranks[member];
	detail->server_ip =
		fsl_arena_strdup(&out->arena, fsl_entries_host(classical, detail->rank));
	detail->method = entries->method;
	if (detail->server_ip == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
	}
	if (classical->config->record_kpi) {
		FSL_TRY(fill_kpi(detail, &out->arena, entries, member, err));
	}
	return fsl_localisation_add_detail(out, detail, err);
}

static size_t member_of(const struct fsl_windows *windows, int32_t rank, size_t from)
{
	while (windows->ranks[from] != rank) {
		from++;
	}
	return from;
}

enum fsl_status fsl_entries_add(struct fsl_localisation *out, const struct fsl_classical *classical,
				const struct fsl_entries *entries, struct fsl_error *err)
{
	struct peers peers;
	const char *kpi_id = fsl_arena_strdup(&out->arena, entries->kpi_id);
	if (kpi_id == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"verdict\"");
	}
	FSL_TRY(list_peers(&peers, out, classical, entries, err));
	bool is_flagged = false;
	for (size_t m = 0; m < entries->windows->n_members; m++) {
		if (entries->is_anomalous[m]) {
			struct fsl_detail detail = {
				.kpi_id = kpi_id,
				.is_abnormal = true,
				.rela_ranks = peers.named,
				.n_rela_ranks = peers.n_named,
				.omitted_ranks = peers.omitted,
				.n_omitted_ranks = peers.n_omitted,
			};
			FSL_TRY(add_entry(out, classical, entries, m, &detail, err));
			is_flagged = true;
		}
	}
	for (size_t i = 0, m = 0; i < peers.n_named && is_flagged; i++) {
		struct fsl_detail detail = {.kpi_id = kpi_id};
		m = member_of(entries->windows, peers.named[i], m);
		FSL_TRY(add_entry(out, classical, entries, m, &detail, err));
	}
	if (is_flagged) {
		fsl_entries_flag(out, entries->type);
	}
	return FSL_OK;
}
