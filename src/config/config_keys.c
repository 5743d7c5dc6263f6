/* The key table: one row per key of both files. Loading, checks, schema and manual follow it. */
#include "config/config.h"

/* Short forms that keep a row on two lines. */
#define MODEL            FSL_CONFIG_MODEL
#define METRICS          FSL_CONFIG_METRIC
#define BOOL             "bool", FSL_KIND_BOOL
#define INTEGER          "integer", FSL_KIND_INT
#define REAL             "number", FSL_KIND_REAL
#define TEXT             "text", FSL_KIND_TEXT
#define PATH             "path", FSL_KIND_PATH
#define PATH_NULL        "path", FSL_KIND_PATH_NULL
#define CHOICE           "text", FSL_KIND_CHOICE
#define SWITCH           "text", FSL_KIND_SWITCH
#define WORD             "text", FSL_KIND_WORD
#define OTHER(type)      type, FSL_KIND_OTHER, 0
#define UNUSED(type)     type, FSL_KIND_UNUSED, 0
#define AT(field)        offsetof(struct fsl_config, field)
#define AT_METRIC(field) offsetof(struct fsl_metric_config, field)
#define ANY              0, 0
#define SYSTRACE         false
#define OURS             true

/* Limits that only catch slips, such as a time where a number of steps is expected. */
enum {
	COUNT_LIMIT = 1000000000,
	PARTS_LIMIT = 4096,
	MINUTES_LIMIT = 525600, /* a year */
	HOURS_LIMIT = 87600,    /* ten years */
	SECONDS_LIMIT = 86400,
	DAYS_LIMIT = 36500, /* a century */
	JOBS_LIMIT = 4096,
};
#define SPAN_MIN 0.001

static const char *const log_types[] = {"timeline", "log", NULL};
static const char *const algorithms[] = {"failslow", "systrace", NULL}; /* enum fsl_algorithm */
static const char *const schemas[] = {"failslow", "systrace", NULL};    /* enum fsl_schema */
static const char *const verifications[] = {"replay", "off", NULL};     /* fsl_verification_mode */
static const char *const webhook_forms[] = {"failslow", "slack", NULL}; /* fsl_webhook_form */
static const char *const kafka_forms[] = {"failslow", "gala-anteater", NULL}; /* fsl_kafka_form */
static const char *const slurm_modes[] = {"off", "comment", "drain", NULL};   /* fsl_slurm_mode */
static const char *const log_forms[] = {"text", "logfmt", "json", NULL};      /* fsl_log_form */
static const char *const confinements[] = {"off", "auto", NULL};              /* may_confine */
static const char *const flags[] = {"compute", "network", "storage", NULL};
static const char *const causes[] = {"compute", "host", "dataloader", "storage", "network", NULL};
static const char *const funcs[] = {"min", "max", "mean",       "median",   "sum", "std",
				    "var", "ptp", "percentile", "quantile", NULL};
static const char *const metrics[] = {
#define METRIC(id, name, unit, help) name,
#include <failslow/metrics.def>
#undef METRIC
	NULL};

