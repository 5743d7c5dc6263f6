/* Notes of wakes in a ring, and the chain of a step when it ends. */
#include "base/mem.h"
#include "base/number.h"
#include "sched/sched_parts.h"

enum {
	NOTES_MAX = 1 << 17,              /* 5 MB; a step with more of them is cut */
	NOTE_NS_MIN = FSL_NS_PER_MS / 10, /* shorter sleeps and waits make no link */
	SLEEP_NS_MIN = FSL_NS_PER_MS / 2, /* a sleep that makes a link, at least ... */
	SLEEPS_OF_STEP = 20,              /* ... and at least this part of the step */
};

static enum fsl_status note(struct fsl_sched *sched, const struct fsl_sched_note *item,
			    struct fsl_error *err)
{
	struct fsl_sched_notes *notes = &sched->notes;
	if (notes->items == NULL) {
		FSL_TRY(FSL_NEW(notes->items, NOTES_MAX, "wakes", err));
	}
	notes->items[notes->n++ % NOTES_MAX] = *item;
	return FSL_OK;
}

enum fsl_status fsl_sched_note_wake(struct fsl_sched *sched, int32_t thread, int64_t since_ns,
				    struct fsl_error *err)
{
	const struct fsl_sched_thread *own = &sched->threads[thread];
	const struct fsl_sched_note item = {sched->now_ns, sched->now_ns - since_ns, thread,
					    own->waker, own->waker_interrupt};
	return sched->notes.due_ns == INT64_MAX || item.ns < NOTE_NS_MIN ? FSL_OK
									 : note(sched, &item, err);
}

enum fsl_status fsl_sched_note_queue(struct fsl_sched *sched, int32_t thread, int64_t since_ns,
				     struct fsl_error *err)
{
	const struct fsl_sched_note item = {sched->now_ns, sched->now_ns - since_ns, thread,
					    FSL_SCHED_NOTE_QUEUE, -1};
	return sched->notes.due_ns == INT64_MAX || item.ns < NOTE_NS_MIN ? FSL_OK
									 : note(sched, &item, err);
}

/* The chain that is being made, from the end of the step backwards. */
struct walk {
	struct fsl_sched_chain *chain;
	int64_t begin_ns, until_ns; /* of the step; the last link ends then */
	int64_t sleep_ns_min;
};

static struct fsl_sched_link *last_link(struct fsl_sched_chain *chain)
{
	return &chain->links[chain->n_links - 1];
}

/* The part of [@since_ns, @time_ns) in the step. */
static int64_t within(const struct walk *walk, int64_t since_ns, int64_t time_ns)
{
	return time_ns - (since_ns > walk->begin_ns ? since_ns : walk->begin_ns);
}

/* The last link goes back to @from_ns; short sleeps in it do not count as awake. */
static void close_link(struct walk *walk, int64_t from_ns)
{
	struct fsl_sched_link *link = last_link(walk->chain);
	int64_t awake_ns = walk->until_ns - from_ns - link->slept_ns;
	link->awake_ns = awake_ns > 0 ? awake_ns : 0;
}

/* The thread of the last link was woken. False: the chain ends there. */
static bool take_wake(struct walk *walk, const struct fsl_sched_note *wake)
{
	struct fsl_sched_chain *chain = walk->chain;
	struct fsl_sched_link *link = last_link(chain);
	int64_t asleep_ns = wake->time_ns - wake->ns;
	close_link(walk, wake->time_ns);
	link->slept_ns += within(walk, asleep_ns, wake->time_ns);
	link->waker = wake->waker;
	link->interrupt = wake->interrupt;
	/* Nobody worked for a thread that an interrupt woke: it is its own sleep. */
	walk->until_ns = wake->waker >= 0 ? wake->time_ns : asleep_ns;
	if (walk->until_ns <= walk->begin_ns) {
		return false;
	}
	if (chain->n_links == FSL_SCHED_LINKS_MAX) {
		chain->is_cut = true;
		return false;
	}
	chain->links[chain->n_links++] =
		(struct fsl_sched_link){.thread = wake->waker >= 0 ? wake->waker : link->thread,
					.waker = FSL_SCHED_WAKER_NONE,
					.interrupt = -1};
	return true;
}

