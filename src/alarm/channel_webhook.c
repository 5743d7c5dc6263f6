/* Posts each edge as JSON: our document, or a message that Slack and its likes take. */
#include <stdlib.h>
#include <string.h>

#include "alarm/channel.h"
#include "alarm/http.h"
#include "base/mem.h"
#include "base/try.h"

enum { HEADER_MAX = 128 };

static bool is_on(const struct fsl_config *config)
{
	return config->webhook_url != NULL;
}

/* {"text": "failslow: job llama: SLOW RANK ..."}; free with cJSON_free. NULL: out of memory. */
static char *slack_text(const struct fsl_edge *edge)
{
	cJSON *root = cJSON_CreateObject();
	const char *words[] = {fsl_edge_is_open(edge) ? "Slow" : "Well again",
			       ": job ",
			       fsl_edge_text(edge, "job"),
			       ": ",
			       fsl_edge_text(edge, "headline"),
			       " (incident ",
			       edge->incident,
			       ")"};
	char message[2048] = "";
	size_t length = 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);
		n = n < sizeof(message) - 1 - length ? n : sizeof(message) - 1 - length;
		memcpy(message + length, words[i], n);
		length += n;
	}
	char *text = cJSON_AddStringToObject(root, "text", message) != NULL
			     ? cJSON_PrintUnformatted(root)
			     : NULL;
	cJSON_Delete(root);
	return text;
}

/* Sets @header to the signature of @body, or to nothing if no key is configured. */
static enum fsl_status sign(char header[HEADER_MAX], const struct fsl_config *config,
			    const char *body, struct fsl_error *err)
{
	static const char key[] = "webhook_secret_file";
	char file[4096], *secret = NULL, digits[FSL_HMAC_CHARS + 1];
	const char *variable = getenv("FAILSLOW_WEBHOOK_SECRET");
	*header = '\0';
	if (config->webhook_secret_file != NULL) {
		(void)snprintf(file, sizeof(file), "file:%s", config->webhook_secret_file);
		FSL_TRY(fsl_secret_read(&secret, key, file, err));
	}
	enum fsl_status status = FSL_OK;
	if (secret != NULL || variable != NULL) {
		status = fsl_hmac_sha256(digits, secret != NULL ? secret : variable, body, err);
	}
	if (status == FSL_OK && (secret != NULL || variable != NULL)) {
		(void)snprintf(header, HEADER_MAX, "X-Failslow-Signature: sha256=%s", digits);
	}
	fsl_free(secret);
	return status;
}

static enum fsl_status post(const struct fsl_config *config, const struct fsl_edge *edge,
			    const char *url, const char *body, int64_t deadline_ns,
			    struct fsl_error *err)
{
	char once[HEADER_MAX], signature[HEADER_MAX];
	(void)snprintf(once, sizeof(once), "Idempotency-Key: %s-%s", edge->incident, edge->name);
	FSL_TRY(sign(signature, config, body, err));
	const struct fsl_http_post request = {
		.key = "webhook_url",
		.url = url,
		.body = body,
		.headers = {once, *signature != '\0' ? signature : NULL},
		.deadline_ns = deadline_ns,
	};
	return fsl_http_send(&request, err);
}

static enum fsl_status send_edge(const struct fsl_config *config, const struct fsl_edge *edge,
				 int64_t deadline_ns, struct fsl_error *err)
{
	char *url = NULL;
	bool is_slack = config->webhook_form == FSL_WEBHOOK_SLACK;
	char *message = is_slack ? slack_text(edge) : NULL;
	if (is_slack && message == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: channel=\"webhook\"");
	}
	enum fsl_status status = fsl_secret_read(&url, "webhook_url", config->webhook_url, err);
	FSL_THEN(status,
		 post(config, edge, url, is_slack ? message : edge->text, deadline_ns, err));
	fsl_free(url);
	cJSON_free(message);
	return status;
}

const struct fsl_channel fsl_channel_webhook = {
	.name = "webhook",
	.summary = "posts begins and ends of incidents as JSON, signed (webhook_url)",
	.is_on = is_on,
	.send = send_edge,
};
