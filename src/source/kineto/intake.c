/* Lanes by name, and a stack of open begins for each thread. */
#include "source/kineto/intake.h"

#include <string.h>

#include "base/number.h"
#include "base/try.h"

enum {
	PLACE_BYTES = 2 * sizeof(uint64_t),
	OPEN_MAX = 1 << 16, /* begins without an end, of 440 bytes: more are a damaged file */
	CATEGORIES_MAX = 4096,
};

struct fsl_kineto_open {
	uint32_t outer;   /* the begin around it, or the next free one */
	uint32_t name_id; /* in rank->names */
	int name, category;
	int64_t number, ts_ns;
	int64_t args[FSL_KINETO_ARGS_N];
	uint32_t text_ids[FSL_KINETO_ARGS_N]; /* in rank->names; FSL_STR_NONE: none */
};

enum fsl_status fsl_kineto_intake_init(struct fsl_kineto_intake *intake,
				       struct fsl_kineto_events *events,
				       const struct fsl_lanes *lanes, struct fsl_error *err)
{
	*intake = (struct fsl_kineto_intake){
		.events = events, .lanes = lanes, .first_free = FSL_STR_NONE};
	intake->categories = fsl_strpool_create();
	intake->places = fsl_strpool_create();
	intake->threads = fsl_strpool_create();
	bool is_good =
		intake->categories != NULL && intake->places != NULL && intake->threads != NULL;
	if (!is_good) {
		fsl_kineto_intake_fini(intake);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: rank=%d",
				(int)events->rank->rank);
	}
	return FSL_OK;
}

void fsl_kineto_intake_fini(struct fsl_kineto_intake *intake)
{
	fsl_strpool_destroy(intake->categories);
	fsl_strpool_destroy(intake->places);
	fsl_strpool_destroy(intake->threads);
	fsl_free(intake->of_category);
	fsl_free(intake->of_place);
	fsl_free(intake->last_of_thread);
	fsl_free(intake->open);
	*intake = (struct fsl_kineto_intake){0};
}

/* A thread, or with @is_process its process. */
static size_t write_place(char place[PLACE_BYTES], const struct fsl_trace_event *event,
			  bool is_process)
{
	memcpy(place, &event->pid, sizeof(event->pid));
	memcpy(place + sizeof(event->pid), &event->tid, sizeof(event->tid));
	return is_process ? sizeof(event->pid) : PLACE_BYTES;
}

static bool is_text(const struct fsl_trace_text *text, const char *wanted)
{
	return text->length == strlen(wanted) && memcmp(text->text, wanted, text->length) == 0;
}

enum fsl_status fsl_kineto_intake_learn(struct fsl_kineto_intake *intake,
					const struct fsl_trace_event *event, struct fsl_error *err)
{
	char place[PLACE_BYTES];
	uint32_t id = 0;
	const struct fsl_trace_text *name = &event->texts[FSL_KINETO_LANE_NAME];
	bool is_process = is_text(&event->whole_name, "process_name");
	if (event->phase != 'M' || (!is_process && !is_text(&event->whole_name, "thread_name"))) {
		return FSL_OK;
	}
	int category = fsl_lanes_category(intake->lanes, name->text, name->length);
	if (category == FSL_KINETO_NONE) {
		return FSL_OK;
	}
	size_t length = write_place(place, event, is_process);
	FSL_TRY(fsl_strpool_intern(intake->places, place, length, &id, err));
	FSL_TRY(FSL_GROW(intake->of_place, intake->of_place_capacity, (size_t)id + 1, err));
	intake->of_place[id] = (int8_t)category;
	return FSL_OK;
}

/* Answers of the rules for a category; they are kept. */
static enum fsl_status ask_category(struct fsl_kineto_intake *intake,
				    const struct fsl_trace_text *text, int *category,
				    struct fsl_error *err)
{
	size_t n = fsl_strpool_size(intake->categories);
	uint32_t id = fsl_strpool_find(intake->categories, text->text, text->length);
	if (id != FSL_STR_NONE) {
		*category = intake->of_category[id];
		return FSL_OK;
	}
	*category = fsl_lanes_category(intake->lanes, text->text, text->length);
	if (n >= CATEGORIES_MAX) {
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(intake->categories, text->text, text->length, &id, err));
	FSL_TRY(FSL_GROW(intake->of_category, intake->of_category_capacity, (size_t)id + 1, err));
	intake->of_category[id] = (int8_t)*category;
	return FSL_OK;
}

/* The category by the user's rules: that of the event's own, its thread, its process. */
static enum fsl_status find_lane(struct fsl_kineto_intake *intake,
				 const struct fsl_trace_event *event, int *category,
				 struct fsl_error *err)
{
	char place[PLACE_BYTES];
	*category = FSL_KINETO_NONE;
	if (event->whole_category.length > 0) {
		FSL_TRY(ask_category(intake, &event->whole_category, category, err));
	}
	for (int is_process = 0; is_process < 2 && *category == FSL_KINETO_NONE; is_process++) {
		size_t length = write_place(place, event, is_process != 0);
		uint32_t id = fsl_strpool_find(intake->places, place, length);
		*category = id != FSL_STR_NONE ? intake->of_place[id] : *category;
	}
	return FSL_OK;
}

/* The stack of the event's thread. */
static enum fsl_status find_thread(struct fsl_kineto_intake *intake,
				   const struct fsl_trace_event *event, uint32_t **last,
				   struct fsl_error *err)
{
	char place[PLACE_BYTES];
	uint32_t id = 0;
	size_t n = fsl_strpool_size(intake->threads), length = write_place(place, event, false);
	FSL_TRY(fsl_strpool_intern(intake->threads, place, length, &id, err));
	FSL_TRY(FSL_GROW(intake->last_of_thread, intake->last_capacity, (size_t)id + 1, err));
	if (id == n) {
		intake->last_of_thread[id] = FSL_STR_NONE;
	}
	*last = &intake->last_of_thread[id];
	return FSL_OK;
}

