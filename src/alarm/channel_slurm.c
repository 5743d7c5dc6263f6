/*
 * Notes incidents in the comments of Slurm's nodes, and takes nodes out of service if that is
 * configured and the host is a repeater. What others wrote or drained stays as it is, and nothing
 * is put back into service.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "alarm/channel.h"
#include "alarm/program.h"
#include "base/try.h"

enum { NODE_MAX = 256, COMMENT_MAX = 512, OUTPUT_MAX = 16384 };

/* A node is drained only for a loss, a confidence and a recurrence that leave no doubt. */
#define DRAIN_LOST_SHARE_MIN 0.10
#define DRAIN_CONFIDENCE_MIN 0.90
enum { DRAIN_INCIDENTS_MIN = 3 }; /* within 7 days */

static const char mark[] = "failslow:"; /* begins each comment of ours */

static bool is_on(const struct fsl_config *config)
{
	return config->slurm != FSL_SLURM_OFF;
}

/* Slurm names nodes by their short names, and the job knows addresses. */
static void name_node(char node[NODE_MAX], const char *host)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	(void)snprintf(node, NODE_MAX, "%s", host);
	if (inet_pton(AF_INET, host, &address.sin_addr) == 1 &&
	    getnameinfo((const struct sockaddr *)&address, sizeof(address), node, NODE_MAX, NULL, 0,
			NI_NAMEREQD) != 0) {
		(void)snprintf(node, NODE_MAX, "%s", host);
		return;
	}
	if (inet_pton(AF_INET, node, &address.sin_addr) != 1) {
		node[strcspn(node, ".")] = '\0';
	}
}

static enum fsl_status ask(const struct fsl_config *config, const char *const *arguments,
			   char *output, size_t n_output, int64_t deadline_ns,
			   struct fsl_error *err)
{
	const char *words[8] = {config->slurm_command};
	for (size_t i = 0; arguments[i] != NULL && i + 2 < sizeof(words) / sizeof(words[0]); i++) {
		words[i + 1] = arguments[i];
	}
	const struct fsl_program program = {
		.key = "slurm_command",
		.words = words,
		.deadline_ns = deadline_ns,
		.output = output,
		.n_output = n_output,
	};
	return fsl_program_run(&program, err);
}

static double number_of(const struct fsl_edge *edge, const char *key)
{
	const cJSON *item = cJSON_GetObjectItem(edge->json, key);
	return cJSON_IsNumber(item) ? item->valuedouble : 0.0;
}

static bool is_to_be_drained(const struct fsl_config *config, const struct fsl_edge *edge,
			     const char *facts)
{
	return config->slurm == FSL_SLURM_DRAIN && fsl_edge_is_open(edge) &&
	       number_of(edge, "lostShare") >= DRAIN_LOST_SHARE_MIN &&
	       number_of(edge, "confidence") >= DRAIN_CONFIDENCE_MIN &&
	       number_of(edge, "incidentsOfHost7Days") >= DRAIN_INCIDENTS_MIN &&
	       strstr(facts, "DRAIN") == NULL;
}

/* True if the node has a comment that is not ours. */
static bool has_other_comment(const char *facts)
{
	static const char key[] = "Comment=";
	for (const char *at = strstr(facts, key); at != NULL; at = strstr(at + 1, key)) {
		bool is_whole = at == facts || at[-1] == ' ' || at[-1] == '\n';
		if (is_whole) {
			const char *text = at + strlen(key);
			bool is_none = *text == '\0' || *text == ' ' || *text == '\n' ||
				       strncmp(text, "(null)", 6) == 0;
			return !is_none && strncmp(text, mark, strlen(mark)) != 0;
		}
	}
	return false;
}

static enum fsl_status tell_node(const struct fsl_config *config, const struct fsl_edge *edge,
				 const char *host, int64_t deadline_ns, struct fsl_error *err)
{
	char node[NODE_MAX], name[NODE_MAX + 16], comment[COMMENT_MAX], facts[OUTPUT_MAX] = "";
	name_node(node, host);
	(void)snprintf(name, sizeof(name), "nodename=%s", node);
	FSL_TRY(ask(config, (const char *const[]){"show", "node", node, "-o", NULL}, facts,
		    sizeof(facts), deadline_ns, err));
	if (!has_other_comment(facts)) {
		(void)snprintf(comment, sizeof(comment), "comment=%s%s%.300s",
			       fsl_edge_is_open(edge) ? mark : "",
			       fsl_edge_is_open(edge) ? " " : "",
			       fsl_edge_is_open(edge) ? fsl_edge_text(edge, "headline") : "");
		FSL_TRY(ask(config, (const char *const[]){"update", name, comment, NULL}, NULL, 0,
			    deadline_ns, err));
	}
	if (is_to_be_drained(config, edge, facts)) {
		(void)snprintf(comment, sizeof(comment), "reason=[node_problem] %s %.300s", mark,
			       fsl_edge_text(edge, "headline"));
		return ask(config,
			   (const char *const[]){"update", name, "state=drain", comment, NULL},
			   NULL, 0, deadline_ns, err);
	}
	return FSL_OK;
}

static enum fsl_status send_edge(const struct fsl_config *config, const struct fsl_edge *edge,
				 int64_t deadline_ns, struct fsl_error *err)
{
	const cJSON *hosts = cJSON_GetObjectItem(edge->json, "hosts"), *host = NULL;
	cJSON_ArrayForEach(host, hosts)
	{
		if (cJSON_IsString(host)) {
			FSL_TRY(tell_node(config, edge, host->valuestring, deadline_ns, err));
		}
	}
	return FSL_OK;
}

const struct fsl_channel fsl_channel_slurm = {
	.name = "slurm",
	.summary = "notes incidents in the comments of Slurm's nodes (slurm)",
	.is_on = is_on,
	.send = send_edge,
};
