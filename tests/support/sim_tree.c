/* Small files of a simulated tree: configuration and truth. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "support/sim_internal.h"

static const char model_config[] = "{\n"
				   "  \"root_path\": \"mspti\",\n"
				   "  \"training_log\": \"timeline\",\n"
				   "  \"metric_config\": \"metric_config.json\",\n"
				   "  \"fail_slow_perception_path\": \"out\",\n"
				   "  \"slow_node_detection_path\": \"out\",\n"
				   "  \"hang_times_mins_thr\": 30\n"
				   "}\n";

/* Windows of 2 s and blocks of 15: what fits jobs of a minute. */
static const char metric_config[] =
	"{\n"
	"  \"HcclAllGather\": {\n"
	"    \"type\": \"compute\",\n"
	"    \"aggregation\": {\"during_s\": 2, \"funcs\": [{\"func\": \"percentile\", \"func_params\": {\"q\": 90}}]},\n"
	"    \"space_detector\": {\"type\": \"SlidingWindowDBSCAN\", \"dist_metric\": \"euclidean\", \"eps\": 0.4,\n"
	"      \"cv_threshold\": 0.03, \"min_samples\": 2, \"window_size\": 15, \"scaling\": false},\n"
	"    \"time_detector\": {\"type\": \"SlidingWindowKSigmaDetector\", \"alarm_filter_window_size\": 5,\n"
	"      \"preprocess_eps\": 0.1, \"preprocess_min_samples\": 10,\n"
	"      \"n_sigma_method\": {\"type\": \"SlidingWindowNSigma\", \"training_window_size\": 20,\n"
	"        \"min_update_window_size\": 10, \"min_std_val\": 0.0001, \"bias\": 0.1, \"abs_bias\": null,\n"
	"        \"nsigma_coefficient\": 4, \"detect_type\": \"upper_bound\"}}\n"
	"  }\n"
	"}\n";

