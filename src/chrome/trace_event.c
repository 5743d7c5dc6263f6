/* Events of trace_view.json from the tokenizer. */
#include "chrome/trace_event.h"

#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/number.h"
#include "source/ascend/comms.h"
#include "source/ascend/signal_waits.h"
#include "text/json_walk.h"

static bool begins(const struct fsl_json_value *value, const char *head)
{
	size_t n = strlen(head);
	return value->length >= n && memcmp(value->text, head, n) == 0;
}

/* "dataloader" in any case; the l in its middle is looked for first. */
static bool has_dataloader(const char *text, size_t length)
{
	static const char word[] = "dataloader";
	enum { LENGTH = sizeof(word) - 1, MIDDLE = 4 };
	for (size_t i = 0; i + LENGTH <= length; i++) {
		if ((text[i + MIDDLE] | 0x20) == 'l' && strncasecmp(text + i, word, LENGTH) == 0) {
			return true;
		}
	}
	return false;
}

static enum fsl_trace_name acl_name(const struct fsl_json_value *value)
{
	if (begins(value, "AscendCL@aclrtSynchronize")) {
		return FSL_TRACE_NAME_SYNCHRONIZE;
	}
	return fsl_json_is(value, "AscendCL@opCompile") ? FSL_TRACE_NAME_COMPILE
							: FSL_TRACE_NAME_ACL;
}

/* Names that begin with a capital C, F or A, or that are none of those asked for. */
static enum fsl_trace_name whole_name(const struct fsl_json_value *value)
{
	static const struct {
		const char *text;
		enum fsl_trace_name name;
	} names[] = {
		{"Computing", FSL_TRACE_NAME_COMPUTING},
		{"Communication", FSL_TRACE_NAME_COMMUNICATION},
		{"Communication(Not Overlapped)", FSL_TRACE_NAME_EXPOSED},
		{"Free", FSL_TRACE_NAME_FREE},
		{"AI Core Freq", FSL_TRACE_NAME_FREQ},
		{"process_name", FSL_TRACE_NAME_PROCESS},
		{"Node@launch", FSL_TRACE_NAME_LAUNCH},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].text[0] == value->text[0] && fsl_json_is(value, names[i].text)) {
			return names[i].name;
		}
	}
	return has_dataloader(value->text, value->length) ? FSL_TRACE_NAME_DATALOADER
							  : FSL_TRACE_NAME_OTHER;
}

static void take_name(struct fsl_trace_event *event, const struct fsl_json_value *value)
{
	event->name = FSL_TRACE_NAME_OTHER;
	if (value->token != FSL_JSON_STRING || value->length == 0) {
		return;
	}
	if (value->text[0] == 'A' && begins(value, "AscendCL@")) {
		event->name = acl_name(value);
	} else if (value->text[0] == 'h' && begins(value, "hcom_receive")) {
		event->name = FSL_TRACE_NAME_RECEIVE;
	} else if (value->text[0] == 'N' && fsl_is_signal_wait(value->text, value->length)) {
		event->name = FSL_TRACE_NAME_SIGNAL;
	} else if (value->text[0] == 'P' && begins(value, "ProfilerStep#")) {
		event->name = FSL_TRACE_NAME_STEP;
		event->step = fsl_profile_step_from_text(value->text + 13, value->length - 13);
	} else {
		event->name = whole_name(value);
	}
}

static void take_category(struct fsl_trace_event *event, const struct fsl_json_value *value)
{
	static const struct {
		const char *text;
		enum fsl_trace_category category;
	} categories[] = {
		{"python_function", FSL_TRACE_CATEGORY_PYTHON},
		{"HostToDevice", FSL_TRACE_CATEGORY_HOST_TO_DEVICE},
		{"async_npu", FSL_TRACE_CATEGORY_TORCH},
		{"async_task_queue", FSL_TRACE_CATEGORY_QUEUE},
	};
	event->category = FSL_TRACE_CATEGORY_NONE;
	if (value->token != FSL_JSON_STRING) {
		return;
	}
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		if (fsl_json_is(value, categories[i].text)) {
			event->category = categories[i].category;
		}
	}
	if (value->length == 2 && strncasecmp(value->text, "gc", 2) == 0) {
		event->category = FSL_TRACE_CATEGORY_GC;
	}
}

