/*
 * Configuration: sysTrace's model_config.json and metric_config.json, extended by failslow's own
 * keys. Every key is a row of one table (config_keys.c): path, type, default, range, unit, help.
 * `failslow config` prints the table; tests check the JSON Schema and the documentation against it.
 */
#ifndef FSL_CONFIG_CONFIG_H
#define FSL_CONFIG_CONFIG_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <failslow/detector.h>
#include <failslow/stats.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/seen_ranks.h"
#include "model/topology.h"

enum fsl_algorithm {
	FSL_ALGORITHM_FAILSLOW, /* lateness tells that a rank is late, excess of own time which
				   one */
	FSL_ALGORITHM_SYSTRACE, /* the reference's rules without its bugs */
};

/* Name of the state file, unless the configuration gives another. */
#define FSL_STATE_FILE "failslow_state.db"

enum fsl_verification_mode {
	FSL_VERIFICATION_REPLAY, /* a rank is named only if the replayed job loses time by it */
	FSL_VERIFICATION_OFF,
};
enum fsl_schema { FSL_SCHEMA_FAILSLOW, FSL_SCHEMA_SYSTRACE };
enum fsl_webhook_form { FSL_WEBHOOK_FAILSLOW, FSL_WEBHOOK_SLACK };
enum fsl_kafka_form { FSL_KAFKA_FAILSLOW, FSL_KAFKA_ANTEATER };
enum fsl_slurm_mode { FSL_SLURM_OFF, FSL_SLURM_COMMENT, FSL_SLURM_DRAIN };

enum { FSL_AGG_FUNCS_MAX = 16, FSL_METRIC_CONFIGS_MAX = 64, FSL_DETECTOR_CONFIGS_MAX = 64 };
/* Greatest size of a file: room for the groups of 100,000 ranks. */
enum { FSL_CONFIG_BYTES_MAX = 16 * 1024 * 1024 };

/* One entry of aggregation.funcs. */
struct fsl_agg_func {
	enum fsl_agg agg;
	double q;           /* percent, PERCENTILE only */
	const char *suffix; /* "percentile_q-90": name of the series if a metric has several */
};

/* One detector as configured: {"type": ..., parameters}. */
struct fsl_detector_config {
	const struct fsl_detector *detector; /* NULL: the configuration says null */
	const void *params;                  /* detector->params_size bytes; config arena */
	const char *name;                    /* "type" */
	int64_t alarm_filter_window_size;    /* shorter runs of alarms are dropped; inner key
						wins */
	enum fsl_metric metric;              /* of an extra detector: its metric */
	bool enabled;
};

/* One metric of metric_config.json ("HcclAllGather", "HcclAllGather_launch"). */
struct fsl_metric_config {
	const char *name;
	const char *op_name; /* operator: @name without "_launch" */
	bool is_launch;      /* launch table (name ends in "_launch") instead of device time */
	const char *type;    /* "compute", "network", "storage" */
	double during_s;
	int64_t during_steps; /* length of a window in steps; 0: during_s applies */
	size_t n_funcs;
	struct fsl_agg_func funcs[FSL_AGG_FUNCS_MAX];
	struct fsl_detector_config time_detector, space_detector;
};

struct fsl_config {
	struct fsl_arena arena; /* holds every text below */
	const char *path;       /* of model_config.json; "" for built-in defaults */
	const char *directory;  /* base of relative paths */
	size_t n_known_keys;    /* keys at the top of that file that have an effect */

	const char *job_name;     /* NULL: told from the folder */
	const char *described_by; /* path of the file that fsl_config_describe used; NULL: none */

	/* Paths; after loading absolute or relative to the working directory. */
	const char *training_log;
	const char *root_path;
	const char *fail_slow_perception_path;
	const char *slow_node_detection_path;
	bool is_output_given;          /* true: --output sets both paths, not their keys */
	const char *const *more_paths; /* [n_more_paths]: operands after root_path; borrowed */
	size_t n_more_paths;
	bool is_look; /* a folder was named, and neither configuration nor --output: write nothing
		       */
	bool lacks_present; /* the same without --now: the files may be old, their last event tells
			       nothing about the present */
	bool may_confine;   /* the process gives up all files but inputs and results */
	const char *rank_table_json;
	const char *metric_config; /* NULL: the built-in one is used */
	const char
		*state_path; /* SQLite file; default <slow_node_detection_path>/failslow_state.db */

	/* Perception. */
	bool with_fail_slow;
	int64_t task_stable_step;
	int64_t max_data_queue_steps;
	int64_t min_startup_detection_steps;
	double fail_slow_span_mins;
	double every_mins; /* --every, which stands above fail_slow_span_mins; 0: not given */
	bool log_type_is_log;
	const char **log_patterns; /* [n_log_patterns]: regular expressions for lines of logs */
	size_t n_log_patterns;
	double hang_times_mins_thr;
	double hang_forget_hours; /* 24: a last event older than this is the end of the job */
	int64_t steps_window_size;
	double k_sigma;
	double anomaly_degree_thr;