static enum fsl_status write_text(const char *dir, const char *name, const char *text,
				  struct fsl_error *err)
{
	char path[SIM_PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	struct sim_out *out = NULL;
	enum fsl_status status = sim_out_open(&out, path, SIM_COMPRESSION_NONE, err);
	if (status == FSL_OK) {
		sim_out_printf(out, "%s", text);
		status = sim_out_close(out, err);
	}
	return status;
}

enum fsl_status sim_config_write(const struct sim_params *params, const char *dir,
				 struct fsl_error *err)
{
	(void)params;
	enum fsl_status status = write_text(dir, "model_config.json", model_config, err);
	if (status == FSL_OK) {
		status = write_text(dir, "metric_config.json", metric_config, err);
	}
	return status;
}

/* "expected" and "cause" of each fault; the verdict is what architecture.md section 6 lists. */
struct answer {
	const char *verdict; /* of localisation; "normal" where perception alone speaks */
	const char *perception;
	const char *cause; /* "": none */
};

static struct answer answer_of(enum sim_fault fault)
{
	switch (fault) {
	case SIM_FAULT_NONE:
	case SIM_FAULT_SPIKE:
	case SIM_FAULT_MISSING:
	case SIM_FAULT_EMPTY:
		return (struct answer){"normal", "normal", ""};
	case SIM_FAULT_COMPUTE:
		return (struct answer){"slow_rank", "job_slowdown", "compute"};
	case SIM_FAULT_HOST:
		return (struct answer){"slow_rank", "job_slowdown", "host"};
	case SIM_FAULT_DATALOADER:
		return (struct answer){"slow_rank", "job_slowdown", "dataloader"};
	case SIM_FAULT_STORAGE:
		return (struct answer){"slow_rank", "normal", "storage"};
	case SIM_FAULT_LINK:
		return (struct answer){"slow_link", "job_slowdown", "network"};
	case SIM_FAULT_JOB_SLOW:
		return (struct answer){"job_slowdown", "job_slowdown", ""};
	case SIM_FAULT_HANG:
		return (struct answer){"hang", "hang", ""};
	case SIM_FAULTS_N:
		break;
	}
	return (struct answer){"", "", ""};
}

static void put_ms(struct sim_out *out, const char *key, double ms)
{
	if (isnan(ms)) {
		sim_out_printf(out, "  \"%s\": null,\n", key);
	} else {
		sim_out_printf(out, "  \"%s\": %.3f,\n", key, ms);
	}
}

/* Rank @i of list @list of kind @kind ('t', 'd', 'p'). */
static int32_t member(const struct sim_params *params, char kind, int32_t list, int32_t i)
{
	int32_t tp = params->tp;
	int32_t dp = params->dp;
	switch (kind) {
	case 't':
		return list * tp + i;
	case 'd':
		return (list / tp * dp + i) * tp + list % tp;
	default:
		return i * dp * tp + list;
	}
}

static void put_groups(struct sim_out *out, const struct sim_params *params, char kind,
		       int32_t size)
{
	int32_t n_lists = sim_n_ranks(params) / size;
	sim_out_printf(out, "    \"%cp\": [", kind);
	for (int32_t list = 0; list < n_lists; list++) {
		sim_out_printf(out, "%s[", list > 0 ? ", " : "");
		for (int32_t i = 0; i < size; i++) {
			sim_out_printf(out, "%s%d", i > 0 ? ", " : "",
				       sim_label(params, member(params, kind, list, i)));
		}
		sim_out_printf(out, "]");
	}
	sim_out_printf(out, "]%s\n", kind == 'p' ? "" : ",");
}

static void put_job(struct sim_out *out, const struct sim_params *params)
{
	struct answer answer = answer_of(params->fault);
	sim_out_printf(out, "  \"fault\": \"%s\",\n", sim_fault_text(params->fault));
	sim_out_printf(out, "  \"verdict\": \"%s\",\n  \"perception\": \"%s\",\n", answer.verdict,
		       answer.perception);
	if (answer.cause[0] != '\0') {
		sim_out_printf(out, "  \"cause\": \"%s\",\n", answer.cause);
	} else {
		sim_out_printf(out, "  \"cause\": null,\n");
	}
	sim_out_printf(out, "  \"culprit_ranks\": [");
	for (int32_t i = 0; i < params->n_culprits; i++) {
		sim_out_printf(out, "%s%d", i > 0 ? ", " : "",
			       sim_label(params, params->culprits[i]));
	}
	sim_out_printf(out, "],\n  \"tp\": %d,\n  \"dp\": %d,\n  \"pp\": %d,\n", params->tp,
		       params->dp, params->pp);
	sim_out_printf(out, "  \"ranks\": %d,\n  \"steps\": %d,\n  \"seed\": %" PRIu64 ",\n",
		       sim_n_ranks(params), params->steps, params->seed);
	sim_out_printf(out, "  \"factor\": %g,\n  \"extra_ms\": %g,\n", params->factor,
		       params->extra_ms);
}

static void put_optional(struct sim_out *out, const char *key, int64_t value, int64_t none)
{
	if (value == none) {
		sim_out_printf(out, "  \"%s\": null,\n", key);
	} else {
		sim_out_printf(out, "  \"%s\": %" PRId64 ",\n", key, value);
	}
}

enum fsl_status sim_truth_write(const struct sim_params *params, const struct sim_truth *truth,
				const char *dir, struct fsl_error *err)
{
	char path[SIM_PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/truth.json", dir);
	struct sim_out *out = NULL;
	enum fsl_status status = sim_out_open(&out, path, SIM_COMPRESSION_NONE, err);
	if (status != FSL_OK) {
		return status;
	}
	bool has_onset = sim_fault_has_onset(params->fault);
	sim_out_printf(out, "{\n");
	put_job(out, params);
	put_optional(out, "onset_step", has_onset ? params->onset_step : -1, -1);
	put_optional(out, "until_step", params->until_step, -1);
	put_optional(out, "onset_ns", truth->onset_ns, -1);
	put_ms(out, "step_ms_before", truth->step_ms_before);
	put_ms(out, "step_ms_after", truth->step_ms_after);
	put_optional(out, "job_start_ns", truth->start_ns, -1);
	put_optional(out, "job_end_ns", truth->end_ns, -1);
	put_optional(out, "now_ns", truth->now_ns, -1);
	sim_out_printf(out, "  \"groups\": {\n");
	put_groups(out, params, 't', params->tp);
	put_groups(out, params, 'd', params->dp);
	put_groups(out, params, 'p', params->pp);
	sim_out_printf(out, "  }\n}\n");
	return sim_out_close(out, err);
}
