/* Prints the parameter table of every built-in detector as docs/users/detectors.md has it. */
#include <math.h>
#include <stdio.h>

#include "plugin/registry.h"

static void print_number(double value)
{
	if (isnan(value)) {
		printf("null");
	} else {
		printf("%.7g", value);
	}
}

static void print_default(const struct fsl_param *param)
{
	if (param->type == FSL_PARAM_BOOL) {
		printf("%s", param->fallback > 0.0 ? "true" : "false");
	} else if (param->type == FSL_PARAM_CHOICE) {
		printf("%s", param->choices[(int)param->fallback]);
	} else {
		print_number(param->fallback);
	}
}

static void print_allowed(const struct fsl_param *param)
{
	switch (param->type) {
	case FSL_PARAM_INT:
	case FSL_PARAM_REAL:
		printf("%s ", param->type == FSL_PARAM_INT ? "integer" : "number");
		print_number(param->min);
		printf(" to ");
		print_number(param->max);
		printf("%s", param->nullable ? ", or null" : "");
		return;
	case FSL_PARAM_BOOL:
		printf("true, false");
		return;
	case FSL_PARAM_CHOICE:
		break;
	}
	for (int i = 0; param->choices[i] != NULL; i++) {
		printf("%s%s", i > 0 ? ", " : "", param->choices[i]);
	}
}

static void print_detector(const struct fsl_detector *detector)
{
	static const char *const scopes[] = {
		[FSL_SCOPE_RANK] = "each member against its own past",
		[FSL_SCOPE_GROUP] = "members of a group against each other",
		[FSL_SCOPE_JOB] = "the whole job",
	};
	static const char *const metrics[] = {
#define METRIC(id, name, unit, help) name,
#include <failslow/metrics.def>
#undef METRIC
	};
	printf("<!-- parameters of %s -->\n", detector->name);
	printf("In one line: %s.\nSees: %s. Metrics: ", detector->summary, scopes[detector->scope]);
	const char *separator = "";
	for (unsigned int metric = 0; metric < FSL_METRICS_N; metric++) {
		if (detector->needs != FSL_NEED_ANY && (detector->needs & FSL_NEED(metric)) != 0) {
			printf("%s%s", separator, metrics[metric]);
			separator = ", ";
		}
	}
	printf("%s.\n\n", detector->needs == FSL_NEED_ANY ? "any" : "");
	printf("| key | default | allowed | meaning |\n|---|---|---|---|\n");
	for (const struct fsl_param *param = detector->params; param->key != NULL; param++) {
		printf("| `%s` | ", param->key);
		print_default(param);
		printf(" | ");
		print_allowed(param);
		printf(" | %s |\n", param->help);
	}
	printf("<!-- end -->\n");
}

int main(void)
{
	struct fsl_registry *registry = fsl_registry_create();
	if (registry == NULL) {
		return 1;
	}
	for (size_t i = 0; i < fsl_registry_size(registry); i++) {
		print_detector(fsl_registry_at(registry, i));
	}
	fsl_registry_destroy(registry);
	return 0;
}
