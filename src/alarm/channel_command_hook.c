/* Runs a program at each edge, with the edge on its stdin and in its environment. */
#include <stdio.h>

#include "alarm/channel.h"
#include "alarm/program.h"

static bool is_on(const struct fsl_config *config)
{
	return config->n_command_hook > 0;
}

static const struct {
	const char *variable, *key;
} told[] = {
	{"FAILSLOW_EDGE", "edge"},         {"FAILSLOW_INCIDENT", "incident"},
	{"FAILSLOW_JOB", "job"},           {"FAILSLOW_VERDICT", "kind"},
	{"FAILSLOW_CAUSE", "cause"},       {"FAILSLOW_HOSTS", "hostList"},
	{"FAILSLOW_RANKS", "rankList"},    {"FAILSLOW_SEVERITY", "severity"},
	{"FAILSLOW_HEADLINE", "headline"},
};
enum { N_TOLD = sizeof(told) / sizeof(told[0]), VARIABLE_MAX = 1024 };

static enum fsl_status send_edge(const struct fsl_config *config, const struct fsl_edge *edge,
				 int64_t deadline_ns, struct fsl_error *err)
{
	char texts[N_TOLD][VARIABLE_MAX];
	const char *environment[N_TOLD + 1] = {NULL};
	for (size_t i = 0; i < N_TOLD; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "%s=%.*s", told[i].variable,
			       VARIABLE_MAX / 2, fsl_edge_text(edge, told[i].key));
		environment[i] = texts[i];
	}
	const struct fsl_program program = {
		.key = "command_hook",
		.words = config->command_hook,
		.environment = environment,
		.input = edge->text,
		.deadline_ns = deadline_ns,
	};
	return fsl_program_run(&program, err);
}

const struct fsl_channel fsl_channel_command_hook = {
	.name = "command_hook",
	.summary = "runs a program at begins and ends of incidents (command_hook)",
	.is_on = is_on,
	.send = send_edge,
};
