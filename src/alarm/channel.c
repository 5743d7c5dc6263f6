/* The table of channels, and what they share. */
#include "alarm/channel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/try.h"

#define CHANNEL(name) extern const struct fsl_channel fsl_channel_##name;
#include "alarm/channels.def"
#undef CHANNEL

const struct fsl_channel *const fsl_channels[] = {
#define CHANNEL(name) &fsl_channel_##name,
#include "alarm/channels.def"
#undef CHANNEL
	NULL,
};

const char *fsl_edge_text(const struct fsl_edge *edge, const char *key)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(edge->json, key));
	return text != NULL ? text : "";
}

bool fsl_edge_is_open(const struct fsl_edge *edge)
{
	return strcmp(edge->name, "open") == 0;
}

int64_t fsl_clock_ns(void)
{
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * FSL_NS_PER_S + now.tv_nsec;
}

int fsl_clock_left_ms(int64_t deadline_ns)
{
	int64_t left_ms = (deadline_ns - fsl_clock_ns()) / FSL_NS_PER_MS;
	return left_ms < 0 ? 0 : left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;
}

static enum fsl_status read_file(char **out, const char *key, const char *path,
				 struct fsl_error *err)
{
	enum { SECRET_BYTES_MAX = 4096 };
	struct fsl_reader *reader = NULL;
	const char *bytes = NULL;
	size_t n = 0;
	enum fsl_status status = fsl_reader_open(&reader, path, err);
	FSL_THEN(status, fsl_reader_peek(reader, SECRET_BYTES_MAX, &bytes, &n, err));
	if (status != FSL_OK) {
		fsl_reader_close(reader);
		return FSL_CAUSE(err, FSL_ERR_CONFIG,
				 "cannot read a secret, name a file that this user may read: "
				 "key=\"%s\", file=\"%s\"",
				 key, path);
	}
	size_t length = 0;
	n = n < SECRET_BYTES_MAX ? n : SECRET_BYTES_MAX;
	while (length < n && bytes[length] != '\n' && bytes[length] != '\r' &&
	       bytes[length] != '\0') {
		length++;
	}
	*out = fsl_calloc(length + 1, 1);
	if (*out != NULL) {
		memcpy(*out, bytes, length);
	}
	fsl_reader_close(reader);
	return *out != NULL ? FSL_OK
			    : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: key=\"%s\"", key);
}

enum fsl_status fsl_secret_read(char **out, const char *key, const char *value,
				struct fsl_error *err)
{
	static const char of_file[] = "file:", of_variable[] = "env:";
	if (strncmp(value, of_file, strlen(of_file)) == 0) {
		return read_file(out, key, value + strlen(of_file), err);
	}
	if (strncmp(value, of_variable, strlen(of_variable)) == 0) {
		const char *name = value + strlen(of_variable);
		value = getenv(name);
		if (value == NULL) {
			return FSL_FAIL(err, FSL_ERR_CONFIG,
					"a variable that holds a secret is not set, set it: "
					"key=\"%s\", variable=\"%s\"",
					key, name);
		}
	}
	*out = fsl_calloc(strlen(value) + 1, 1);
	if (*out != NULL) {
		memcpy(*out, value, strlen(value));
	}
	return *out != NULL ? FSL_OK
			    : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: key=\"%s\"", key);
}