static const struct fsl_config_key keys[] = {
	/* Inputs and outputs. */
	{MODEL, "root_path", PATH, AT(root_path), "\"/home/sysTrace\"", ANY, "", NULL, SYSTRACE,
	 "Folder of the training job: marker files, or a tree with mspti/ and timeline/ in it."},
	{MODEL, "job_name", TEXT, AT(job_name), "null", ANY, "", NULL, OURS,
	 "Name of the job in results and names of files; null: that of its folder."},
	{MODEL, "training_log", PATH_NULL, AT(training_log), "null", ANY, "", NULL, SYSTRACE,
	 "Timeline file, training log, or their folder; null: looked for below root_path."},
	{MODEL, "log_type", SWITCH, AT(log_type_is_log), "\"timeline\"", ANY, "", log_types,
	 SYSTRACE, "What training_log is: a timeline, or a log."},
	{MODEL, "log_patterns", OTHER("array"), "[]", ANY, "", NULL, OURS,
	 "Regular expressions with named groups for the step lines of logs of an unknown form."},
	{MODEL, "fail_slow_perception_path", PATH, AT(fail_slow_perception_path),
	 "\"" FSL_RESULT_DIR "/fail_slow\"", ANY, "", NULL, SYSTRACE,
	 "Folder for the perception verdict; with_fail_slow reads it."},
	{MODEL, "slow_node_detection_path", PATH, AT(slow_node_detection_path),
	 "\"" FSL_RESULT_DIR "/slow_node\"", ANY, "", NULL, SYSTRACE,
	 "Folder for the localisation verdict."},
	{MODEL, "rank_table_json", PATH_NULL, AT(rank_table_json), "\"./rank_table.json\"", ANY, "",
	 NULL, SYSTRACE, "Rank table to take groups and expected ranks from, where it exists."},
	{MODEL, "metric_config", PATH, AT(metric_config), "\"metric_config.json\"", ANY, "", NULL,
	 OURS, "The metric configuration; built-in where the default file is absent."},
	{MODEL, "state_path", PATH_NULL, AT(state_path), "null", ANY, "", NULL, OURS,
	 "State file of look_back; null: failslow_state.db in slow_node_detection_path."},
	{MODEL, "confine", SWITCH, AT(may_confine), "\"auto\"", ANY, "", confinements, OURS,
	 "auto: if the kernel can, a run opens inputs and results alone; off: it may open any file."},

	/* Perception: is the job slower, and does it still move? */
	{MODEL, "with_fail_slow", BOOL, AT(with_fail_slow), "false", ANY, "", NULL, SYSTRACE,
	 "Takes the time range from the newest failSlow file of fail_slow_perception_path."},
	{MODEL, "task_stable_step", INTEGER, AT(task_stable_step), "3", 0, COUNT_LIMIT, "steps",
	 NULL, SYSTRACE, "First step that is looked at; earlier ones warm up."},
	{MODEL, "max_data_queue_steps", INTEGER, AT(max_data_queue_steps), "1000", 1, COUNT_LIMIT,
	 "steps", NULL, SYSTRACE, "Number of newest steps that are looked at."},
	{MODEL, "min_startup_detection_steps", INTEGER, AT(min_startup_detection_steps), "10", 1,
	 COUNT_LIMIT, "steps", NULL, SYSTRACE, "Fewer steps than this are no evidence."},
	{MODEL, "fail_slow_span_mins", REAL, AT(fail_slow_span_mins), "30", SPAN_MIN, MINUTES_LIMIT,
	 "min", NULL, SYSTRACE, "Time between the begins of two looks of `failslow watch`."},
	{MODEL, "hang_times_mins_thr", REAL, AT(hang_times_mins_thr), "30", SPAN_MIN, MINUTES_LIMIT,
	 "min", NULL, SYSTRACE, "A job whose last event is older than this hangs."},
	{MODEL, "hang_forget_hours", REAL, AT(hang_forget_hours), "24", SPAN_MIN, HOURS_LIMIT, "h",
	 NULL, OURS, "A last event older than this is the end of the job, not a hang."},
	{MODEL, "steps_window_size", INTEGER, AT(steps_window_size), "10", 2, COUNT_LIMIT, "steps",
	 NULL, SYSTRACE, "Number of steps before a step that say what is normal for it."},
	{MODEL, "k_sigma", REAL, AT(k_sigma), "3", 0, 1000, "", NULL, SYSTRACE,
	 "A step is slow when it exceeds the mean of those by more standard deviations than this."},
	{MODEL, "anomaly_degree_thr", REAL, AT(anomaly_degree_thr), "0.2", 0, 1000, "share", NULL,
	 SYSTRACE, "A slow step exceeds the mean also by a larger part of it than this."},

	/* Time range. */
	{MODEL, "slow_node_detection_range_times", OTHER("array"), "[]", ANY, "ms", NULL, SYSTRACE,
	 "Begin and end of the time looked at, epoch in ms or ISO 8601 text; []: none."},
	{MODEL, "slow_node_detection_time_span_hours", REAL,
	 AT(slow_node_detection_time_span_hours), "0.5", SPAN_MIN, HOURS_LIMIT, "h", NULL, SYSTRACE,
	 "Time looked at, back from now, where filter_data_by_timestamp has no other range."},
	{MODEL, "filter_data_by_timestamp", BOOL, AT(filter_data_by_timestamp), "false", ANY, "",
	 NULL, SYSTRACE, "Leaves out operators outside the time range."},

	/* Classical observation points. */
	{MODEL, "enable_detect_type.enable_cal", BOOL, AT(enable_cal), "true", ANY, "", NULL,
	 SYSTRACE, "Adds sysTrace's rule for slow computation; causes limits the rest."},
	{MODEL, "enable_detect_type.enable_op_launch", BOOL, AT(enable_op_launch), "false", ANY, "",
	 NULL, SYSTRACE, "Adds sysTrace's rule for slow operator launch."},
	{MODEL, "enable_detect_type.enable_comm", BOOL, AT(enable_comm), "false", ANY, "", NULL,
	 SYSTRACE, "Adds sysTrace's rule for a slow link between pipeline stages."},
	{MODEL, "enable_detect_type.enable_dataloader", BOOL, AT(enable_dataloader), "false", ANY,
	 "", NULL, SYSTRACE,
	 "Adds sysTrace's rule for slow data loading, and slow loading to the perception."},
	{MODEL, "enable_detect_type.enable_ckpt", BOOL, AT(enable_ckpt), "false", ANY, "", NULL,
	 SYSTRACE,
	 "Adds sysTrace's rule for slow checkpoints, and slow checkpoints to the perception."},
	{MODEL, "fail_slow_ops.cal_slow", TEXT, AT(cal_slow), "\"HcclAllGather\"", ANY, "", NULL,
	 SYSTRACE, "Metric of slow computation."},
	{MODEL, "fail_slow_ops.op_launch_slow", TEXT, AT(op_launch_slow),
	 "\"HcclAllGather_launch\"", ANY, "", NULL, SYSTRACE, "Metric of slow operator launch."},
	{MODEL, "fail_slow_ops.comm_slow", TEXT, AT(comm_slow), "\"HcclBatchSendRecv\"", ANY, "",
	 NULL, SYSTRACE, "Metric of slow communication."},
	{MODEL, "fail_slow_ops.dataloader_slow", TEXT, AT(dataloader_slow), "\"Dataloader\"", ANY,
	 "", NULL, SYSTRACE, "Name under which slow data loading is reported."},
	{MODEL, "fail_slow_ops.ckpt_slow", TEXT, AT(ckpt_slow), "\"SaveCkpt\"", ANY, "", NULL,
	 SYSTRACE, "Name under which slow checkpoints are reported."},
	{MODEL, "hccl_domain", OTHER("object"), "{}", ANY, "", NULL, SYSTRACE,
	 "Lists of ranks per kind of group (tp, dp, pp, ep, cp, world); {}: told from the data."},

	/* Verdict. */
	{MODEL, "record_kpi", BOOL, AT(record_kpi), "false", ANY, "", NULL, SYSTRACE,
	 "Adds the measured series to the verdict (kpiData)."},
	{MODEL, "max_num_normal_results", INTEGER, AT(max_num_normal_results), "16", 0, COUNT_LIMIT,
	 "ranks", NULL, SYSTRACE, "Number of normal ranks that are listed beside an abnormal one."},
	{MODEL, "look_back", REAL, AT(look_back_mins), "20", 0, MINUTES_LIMIT, "min", NULL,
	 SYSTRACE, "No second alarm for the same culprits within this time; 0: always an alarm."},
	{MODEL, "verdict_schema", CHOICE, AT(verdict_schema), "\"failslow\"", ANY, "", schemas,
	 OURS, "Keys of the verdict files: all of ours, or only those that sysTrace has."},
	{MODEL, "use_plot", BOOL, AT(use_plot), "false", ANY, "", NULL, SYSTRACE,
	 "Writes a picture of the steps, and of the own time of up to 20 ranks over time."},
	{MODEL, "save_image", TEXT, AT(save_image), "\"image\"", ANY, "", NULL, SYSTRACE,
	 "Folder of these pictures, below slow_node_detection_path if it is no absolute path."},

	/* Alarms: who is told of incidents. */
	{MODEL, "textfile_path", PATH_NULL, AT(textfile_path), "null", ANY, "", NULL, OURS,
	 "Folder of node_exporter's text files: failslow.prom is written there; null: none."},
	{MODEL, "alertmanager_url", TEXT, AT(alertmanager_url), "null", ANY, "", NULL, OURS,
	 "Alertmanager that gets open incidents in each run, as in http://host:9093."},
	{MODEL, "webhook_url", TEXT, AT(webhook_url), "null", ANY, "", NULL, OURS,
	 "Address that is told once of each begin and end; env:NAME and file:PATH hide it."},
	{MODEL, "webhook_form", CHOICE, AT(webhook_form), "\"failslow\"", ANY, "", webhook_forms,
	 OURS, "Form of what the webhook gets: our document, or a message that Slack takes."},
	{MODEL, "webhook_secret_file", PATH_NULL, AT(webhook_secret_file), "null", ANY, "", NULL,
	 OURS, "File with the key that signs; null: $FAILSLOW_WEBHOOK_SECRET, else no signature."},
	{MODEL, "syslog", TEXT, AT(syslog), "null", ANY, "", NULL, OURS,
	 "Log that begins and ends go to: \"local\", \"journald\", or udp://host:514."},
	{MODEL, "syslog_enterprise", INTEGER, AT(syslog_enterprise), "32473", 0, COUNT_LIMIT, "",
	 NULL, OURS, "Private enterprise number in structured data; 32473 is that of examples."},
	{MODEL, "slurm", CHOICE, AT(slurm), "\"off\"", ANY, "", slurm_modes, OURS,
	 "Notes incidents in the comments of Slurm's nodes; drain also takes repeaters out."},
	{MODEL, "slurm_command", TEXT, AT(slurm_command), "\"scontrol\"", ANY, "", NULL, OURS,
	 "The program that changes nodes of Slurm."},
	{MODEL, "kafka_brokers", TEXT, AT(kafka_brokers), "null", ANY, "", NULL, OURS,
	 "Brokers of Kafka that get begins and ends, as in host1:9092,host2:9092."},
	{MODEL, "kafka_topic", TEXT, AT(kafka_topic), "\"failslow\"", ANY, "", NULL, OURS,
	 "Topic of those messages."},
	{MODEL, "kafka_form", CHOICE, AT(kafka_form), "\"failslow\"", ANY, "", kafka_forms, OURS,
	 "Form of those messages: our document, or what gala-anteater tells of slow nodes."},
	{MODEL, "command_hook", OTHER("array"), "[]", ANY, "", NULL, OURS,
	 "Program and arguments that are run at each begin and end, the edge on its stdin."},
	{MODEL, "alarm_timeout_s", REAL, AT(alarm_timeout_s), "10", 0.1, SECONDS_LIMIT, "s", NULL,
	 OURS, "Time that all receivers together may take in one run; the rest waits."},

	/* Judgement. */
	{MODEL, "algorithm", CHOICE, AT(algorithm), "\"failslow\"", ANY, "", algorithms, OURS,
	 "Who names the culprits: lateness and own time, or sysTrace's rules."},
	{MODEL, "causes", OTHER("array"),
	 "[\"compute\",\"host\",\"dataloader\",\"storage\",\"network\"]", ANY, "", causes, OURS,
	 "Causes that may be named."},
	{MODEL, "trim_head_share", REAL, AT(trim_head_share), "0.2", 0, 0.9, "share", NULL, OURS,
	 "Part of each classical series that is left out at its start."},
	{MODEL, "slow_ratio_min", REAL, AT(slow_ratio_min), "1.03", 1, 1000, "ratio", NULL, OURS,
	 "Least slowdown of the job that one culprit must explain."},
	{MODEL, "persistence_min", REAL, AT(persistence_min), "0.5", 0, 1, "share", NULL, OURS,
	 "Part of the steps of an episode in which a culprit must be slow."},
	{MODEL, "steps_min", INTEGER, AT(steps_min), "8", 1, COUNT_LIMIT, "steps", NULL, OURS,
	 "Fewer steps than this are no evidence for a culprit."},
	{MODEL, "rank_coverage_min", REAL, AT(rank_coverage_min), "0.7", 0, 1, "share", NULL, OURS,
	 "Data of a smaller part of the ranks than this is no evidence."},
	{MODEL, "verification", CHOICE, AT(verification), "\"replay\"", ANY, "", verifications,
	 OURS, "What a culprit must pass: the job replayed loses time by it, or nothing further."},
	{MODEL, "replay.steps_max", INTEGER, AT(replay_steps_max), "400", 1, COUNT_LIMIT, "steps",
	 NULL, OURS, "Number of steps that are replayed at most; of more, a sample is."},
	{MODEL, "replay.budget_ms", INTEGER, AT(replay_budget_ms), "400", 1, COUNT_LIMIT, "ms",
	 NULL, OURS, "Processor time of the replay at most, about: 1000 operators a ms."},
	{MODEL, "chapter.hours", REAL, AT(chapter_hours), "4", 0, HOURS_LIMIT, "h", NULL, OURS,
	 "Length of the chapters in which longer captures are judged; 0: always as a whole."},
	{MODEL, "chapter.parts", INTEGER, AT(chapter_parts), "64", 1, PARTS_LIMIT, "chapters", NULL,
	 OURS,
	 "A capture is cut into so many chapters, or a half or a quarter of that, where each has 32 steps; 1: by hours alone."},
	{MODEL, "chapter.operators_min", INTEGER, AT(chapter_operators_min), "250000", 0,
	 COUNT_LIMIT, "operators", NULL, OURS,
	 "A capture of fewer has no chapters but those by hours: so little is read in a moment."},
	{MODEL, "chapter.keep", BOOL, AT(chapter_keep), "true", ANY, "", NULL, OURS,
	 "Keeps what chapters gave beside the state file, so that the next run reads what is new."},
	{MODEL, "jobs", INTEGER, AT(jobs), "0", 0, JOBS_LIMIT, "threads", NULL, OURS,
	 "Number of threads; 0: as many as the input is worth, one per core at most."},

	/* Runs again and again. */
	{MODEL, "lock_wait_s", REAL, AT(lock_wait_s), "0", 0, SECONDS_LIMIT, "s", NULL, OURS,
	 "Longest wait for another run over the same job; a run that waited in vain ends."},
	{MODEL, "max_run_minutes", REAL, AT(max_run_minutes), "20", 0, MINUTES_LIMIT, "min", NULL,
	 OURS, "A run that reads and judges longer than this ends with exit code 4; 0: none does."},
	{MODEL, "keep_days", REAL, AT(keep_days), "30", 0, DAYS_LIMIT, "days", NULL, OURS,
	 "Verdict files that were written longer ago are removed; 0: none is for its age."},
	{MODEL, "keep_files", INTEGER, AT(keep_files), "1000", 0, COUNT_LIMIT, "files", NULL, OURS,
	 "Number of verdict files of each kind that stay in a folder, the newest ones; 0: all."},
	{MODEL, "log_format", CHOICE, AT(log_form), "\"text\"", ANY, "", log_forms, OURS,
	 "Form of messages on standard error: for people, or lines with time and level."},

	/* Detectors besides those of the metrics. */
	{MODEL, "detectors", OTHER("object"), "{}", ANY, "", NULL, OURS,
	 "Parameters of built-in detectors, and detectors from shared objects, by name."},
	{MODEL, "detectors.<detector>.enabled", OTHER("bool"), "true", ANY, "", NULL, OURS,
	 "false: the detector is not used."},
	{MODEL, "detectors.<detector>.type", OTHER("text"), "null", ANY, "", NULL, OURS,
	 "Built-in detector that the entry is about; null: the one with the entry's name."},
	{MODEL, "detectors.<detector>.plugin", OTHER("path"), "null", ANY, "", NULL, OURS,
	 "Shared object to load the detector from."},
	{MODEL, "detectors.<detector>.metric", OTHER("text"), "null", ANY, "", metrics, OURS,
	 "Metric that the detector looks at; null: the first that it understands."},
	{MODEL, "detectors.<detector>.alarm_filter_window_size", OTHER("integer"), "1", 1,
	 COUNT_LIMIT, "windows", NULL, OURS, "Shorter runs of alarms than this are dropped."},

	/* Keys of the model file without effect: for editors, and of sysTrace. */
	{MODEL, "$schema", UNUSED("text"), "null", ANY, "", NULL, OURS,
	 "No effect: tells editors where the JSON Schema of the file is."},
	{MODEL, "_comment", UNUSED("array"), "null", ANY, "", NULL, OURS,
	 "No effect: a text or a list of texts for people."},
	{MODEL, "gpu_or_npu", UNUSED("text"), "\"npu\"", ANY, "", NULL, SYSTRACE,
	 "No effect: the names of operators tell the kind of device."},
	{MODEL, "enable_hbm_detect", UNUSED("bool"), "false", ANY, "", NULL, SYSTRACE,
	 "No effect: samples of device memory are not read."},
	{MODEL, "hbm_data_path", UNUSED("path"), "null", ANY, "", NULL, SYSTRACE,
	 "No effect: samples of device memory are not read."},
	{MODEL, "hbm_sample_interval_min", UNUSED("number"), "1", ANY, "", NULL, SYSTRACE,
	 "No effect: samples of device memory are not read."},
	{MODEL, "data_type", UNUSED("text"), "\"json\"", ANY, "", NULL, SYSTRACE,
	 "No effect: formats are told by content."},
	{MODEL, "save_path", UNUSED("path"), "null", ANY, "", NULL, SYSTRACE,
	 "No effect: save_image is the folder of pictures."},
	{MODEL, "debug_data", UNUSED("bool"), "false", ANY, "", NULL, SYSTRACE,
	 "No effect: there are no intermediate files."},
	{MODEL, "step_data_path", UNUSED("path"), "null", ANY, "", NULL, SYSTRACE,
	 "No effect: step times are not saved."},

	/* metric_config.json, per metric. */
	{METRICS, "<metric>.type", WORD, AT_METRIC(type), "\"compute\"", ANY, "", flags, SYSTRACE,
	 "Flag of the verdict that an alarm of this metric raises."},
	{METRICS, "<metric>.aggregation.during_s", REAL, AT_METRIC(during_s), "5", SPAN_MIN,
	 SECONDS_LIMIT, "s", NULL, SYSTRACE, "Length of a window."},
	{METRICS, "<metric>.aggregation.during_steps", INTEGER, AT_METRIC(during_steps), "0", 0,
	 COUNT_LIMIT, "steps", NULL, OURS,
	 "Length of a window in steps of the job, in the place of during_s; 0: during_s counts."},
	{METRICS, "<metric>.aggregation.funcs", OTHER("array"), "[{\"func\":\"mean\"}]", ANY, "",
	 NULL, SYSTRACE, "One series per entry; []: the metric has no series."},
	{METRICS, "<metric>.aggregation.funcs[].func", OTHER("text"), "\"mean\"", ANY, "", funcs,
	 SYSTRACE, "How the operators of a window become one value; numpy's names."},
	{METRICS, "<metric>.aggregation.funcs[].func_params.q", OTHER("number"), "null", 0, 100, "",
	 NULL, SYSTRACE, "Needed by percentile (0 to 100) and quantile (0 to 1)."},
	{METRICS, "<metric>.space_detector", OTHER("object"), "null", ANY, "", NULL, SYSTRACE,
	 "Compares the ranks of a group with each other; null: no comparison."},
	{METRICS, "<metric>.space_detector.type", OTHER("text"), "null", ANY, "", NULL, SYSTRACE,
	 "Name of the detector; its parameters stand beside it."},
	{METRICS, "<metric>.space_detector.plugin", OTHER("path"), "null", ANY, "", NULL, OURS,
	 "Shared object to load the detector from, in the place of type."},
	{METRICS, "<metric>.space_detector.alarm_filter_window_size", OTHER("integer"), "1", 1,
	 COUNT_LIMIT, "windows", NULL, OURS, "Shorter runs of alarms than this are dropped."},
	{METRICS, "<metric>.time_detector", OTHER("object"), "null", ANY, "", NULL, SYSTRACE,
	 "Compares each rank with its own past; null: no comparison."},
	{METRICS, "<metric>.time_detector.type", OTHER("text"), "null", ANY, "", NULL, SYSTRACE,
	 "Name of the detector; its parameters stand beside it."},
	{METRICS, "<metric>.time_detector.plugin", OTHER("path"), "null", ANY, "", NULL, OURS,
	 "Shared object to load the detector from, in the place of type."},
	{METRICS, "<metric>.time_detector.alarm_filter_window_size", OTHER("integer"), "5", 1,
	 COUNT_LIMIT, "windows", NULL, SYSTRACE, "Shorter runs of alarms than this are dropped."},
	{METRICS, "<metric>.alarm_filter_window_size", OTHER("integer"), "null", 1, COUNT_LIMIT,
	 "windows", NULL, SYSTRACE, "The same for a time_detector that does not say."},

	/* Keys of the metric file without effect. */
	{METRICS, "$schema", UNUSED("text"), "null", ANY, "", NULL, OURS,
	 "No effect: tells editors where the JSON Schema of the file is."},
	{METRICS, "<metric>.metric_type", UNUSED("text"), "\"device\"", ANY, "", NULL, SYSTRACE,
	 "No effect: a name that ends in _launch is a host metric."},
	{METRICS, "<metric>.method", UNUSED("text"), "null", ANY, "", NULL, SYSTRACE,
	 "No effect: aggregation says how."},
	{METRICS, "<metric>.priority", UNUSED("integer"), "20", ANY, "", NULL, SYSTRACE,
	 "No effect: every metric that is switched on is looked at."},
};

const struct fsl_config_key *fsl_config_keys(size_t *n_keys)
{
	*n_keys = sizeof(keys) / sizeof(keys[0]);
	return keys;
}

const char *fsl_config_file_text(enum fsl_config_file file)
{
	return file == FSL_CONFIG_MODEL ? "model_config.json" : "metric_config.json";
}
