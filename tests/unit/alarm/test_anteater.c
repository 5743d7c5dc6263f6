/* Edges as gala-anteater's messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alarm/anteater.h"

static cJSON *message_of(const char *name, const char *text)
{
	cJSON *json = cJSON_Parse(text);
	assert_non_null(json);
	const struct fsl_edge edge = {"01", name, text, json};
	char *told = fsl_anteater_text(&edge);
	assert_non_null(told);
	cJSON *message = cJSON_Parse(told);
	assert_non_null(message);
	cJSON_free(told);
	cJSON_Delete(json);
	return message;
}

static const cJSON *attribute(const cJSON *message, const char *key)
{
	return cJSON_GetObjectItem(cJSON_GetObjectItem(message, "Attributes"), key);
}

static void check_text(const cJSON *object, const char *key, const char *text)
{
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, key)), text);
}

static void check_place(const cJSON *message, int idx, const char *object, const char *host)
{
	const cJSON *detail = cJSON_GetArrayItem(attribute(message, "abnormalDetail"), idx);
	char info[64];
	(void)snprintf(info, sizeof(info), "%s*%s", host, object);
	check_text(detail, "objectId", object);
	check_text(detail, "serverIp", host);
	check_text(detail, "deviceInfo", info);
	check_text(detail, "methodType", "SPACE");
	assert_true(cJSON_IsArray(cJSON_GetObjectItem(detail, "kpiData")));
	assert_true(cJSON_IsArray(cJSON_GetObjectItem(detail, "relaIds")));
	assert_true(cJSON_IsArray(cJSON_GetObjectItem(detail, "omittedDevices")));
}

static void the_begin_is_an_anomaly_with_an_entry_for_each_place(void **state)
{
	(void)state;
	cJSON *message = message_of(
		"open", "{\"time\": \"2025-06-15T15:08:20.123Z\", \"cause\": \"dataloader\", "
			"\"kind\": \"slow_rank\", \"headline\": \"SLOW RANK: rank 3\", "
			"\"places\": [\"10.1.0.7#3\", \"node-8\", \"rank 12\"]}");
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(message, "Timestamp")) ==
		    1750000100123.0);
	assert_true(cJSON_GetNumberValue(attribute(message, "resultCode")) == 201.0);
	assert_true(cJSON_IsFalse(attribute(message, "compute")));
	assert_true(cJSON_IsFalse(attribute(message, "network")));
	assert_true(cJSON_IsTrue(attribute(message, "storage")));
	assert_int_equal(cJSON_GetArraySize(attribute(message, "abnormalDetail")), 3);
	check_place(message, 0, "3", "10.1.0.7");
	check_place(message, 1, "-1", "node-8");
	check_place(message, 2, "12", "");
	check_text(cJSON_GetArrayItem(attribute(message, "abnormalDetail"), 0), "kpiId",
		   "dataloader");
	check_text(message, "SeverityText", "WARN");
	check_text(message, "Body", "SLOW RANK: rank 3");
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(message, "SeverityNumber")) == 13.0);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(message, "is_anomaly")));
	cJSON_Delete(message);
}

static void causes_raise_the_flags_that_the_verdict_file_has(void **state)
{
	(void)state;
	static const struct {
		const char *cause, *flag;
	} cases[] = {{"compute", "compute"},    {"host", "compute"},    {"network", "network"},
		     {"dataloader", "storage"}, {"storage", "storage"}, {"", ""}};
	static const char *const flags[] = {"compute", "network", "storage"};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256];
		(void)snprintf(text, sizeof(text),
			       "{\"time\": \"2025-06-15T15:08:20Z\", \"cause\": \"%s\", \"kind\": "
			       "\"hang\", \"places\": [\"10.1.0.7#3\"]}",
			       cases[i].cause);
		cJSON *message = message_of("open", text);
		for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++) {
			assert_int_equal(cJSON_IsTrue(attribute(message, flags[f])),
					 strcmp(flags[f], cases[i].flag) == 0);
		}
		check_text(cJSON_GetArrayItem(attribute(message, "abnormalDetail"), 0), "kpiId",
			   cases[i].cause[0] != '\0' ? cases[i].cause : "hang");
		cJSON_Delete(message);
	}
}

static void the_end_is_no_anomaly_and_names_nobody(void **state)
{
	(void)state;
	cJSON *message = message_of(
		"clear", "{\"time\": \"2025-06-15T15:18:20Z\", \"cause\": \"network\", \"kind\": "
			 "\"slow_link\", \"headline\": \"OVER\", \"places\": [\"10.1.0.7#3\"]}");
	assert_true(cJSON_GetNumberValue(attribute(message, "resultCode")) == 200.0);
	assert_true(cJSON_IsFalse(attribute(message, "network")));
	assert_int_equal(cJSON_GetArraySize(attribute(message, "abnormalDetail")), 0);
	assert_true(cJSON_IsArray(attribute(message, "normalDetail")));
	check_text(message, "SeverityText", "INFO");
	assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(message, "SeverityNumber")) == 9.0);
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(message, "is_anomaly")));
	cJSON_Delete(message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_begin_is_an_anomaly_with_an_entry_for_each_place),
		cmocka_unit_test(causes_raise_the_flags_that_the_verdict_file_has),
		cmocka_unit_test(the_end_is_no_anomaly_and_names_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