static void take_process(struct fsl_trace_event *event, const struct fsl_json_value *value)
{
	event->process = FSL_TRACE_PROCESS_OTHER;
	if (value->token != FSL_JSON_STRING) {
		return;
	}
	if (fsl_json_is(value, "Ascend Hardware")) {
		event->process = FSL_TRACE_PROCESS_DEVICE;
	} else if (fsl_json_is(value, "HCCL") || fsl_json_is(value, "Communication")) {
		event->process = FSL_TRACE_PROCESS_COMMUNICATION;
	} else if (fsl_json_is(value, "Overlap Analysis")) {
		event->process = FSL_TRACE_PROCESS_OVERLAP;
	}
}

/* An id, a number or a string: decimal digits are their number, everything else a hash. */
static bool take_id(const struct fsl_json_value *value, uint64_t *id)
{
	if (value->token != FSL_JSON_STRING && value->token != FSL_JSON_NUMBER) {
		return false;
	}
	if (!fsl_parse_u64(value->text, value->length, id)) {
		*id = fsl_hash_bytes(FSL_HASH_START, value->text, value->length);
	}
	return true;
}

/* us with up to three decimals, as most times are, to ns; false for everything else. */
static bool parse_plain_us(const char *text, size_t length, int64_t *ns)
{
	static const uint64_t scales[] = {1000, 100, 10, 1};
	enum { DIGITS_MAX = 19 }; /* fit 64 bits */
	uint64_t value = 0;
	size_t i = 0, n_whole = 0;
	for (; i < length && i < DIGITS_MAX && text[i] >= '0' && text[i] <= '9'; i++) {
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	n_whole = i;
	if (n_whole == 0 || n_whole + 3 > DIGITS_MAX || (i < length && text[i++] != '.') ||
	    length - i > 3) {
		return false;
	}
	size_t n_decimals = length - i;
	for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
		value = value * 10 + (uint64_t)(text[i] - '0');
	}
	return i == length && !__builtin_mul_overflow(value, scales[n_decimals], ns);
}

/* us to ns. */
static int64_t take_time(const struct fsl_json_value *value, int64_t max_ns)
{
	int64_t ns = FSL_NS_ABSENT;
	bool is_text = value->token == FSL_JSON_NUMBER || value->token == FSL_JSON_STRING;
	if (is_text && parse_plain_us(value->text, value->length, &ns)) {
		return ns <= max_ns ? ns : FSL_NS_ABSENT;
	}
	ns = FSL_NS_ABSENT;
	(void)fsl_json_scaled(value, FSL_NS_PER_US, max_ns, &ns);
	return ns;
}

/* -1 for what is no number that fits, as 4294967295 for nobody. */
static int32_t take_i32(const struct fsl_json_value *value)
{
	int64_t number = -1;
	(void)fsl_json_scaled(value, 1, INT32_MAX, &number);
	return (int32_t)number;
}

static bool is_text(const char *text, size_t length, const char *key, size_t n_key)
{
	return length == n_key && memcmp(text, key, n_key) == 0;
}
#define IS(key) is_text(text, length, "" key, sizeof(key) - 1)

enum fsl_trace_key fsl_trace_key_find(const char *text, size_t length)
{
	switch (length) {
	case 2:
		if (IS("ph")) {
			return FSL_TRACE_KEY_PHASE;
		}
		if (IS("ts")) {
			return FSL_TRACE_KEY_TS;
		}
		return IS("id") ? FSL_TRACE_KEY_ID : FSL_TRACE_KEY_OTHER;
	case 3:
		if (IS("pid")) {
			return FSL_TRACE_KEY_PID;
		}
		if (IS("dur")) {
			return FSL_TRACE_KEY_DUR;
		}
		return IS("cat") ? FSL_TRACE_KEY_CATEGORY : FSL_TRACE_KEY_OTHER;
	case 4:
		if (IS("name")) {
			return FSL_TRACE_KEY_NAME;
		}
		return IS("args") ? FSL_TRACE_KEY_ARGS : FSL_TRACE_KEY_OTHER;
	default:
		return FSL_TRACE_KEY_OTHER;
	}
}

enum fsl_trace_key fsl_trace_key_find_arg(const char *text, size_t length)
{
	switch (length) {
	case 3:
		return IS("MHz") ? FSL_TRACE_KEY_ARG_MHZ : FSL_TRACE_KEY_OTHER;
	case 4:
		return IS("name") ? FSL_TRACE_KEY_ARG_NAME : FSL_TRACE_KEY_OTHER;
	case 8:
		return IS("dst rank") ? FSL_TRACE_KEY_ARG_PEER : FSL_TRACE_KEY_OTHER;
	default:
		return FSL_TRACE_KEY_OTHER;
	}
}

