/* `failslow simulate`: a training job with known faults, as it would lie on disk. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/try.h"
#include "cli/command.h"
#include "sim/sim.h"

enum { PATH_BYTES = 4096, FAULT_PREFIX_BYTES = sizeof("fault=") - 1 };

/* The command line. */
struct request {
	const char *preset;
	int64_t n_ranks; /* 0: as the keys say */
	bool is_dry, lists_keys, wants_help;
	const char *dir;
	char **settings; /* key=value */
	int n_settings;
};

static enum fsl_status parse(struct request *request, int argc, char **argv, struct fsl_error *err)
{
	const struct fsl_opt options[] = {
		{"preset", 'p', FSL_OPT_TEXT, &request->preset, 0, 0, NULL, "NAME",
		 "kind of job to begin with; --keys lists them"},
		{"ranks", 'r', FSL_OPT_INT, &request->n_ranks, 1, FSL_SIM_RANKS_MAX, NULL, "N",
		 "as many replicas (dp) as make N ranks"},
		{"dry-run", 'n', FSL_OPT_FLAG, &request->is_dry, 0, 0, NULL, NULL,
		 "tell what the job would be and write nothing"},
		{"keys", 'k', FSL_OPT_FLAG, &request->lists_keys, 0, 0, NULL, NULL,
		 "list presets, keys and kinds of faults"},
		{"help", 'h', FSL_OPT_FLAG, &request->wants_help, 0, 0, NULL, NULL,
		 "show this help"},
		{.name = NULL},
	};
	int n_operands = 0;
	FSL_TRY(fsl_opt_parse(options, argc, argv, &n_operands, err));
	if (request->wants_help) {
		fsl_command_help(
			"simulate",
			"simulate [options] DIR [key=value ...] [fault=\"KIND words\" ...]",
			"Writes the files that a training job with known faults would leave, and the "
			"truth about it (truth.json). Same keys, same bytes.\n"
			"\n"
			"  failslow simulate /tmp/job tp=8 steps=100 \\\n"
			"      fault=\"compute ranks=3 factor=1.3 onset=40\"\n",
			options);
		return FSL_OK;
	}
	if (n_operands == 0 && !request->lists_keys) {
		return FSL_FAIL(
			err, FSL_ERR_USAGE,
			"name the folder to write, for instance: failslow simulate /tmp/job");
	}
	request->dir = n_operands > 0 ? argv[1] : "";
	request->settings = argv + 2;
	request->n_settings = n_operands > 0 ? n_operands - 1 : 0;
	if (strchr(request->dir, '=') != NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the folder comes first, then keys: operand=\"%.200s\"",
				request->dir);
	}
	return FSL_OK;
}

static void list_summary(const char *name, const char *summary)
{
	struct fsl_told told;
	printf("  %-15s %s\n", name, fsl_tell(summary, &told));
}

static void list_key(const struct fsl_sim_key *key)
{
	struct fsl_told told;
	printf("  %-15s %s", key->name, fsl_tell(key->help, &told));
	for (size_t k = 0; key->choices != NULL && key->choices[k] != NULL; k++) {
		printf("%s%s", k == 0 ? ": " : "|", key->choices[k]);
	}
	printf("\n");
}

static void list_keys(void)
{
	size_t n_presets = 0, n_keys = 0;
	const struct fsl_sim_preset *presets = fsl_sim_presets(&n_presets);
	const struct fsl_sim_key *keys = fsl_sim_keys(&n_keys);
	(void)fsl_tell_print(stdout, N_("presets") "\n");
	for (size_t i = 0; i < n_presets; i++) {
		list_summary(presets[i].name, presets[i].summary);
	}
	(void)fsl_tell_print(stdout, "\n" N_("families") "\n");
	const struct fsl_sim_preset *family = NULL;
	for (int i = 0; (family = fsl_sim_family(i)) != NULL; i++) {
		list_summary(family->name, family->summary);
	}
	(void)fsl_tell_print(stdout, "\n" N_("keys") "\n");
	for (size_t i = 0; i < n_keys; i++) {
		list_key(&keys[i]);
	}
	(void)fsl_tell_print(stdout, "\n" N_("faults") "\n");
	printf("  fault=\"KIND [ranks=3,7-9|all] [host=2] [factor=F] [extra_ms=MS] [onset=STEP]\n"
	       "        [until=STEP] [ramp=STEPS] [period=STEPS on=STEPS] [back=STEPS]\"\n"
	       "  KIND:");
	for (int i = 0; i < FSL_SIM_FAULT_KINDS_N; i++) {
		printf(" %s", fsl_sim_fault_text((enum fsl_sim_fault_kind)i));
	}
	printf("\n");
}

static bool is_fault(const char *setting)
{
	return strncmp(setting, "fault=", FAULT_PREFIX_BYTES) == 0;
}