	/* Time range. */
	bool has_range;
	int64_t range_begin_ns,
		range_end_ns; /* slow_node_detection_range_times, or --from / --to */
	double slow_node_detection_time_span_hours;
	bool filter_data_by_timestamp;

	/* Observation points. */
	bool enable_cal, enable_op_launch, enable_comm, enable_dataloader, enable_ckpt;
	const char *cal_slow, *op_launch_slow, *comm_slow, *dataloader_slow, *ckpt_slow;

	/* Output. */
	bool record_kpi;
	int64_t max_num_normal_results;
	double look_back_mins;
	enum fsl_schema verdict_schema;
	bool use_plot;          /* pictures of ranks are written */
	const char *save_image; /* folder for them, from slow_node_detection_path on */

	/* Who is told of incidents; NULL: this channel is off. */
	const char *alertmanager_url, *textfile_path, *webhook_url, *webhook_secret_file, *syslog,
		*slurm_command, *kafka_brokers, *kafka_topic;
	enum fsl_webhook_form webhook_form;
	enum fsl_kafka_form kafka_form;
	enum fsl_slurm_mode slurm;
	const char **command_hook; /* [n_command_hook]: program and its arguments */
	size_t n_command_hook;
	int64_t syslog_enterprise; /* number behind the @ of structured data */
	double alarm_timeout_s;    /* of all channels together */

	/* Topology: hccl_domain; n_lists == 0 if absent. */
	struct fsl_domain hccl_domain[FSL_GROUP_KINDS_N];

	/* Keys of failslow. */
	enum fsl_algorithm algorithm;
	uint32_t causes;        /* one bit for each enum fsl_cause that may be named */
	double trim_head_share; /* 0.2: part left out at the start of each series (classical
				   points) */
	double slow_ratio_min;  /* 1.03: least job slowdown that one culprit must explain */
	double persistence_min; /* 0.5: share of the steps of an episode in which a culprit is slow
				 */
	int64_t steps_min;      /* 8: fewer steps than this are insufficient evidence */
	double rank_coverage_min; /* 0.7: fewer ranks than this share are insufficient evidence */
	enum fsl_verification_mode verification;
	int64_t replay_steps_max; /* 400: greatest number of steps to replay */
	int64_t replay_budget_ms; /* 400: greatest processor time of the replay, about */
	double chapter_hours;     /* 4: longer captures are judged in chapters; 0: never */
	int64_t chapter_parts;    /* 64: chapters that a capture has at least where it has steps
				     enough */
	int64_t chapter_operators_min; /* 1000000: captures of fewer are cut by hours alone */
	bool chapter_keep;             /* verdicts of chapters are kept for the next run */
	double lock_wait_s;            /* 0: longest wait for another run over the same job */
	double max_run_minutes;        /* 20: a run that takes longer ends; 0: none does */
	double keep_days;              /* 30: older verdict files are removed; 0: never */
	int64_t keep_files;            /* 1000: verdict files of each kind that stay; 0: all */
	enum fsl_log_form log_form;    /* of messages on stderr */
	int64_t jobs;                  /* threads; 0: as many as the input is worth */
	int64_t now_ns;                /* --now or the clock; set by the command */
	/* Ranks that earlier runs over the job saw, set by the command. The engine clears them if
	 * they do not hold for the files that are there. */
	struct fsl_seen_ranks seen_ranks;

	size_t n_metrics;
	struct fsl_metric_config metrics[FSL_METRIC_CONFIGS_MAX];
	/*
	 * "detectors": {NAME: {...}}: parameters of built-in detectors, and plug-ins. The first
	 * n_detectors entries are those that the file names, in its order. The other built-in
	 * detectors follow with their defaults, up to n_detectors_known. Code that runs the
	 * detectors of the user stops at n_detectors.
	 */
	size_t n_detectors, n_detectors_known;
	struct fsl_detector_config detectors[FSL_DETECTOR_CONFIGS_MAX];

	/* Every effective value, in order of loading, for `failslow config explain`. */
	struct fsl_config_value *values;
	size_t n_values, values_capacity;
};

/* One effective value. Texts live in the configuration's arena. */
struct fsl_config_value {
	const char *key;   /* "k_sigma", "HcclAllGather.aggregation.during_s" */
	const char *value; /* JSON text; paths as they are used, not as they were written */
	const char *file;  /* file that holds it; "" for a default */
};

struct fsl_registry;

