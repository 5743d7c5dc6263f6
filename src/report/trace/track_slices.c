/* Sorting, lanes, and the stream. */
#include "report/trace/track_slices.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "report/trace/track_lanes.h"

/* The lanes of one family with their tracks. */
struct fsl_slice_family {
	struct fsl_lanes lanes;
	const struct fsl_track *tracks[FSL_LANES_MAX];
	size_t n_tracks;
};

/* Family and lane of a slice. @lane: FSL_LANE_NONE if there is no place. */
struct place {
	uint8_t family, lane;
};

struct slices {
	struct fsl_track_stream stream; /* first: the stream is this struct */
	struct fsl_slice_source source;
	uint32_t *order;      /* [n] */
	struct place *places; /* [n] */
	size_t n, at;
	struct fsl_slice_lanes *lanes;
	struct fsl_slice_lanes own; /* of a stream that does not go on */
};

static bool next(struct fsl_track_stream *stream, struct fsl_track_event *event)
{
	struct slices *slices = (struct slices *)stream;
	const struct fsl_slice_source *source = &slices->source;
	while (slices->at < slices->n && slices->places[slices->at].lane == FSL_LANE_NONE) {
		slices->at++;
	}
	if (slices->at == slices->n) {
		return false;
	}
	uint32_t idx = slices->order[slices->at];
	struct place place = slices->places[slices->at];
	event->n_args = 0;
	event->launch = event->meeting = FSL_FLOW_NONE;
	event->track = slices->lanes->families[place.family]->tracks[place.lane];
	source->times(source->context, idx, &event->begin_ns, &event->end_ns);
	source->fill(source->context, idx, event);
	slices->at++;
	if (source->fetch != NULL && slices->at < slices->n) {
		source->fetch(source->context, slices->order[slices->at]);
	}
	return true;
}

void fsl_slice_lanes_fini(struct fsl_slice_lanes *lanes)
{
	for (size_t f = 0; f < FSL_SLICE_FAMILIES_MAX; f++) {
		if (lanes->families[f] != NULL) {
			fsl_lanes_fini(&lanes->families[f]->lanes);
			fsl_free(lanes->families[f]);
		}
	}
	*lanes = (struct fsl_slice_lanes){0};
}

static void destroy(struct fsl_track_stream *stream)
{
	struct slices *slices = (struct slices *)stream;
	fsl_slice_lanes_fini(&slices->own);
	fsl_free(slices->places);
	fsl_free(slices->order);
	fsl_free(slices);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct fsl_slice_source *source = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int64_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
	source->times(source->context, a, &a_begin, &a_end);
	source->times(source->context, b, &b_begin, &b_end);
	FSL_ORDER_BY(a_begin, b_begin);
	FSL_ORDER_BY(b_end, a_end);
	return FSL_ORDER(a, b);
}

/* Most arrays are in order already. */
static void sort(struct slices *slices)
{
	const struct fsl_slice_source *source = &slices->source;
	int64_t last_begin_ns = INT64_MIN, last_end_ns = INT64_MAX, begin_ns = 0, end_ns = 0;
	size_t i = 0;
	for (; i < slices->n; i++) {
		source->times(source->context, slices->order[i], &begin_ns, &end_ns);
		if (begin_ns < last_begin_ns ||
		    (begin_ns == last_begin_ns && end_ns >= last_end_ns)) {
			break;
		}
		last_begin_ns = begin_ns;
		last_end_ns = end_ns;
	}
	if (i < slices->n) {
		qsort_r(slices->order, slices->n, sizeof(*slices->order), compare, &slices->source);
	}
}

/* Makes the tracks of lanes that are new. */
static enum fsl_status add_tracks(struct fsl_track_plan *plan, uint32_t pid,
				  struct fsl_slice_family *family, const char *name,
				  struct fsl_error *err)
{
	char text[256];
	while (family->n_tracks < family->lanes.n_items) {
		size_t number = family->n_tracks + 1;
		(void)snprintf(text, sizeof(text), number > 1 ? "%s %zu" : "%s", name, number);
		FSL_TRY(fsl_track_plan_add_lane(plan, pid, text, &family->tracks[family->n_tracks],
						err));
		family->n_tracks++;
	}
	return FSL_OK;
}

static enum fsl_status place(struct fsl_track_plan *plan, uint32_t pid, struct slices *slices,
			     uint64_t *n_left_out, struct fsl_error *err)
{
	const struct fsl_slice_source *source = &slices->source;
	struct fsl_slice_family **families = slices->lanes->families;
	for (size_t i = 0; i < slices->n; i++) {
		uint32_t idx = slices->order[i];
		int64_t begin_ns = 0, end_ns = 0;
		uint8_t f = source->family != NULL ? source->family(source->context, idx) : 0;
		source->times(source->context, idx, &begin_ns, &end_ns);
		if (families[f] == NULL) {
			FSL_TRY(FSL_NEW(families[f], 1, "lanes", err));
		}
		slices->places[i].family = f;
		FSL_TRY(fsl_lanes_place(&families[f]->lanes, begin_ns, end_ns,
					&slices->places[i].lane, err));
		*n_left_out += slices->places[i].lane == FSL_LANE_NONE;
	}
	for (size_t f = 0; f < FSL_SLICE_FAMILIES_MAX; f++) {
		if (families[f] != NULL) {
			FSL_TRY(add_tracks(plan, pid, families[f], source->families[f], err));
		}
	}
	return FSL_OK;
}

enum fsl_status fsl_slices_go_on(struct fsl_track_plan *plan, uint32_t pid,
				 const struct fsl_slice_source *source,
				 struct fsl_slice_lanes *lanes, uint32_t *order, size_t n,
				 uint64_t *n_left_out, struct fsl_error *err)
{
	struct slices *slices = fsl_calloc(1, sizeof(*slices));
	if (slices == NULL || n == 0) {
		bool is_short = slices == NULL;
		fsl_free(order);
		fsl_free(slices);
		return is_short ? FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: slices=%zu", n)
				: FSL_OK;
	}
	*slices = (struct slices){.stream = {.next = next, .destroy = destroy},
				  .source = *source,
				  .order = order,
				  .n = n};
	slices->lanes = lanes != NULL ? lanes : &slices->own;
	enum fsl_status status = FSL_NEW(slices->places, n, "slices", err);
	if (status == FSL_OK) {
		sort(slices);
	}
	FSL_THEN(status, place(plan, pid, slices, n_left_out, err));
	if (status != FSL_OK) {
		destroy(&slices->stream);
		return status;
	}
	return fsl_track_plan_add_stream(plan, &slices->stream, err);
}

enum fsl_status fsl_slices_add(struct fsl_track_plan *plan, uint32_t pid,
			       const struct fsl_slice_source *source, uint32_t *order, size_t n,
			       uint64_t *n_left_out, struct fsl_error *err)
{
	return fsl_slices_go_on(plan, pid, source, NULL, order, n, n_left_out, err);
}