/* Faults come last: their ranks are checked against the size of the job. */
static enum fsl_status configure(struct fsl_sim_params *params, const struct request *request,
				 struct fsl_error *err)
{
	fsl_sim_params_init(params);
	if (request->preset != NULL) {
		FSL_TRY(fsl_sim_params_preset(params, request->preset, err));
	}
	for (int i = 0; i < request->n_settings; i++) {
		if (!is_fault(request->settings[i])) {
			FSL_TRY(fsl_sim_params_set(params, request->settings[i], err));
		}
	}
	if (request->n_ranks > 0) {
		FSL_TRY(fsl_sim_params_fit_ranks(params, (int32_t)request->n_ranks, err));
	}
	for (int i = 0; i < request->n_settings; i++) {
		if (is_fault(request->settings[i])) {
			FSL_TRY(fsl_sim_params_add_fault(
				params, request->settings[i] + FAULT_PREFIX_BYTES, err));
		}
	}
	return fsl_sim_params_check(params, err);
}

/* A folder that holds something else is left alone. */
static enum fsl_status check_folder(const char *dir, struct fsl_error *err)
{
	char path[PATH_BYTES];
	char **names = NULL;
	size_t n_names = 0;
	struct fsl_error ignored = {0};
	if (access(dir, F_OK) != 0 || fsl_dir_list(dir, &names, &n_names, &ignored) != FSL_OK) {
		return FSL_OK;
	}
	fsl_free(names);
	(void)snprintf(path, sizeof(path), "%s/truth.json", dir);
	if (n_names > 0 && access(path, F_OK) != 0) {
		return FSL_FAIL(
			err, FSL_ERR_USAGE,
			"the folder is not empty and holds no simulated job, choose another: "
			"path=\"%s\"",
			dir);
	}
	return FSL_OK;
}

static void tell(const struct request *request, const struct fsl_sim_params *params,
		 const struct fsl_sim_truth *truth)
{
	(void)fsl_tell_print(stdout,
			     "%s: %d ranks (tp %d, dp %d, pp %d), %d steps of %.1f ms, %" PRIu64
			     " operators\n",
			     request->is_dry ? "would write" : request->dir,
			     (int)fsl_sim_n_ranks(params), (int)params->tp, (int)params->dp,
			     (int)params->pp, (int)params->steps, truth->step_ms, truth->n_ops);
	for (size_t i = 0; i < params->n_faults; i++) {
		const struct fsl_sim_fault *fault = &params->faults[i];
		const char *kind = fsl_sim_fault_text(fault->kind);
		if (fault->until_step >= 0) {
			(void)fsl_tell_print(stdout, "fault: %s from step %d to %d\n", kind,
					     (int)fault->onset_step, (int)fault->until_step);
		} else {
			(void)fsl_tell_print(stdout, "fault: %s from step %d\n", kind,
					     (int)fault->onset_step);
		}
	}
	if (params->n_faults > 0 && isfinite(truth->slowdown)) {
		(void)fsl_tell_print(stdout,
				     "with it a step takes %.1f ms, without it %.1f ms: %+.1f %%\n",
				     truth->fault_step_ms, truth->fault_healthy_ms,
				     100.0 * (truth->slowdown - 1.0));
	}
	if (truth->n_culprits > 0) {
		enum { SHOWN_MAX = 16 };
		char list[SHOWN_MAX * 12 + sizeof(" ...")] = "";
		size_t n = 0;
		for (size_t i = 0; i < truth->n_culprits && i < SHOWN_MAX; i++) {
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%d", i > 0 ? " " : "",
					      (int)truth->culprits[i]);
		}
		if (truth->n_culprits > SHOWN_MAX) {
			(void)snprintf(list + n, sizeof(list) - n, " ...");
		}
		(void)fsl_tell_print(stdout, N_("culprits: %s") "\n", list);
	}
	if (!request->is_dry) {
		(void)fsl_tell_print(stdout,
				     "next: failslow detect %s --now %" PRId64 " --output %s/out\n",
				     request->dir, truth->now_ns, request->dir);
	}
}

enum fsl_status fsl_cmd_simulate(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct request request = {0};
	struct fsl_sim_params params = {0};
	struct fsl_sim_truth truth = {0};
	enum fsl_status status = parse(&request, argc, argv, err);
	if (status != FSL_OK || request.wants_help || request.lists_keys) {
		if (status == FSL_OK && request.lists_keys) {
			list_keys();
		}
		return status;
	}
	status = configure(&params, &request, err);
	if (status == FSL_OK && !request.is_dry) {
		status = check_folder(request.dir, err);
	}
	FSL_THEN(status, request.is_dry ? fsl_sim_foresee(&params, &truth, err)
					: fsl_sim_write_tree(&params, request.dir, &truth, err));
	if (status == FSL_OK) {
		tell(&request, &params, &truth);
		*exit_code = FSL_EXIT_DONE;
	}
	fsl_sim_truth_fini(&truth);
	fsl_sim_params_fini(&params);
	return status;
}
