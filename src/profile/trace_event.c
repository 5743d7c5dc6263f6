/* Events of trace_view.json from the tokenizer. */
#include "profile/trace_event.h"

#include <string.h>
#include <strings.h>

#include "base/digits.h"
#include "base/hash.h"
#include "base/number.h"
#include "profile/comms.h"
#include "profile/json_file.h"

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

/* us to ns. */
static int64_t take_time(const struct fsl_json_value *value, int64_t max_ns)
{
	int64_t ns = FSL_NS_ABSENT;
	(void)fsl_json_scaled(value, FSL_NS_PER_US, max_ns, &ns);
	return ns;
}

static enum fsl_status read_args(struct fsl_json *json, struct fsl_trace_event *event,
				 struct fsl_error *err)
{
	bool is_more = false;
	event->mhz = -1;
	event->process = FSL_TRACE_PROCESS_OTHER;
	enum fsl_status status = fsl_json_enter_object(json, &is_more, err);
	while (status == FSL_OK && is_more) {
		struct fsl_json_value value;
		status = fsl_json_next_key(json, &value, &is_more, err);
		if (status != FSL_OK || !is_more) {
			break;
		}
		bool is_mhz = fsl_json_is(&value, "MHz"), is_name = fsl_json_is(&value, "name");
		status = fsl_json_take_scalar(json, &value, err);
		if (status == FSL_OK && is_mhz) {
			int64_t mhz = -1;
			(void)fsl_json_scaled(&value, 1, INT32_MAX, &mhz);
			event->mhz = (int32_t)mhz;
		} else if (status == FSL_OK && is_name) {
			take_process(event, &value);
		}
	}
	return status;
}

enum key { PHASE, NAME, PID, TS, DUR, CATEGORY, ID, ARGS, OTHER };

static enum key find_key(const struct fsl_json_value *key)
{
	static const char *const keys[] = {
		[PHASE] = "ph", [NAME] = "name",    [PID] = "pid", [TS] = "ts",
		[DUR] = "dur",  [CATEGORY] = "cat", [ID] = "id",   [ARGS] = "args",
	};
	size_t k = 0;
	while (k < OTHER && !fsl_json_is(key, keys[k])) {
		k++;
	}
	return (enum key)k;
}

static void take(struct fsl_trace_event *event, enum key key, const struct fsl_json_value *value)
{
	switch (key) {
	case PHASE:
		event->phase = value->token == FSL_JSON_STRING && value->length == 1
				       ? value->text[0]
				       : '\0';
		break;
	case NAME:
		take_name(event, value);
		break;
	case PID:
		event->pid = 0;
		(void)take_id(value, &event->pid);
		break;
	case TS:
		event->ts_ns = take_time(value, FSL_PROFILE_TIME_MAX_NS);
		break;
	case DUR:
		event->dur_ns = take_time(value, FSL_PROFILE_FIGURE_MAX);
		break;
	case CATEGORY:
		take_category(event, value);
		break;
	case ID:
		event->has_id = take_id(value, &event->id);
		break;
	case ARGS:
	case OTHER:
		break;
	}
}

enum fsl_status fsl_trace_event_read(struct fsl_json *json, struct fsl_trace_event *event,
				     struct fsl_error *err)
{
	*event = (struct fsl_trace_event){
		.ts_ns = FSL_NS_ABSENT, .dur_ns = FSL_NS_ABSENT, .mhz = -1};
	for (;;) {
		struct fsl_json_value value;
		bool has_key = false;
		enum fsl_status status = fsl_json_next_key(json, &value, &has_key, err);
		if (status != FSL_OK || !has_key) {
			return status;
		}
		enum key key = find_key(&value);
		if (key == ARGS) {
			status = read_args(json, event, err);
		} else {
			status = fsl_json_take_scalar(json, &value, err);
			take(event, status == FSL_OK ? key : OTHER, &value);
		}
		if (status != FSL_OK) {
			return status;
		}
	}
}
