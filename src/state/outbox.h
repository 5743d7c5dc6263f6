/*
 * Edges that wait for their receivers: each edge of an incident once for each channel. An edge is
 * put here in the transaction that makes it, and removed when its receiver took it, so that nothing
 * is lost while a receiver is down. A process that dies between both delivers the edge twice; the
 * receiver tells that by the id of the incident and the edge.
 */
#ifndef FSL_STATE_OUTBOX_H
#define FSL_STATE_OUTBOX_H

#include "base/mem.h"
#include "state/incidents.h"
#include "state/state.h"

/* One edge for one channel. Texts live in the arena of the list. */
struct fsl_outbox_item {
	int64_t number;
	const char *channel;  /* "webhook" */
	const char *incident; /* id */
	const char *edge;     /* "open", "clear" */
	const char *text;     /* the edge as JSON */
	int64_t made_ns;
	int64_t n_tries;
};

struct fsl_outbox {
	struct fsl_arena arena;
	struct fsl_outbox_item *items; /* in the order in which they were made */
	size_t n_items, capacity;
};

/* Puts an edge in; nothing if it is there. Part of the open transaction, or of one that begins. */
enum fsl_status fsl_outbox_put(struct fsl_state *state, const char *channel, const char *incident,
			       enum fsl_incident_edge edge, const char *text, int64_t now_ns,
			       struct fsl_error *err);
/* *out (overwritten): edges for @channel that are due. None of them is behind one that is not: a
 * receiver never hears of the end before the begin. */
enum fsl_status fsl_outbox_due(struct fsl_state *state, const char *channel, int64_t now_ns,
			       struct fsl_outbox *out, struct fsl_error *err);
/* Number of edges that wait for @channel, due or not. */
enum fsl_status fsl_outbox_count(struct fsl_state *state, const char *channel, size_t *n,
				 struct fsl_error *err);
/*
 * Notes before an edge is told that it is tried: it is due again after 1, 2, 4 ... minutes, an hour
 * at most. If this cannot be written, neither could be that it was taken: it must not be told then.
 */
enum fsl_status fsl_outbox_try(struct fsl_state *state, const struct fsl_outbox_item *item,
			       int64_t now_ns, struct fsl_error *err);
/* Removes an edge that was taken. Each of both is a transaction of its own. */
enum fsl_status fsl_outbox_remove(struct fsl_state *state, const struct fsl_outbox_item *item,
				  struct fsl_error *err);
void fsl_outbox_fini(struct fsl_outbox *outbox);

#endif
