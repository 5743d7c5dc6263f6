/* Stalls in words. */
#include <inttypes.h>

#include "account/stalls_parts.h"
#include "base/mem.h"
#include "text/phrase.h"

enum { TOLD_MAX = 4, RANGES_MAX = 4 };

static void add_where(struct fsl_phrase *phrase, const struct fsl_stall *stall)
{
	if (stall->n_ranks > 0) {
		fsl_phrase_add(phrase, " on ");
		fsl_phrase_add_ranks(phrase, stall->ranks, stall->n_ranks, RANGES_MAX);
	}
	if (stall->phase != FSL_STALL_UNKNOWN) {
		fsl_phrase_add(phrase, " in %s", fsl_stall_phase_text(stall->phase));
	}
	if (stall->phase == FSL_STALL_COLLECTION && stall->n_collected > 0) {
		fsl_phrase_add(phrase, " of ");
		fsl_phrase_add_count(phrase, stall->n_collected, "object");
		fsl_phrase_add(phrase, "%s", stall->n_times > 1 ? " in the longest" : "");
	}
}

static void add_stall(struct fsl_phrase *phrase, const struct fsl_stall *stall)
{
	int64_t each_ns = stall->lost_ns / (int64_t)stall->n_times;
	if (stall->phase == FSL_STALL_GAP) {
		fsl_phrase_add(phrase, "nothing for ");
		fsl_phrase_add_length(phrase, each_ns);
		if (stall->every_steps > 0) {
			fsl_phrase_add(phrase, " before every ");
			fsl_phrase_add_ordinal(phrase, stall->every_steps);
			fsl_phrase_add(phrase, " step");
			return;
		}
		fsl_phrase_add(phrase, " between steps %" PRId64 " and %" PRId64,
			       stall->before_step, stall->step);
	} else if (stall->phase == FSL_STALL_RESTART) {
		fsl_phrase_add(phrase, "restart at step %" PRId64 " after ", stall->step);
		fsl_phrase_add_length(phrase, stall->lost_ns);
	} else if (stall->every_steps > 0) {
		fsl_phrase_add(phrase, "every ");
		fsl_phrase_add_ordinal(phrase, stall->every_steps);
		fsl_phrase_add(phrase, " step takes ");
		fsl_phrase_add_length(phrase, each_ns);
		fsl_phrase_add(phrase, " longer");
		add_where(phrase, stall);
	} else {
		fsl_phrase_add(phrase, "step %" PRId64 " took ", stall->step);
		fsl_phrase_add_length(phrase, each_ns);
		fsl_phrase_add(phrase, " longer");
		add_where(phrase, stall);
	}
}

enum fsl_status fsl_stalls_tell(struct fsl_perception *out, double share, struct fsl_error *err)
{
	struct fsl_phrase phrase = {0};
	size_t n = 0;
	for (size_t i = 0; i < out->n_stalls; i++) {
		n += !fsl_stall_is_planned(out->stalls[i].phase);
	}
	for (size_t i = 0, n_told = 0; i < out->n_stalls && n_told < TOLD_MAX; i++) {
		if (fsl_stall_is_planned(out->stalls[i].phase)) {
			continue;
		}
		fsl_phrase_add(&phrase, "%s", n_told > 0 ? "; " : "");
		add_stall(&phrase, &out->stalls[i]);
		if (n_told++ == 0) {
			fsl_phrase_add(&phrase, ", %s", n > 1 ? "all stalls " : "");
			fsl_phrase_add_percent(&phrase, share);
			fsl_phrase_add(&phrase, " of the time");
		}
		if (out->stalls[i].frame != NULL) {
			fsl_phrase_add(&phrase, ", at frame ");
			fsl_phrase_add_frame(&phrase, out->stalls[i].frame);
		}
	}
	if (n > TOLD_MAX) {
		fsl_phrase_add(&phrase, "; %zu more", n - TOLD_MAX);
	}
	out->reason = fsl_arena_strdup(&out->arena, phrase.text);
	if (out->reason == NULL) {
		out->reason = "";
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: what=\"reason\"");
	}
	return FSL_OK;
}
