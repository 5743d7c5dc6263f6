/* How long chapters will be, before the file has been read to its end. */
#include <math.h>

#include "model/chapter.h"
#include "source/mark_take.h"

enum {
	GUESS_BYTES = 1 << 15, /* of a file that tell how it goes on */
	GUESS_ERROR = 10,      /* one part in so many */
};

/* How long the rest of the file is when it goes on at @pace, ns a byte. */
static int64_t rest_of(const struct fsl_mark_taker *taker, uint64_t offset, double pace)
{
	double rest_ns = offset < taker->n_bytes ? pace * (double)(taker->n_bytes - offset) : 0.0;
	return rest_ns < (double)FSL_MARK_SPAN_MAX_NS ? (int64_t)rest_ns : FSL_MARK_SPAN_MAX_NS;
}

/* Learns how quickly the file goes on; *least_ns and *usual_ns: the rest of it, at the quickest
 * that it ever was since one guess, and on average. */
static void guess_rest(struct fsl_mark_taker *taker, uint64_t offset, int64_t passed_ns,
		       int64_t *least_ns, int64_t *usual_ns)
{
	if (offset < GUESS_BYTES) {
		*least_ns = *usual_ns = passed_ns;
		return;
	}
	double usual = (double)passed_ns / (double)offset;
	if (offset - taker->guessed_offset >= GUESS_BYTES) {
		double pace = (double)(passed_ns - taker->guessed_ns) /
			      (double)(offset - taker->guessed_offset);
		taker->least_pace = fmin(taker->least_pace, fmax(pace, 0.0));
		taker->guessed_ns = passed_ns;
		taker->guessed_offset = offset;
	}
	*least_ns = rest_of(taker, offset, fmin(usual, taker->least_pace));
	*usual_ns = rest_of(taker, offset, usual);
}

/*
 * Period and lead that the whole file will want, the finer and the longer of what may be, also
 * where chapters are twice as long because they hold too few steps (four times: a mark for an
 * earlier boundary will do); and where the next mark is due. Far from the end none is of use but to
 * guess again, and a guess too many costs little: it is due before as much time has passed again,
 * as the first steps of a job are slow, and say that the file goes on for longer than it does.
 */
void fsl_mark_guess(struct fsl_mark_taker *taker, int64_t boundary_ns,
		    const struct fsl_mark_place *place, int64_t time_ns)
{
	const struct fsl_chapter_rule longest = fsl_chapter_rule_for(taker->longest_ns);
	taker->began_ns = taker->began_ns == FSL_NS_ABSENT ? time_ns : taker->began_ns;
	int64_t passed_ns = time_ns > taker->began_ns ? time_ns - taker->began_ns : 0;
	int64_t least_ns = 0, usual_ns = 0;
	guess_rest(taker, place->offset, passed_ns, &least_ns, &usual_ns);
	int64_t short_ns = passed_ns + least_ns, long_ns = passed_ns + usual_ns;
	struct fsl_chapter_rule finer =
		fsl_chapter_rule_finer(&longest, short_ns - short_ns / GUESS_ERROR, taker->n_parts);
	struct fsl_chapter_rule coarser = fsl_chapter_rule_finer(
		&longest, long_ns + long_ns / GUESS_ERROR, taker->n_parts / 2);
	taker->period_ns = finer.length_ns;
	taker->lead_ns = coarser.lead_ns + coarser.slack_ns;
	int64_t due_ns = time_ns + taker->lead_ns;
	int64_t unused_ns = least_ns - FSL_MARKS_KEPT * coarser.length_ns;
	if (place->offset < GUESS_BYTES) {
		due_ns += passed_ns;
	} else if (unused_ns > 0) {
		int64_t skipped_ns = unused_ns < least_ns / 3 ? unused_ns : least_ns / 3;
		due_ns += skipped_ns < passed_ns ? skipped_ns : passed_ns;
	}
	due_ns = due_ns > boundary_ns ? due_ns : boundary_ns;
	taker->next_ns = (due_ns / finer.length_ns + 1) * finer.length_ns;
}
