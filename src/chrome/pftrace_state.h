/* State that packets of a trace leave for later ones: names by their numbers, clocks, tracks. */
#ifndef FSL_CHROME_PFTRACE_STATE_H
#define FSL_CHROME_PFTRACE_STATE_H

#include "base/mem.h"
#include "base/strpool.h"
#include "chrome/pftrace_wire.h"
#include "chrome/trace_event.h"

/* Uses of a text; each has numbers of its own. */
enum fsl_pf_use {
	FSL_PF_CATEGORY,
	FSL_PF_NAME,
	FSL_PF_KEY,
	FSL_PF_TEXT,
	FSL_PF_USES_N,
	FSL_PF_TRACK_NAME = FSL_PF_USES_N, /* by number of the track, of no sequence */
};

enum {
	FSL_PF_SEQUENCES_MAX = 4096, /* writers: threads of traced processes */
	FSL_PF_TEXTS_MAX = 1 << 20,
	FSL_PF_TEXT_BYTES_MAX = 256 << 20, /* of all texts, also of those that others replace */
	FSL_PF_TRACKS_MAX = 1 << 20,
	FSL_PF_CLOCKS_MAX = 8, /* of a sequence's own */
	FSL_PF_CLOCK_REALTIME = 1,
	FSL_PF_CLOCK_BOOTTIME = 6,
	FSL_PF_CLOCK_OWN = 64, /* from here on clocks are the sequence's own */
};

struct fsl_pf_clock {
	uint64_t id, unit_ns;
	bool is_incremental;
	int64_t origin_ns, origin, last; /* the last two in units */
};

/* A writer of packets. */
struct fsl_pf_sequence {
	uint64_t id;
	uint32_t generation;   /* names of an earlier one mean nothing */
	uint64_t track, clock; /* defaults; 0: none */
	struct fsl_pf_clock clocks[FSL_PF_CLOCKS_MAX];
	size_t n_clocks;
};

struct fsl_pf_state {
	struct fsl_arena arena; /* texts */
	struct fsl_strpool *keys;
	struct fsl_trace_text *texts; /* by id of the key */
	size_t n_texts, texts_capacity, text_bytes;
	struct fsl_strpool *tracks;
	uint64_t *pids; /* by id of the track */
	size_t n_pids, pids_capacity;
	struct fsl_strpool *sequence_ids;
	struct fsl_pf_sequence *sequences; /* by id of the id */
	size_t n_sequences, sequences_capacity, last;
	int64_t real_ns[FSL_PF_CLOCK_OWN]; /* of clocks: what to add for ns since 1970 */
};

/* FSL_ERR_MEMORY. */
enum fsl_status fsl_pf_state_init(struct fsl_pf_state *state, struct fsl_error *err);
void fsl_pf_state_fini(struct fsl_pf_state *state);

/* The sequence of this number; borrowed until the next call. FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_pf_find_sequence(struct fsl_pf_state *state, uint64_t id,
				     struct fsl_pf_sequence **sequence, struct fsl_error *err);
/* Takes the texts of InternedData. FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_pf_take_interned(struct fsl_pf_state *state,
				     const struct fsl_pf_sequence *sequence,
				     struct fsl_pf_message interned, struct fsl_error *err);
/* "" if the number is not known. Borrowed from the state. */
struct fsl_trace_text fsl_pf_text(const struct fsl_pf_state *state,
				  const struct fsl_pf_sequence *sequence, enum fsl_pf_use use,
				  uint64_t number);
/* Keeps the name of a track of counters; "" if none was kept. FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_pf_name_track(struct fsl_pf_state *state, uint64_t track,
				  struct fsl_trace_text name, struct fsl_error *err);
struct fsl_trace_text fsl_pf_track_name(const struct fsl_pf_state *state, uint64_t track);
/* Takes a ClockSnapshot. */
void fsl_pf_take_clocks(struct fsl_pf_state *state, struct fsl_pf_sequence *sequence,
			struct fsl_pf_message snapshot);
/* Time of a packet, ns; FSL_NS_ABSENT if its clock is not known. @clock 0: the default one. Call it
 * once for each packet with a time: clocks may count from packet to packet. */
int64_t fsl_pf_time(const struct fsl_pf_state *state, struct fsl_pf_sequence *sequence,
		    uint64_t clock, uint64_t time);
/* Keeps the process of a track; the pid of a track is that of its process, else the track's own
 * number. FSL_ERR_LIMIT, FSL_ERR_MEMORY. */
enum fsl_status fsl_pf_set_pid(struct fsl_pf_state *state, uint64_t track, uint64_t pid,
			       struct fsl_error *err);
uint64_t fsl_pf_pid(const struct fsl_pf_state *state, uint64_t track);

#endif
