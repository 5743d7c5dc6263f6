/* The first process asks and the other processes answer. So the first process may stop at any
 * point: a process that waits for a question understands FSL_ASK_END. */
#include "source/share.h"

#include "base/log.h"
#include "base/try.h"
#include "source/load_pack.h"
#include "source/share_parts.h"
#include "team/team.h"

enum {
	OPEN_COST_BYTES = 64 * 1024
}; /* bytes that could be read in the time that opening a file takes */

static bool is_first_of_many(void)
{
	return fsl_team_size() > 1 && fsl_team_place() == 0;
}

/* Sends what was packed. */
static enum fsl_status ask(int place, struct fsl_pack *pack, struct fsl_error *err)
{
	enum fsl_status status = FSL_OK;
	if (pack->is_failed) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: place=%d", place);
	} else {
		fsl_team_send(place, pack->bytes, pack->n_bytes);
	}
	fsl_pack_fini(pack);
	return status;
}

static void ask_plain(int place, enum fsl_share_ask what)
{
	const unsigned char byte = (unsigned char)what;
	fsl_team_send(place, &byte, sizeof(byte));
}

/* The file that all processes must see: a folder of the same name alone may be another folder. */
static const char *largest_path(const struct fsl_inputs *inputs)
{
	const struct fsl_input *largest = NULL;
	for (size_t i = 0; i < inputs->n_items; i++) {
		const struct fsl_input *input = &inputs->items[i];
		if (input->fault == NULL &&
		    (largest == NULL || input->n_bytes > largest->n_bytes)) {
			largest = input;
		}
	}
	return largest != NULL ? largest->path : "";
}

static enum fsl_status ask_look(int place, const struct fsl_ingest_options *options,
				const struct fsl_inputs *inputs, struct fsl_error *err)
{
	struct fsl_pack pack = {0};
	fsl_pack_u8(&pack, FSL_ASK_LOOK);
	fsl_pack_text(&pack, FSL_VERSION);
	fsl_pack_text(&pack, options->root_path != NULL ? options->root_path : "");
	fsl_pack_text(&pack, options->training_log != NULL ? options->training_log : "");
	fsl_pack_text(&pack, largest_path(inputs));
	fsl_pack_u64(&pack, (uint64_t)options->from_ns);
	fsl_pack_u64(&pack, (uint64_t)options->to_ns);
	fsl_pack_u8(&pack, options->is_range_for_stages);
	fsl_pack_u8(&pack, options->keeps_stacks);
	fsl_pack_u32(&pack, options->n_threads > 0 ? (uint32_t)options->n_threads : 0);
	fsl_pack_u64(&pack, options->n_log_patterns);
	for (size_t i = 0; i < options->n_log_patterns; i++) {
		fsl_pack_text(&pack, options->log_patterns[i]);
	}
	return ask(place, &pack, err);
}

/* A process that cannot read is left out, with a warning: the others can do its part. */
static enum fsl_status hear_look(struct fsl_share *share, int place, struct fsl_error *err)
{
	struct fsl_message message = {0};
	FSL_TRY(fsl_team_receive(place, &message, err));
	size_t n_text = 0;
	struct fsl_unpack unpack = {.at = message.bytes, .n_left = message.n_bytes};
	bool can_read = fsl_unpack_u8(&unpack) == 1;
	const char *text = fsl_unpack_text(&unpack, FSL_SHARE_TEXT_MAX, &n_text);
	share->is_blind[place] = !can_read;
	if (!can_read) {
		fsl_log(FSL_LOG_WARNING, "share", "a process reads nothing, %.*s, process=%d",
			(int)n_text, text, place);
	}
	fsl_free(message.bytes);
	return FSL_OK;
}

enum fsl_status fsl_share_begin(struct fsl_share *share, const struct fsl_ingest_options *options,
				const struct fsl_inputs *inputs, struct fsl_error *err)
{
	int n_places = is_first_of_many() ? fsl_team_size() : 1;
	share->n_places = n_places;
	share->is_blind = fsl_calloc((size_t)n_places, sizeof(*share->is_blind));
	share->n_bytes = fsl_calloc((size_t)n_places, sizeof(*share->n_bytes));
	if (share->is_blind == NULL || share->n_bytes == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: processes=%d", n_places);
	}
	for (int place = 1; place < n_places; place++) {
		FSL_TRY(ask_look(place, options, inputs, err));
	}
	for (int place = 1; place < n_places; place++) {
		FSL_TRY(hear_look(share, place, err));
	}
	if (n_places > 1) {
		fsl_log(FSL_LOG_INFO, "share", "files are dealt out: processes=%d", n_places);
	}
	return FSL_OK;
}

static int least_loaded(const struct fsl_share *share)
{
	int best = 0;
	for (int place = 1; place < share->n_places; place++) {
		if (!share->is_blind[place] && share->n_bytes[place] < share->n_bytes[best]) {
			best = place;
		}
	}
	return best;
}

void fsl_share_place(struct fsl_share *share, struct fsl_load *loads, size_t n_loads)
{
	size_t order[FSL_BATCH_FILES] = {0};
	fsl_batch_order(loads, n_loads, order);
	for (size_t i = 0; i < n_loads; i++) {
		struct fsl_load *load = &loads[order[i]];
		load->place = 0; /* also if the input has a fault, which only has to be reported */
		if (load->input->fault == NULL) {
			load->place = least_loaded(share);
			share->n_bytes[load->place] += load->input->n_bytes + OPEN_COST_BYTES;
		}
	}
}

