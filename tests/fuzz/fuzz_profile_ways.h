/* For fuzz targets of JSON files in profiler folders: the figures must be the same whether the
 * bytes come as a whole or in pieces. In pieces no record is ever in memory as a whole. */
#ifndef FSL_TESTS_FUZZ_FUZZ_PROFILE_WAYS_H
#define FSL_TESTS_FUZZ_FUZZ_PROFILE_WAYS_H

#include <string.h>

#include "fuzz/fuzz_profile.h"

struct fuzz_way {
	struct fsl_profile profile; /* of one rank */
	struct fsl_file file;
};

/* Closes @reader; false when that cannot be done (@reader NULL, no memory). */
static inline bool fuzz_way_begin(struct fuzz_way *way, fsl_profile_reader read,
				  struct fsl_reader *reader)
{
	*way = (struct fuzz_way){
		.profile = {.ranks = fsl_calloc(1, sizeof(*way->profile.ranks)), .n_ranks = 1},
		.file = {.path = "memory", .message = ""}};
	const struct fsl_profile_input input = {
		.reader = reader, .path = "memory", .file = &way->file};
	FSL_REQUIRE(way->profile.ranks != NULL);
	way->profile.ranks->names = fsl_strpool_create();
	FSL_REQUIRE(way->profile.ranks->names != NULL);
	bool is_read = reader != NULL && read(way->profile.ranks, &input, NULL) == FSL_OK;
	fsl_reader_close(reader);
	return is_read;
}

/* Not memcmp of whole structs: what lies between their members is anything. */
static inline bool fuzz_comms_are_alike(const struct fsl_profile_rank *a,
					const struct fsl_profile_rank *b)
{
	bool is_alike = a->n_comms == b->n_comms;
	for (size_t i = 0; is_alike && i < a->n_comms; i++) {
		const struct fsl_profile_comm *x = &a->comms[i], *y = &b->comms[i];
		is_alike = x->step == y->step && x->name_id == y->name_id &&
			   x->group_id == y->group_id && x->is_p2p == y->is_p2p &&
			   x->begin_ns == y->begin_ns && x->elapse_ns == y->elapse_ns &&
			   x->transit_ns == y->transit_ns && x->wait_ns == y->wait_ns &&
			   x->sync_ns == y->sync_ns && x->idle_ns == y->idle_ns &&
			   x->elapse_ps == y->elapse_ps && x->traffic_begin == y->traffic_begin &&
			   x->n_traffic == y->n_traffic;
	}
	return is_alike;
}

static inline bool fuzz_traffic_is_alike(const struct fsl_profile_rank *a,
					 const struct fsl_profile_rank *b)
{
	bool is_alike = a->n_traffic == b->n_traffic && a->n_packets == b->n_packets;
	for (size_t i = 0; is_alike && i < a->n_traffic; i++) {
		const struct fsl_profile_traffic *x = &a->traffic[i], *y = &b->traffic[i];
		is_alike = x->transport == y->transport && x->n_bytes == y->n_bytes &&
			   x->time_ns == y->time_ns && x->n_packets == y->n_packets &&
			   memcmp(&x->gb_per_s, &y->gb_per_s, sizeof(x->gb_per_s)) == 0;
	}
	for (size_t i = 0; is_alike && i < a->n_packets; i++) {
		const struct fsl_profile_packets *x = &a->packets[i], *y = &b->packets[i];
		is_alike = x->n_bytes == y->n_bytes && x->count == y->count &&
			   x->time_ns == y->time_ns;
	}
	return is_alike;
}