static enum fsl_status keep_texts(struct fsl_kineto_intake *intake,
				  const struct fsl_trace_event *event,
				  uint32_t text_ids[FSL_KINETO_ARGS_N], struct fsl_error *err)
{
	for (size_t i = 0; i < FSL_KINETO_ARGS_N; i++) {
		const struct fsl_trace_text *text = &event->texts[i];
		text_ids[i] = FSL_STR_NONE;
		if (text->length > 0) {
			FSL_TRY(fsl_strpool_intern(intake->events->rank->names, text->text,
						   text->length, &text_ids[i], err));
		}
	}
	return FSL_OK;
}

static enum fsl_status open_event(struct fsl_kineto_intake *intake,
				  const struct fsl_trace_event *event, struct fsl_error *err)
{
	uint32_t *last = NULL, at = intake->first_free;
	struct fsl_kineto_open open = {.name = event->name,
				       .category = event->category,
				       .number = event->number,
				       .ts_ns = event->ts_ns,
				       .name_id = FSL_STR_NONE};
	if (event->ts_ns == FSL_NS_ABSENT || (at == FSL_STR_NONE && intake->n_open >= OPEN_MAX)) {
		intake->n_unmatched++;
		return FSL_OK;
	}
	FSL_TRY(find_thread(intake, event, &last, err));
	if (event->whole_name.length > 0) {
		FSL_TRY(fsl_strpool_intern(intake->events->rank->names, event->whole_name.text,
					   event->whole_name.length, &open.name_id, err));
	}
	memcpy(open.args, event->args, sizeof(open.args));
	FSL_TRY(keep_texts(intake, event, open.text_ids, err));
	open.outer = *last;
	if (at != FSL_STR_NONE) {
		intake->first_free = intake->open[at].outer;
		intake->open[at] = open;
	} else {
		at = (uint32_t)intake->n_open;
		FSL_TRY(FSL_APPEND(intake, open, &open, err));
	}
	*last = at;
	return FSL_OK;
}

/* Adds the event that began last on the thread. Args of the end add to those of the begin. */
static enum fsl_status close_event(struct fsl_kineto_intake *intake,
				   const struct fsl_trace_event *event, struct fsl_error *err)
{
	uint32_t *last = NULL;
	FSL_TRY(find_thread(intake, event, &last, err));
	if (*last == FSL_STR_NONE || event->ts_ns == FSL_NS_ABSENT) {
		intake->n_unmatched++;
		return FSL_OK;
	}
	struct fsl_kineto_open *open = &intake->open[*last];
	struct fsl_trace_event whole = *event;
	uint32_t at = *last;
	*last = open->outer;
	open->outer = intake->first_free;
	intake->first_free = at;
	whole.phase = 'X';
	whole.name = open->name;
	whole.category = open->category;
	whole.number = open->number;
	whole.ts_ns = open->ts_ns;
	whole.dur_ns = event->ts_ns > open->ts_ns ? event->ts_ns - open->ts_ns : 0;
	const char *name = fsl_strpool_text(intake->events->rank->names, open->name_id);
	whole.whole_name = (struct fsl_trace_text){name, strlen(name)};
	for (size_t i = 0; i < FSL_KINETO_ARGS_N; i++) {
		whole.args[i] = whole.args[i] > 0 ? whole.args[i] : open->args[i];
		if (whole.texts[i].length == 0 && open->text_ids[i] != FSL_STR_NONE) {
			const char *text =
				fsl_strpool_text(intake->events->rank->names, open->text_ids[i]);
			whole.texts[i] = (struct fsl_trace_text){text, strlen(text)};
		}
	}
	return fsl_kineto_events_add(intake->events, &whole, err);
}

/* Categories that only exports of ACK AI Profiling have. */
static bool is_unknown_form(const struct fsl_trace_event *event)
{
	bool is_python = event->category == FSL_KINETO_PYTHON && event->whole_category.length == 6;
	return is_python || event->has_nested_args || event->category == FSL_KINETO_SYSCALL ||
	       event->category == FSL_KINETO_CPU;
}

enum fsl_status fsl_kineto_intake_take(struct fsl_kineto_intake *intake,
				       const struct fsl_trace_event *event, struct fsl_error *err)
{
	int category = FSL_KINETO_NONE;
	struct fsl_trace_event told;
	intake->has_unknown_forms |= is_unknown_form(event);
	intake->has_old_words |=
		event->category == FSL_KINETO_OPERATOR && event->whole_category.text[0] == 'O';
	if (intake->lanes != NULL) {
		FSL_TRY(find_lane(intake, event, &category, err));
	}
	if (category != FSL_KINETO_NONE) {
		told = *event; /* few users have rules */
		told.category = category;
		event = &told;
	}
	if (event->phase == 'B') {
		return open_event(intake, event, err);
	}
	return event->phase == 'E' ? close_event(intake, event, err)
				   : fsl_kineto_events_add(intake->events, event, err);
}

uint64_t fsl_kineto_intake_unmatched(const struct fsl_kineto_intake *intake)
{
	uint64_t n_free = 0;
	for (uint32_t at = intake->first_free; at != FSL_STR_NONE; at = intake->open[at].outer) {
		n_free++;
	}
	return intake->n_unmatched + intake->n_open - n_free;
}
