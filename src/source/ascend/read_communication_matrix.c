/*
 * communication_matrix.json: traffic of each link of a group. {"step50": {"p2p":
 * {"allreduce-top1@group": {"0-1": {...}}}, "collective": {...}}}. Captures of 2023 have one label
 * per operator ("hcom_allReduce__483_2@group"); raw captures (PROF_*) have only labels, without
 * step and kind around them.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/try.h"
#include "source/ascend/comms.h"
#include "source/ascend/files.h"
#include "source/ascend/json_records.h"

static const char *const keys[] = {"Transport Type", "Transit Size(MB)", "Transit Time(ms)",
				   "Bandwidth(GB/s)", "Op Name"};
enum key { TRANSPORT, SIZE, TIME, BANDWIDTH, OP_NAME, KEYS_N };
_Static_assert(sizeof(keys) / sizeof(keys[0]) == KEYS_N, "one text per key");

static enum key find_key(const struct fsl_json_value *key)
{
	size_t k = 0;
	while (k < KEYS_N && !fsl_json_is(key, keys[k])) {
		k++;
	}
	return (enum key)k;
}

static bool has_key(const struct fsl_json_value *key)
{
	return find_key(key) != KEYS_N;
}

static void begin_link(struct fsl_json_walk *walk)
{
	struct fsl_profile_link *link = walk->context;
	*link = (struct fsl_profile_link){.name_id = FSL_STR_NONE,
					  .transport = FSL_TRANSPORT_OTHER,
					  .n_bytes = -1,
					  .time_ns = FSL_NS_ABSENT,
					  .gb_per_s = NAN};
}

static void drop_link(struct fsl_json_walk *walk)
{
	(void)walk; /* a record is kept only at its end */
}

static enum fsl_status read_figure(struct fsl_json_walk *walk, const struct fsl_json_value *key,
				   struct fsl_error *err)
{
	struct fsl_profile_link *link = walk->context;
	enum key k = find_key(key);
	struct fsl_json_value value;
	enum fsl_status status = fsl_json_take_scalar(walk->json, &value, err);
	if (status != FSL_OK) {
		return status;
	}
	bool is_text = value.token == FSL_JSON_STRING;
	switch (k) {
	case TRANSPORT:
		link->transport =
			is_text ? fsl_profile_transport_from_text(value.text, value.length)
				: FSL_TRANSPORT_OTHER;
		break;
	case SIZE:
		(void)fsl_json_bytes(&value, &link->n_bytes);
		break;
	case TIME:
		(void)fsl_json_duration(&value, &link->time_ns, &link->time_ps);
		break;
	case BANDWIDTH:
		link->gb_per_s = fsl_json_real(&value);
		break;
	case OP_NAME:
		if (is_text && value.length > 0 && memchr(value.text, '\0', value.length) == NULL) {
			status = fsl_strpool_intern(walk->rank->names, value.text, value.length,
						    &link->name_id, err);
		}
		break;
	case KEYS_N:
		break;
	}
	return status;
}

/* Parses "0-1". */
static bool parse_ends(const struct fsl_json_level *level, struct fsl_profile_link *link)
{
	int64_t src = -1, dst = -1;
	const char *dash = memchr(level->text, '-', level->length);
	size_t n_src = dash != NULL ? (size_t)(dash - level->text) : level->length;
	if (dash == NULL || !fsl_parse_i64(level->text, n_src, &src) ||
	    !fsl_parse_i64(dash + 1, level->length - n_src - 1, &dst) || src < 0 || dst < 0 ||
	    src >= FSL_PROFILE_RANKS_MAX || dst >= FSL_PROFILE_RANKS_MAX) {
		return false;
	}
	link->src = (int32_t)src;
	link->dst = (int32_t)dst;
	return true;
}

/* Tells the kind if no key around the link has it: "send-top1" and "hcom_send__1_2" are p2p. */
static bool is_p2p_label(const struct fsl_json_level *label)
{
	char text[sizeof("hcom_batchsendrecv")] = "hcom_";
	if (fsl_profile_is_p2p(label->text, label->length)) {
		return true;
	}
	size_t n = strlen(text), n_room = sizeof(text) - 1 - n;
	memcpy(text + n, label->text, label->length < n_room ? label->length : n_room);
	return fsl_profile_is_p2p(text, strlen(text));
}

static enum fsl_status end_link(struct fsl_json_walk *walk, struct fsl_error *err)
{
	struct fsl_profile_rank *rank = walk->rank;
	struct fsl_profile_link *link = walk->context;
	const struct fsl_json_level *label = fsl_json_walk_key(walk, 1);
	struct fsl_profile_op_name parts;
	FSL_TRY(fsl_profile_split_op(rank, label->text, label->length, &parts, err));
	if (!parts.is_good) {
		return fsl_json_walk_reject(walk, "a link of an operator without a name", err);
	}
	if (!parse_ends(fsl_json_walk_key(walk, 0), link)) {
		return fsl_json_walk_reject(walk, "a link that is not between two members", err);
	}
	if (link->n_bytes < 0 || link->time_ns == FSL_NS_ABSENT) {
		return fsl_json_walk_reject(walk, "a link without size or time", err);
	}
	link->label_id = parts.name_id;
	link->group_id = parts.group_id;
	link->step = walk->step;
	link->is_p2p = walk->has_kind ? walk->is_p2p : is_p2p_label(label);
	FSL_TRY(FSL_GROW(rank->links, rank->links_capacity, rank->n_links + 1, err));
	rank->links[rank->n_links++] = *link;
	return FSL_OK;
}

enum fsl_status fsl_profile_read_communication_matrix(struct fsl_profile_rank *rank,
						      const struct fsl_profile_input *input,
						      struct fsl_error *err)
{
	static const struct fsl_json_record record = {
		.n_levels_max = 4,
		.has_key = has_key,
		.begin = begin_link,
		.read = read_figure,
		.end = end_link,
		.drop = drop_link,
		.remedy = "no link in the file: a capture without communication",
	};
	struct fsl_profile_link link;
	return fsl_json_walk_file(rank, input, &record, &link, err);
}
