/* Any bytes as JSON: no read out of bounds, tokens in order and nested rightly, numbers parse. */
#include "base/json_stream.h"
#include "base/log.h"
#include "base/number.h"
#include "fuzz/fuzz.h"

/* A number token has a value or is out of range, but is never refused for its form. */
static void check_number(const char *text, size_t length)
{
	int64_t ns = 0;
	bool fits = fsl_parse_scaled(text, length, 1000, &ns);
	int64_t whole = 0;
	if (fits && fsl_parse_i64(text, length, &whole)) {
		FSL_REQUIRE(whole * 1000 == ns);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	struct fsl_json *json = reader != NULL ? fsl_json_create(reader) : NULL;
	struct fsl_json_value value = {FSL_JSON_END, "", 0};
	size_t depth = 0;
	volatile unsigned char last = 0;
	while (json != NULL && fsl_json_next(json, &value, NULL) == FSL_OK &&
	       value.token != FSL_JSON_END) {
		depth +=
			value.token == FSL_JSON_OBJECT_BEGIN || value.token == FSL_JSON_ARRAY_BEGIN;
		depth -= value.token == FSL_JSON_OBJECT_END || value.token == FSL_JSON_ARRAY_END;
		FSL_REQUIRE(depth == fsl_json_depth(json) && depth <= FSL_JSON_DEPTH_MAX);
		for (size_t i = 0; i < value.length; i++) {
			last = (unsigned char)value.text[i];
		}
		if (value.token == FSL_JSON_NUMBER) {
			check_number(value.text, value.length);
		}
		if (value.token == FSL_JSON_KEY && last == 's') {
			(void)fsl_json_skip(json, NULL);
		}
	}
	fsl_json_destroy(json);
	fsl_reader_close(reader);
	return 0;
}