static inline bool fuzz_links_are_alike(const struct fsl_profile_rank *a,
					const struct fsl_profile_rank *b)
{
	bool is_alike = a->n_links == b->n_links;
	for (size_t i = 0; is_alike && i < a->n_links; i++) {
		const struct fsl_profile_link *x = &a->links[i], *y = &b->links[i];
		is_alike = x->step == y->step && x->label_id == y->label_id &&
			   x->group_id == y->group_id && x->name_id == y->name_id &&
			   x->is_p2p == y->is_p2p && x->src == y->src && x->dst == y->dst &&
			   x->transport == y->transport && x->n_bytes == y->n_bytes &&
			   x->time_ns == y->time_ns;
	}
	return is_alike;
}

static inline bool fuzz_traces_are_alike(const struct fsl_profile_trace *a,
					 const struct fsl_profile_trace *b)
{
	return a->n_events == b->n_events && a->is_cut == b->is_cut && a->begin_ns == b->begin_ns &&
	       a->end_ns == b->end_ns && a->n_launches == b->n_launches &&
	       a->lag_median_ns == b->lag_median_ns && a->lag_p95_ns == b->lag_p95_ns &&
	       a->lag_max_ns == b->lag_max_ns &&
	       memcmp(&a->torch_lag, &b->torch_lag, sizeof(a->torch_lag)) == 0 &&
	       memcmp(&a->queue_lag, &b->queue_lag, sizeof(a->queue_lag)) == 0 &&
	       a->n_freqs == b->n_freqs &&
	       memcmp(a->freqs_mhz, b->freqs_mhz, sizeof(a->freqs_mhz)) == 0 &&
	       memcmp(a->freq_ns, b->freq_ns, sizeof(a->freq_ns)) == 0 &&
	       memcmp(a->calls, b->calls, sizeof(a->calls)) == 0 && a->n_idle == b->n_idle &&
	       memcmp(a->idle, b->idle, sizeof(a->idle)) == 0 && a->n_ranges == b->n_ranges &&
	       (a->n_ranges == 0 ||
		memcmp(a->ranges, b->ranges, a->n_ranges * sizeof(*a->ranges)) == 0);
}

static inline bool fuzz_ways_are_alike(const struct fuzz_way *a, const struct fuzz_way *b)
{
	const struct fsl_profile_rank *left = a->profile.ranks, *right = b->profile.ranks;
	return strcmp(a->file.message, b->file.message) == 0 && a->file.state == b->file.state &&
	       a->file.n_records == b->file.n_records &&
	       memcmp(a->file.n_dropped, b->file.n_dropped, sizeof(a->file.n_dropped)) == 0 &&
	       fsl_strpool_size(left->names) == fsl_strpool_size(right->names) &&
	       fuzz_comms_are_alike(left, right) && fuzz_traffic_is_alike(left, right) &&
	       fuzz_links_are_alike(left, right) && left->n_rebuilt == right->n_rebuilt &&
	       (left->n_rebuilt == 0 || memcmp(left->rebuilt, right->rebuilt,
					       left->n_rebuilt * sizeof(*left->rebuilt)) == 0) &&
	       fuzz_traces_are_alike(&left->trace, &right->trace);
}

/* The first byte belongs to fuzz_reader(). For a broken archive the pieces decide how much comes
 * out before the fault. */
static inline void fuzz_profile_ways(fsl_profile_reader read, const uint8_t *data, size_t n_bytes)
{
	struct fuzz_way whole, pieces;
	size_t n_piece = 1 + n_bytes / 200; /* as many pieces as a pipe holds */
	if (n_bytes < 3 || (data[1] == 0x1f && data[2] == 0x8b) ||
	    (data[1] == 0x28 && data[2] == 0xb5)) {
		return;
	}
	bool is_read = fuzz_way_begin(&whole, read, memory_reader(data + 1, n_bytes - 1));
	is_read = fuzz_way_begin(&pieces, read, chunked_reader(data + 1, n_bytes - 1, n_piece)) &&
		  is_read;
	FSL_REQUIRE(!is_read || fuzz_ways_are_alike(&whole, &pieces));
	fsl_profile_fini(&whole.profile);
	fsl_profile_fini(&pieces.profile);
}

#endif