static enum fsl_status ask_read(int place, const struct fsl_load *loads, size_t n_loads,
				struct fsl_error *err)
{
	struct fsl_pack pack = {0};
	uint64_t n_files = 0;
	for (size_t i = 0; i < n_loads; i++) {
		n_files += loads[i].place == place;
	}
	fsl_pack_u8(&pack, FSL_ASK_READ);
	fsl_pack_u64(&pack, n_files);
	for (size_t i = 0; i < n_loads; i++) {
		const struct fsl_input *input = loads[i].input;
		if (loads[i].place == place) {
			fsl_pack_text(&pack, input->path);
			fsl_pack_u64(&pack, input->n_bytes);
			fsl_pack_u32(&pack, input->kinds);
			fsl_pack_u8(&pack, input->is_explicit);
			fsl_pack_u8(&pack, input->is_log);
		}
	}
	return ask(place, &pack, err);
}

enum fsl_status fsl_share_deal(struct fsl_share *share, struct fsl_load *loads, size_t n_loads,
			       struct fsl_error *err)
{
	fsl_share_place(share, loads, n_loads);
	for (int place = 1; place < share->n_places; place++) {
		FSL_TRY(share->is_blind[place] ? FSL_OK : ask_read(place, loads, n_loads, err));
	}
	return FSL_OK;
}

/* An answer is a load, or why there is none. */
static enum fsl_status take_answer(struct fsl_load *load, const struct fsl_message *message,
				   struct fsl_error *err)
{
	struct fsl_unpack unpack = {.at = message->bytes, .n_left = message->n_bytes};
	if (fsl_unpack_u8(&unpack) == 1) {
		return fsl_load_unpack(load, unpack.at, unpack.n_left, err);
	}
	size_t n_text = 0;
	const char *text = fsl_unpack_text(&unpack, FSL_SHARE_TEXT_MAX, &n_text);
	return FSL_FAIL(err, FSL_ERR_MEMORY, "another process could not read its files: %.*s",
			(int)n_text, text);
}

/* Loads that other processes read, a few at a time: all threads unpack them while further ones
 * arrive. */
struct hand {
	struct fsl_load *loads[FSL_BATCH_FILES];
	struct fsl_message messages[FSL_BATCH_FILES]; /* their memory serves again */
	size_t n;
};

/* Asks for the next loads from *@at on that other processes read: one for each of @n_threads, and
 * more while they are small. */
static void ask_next(struct hand *hand, struct fsl_load *loads, size_t n_loads, size_t n_threads,
		     size_t *at)
{
	uint64_t n_bytes = 0;
	hand->n = 0;
	for (; *at < n_loads && (hand->n < n_threads || n_bytes < FSL_SHARE_HAND_BYTES); (*at)++) {
		struct fsl_load *load = &loads[*at];
		if (load->place != 0) {
			ask_plain(load->place, FSL_ASK_NEXT);
			hand->loads[hand->n++] = load;
			n_bytes += load->input->n_bytes;
		}
	}
}

static enum fsl_status receive_hand(struct hand *hand, struct fsl_error *err)
{
	for (size_t i = 0; i < hand->n; i++) {
		FSL_TRY(fsl_team_receive(hand->loads[i]->place, &hand->messages[i], err));
	}
	return FSL_OK;
}

/* Unpacks on threads; the first failure in order of path is told. */
static enum fsl_status unpack_hand(struct hand *hand, int n_threads, struct fsl_error *err)
{
	size_t first_failed = hand->n;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads) reduction(min : first_failed)
	for (size_t i = 0; i < hand->n; i++) {
		if (take_answer(hand->loads[i], &hand->messages[i], NULL) != FSL_OK) {
			first_failed = i < first_failed ? i : first_failed;
		}
	}
	return first_failed == hand->n
		       ? FSL_OK
		       : take_answer(hand->loads[first_failed], &hand->messages[first_failed], err);
}

static void hand_fini(struct hand *hand)
{
	for (size_t i = 0; i < FSL_BATCH_FILES; i++) {
		fsl_free(hand->messages[i].bytes);
	}
}

enum fsl_status fsl_share_gather(struct fsl_load *loads, size_t n_loads, int n_threads,
				 struct fsl_error *err)
{
	struct hand *hands = fsl_calloc(2, sizeof(*hands));
	size_t at = 0, n_hand = (size_t)n_threads;
	enum fsl_status status = FSL_OK;
	if (hands == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", n_loads);
	}
	struct hand *hand = &hands[0], *next = &hands[1];
	ask_next(hand, loads, n_loads, n_hand, &at);
	while (status == FSL_OK && hand->n > 0) {
		status = receive_hand(hand, err);
		ask_next(next, loads, n_loads, n_hand, &at);
		if (status == FSL_OK) {
			status = unpack_hand(hand, n_threads, err);
		}
		struct hand *done = hand;
		hand = next;
		next = done;
	}
	if (status != FSL_OK) {
		fsl_team_break(); /* answers that nobody takes are on their way */
	}
	hand_fini(&hands[0]);
	hand_fini(&hands[1]);
	fsl_free(hands);
	return status;
}

void fsl_share_fini(struct fsl_share *share)
{
	fsl_free(share->is_blind);
	fsl_free(share->n_bytes);
	*share = (struct fsl_share){0};
}

void fsl_share_end(void)
{
	for (int place = 1; is_first_of_many() && place < fsl_team_size(); place++) {
		ask_plain(place, FSL_ASK_END);
	}
}