void fsl_trace_event_clear(struct fsl_trace_event *event)
{
	*event = (struct fsl_trace_event){
		.ts_ns = FSL_NS_ABSENT, .dur_ns = FSL_NS_ABSENT, .mhz = -1, .peer = -1};
}

void fsl_trace_event_clear_args(struct fsl_trace_event *event)
{
	event->mhz = -1;
	event->peer = -1;
	event->process = FSL_TRACE_PROCESS_OTHER;
}

void fsl_trace_event_take(struct fsl_trace_event *event, enum fsl_trace_key key,
			  const struct fsl_json_value *value)
{
	switch (key) {
	case FSL_TRACE_KEY_PHASE:
		event->phase = '\0';
		if (value->token == FSL_JSON_STRING && value->length == 1) {
			event->phase = value->text[0];
		}
		break;
	case FSL_TRACE_KEY_NAME:
		take_name(event, value);
		break;
	case FSL_TRACE_KEY_PID:
		event->pid = 0;
		(void)take_id(value, &event->pid);
		break;
	case FSL_TRACE_KEY_TS:
		event->ts_ns = take_time(value, FSL_JSON_TIME_MAX_NS);
		break;
	case FSL_TRACE_KEY_DUR:
		event->dur_ns = take_time(value, FSL_JSON_FIGURE_MAX);
		break;
	case FSL_TRACE_KEY_CATEGORY:
		take_category(event, value);
		break;
	case FSL_TRACE_KEY_ID:
		event->has_id = take_id(value, &event->id);
		break;
	case FSL_TRACE_KEY_ARG_MHZ:
		event->mhz = take_i32(value);
		break;
	case FSL_TRACE_KEY_ARG_PEER:
		event->peer = take_i32(value);
		break;
	case FSL_TRACE_KEY_ARG_NAME:
		take_process(event, value);
		break;
	case FSL_TRACE_KEY_ARGS:
	case FSL_TRACE_KEY_OTHER:
		break;
	}
}

const char *fsl_trace_event_fault(const struct fsl_trace_event *event)
{
	bool is_freq = event->phase == 'C' && event->name == FSL_TRACE_NAME_FREQ;
	if (event->phase == '\0') {
		return "an event without a phase (ph)";
	}
	if (event->phase == 'X' &&
	    (event->ts_ns == FSL_NS_ABSENT || event->dur_ns == FSL_NS_ABSENT)) {
		return "an event without a begin or duration";
	}
	if (is_freq && (event->ts_ns == FSL_NS_ABSENT || event->mhz < 0)) {
		return "a frequency without time or value";
	}
	return NULL;
}

static enum fsl_status read_args(struct fsl_json *json, struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	bool is_more = false;
	fsl_trace_event_clear_args(event);
	enum fsl_status status = fsl_json_enter_object(json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		status = fsl_json_next_key(json, &value, &is_more, err);
		if (status == FSL_OK && is_more) {
			enum fsl_trace_key key = fsl_trace_key_find_arg(value.text, value.length);
			status = fsl_json_take_scalar(json, &value, err);
			fsl_trace_event_take(event, status == FSL_OK ? key : FSL_TRACE_KEY_OTHER,
					     &value);
		}
	}
	return status;
}

enum fsl_status fsl_trace_event_read(struct fsl_json *json, struct fsl_trace_event *event,
				     struct fsl_error *err)
{
	fsl_trace_event_clear(event);
	for (;;) {
		struct fsl_json_value value;
		bool has_key = false;
		enum fsl_status status = fsl_json_next_key(json, &value, &has_key, err);
		if (status != FSL_OK || !has_key) {
			return status;
		}
		enum fsl_trace_key key = fsl_trace_key_find(value.text, value.length);
		if (key == FSL_TRACE_KEY_ARGS) {
			status = read_args(json, event, err);
		} else {
			status = fsl_json_take_scalar(json, &value, err);
			fsl_trace_event_take(event, status == FSL_OK ? key : FSL_TRACE_KEY_OTHER,
					     &value);
		}
		if (status != FSL_OK) {
			return status;
		}
	}
}
