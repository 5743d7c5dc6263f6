/* The message of gala-anteater's detector of slow nodes, in its newest form (2024). */
#include "alarm/anteater.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "model/verdict.h"

/* Its codes of results, and the severities of OpenTelemetry's logs. */
enum { RESULT_NORMAL = 200, RESULT_ANOMALY = 201 };
enum { SEVERITY_INFO = 9, SEVERITY_WARN = 13 };
enum { NAME_MAX_BYTES = 512 };

/* A document, and whether a part of it could not be made. */
struct maker {
	bool has_failed;
};

static void put(struct maker *maker, cJSON *object, const char *key, cJSON *item)
{
	if (object == NULL || item == NULL || !cJSON_AddItemToObject(object, key, item)) {
		cJSON_Delete(item);
		maker->has_failed = true;
	}
}

static void put_text(struct maker *maker, cJSON *object, const char *key, const char *text)
{
	put(maker, object, key, cJSON_CreateString(text));
}

static void put_number(struct maker *maker, cJSON *object, const char *key, double number)
{
	put(maker, object, key, cJSON_CreateNumber(number));
}

static void put_bool(struct maker *maker, cJSON *object, const char *key, bool value)
{
	put(maker, object, key, cJSON_CreateBool(value));
}

/*
 * A device of a host ("10.1.0.7#3"), a host, or a rank of an unknown host ("rank 5"). Its object is
 * the number of the device or rank, -1 for a host as a whole.
 */
static void name_place(struct maker *maker, cJSON *detail, const char *place)
{
	char host[NAME_MAX_BYTES] = "", info[NAME_MAX_BYTES];
	const char *mark = strrchr(place, '#'), *object = mark != NULL ? mark + 1 : "-1";
	if (strncmp(place, "rank ", strlen("rank ")) == 0) {
		object = place + strlen("rank ");
	} else {
		(void)snprintf(host, sizeof(host), "%.*s",
			       (int)(mark != NULL ? (size_t)(mark - place) : strlen(place)), place);
	}
	(void)snprintf(info, sizeof(info), "%.255s*%.255s", host, object);
	put_text(maker, detail, "objectId", object);
	put_text(maker, detail, "serverIp", host);
	put_text(maker, detail, "deviceInfo", info);
}

static void put_details(struct maker *maker, cJSON *list, const struct fsl_edge *edge)
{
	const char *cause = fsl_edge_text(edge, "cause");
	const cJSON *place;
	cJSON_ArrayForEach(place, cJSON_GetObjectItem(edge->json, "places"))
	{
		const char *name = cJSON_GetStringValue(place);
		cJSON *detail = cJSON_CreateObject();
		if (detail == NULL || !cJSON_AddItemToArray(list, detail)) {
			cJSON_Delete(detail);
			maker->has_failed = true;
			return;
		}
		name_place(maker, detail, name != NULL ? name : "");
		put_text(maker, detail, "kpiId",
			 *cause != '\0' ? cause : fsl_edge_text(edge, "kind"));
		put_text(maker, detail, "methodType", "SPACE"); /* against its peers */
		put(maker, detail, "kpiData", cJSON_CreateArray());
		put(maker, detail, "relaIds", cJSON_CreateArray());
		put(maker, detail, "omittedDevices", cJSON_CreateArray());
	}
}

static void put_attributes(struct maker *maker, cJSON *root, const struct fsl_edge *edge)
{
	cJSON *attributes = cJSON_AddObjectToObject(root, "Attributes");
	cJSON *details = cJSON_CreateArray();
	bool is_open = fsl_edge_is_open(edge);
	int cause = is_open ? fsl_cause_from_text(fsl_edge_text(edge, "cause")) : -1;
	put_number(maker, attributes, "resultCode", is_open ? RESULT_ANOMALY : RESULT_NORMAL);
	put_bool(maker, attributes, "compute",
		 cause == FSL_CAUSE_COMPUTE || cause == FSL_CAUSE_HOST);
	put_bool(maker, attributes, "network", cause == FSL_CAUSE_NETWORK);
	put_bool(maker, attributes, "storage",
		 cause == FSL_CAUSE_DATALOADER || cause == FSL_CAUSE_STORAGE);
	if (is_open && details != NULL) {
		put_details(maker, details, edge);
	}
	put(maker, attributes, "abnormalDetail", details);
	put(maker, attributes, "normalDetail", cJSON_CreateArray());
	put_text(maker, attributes, "errorMsg", "");
}

char *fsl_anteater_text(const struct fsl_edge *edge)
{
	struct maker maker = {.has_failed = false};
	cJSON *root = cJSON_CreateObject();
	bool is_open = fsl_edge_is_open(edge);
	int64_t time_ns = 0;
	(void)fsl_parse_time(fsl_edge_text(edge, "time"), &time_ns);
	put_number(&maker, root, "Timestamp", (double)(time_ns / FSL_NS_PER_MS));
	put_attributes(&maker, root, edge);
	put_text(&maker, root, "SeverityText", is_open ? "WARN" : "INFO");
	put_number(&maker, root, "SeverityNumber", is_open ? SEVERITY_WARN : SEVERITY_INFO);
	put_text(&maker, root, "Body", fsl_edge_text(edge, "headline"));
	put_bool(&maker, root, "is_anomaly", is_open);
	char *text = maker.has_failed ? NULL : cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return text;
}