/* Takes a note of the thread of the last link. False: the chain ends there. */
static bool take(struct walk *walk, const struct fsl_sched_note *item)
{
	struct fsl_sched_link *link = last_link(walk->chain);
	int64_t part_ns = within(walk, item->time_ns - item->ns, item->time_ns);
	if (item->waker == FSL_SCHED_NOTE_QUEUE) {
		link->queued_ns += part_ns;
	} else if (item->ns >= walk->sleep_ns_min) {
		return take_wake(walk, item);
	} else {
		link->slept_ns += part_ns;
	}
	return true;
}

/* Walks back through the notes. */
static void follow(struct walk *walk, const struct fsl_sched_notes *notes)
{
	uint64_t first = notes->n > NOTES_MAX ? notes->n - NOTES_MAX : 0;
	for (uint64_t i = notes->n; i > first; i--) {
		const struct fsl_sched_note *item = &notes->items[(i - 1) % NOTES_MAX];
		if (item->time_ns <= walk->begin_ns) {
			close_link(walk, walk->begin_ns);
			return;
		}
		if (item->thread == last_link(walk->chain)->thread &&
		    item->time_ns <= walk->until_ns && !take(walk, item)) {
			return;
		}
	}
	close_link(walk, walk->begin_ns);
	walk->chain->is_cut |= first > 0;
}

/* Makes the chain of a step that has just ended. */
static void make_chain(struct fsl_sched *sched, struct fsl_sched_rank *rank, size_t step)
{
	const struct fsl_sched_step *span = &rank->steps[step];
	const struct fsl_sched_thread *main = fsl_sched_find(sched, rank->pid);
	struct fsl_sched_chain *chain = &rank->chain;
	if (main == NULL) {
		return;
	}
	*chain = (struct fsl_sched_chain){.step = (int32_t)step, .n_links = 1};
	chain->links[0] = (struct fsl_sched_link){.thread = (int32_t)(main - sched->threads),
						  .waker = FSL_SCHED_WAKER_NONE,
						  .interrupt = -1};
	struct walk walk = {.chain = chain,
			    .begin_ns = span->begin_ns,
			    .until_ns = span->end_ns,
			    .sleep_ns_min = (span->end_ns - span->begin_ns) / SLEEPS_OF_STEP};
	walk.sleep_ns_min =
		walk.sleep_ns_min > SLEEP_NS_MIN ? walk.sleep_ns_min : (int64_t)SLEEP_NS_MIN;
	bool is_asleep = main->state == FSL_SCHED_SLEEP || main->state == FSL_SCHED_DISK;
	if (is_asleep && main->since_ns > span->begin_ns && main->since_ns < span->end_ns) {
		walk.until_ns = main->since_ns; /* it sleeps into the next step */
	}
	follow(&walk, &sched->notes);
}

/* Length of the step, and on top what its threads waited for CPUs. */
static int64_t cost_of(const struct fsl_sched_rank *rank, size_t step)
{
	return rank->steps[step].end_ns - rank->steps[step].begin_ns +
	       fsl_sched_waited_ns(rank->cells[step].in_ns);
}

void fsl_sched_end_steps(struct fsl_sched *sched, int64_t now_ns)
{
	int64_t due_ns = INT64_MAX;
	for (size_t r = 0; r < sched->n_ranks; r++) {
		struct fsl_sched_rank *rank = &sched->ranks[r];
		for (; rank->n_ended < rank->n_steps && rank->steps[rank->n_ended].end_ns <= now_ns;
		     rank->n_ended++) {
			size_t step = rank->n_ended;
			int64_t cost_ns = cost_of(rank, step);
			bool is_whole = rank->steps[step].begin_ns >= sched->begin_ns &&
					sched->n_wakeups > 0;
			if (is_whole && (rank->chain.step < 0 || cost_ns > rank->chain_cost_ns)) {
				rank->chain_cost_ns = cost_ns;
				make_chain(sched, rank, step);
			}
		}
		if (rank->n_ended < rank->n_steps && rank->steps[rank->n_ended].end_ns < due_ns) {
			due_ns = rank->steps[rank->n_ended].end_ns;
		}
	}
	sched->notes.due_ns = due_ns;
}
