/* Walks to records inside nested objects with a stack of keys, without recursion. */
#include "source/ascend/json_records.h"

#include <string.h>

#include "base/try.h"
#include "source/ascend/comms.h"

const struct fsl_json_level *fsl_json_walk_key(const struct fsl_json_walk *walk, size_t n_up)
{
	static const struct fsl_json_level none = {.length = 0};
	return n_up < walk->n_levels ? &walk->levels[walk->n_levels - 1 - n_up] : &none;
}

enum fsl_status fsl_json_walk_reject(struct fsl_json_walk *walk, const char *reason,
				     struct fsl_error *err)
{
	walk->record->drop(walk);
	return fsl_json_file_drop(walk->rank, walk->input, walk->json, reason, err);
}

/* Sets step and kind from the keys around the record. */
static void place(struct fsl_json_walk *walk)
{
	walk->step = FSL_STEP_ABSENT;
	walk->has_kind = walk->is_p2p = false;
	for (size_t i = 0; i + 1 < walk->n_levels; i++) {
		const struct fsl_json_value key = {FSL_JSON_KEY, walk->levels[i].text,
						   walk->levels[i].length};
		if (fsl_json_is(&key, "p2p") || fsl_json_is(&key, "collective")) {
			walk->has_kind = true;
			walk->is_p2p = key.text[0] == 'p';
		} else if (i == 0) {
			walk->step = fsl_profile_step_from_text(key.text, key.length);
		}
	}
}

static enum fsl_status end_record(struct fsl_json_walk *walk, struct fsl_error *err)
{
	place(walk);
	walk->is_open = false;
	if (!fsl_profile_wants_step(walk->input, walk->step)) {
		walk->record->drop(walk);
		return FSL_OK;
	}
	walk->input->file->n_records++;
	return fsl_json_walk_key(walk, 0)->is_long
		       ? fsl_json_walk_reject(walk, "the name is too long", err)
		       : walk->record->end(walk, err);
}

/* True for sums ("Total Op Info") and for unwanted steps. */
static bool is_skipped(const struct fsl_json_walk *walk, const struct fsl_json_value *key)
{
	bool is_total = key->length >= 5 && memcmp(key->text, "Total", 5) == 0;
	return is_total || (walk->n_levels == 0 &&
			    !fsl_profile_wants_step(walk->input, fsl_profile_step_from_text(
									 key->text, key->length)));
}

/* Handles the value behind a key that belongs to no record: an object opens a level. */
static enum fsl_status open_level(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				  struct fsl_error *err)
{
	bool is_entered = false;
	if (walk->is_open || walk->n_levels == walk->record->n_levels_max ||
	    is_skipped(walk, key)) {
		struct fsl_json_value value;
		return fsl_json_take_scalar(walk->json, &value, err);
	}
	struct fsl_json_level *level = &walk->levels[walk->n_levels];
	level->is_long = key->length > sizeof(level->text);
	level->length = level->is_long ? 0 : key->length;
	memcpy(level->text, key->text, level->length);
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_entered, err);
	walk->n_levels += is_entered;
	return status;
}

static enum fsl_status read_key(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				struct fsl_error *err)
{
	if (walk->n_levels == 0 || !walk->record->has_key(key)) {
		return open_level(walk, key, err);
	}
	if (!walk->is_open) {
		walk->is_open = true;
		walk->record->begin(walk);
	}
	return walk->record->read(walk, key, err);
}

enum fsl_status fsl_json_walk_members(struct fsl_json_walk *walk, fsl_json_member member, void *of,
				      struct fsl_error *err)
{
	bool is_more = false;
	FSL_TRY(fsl_json_enter_object(walk->json, &is_more, err));
	while (is_more) {
		struct fsl_json_value key;
		FSL_TRY(fsl_json_next_key(walk->json, &key, &is_more, err));
		if (is_more) {
			FSL_TRY(member(walk, &key, of, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status read_document(struct fsl_json_walk *walk, struct fsl_error *err)
{
	bool is_more = false;
	enum fsl_status status = fsl_json_enter_object(walk->json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value key;
		bool has_key = false;
		status = fsl_json_next_key(walk->json, &key, &has_key, err);
		if (status == FSL_OK && has_key) {
			status = read_key(walk, &key, err);
		} else if (status == FSL_OK) {
			status = walk->is_open ? end_record(walk, err) : FSL_OK;
			is_more = walk->n_levels > 0;
			walk->n_levels -= is_more;
		}
	}
	return status;
}

enum fsl_status fsl_json_walk_file(struct fsl_profile_rank *rank,
				   const struct fsl_profile_input *input,
				   const struct fsl_json_record *record, void *context,
				   struct fsl_error *err)
{
	struct fsl_error own = {0};
	struct fsl_json_walk *walk = fsl_calloc(1, sizeof(*walk));
	struct fsl_json *json = fsl_json_create(input->reader);
	enum fsl_status status = FSL_ERR_MEMORY;
	if (walk != NULL && json != NULL) {
		walk->rank = rank;
		walk->input = input;
		walk->json = json;
		walk->record = record;
		walk->context = context;
		status = read_document(walk, &own);
		if (walk->is_open) {
			record->drop(walk);
		}
	}
	fsl_json_destroy(json);
	fsl_free(walk);
	return fsl_json_file_end(rank, input, status, &own, record->remedy, err);
}
