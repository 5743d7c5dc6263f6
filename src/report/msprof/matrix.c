/* cluster_communication_matrix.json: links between ranks, merged over the files of the ranks. */
#include <inttypes.h>

#include "report/msprof/parts.h"
#include "report/msprof/sums.h"
#include "text/json_write.h"

enum { MS_DECIMALS = 9 /* of a number of ps */, MB_DECIMALS = 6 };

/* Writes links. Links with unknown ends come first (src is -1) and are skipped. */
static void put_links(struct fsl_json_writer *json, const struct fsl_peer_index *index,
		      const struct fsl_peer_entries *entries, size_t begin, size_t end)
{
	fsl_json_write_open(json, NULL, '{');
	while (begin < end) {
		const struct fsl_peer_entry *entry = &entries->items[begin];
		size_t next = fsl_peer_run_end(entries, begin, end, FSL_PEER_RUN_LINK);
		if (entry->src >= 0) {
			struct fsl_peer_link_sum sum =
				fsl_peer_sum_links(index, entries, begin, next);
			char key[32];
			(void)snprintf(key, sizeof(key), "%" PRId32 "-%" PRId32, entry->src,
				       entry->dst);
			fsl_json_write_open(json, key, '{');
			fsl_json_write_text(json, "Transport Type",
					    fsl_profile_transport_text(sum.transport));
			fsl_json_write_scaled(json, "Transit Time(ms)", sum.time_ps, MS_DECIMALS);
			fsl_json_write_scaled(json, "Transit Size(MB)", sum.n_bytes, MB_DECIMALS);
			fsl_json_write_text(json, "Op Name", sum.op_name);
			fsl_json_write_real(json, "Bandwidth(GB/s)", sum.gb_per_s);
			fsl_json_write_close(json, '}');
		}
		begin = next;
	}
	fsl_json_write_close(json, '}');
}

/* Writes one step of one set of ranks, from *at on; moves *at behind it. */
static void put_step(struct fsl_json_writer *json, const struct fsl_peer_index *index,
		     const struct fsl_peer_entries *entries, size_t *at, size_t end, bool is_sum)
{
	while (*at < end) {
		const struct fsl_peer_entry *first = &entries->items[*at];
		size_t next = fsl_peer_run_end(entries, *at, end,
					       is_sum ? FSL_PEER_RUN_GROUP : FSL_PEER_RUN_NAME);
		fsl_json_write_key(json,
				   is_sum ? "Total Op Info"
					  : fsl_strpool_text(index->names, first->name),
				   fsl_strpool_text(index->cluster->hashes, first->hash));
		put_links(json, index, entries, *at, next);
		*at = next;
	}
}

/* End of the entries in the order of sums that share set and step with @entry. */
static size_t sums_end(const struct fsl_peer_entries *sums, size_t begin,
		       const struct fsl_peer_entry *entry)
{
	while (begin < sums->n && sums->items[begin].set == entry->set &&
	       sums->items[begin].step == entry->step) {
		begin++;
	}
	return begin;
}

enum fsl_status fsl_peer_write_matrix(FILE *stream, const struct fsl_peer_index *index,
				      struct fsl_error *err)
{
	(void)err;
	struct fsl_json_writer json = {.stream = stream};
	const struct fsl_peer_entries *links = &index->links, *sums = &index->link_sums;
	size_t sum_at = 0;
	fsl_json_write_open(&json, NULL, '{');
	for (size_t i = 0; i < links->n;) {
		size_t set_end = fsl_peer_run_end(links, i, links->n, FSL_PEER_RUN_SET);
		fsl_json_write_open(&json, fsl_strpool_text(index->sets, links->items[i].set), '{');
		while (i < set_end) {
			const struct fsl_peer_entry *first = &links->items[i];
			size_t end = fsl_peer_run_end(links, i, set_end, FSL_PEER_RUN_STEP);
			char key[32];
			fsl_json_write_open(&json,
					    fsl_peer_step_text(first->step, key, sizeof(key)), '{');
			put_step(&json, index, links, &i, end, false);
			put_step(&json, index, sums, &sum_at, sums_end(sums, sum_at, first), true);
			fsl_json_write_close(&json, '}');
		}
		fsl_json_write_close(&json, '}');
	}
	fsl_json_write_close(&json, '}');
	return FSL_OK;
}