/*
 * Loads @path (NULL: built-in defaults). Errors name file, key, value and the allowed values.
 * Unknown keys are warnings with the nearest known key. Keys of sysTrace that nothing uses are told
 * once for each file, as FSL_LOG_INFO. On failure @config is empty. @registry resolves detector
 * names and loads the plug-ins that "plugin" names; it must outlive @config.
 */
enum fsl_status fsl_config_load(struct fsl_config *config, const char *path,
				struct fsl_registry *registry, struct fsl_error *err);
void fsl_config_fini(struct fsl_config *config);

/* Receives every problem as one line of text. The level is FSL_LOG_ERROR, FSL_LOG_WARNING, or
 * FSL_LOG_INFO for keys that have no effect. */
struct fsl_config_reporter {
	void (*report)(void *context, enum fsl_log_level level, const char *text);
	void *context;
};
/* As fsl_config_load, but goes on after an error, so that @reporter gets all problems. The first
 * error is also in @err. */
enum fsl_status fsl_config_load_reported(struct fsl_config *config, const char *path,
					 struct fsl_registry *registry,
					 const struct fsl_config_reporter *reporter,
					 struct fsl_error *err);

/*
 * Takes from @path, a model_config.json in @folder, what describes the job and nothing else:
 * job_name, hccl_domain, thresholds, and training_log and rank_table_json if they lie in @folder.
 * A file that cannot be used changes nothing. @complaint[@size]: the first problem, "" if there is
 * none. FSL_ERR_MEMORY, else FSL_OK.
 */
enum fsl_status fsl_config_describe(struct fsl_config *config, const char *folder, const char *path,
				    char *complaint, size_t size, struct fsl_error *err);

/* A place of the configuration that is used if the command line names none. */
struct fsl_config_place {
	char path[PATH_MAX];
	const char *origin; /* "FAILSLOW_CONFIG", "user", "prefix", "system", "systrace"; static */
	bool is_usable;     /* the file counts if no earlier place has one */
	const char *why;    /* why it does not count; "" if it does; static */
};
enum { FSL_CONFIG_PLACES_MAX = 8 };
/*
 * The places in the order of the search: $FAILSLOW_CONFIG (it counts also if the file is absent, so
 * that a typing error is told), the user's failslow/model_config.json in $XDG_CONFIG_HOME or
 * ~/.config, etc/failslow beside the program's bin/, FSL_CONFIG_DIR, /etc/failslow, and sysTrace's
 * /etc/systrace/config/model_config.json. Returns their number.
 */
size_t fsl_config_places(struct fsl_config_place places[FSL_CONFIG_PLACES_MAX]);
/* Copies the first usable place to *place. False: there is none. */
bool fsl_config_find_default(struct fsl_config_place *place);

/* The metric with this name; Allreduce and AllReduce are the same. NULL: absent. */
const struct fsl_metric_config *fsl_config_metric(const struct fsl_config *config,
						  const char *name);
/* Parameters of a built-in detector: from the "detectors" section, else its defaults. Never NULL
 * for a known name. */
const struct fsl_detector_config *fsl_config_detector(const struct fsl_config *config,
						      const char *name);

enum fsl_config_file { FSL_CONFIG_MODEL, FSL_CONFIG_METRIC };
const char *fsl_config_file_text(enum fsl_config_file file); /* "model_config.json" */

enum fsl_config_kind {
	FSL_KIND_BOOL,
	FSL_KIND_INT,       /* int64_t */
	FSL_KIND_REAL,      /* double */
	FSL_KIND_TEXT,      /* const char * */
	FSL_KIND_PATH,      /* const char *, made absolute or relative to the working directory */
	FSL_KIND_PATH_NULL, /* as PATH; null or "" reads as NULL */
	FSL_KIND_CHOICE,    /* unsigned: index into choices */
	FSL_KIND_SWITCH,    /* bool: true for the second of two choices */
	FSL_KIND_WORD,      /* const char *: one of choices */
	FSL_KIND_OTHER,     /* read by a function of its own */
	FSL_KIND_UNUSED,    /* accepted because sysTrace's files have the key, never read */
};

/* One row of the key table, for `failslow config keys`, the schema test and the documentation test.
 */
struct fsl_config_key {
	enum fsl_config_file file;
	const char *key;  /* dotted path; "<metric>" and "<detector>" stand for any name */
	const char *type; /* "bool", "integer", "number", "text", "path", "object", "array" */
	enum fsl_config_kind kind;
	size_t offset;              /* in struct fsl_config or struct fsl_metric_config */
	const char *fallback;       /* default as JSON text */
	double min, max;            /* of numbers, inclusive */
	const char *unit;           /* "" if it has none */
	const char *const *choices; /* allowed texts, NULL-terminated; NULL: any */
	bool is_ours;               /* false: a key of sysTrace */
	const char *help;           /* one sentence */
};
/* All rows of the table; static. */
const struct fsl_config_key *fsl_config_keys(size_t *n_keys);

#endif
