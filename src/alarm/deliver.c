/* From the outbox to the receivers. */
#include "alarm/deliver.h"

#include <cjson/cJSON.h>

#include "alarm/channel.h"
#include "base/log.h"
#include "base/number.h"
#include "base/try.h"
#include "state/outbox.h"

static size_t count_on(const struct fsl_config *config)
{
	size_t n = 0;
	for (size_t c = 0; fsl_channels[c] != NULL; c++) {
		n += fsl_channels[c]->is_on(config);
	}
	return n;
}

bool fsl_alarm_has_channels(const struct fsl_config *config)
{
	return count_on(config) > 0;
}

enum fsl_status fsl_alarm_put(struct fsl_state *state, const struct fsl_config *config,
			      const char *incident, enum fsl_incident_edge edge, const char *text,
			      struct fsl_error *err)
{
	for (size_t c = 0; fsl_channels[c] != NULL; c++) {
		if (fsl_channels[c]->is_on(config)) {
			FSL_TRY(fsl_outbox_put(state, fsl_channels[c]->name, incident, edge, text,
					       config->now_ns, err));
		}
	}
	return FSL_OK;
}

static enum fsl_status send_one(const struct fsl_channel *channel, const struct fsl_config *config,
				const struct fsl_outbox_item *item, int64_t deadline_ns,
				struct fsl_error *err)
{
	cJSON *json = cJSON_Parse(item->text);
	const struct fsl_edge edge = {item->incident, item->edge, item->text, json};
	enum fsl_status status = channel->send(config, &edge, deadline_ns, err);
	cJSON_Delete(json);
	return status;
}

/* Tells one channel what is due; it stops at the first edge that is not taken. */
static void tell_channel(struct fsl_state *state, const struct fsl_channel *channel,
			 const struct fsl_config *config, int64_t deadline_ns)
{
	struct fsl_error err = {0};
	struct fsl_outbox due = {0};
	enum fsl_status status = fsl_outbox_due(state, channel->name, config->now_ns, &due, &err);
	size_t n_taken = 0;
	while (n_taken < due.n_items && status == FSL_OK) {
		const struct fsl_outbox_item *item = &due.items[n_taken];
		status = fsl_outbox_try(state, item, config->now_ns, &err);
		FSL_THEN(status, send_one(channel, config, item, deadline_ns, &err));
		FSL_THEN(status, fsl_outbox_remove(state, item, &err));
		n_taken += status == FSL_OK;
	}
	if (status != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "alarm",
			"a receiver was not told, a later run tries again: channel=\"%s\", "
			"waiting=%zu, cause=\"%s\"",
			channel->name, due.n_items - n_taken, fsl_error_root(&err));
	} else if (n_taken > 0) {
		fsl_log(FSL_LOG_INFO, "alarm", "told: channel=\"%s\", edges=%zu", channel->name,
			n_taken);
	}
	fsl_outbox_fini(&due);
}

int64_t fsl_alarm_share_ns(const struct fsl_config *config)
{
	size_t n_on = count_on(config) + (config->alertmanager_url != NULL);
	double timeout_ns = config->alarm_timeout_s * (double)FSL_NS_PER_S;
	return (int64_t)(timeout_ns / (double)(n_on > 0 ? n_on : 1));
}

void fsl_alarm_deliver(struct fsl_state *state, const struct fsl_config *config)
{
	for (size_t c = 0; fsl_channels[c] != NULL; c++) {
		if (fsl_channels[c]->is_on(config)) {
			tell_channel(state, fsl_channels[c], config,
				     fsl_clock_ns() + fsl_alarm_share_ns(config));
		}
	}
}
