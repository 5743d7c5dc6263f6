/*
 * The capture model: folders that profilers of Ascend devices wrote, one per rank, between reading
 * and judging. The readers (read_<file>.c, one per kind of file) fill it; all other code only reads
 * it. Times are int64 ns, parsed from text. A value that no file tells is FSL_NS_ABSENT,
 * FSL_STR_NONE or NaN, never 0.
 */
#ifndef FSL_CAPTURE_CAPTURE_H
#define FSL_CAPTURE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

#include "base/mem.h"
#include "base/strpool.h"
#include "chrome/trace_flows.h"
#include "model/run.h"

enum {
	FSL_PROFILE_RANKS_MAX = 1 << 16,
	FSL_PROFILE_GAPS_MAX = 16, /* number of largest idle gaps kept per rank and step */
};

/* A step number that a file leaves out. */
#define FSL_STEP_ABSENT INT64_C(-1)

enum fsl_profile_writer {
	FSL_PROFILE_PYTORCH,   /* *_ascend_pt */
	FSL_PROFILE_MINDSPORE, /* *_ascend_ms */
	FSL_PROFILE_MSPROF,    /* PROF_* */
	FSL_PROFILE_KINETO,  /* a trace of PyTorch's profiler for other devices: one file a rank */
	FSL_PROFILE_UNKNOWN, /* a bare ASCEND_PROFILER_OUTPUT, or renamed */
};

/* Source of a rank's number, most trusted first. */
enum fsl_profile_rank_source {
	FSL_PROFILE_RANK_INFO_NAME,    /* profiler_info_<N>.json */
	FSL_PROFILE_RANK_INFO_CONTENT, /* rank_id in that file */
	FSL_PROFILE_RANK_DB_NAME,      /* ascend_pytorch_profiler_<N>.db */
	FSL_PROFILE_RANK_METADATA,     /* distributed_args.rank */
	FSL_PROFILE_RANK_FOLDER_NAME,  /* rank0_ascend_pt, rank_0... */
	FSL_PROFILE_RANK_NONE,         /* no source: numbered by order of the folders */
};

/* One folder of one rank, as found. Paths live in the profile's arena. */
struct fsl_profile_folder {
	const char *path;        /* the rank's folder */
	const char *output_path; /* folder of its CSV, JSON and db files; may be @path itself */
	const char *file;        /* the only file of @output_path that is read; NULL: all are */
	enum fsl_profile_writer writer;
	int32_t rank;
	enum fsl_profile_rank_source rank_source;
	int64_t stamp; /* YYYYMMDDhhmmssmmm in the folder's name; 0: none */
	/* The only process of an export of Nsight Systems that is read (fsl_nsys_worker), 0: that
	 * of the first kernel; and whether other processes of the file are other ranks. */
	int64_t process;
	bool is_of_several;
};

/* Content of profiler_info and profiler_metadata. Texts in the rank's arena, "" if unknown. */
struct fsl_profile_info {
	const char *level;         /* "Level0", "Level1", "Level2" */
	const char *torch_version; /* torch_npu_version */
	const char *cann_version;
	const char *host_uid; /* or host name; "" if no file has it */
	const char *host_name;
	bool has_schedule;
	int64_t n_active_steps; /* of the schedule; -1 unknown */
	/* distributed_args; 0 if unknown. */
	int64_t tensor_size, pipeline_size, data_size, context_size, expert_size, world_size;
	int8_t sequence_parallel;                  /* 1 yes, -1 no, 0 unknown */
	struct fsl_profile_parallel_group *groups; /* parallel_group_info */
	size_t n_groups, groups_capacity;
	struct fsl_profile_setting *settings; /* ENV_VARIABLES: of the job, as far as recorded */
	size_t n_settings, settings_capacity;
};

/* A variable of the job's environment. Texts in the rank's arena. */
struct fsl_profile_setting {
	const char *name, *value; /* "": it was recorded and not set */
};

/* Value of a variable; NULL: not recorded. */
const char *fsl_profile_setting_of(const struct fsl_profile_info *info, const char *name);

/* A group that the framework made, from the metadata. */
struct fsl_profile_parallel_group {
	const char *id;   /* "group_name_5"; rank's arena */
	const char *name; /* "dp_cp" */
	int32_t *ranks;   /* members, global, in the group's order */
	size_t n_ranks;
	char hash[24]; /* decimal text of the id's hash, which follows "@" in the JSON files */
};

/* One step of one rank: a row of step_trace_time.csv, or the same rebuilt from kernels. */
struct fsl_profile_step {
	int64_t step;      /* FSL_STEP_ABSENT: the capture has no step numbers */
	int64_t device_id; /* -1 unknown */
	int64_t computing_ns, exposed_ns /* communication that nothing overlaps */, overlapped_ns,
		communication_ns, free_ns, stage_ns, bubble_ns, exposed_not_receive_ns,
		preparing_ns;
	/* The profiler counts kernels that communicate as computing (comm_kernels.h). Of its
	 * computing_ns, @moved_ns is exposed communication; @found_ns is communication that its
	 * communication_ns lacks. fsl_profile_part_ns() takes both into account. */
	int64_t moved_ns, found_ns;
};

/* Kinds of links, as the profiler names them. */
enum fsl_profile_transport {
	FSL_TRANSPORT_RDMA,
	FSL_TRANSPORT_HCCS,
	FSL_TRANSPORT_PCIE,
	FSL_TRANSPORT_SDMA, /* the total of HCCS, PCIE and SIO, not a further kind */
	FSL_TRANSPORT_SIO,
	FSL_TRANSPORT_LOCAL,
	FSL_TRANSPORT_HCCS_SW,
	FSL_TRANSPORT_OTHER,
	FSL_TRANSPORTS_N
};
const char *fsl_profile_transport_text(enum fsl_profile_transport transport); /* "HCCS" */
enum fsl_profile_transport fsl_profile_transport_from_text(const char *text, size_t length);

/*
 * Communication durations are written in ms with more digits than ns hold. x_ps is the rest, -500
 * to 500 ps, beyond x_ns (0 if a reader does not set it), so that written output agrees with the
 * input even for the shortest durations.
 */

/* Packets of one size that an operator sent over one kind of link. */
struct fsl_profile_packets {
	int64_t n_bytes; /* size of one packet; the file's MB are 10^6 bytes */
	int64_t count;
	int64_t time_ns;
	int16_t time_ps;
};

/* Traffic of one operator over one kind of link. Kinds without traffic have no entry. */
struct fsl_profile_traffic {
	enum fsl_profile_transport transport;
	int64_t n_bytes;
	int64_t time_ns;
	int16_t time_ps;
	double gb_per_s;                   /* as written */
	double large_packet_ratio;         /* as written */
	uint32_t packets_begin, n_packets; /* in rank->packets */
};

/* One communication operator: communication.json, analysis.db, or a row of kernel_details. */
struct fsl_profile_comm {
	int64_t step;
	uint32_t name_id;  /* "hcom_allReduce__586_0_1" */
	uint32_t group_id; /* text behind "@"; FSL_STR_NONE: unknown */
	bool is_p2p;
	bool is_kernel;     /* a fused kernel, or a collective on AI CPUs; without a group */
	int64_t n_elements; /* that a member gives; 0: not told */
	int64_t begin_ns, elapse_ns;
	int64_t exposed_ns; /* in which no kernel computes; only if the rank tells_exposed */
	int64_t transit_ns, wait_ns, sync_ns, idle_ns;
	int16_t elapse_ps, transit_ps, wait_ps, sync_ps, idle_ps;
	uint32_t traffic_begin, n_traffic; /* in rank->traffic */
};

/* One link of communication_matrix.json; src and dst are places inside the group. */
struct fsl_profile_link {
	int64_t step;
	uint32_t label_id; /* "allreduce-top1"; in old captures the operator's name */
	uint32_t group_id;
	uint32_t name_id; /* Op Name; FSL_STR_NONE in totals */
	bool is_p2p;
	int32_t src, dst;
	enum fsl_profile_transport transport;
	int64_t n_bytes;
	int64_t time_ns;
	int16_t time_ps;
	double gb_per_s;
};

/* Time that tasks of a rank's collectives waited for signals of one member of a group, over all
 * steps that are read. */
struct fsl_profile_signal_wait {
	uint32_t group_id; /* as in the operators */
	int32_t place;     /* place of the member inside the group */
	int64_t wait_ns;
};

/* Units of a core that work side by side, as counters of the profiler tell them. */
enum fsl_profile_pipe {
	FSL_PIPE_CUBE,   /* matrices (mac) */
	FSL_PIPE_VECTOR, /* vec */
	FSL_PIPE_SCALAR,
	FSL_PIPE_READ,  /* from global memory (mte2) */
	FSL_PIPE_WRITE, /* to it (mte3, fixpipe) */
	FSL_PIPES_N
};

/*
 * Kernels (no communication) of one step that share all properties that matter for their duration.
 */
struct fsl_profile_kernels {
	int64_t step;
	uint32_t type_id;  /* "MatMulV2"; the kernel's name if level 0 has no type */
	uint32_t shape_id; /* input shapes and data types, joined by '|'; FSL_STR_NONE: unknown */
	uint32_t core_id;  /* "AI_CORE"; FSL_STR_NONE: unknown */
	int64_t count;
	int64_t total_ns, min_ns, max_ns;
	int64_t n_blocks;           /* cores that one of them asks for, the greatest; 0: not told */
	float pipe_ns[FSL_PIPES_N]; /* of total_ns, in which the unit worked; 0: not told */
};

/* One call of a kernel that communicates: see comm_kernels.h. */
struct fsl_profile_call {
	int64_t step, begin_ns, elapse_ns;
	int64_t alone_ns; /* of fused kernels: time in which no other kernel computed */
	uint32_t type_id;
	uint32_t kernels_idx; /* in rank->kernels; FSL_STR_NONE: it computes nothing */
};

/* One of the first calls of kernels of a class: unknown_comms.h compares them across ranks. */
struct fsl_profile_sample {
	int64_t begin_ns;
	uint32_t elapse_ns;
	uint32_t kernels_idx; /* in rank->kernels */
};

/* Types of kernels that communicate by the times of their calls, whatever their names are. */
struct fsl_profile_found_comm {
	const char *type;
	const char *group; /* begin of the name of the told group in which they meet; NULL: of
			      the stage, or of all ranks */
	int64_t apart_ns;  /* greatest distance between the begins of a call on its ranks */
	int64_t ends_ns;   /* the same of ends, at their median */
};
enum { FSL_FOUND_COMMS_MAX = 16 };
struct fsl_profile_found_comms {
	struct fsl_profile_found_comm items[FSL_FOUND_COMMS_MAX];
	size_t n_items;
};

/* A stretch of time in which the device was idle. */
struct fsl_profile_gap {
	int64_t step;
	int64_t begin_ns, dur_ns;
	int64_t busy_ns;              /* time of its step before it in which the device worked */
	uint32_t before_id, after_id; /* names of the tasks before and after it */
};

/* One row of op_statistic.csv or api_statistic.csv: sums over the capture. */
struct fsl_profile_statistic {
	uint32_t name_id; /* operator type or API */
	uint32_t kind_id; /* core type or level ("acl", "node", "runtime"...) */
	int64_t count;
	int64_t total_ns, min_ns, mean_ns, max_ns;
};

/* Framework operators of one name: sums of operator_details.csv. */
struct fsl_profile_operator {
	uint32_t name_id;
	int64_t count;
	int64_t host_self_ns, device_self_ns, device_core_ns;
};

/* Peak memory of one component ("PTA", "APP", "GE"...). */
struct fsl_profile_memory {
	uint32_t component_id;
	bool is_module; /* as counted by the driver (npu_module_mem), not by the allocators */
	int64_t allocated_bytes, reserved_bytes, active_bytes; /* -1: unknown */
	int64_t largest_bytes;    /* greatest allocation of one operator; -1: unknown */
	uint32_t largest_name_id; /* that operator; FSL_STR_NONE: unknown */
};

/* Host calls that keep the device waiting. */
enum fsl_profile_host_call {
	FSL_HOST_DATALOADER,  /* "dataloader" in the name; nested calls are not counted */
	FSL_HOST_GC,          /* Python's garbage collector */
	FSL_HOST_SYNCHRONIZE, /* aclrtSynchronizeStream, ...Device and similar */
	FSL_HOST_COMPILE,     /* opCompile: an operator is built while the job runs */
	FSL_HOST_LAUNCH,      /* Node@launch */
	FSL_HOST_CALLS_N
};

struct fsl_profile_host_calls {
	uint64_t n;
	int64_t total_ns, max_ns;
	uint64_t n_long; /* over 10 ms for the data loader, over 1 ms for all others */
	int64_t long_ns; /* sum of these */
};

/* A stretch in which the device was free, with what the host did meanwhile. */
struct fsl_profile_idle {
	int64_t begin_ns, dur_ns;
	int64_t n_acl, acl_ns; /* AscendCL calls that began in it; time inside such calls */
	/* Time from the launch of the task that ended it to the task's begin, by CANN and by the
	 * framework. A short time means that the host was late. FSL_NS_ABSENT: unknown. */
	int64_t launch_lag_ns, torch_lag_ns;
};

/* Copies of memory in one step that neither computing nor communication overlaps: of its free
 * time. */
struct fsl_profile_copies {
	int64_t step, exposed_ns;
};

/* A step as the framework's thread recorded it (ProfilerStep#50), else an iteration of a graph. */
struct fsl_profile_range {
	int64_t step;
	int64_t begin_ns, end_ns;
};

/* Counters of a rank's device, as means over the capture. Those of a port follow each other. */
enum fsl_profile_counter {
	FSL_COUNTER_CACHE_HITS, /* of kernels' accesses to memory, in the L2 cache; 0 to 1 */
	FSL_COUNTER_NIC_ERRORS, /* share of the packets, of the worse direction */
	FSL_COUNTER_NIC_DROPS,
	FSL_COUNTER_NIC_USED, /* share of the bandwidth, while anything moves */
	FSL_COUNTER_ROCE_ERRORS,
	FSL_COUNTER_ROCE_DROPS,
	FSL_COUNTER_ROCE_USED,
	FSL_COUNTER_HCCS_PEAK,    /* GB/s, the greatest */
	FSL_COUNTER_PCIE_LATENCY, /* ms */
	FSL_COUNTERS_N
};

struct fsl_profile_reading {
	double sum;
	int64_t n; /* 0: not told */
};

enum { FSL_PROFILE_FREQS_MAX = 8 };

/* Data of trace_view.json or the profiler's database: the host's work and the cores' clock. */
struct fsl_profile_trace {
	uint64_t n_events;
	const char *dialect;      /* of a trace of Kineto, fsl_kineto_dialect(); NULL: none */
	bool is_unverified;       /* of a dialect of which no real export is known */
	bool is_cut;              /* its end is missing or unreadable */
	int64_t base_ns;          /* that was added to the times of the file; 0: none told */
	int64_t begin_ns, end_ns; /* range of all device tasks */
	/* Host to device: from the begin of a launch by CANN to the begin of its task. */
	uint64_t n_launches;
	int64_t lag_median_ns, lag_p95_ns, lag_max_ns;
	struct fsl_trace_lag torch_lag; /* from the framework's operator to its task */
	struct fsl_trace_lag queue_lag; /* in the task queue, from Enqueue to Dequeue */
	/* Frequencies of the cores, MHz: values seen, ascending, with the time at each; more values
	 * than fit count for the nearest. */
	size_t n_freqs;
	int32_t freqs_mhz[FSL_PROFILE_FREQS_MAX];
	int64_t freq_ns[FSL_PROFILE_FREQS_MAX];
	struct fsl_profile_host_calls calls[FSL_HOST_CALLS_N];
	size_t n_idle; /* the longest stretches, longest first */
	struct fsl_profile_idle idle[FSL_PROFILE_GAPS_MAX];
	struct fsl_profile_range *ranges; /* sorted by begin */
	size_t n_ranges, ranges_capacity;
	bool has_iterations; /* ranges are iterations of a graph on the device (step_trace.csv) */
	struct fsl_trace_sums *sums; /* between the slices of a trace in several files, else NULL */
};

struct fsl_profile_rank {
	struct fsl_profile_folder folder; /* copied */
	int32_t rank;
	struct fsl_arena arena;
	struct fsl_strpool *names; /* of this rank only, because ranks are read on threads */
	struct fsl_profile_info info;
	struct fsl_file *files; /* files that were searched for and found */
	size_t n_files, files_capacity;
	struct fsl_profile_step *steps; /* step_trace_time */
	size_t n_steps, steps_capacity;
	size_t n_steps_captured; /* rows of step_trace_time.csv or step_trace.csv, wanted or not */
	struct fsl_profile_step *rebuilt; /* from kernel_details, else from trace_view */
	size_t n_rebuilt, rebuilt_capacity;
	/* Beside rows that kernel_details gave: from trace_view if that holds all kernels. Its
	 * times are exact, those of kernel_details are rounded, or a part of them is missing. */
	struct fsl_profile_step *traced;
	size_t n_traced, traced_capacity;
	struct fsl_profile_comm *comms; /* sorted by step, begin, name */
	size_t n_comms, comms_capacity;
	bool tells_exposed; /* by each of them, capture/exposed.h */
	struct fsl_profile_traffic *traffic;
	size_t n_traffic, traffic_capacity;
	struct fsl_profile_packets *packets;
	size_t n_packets, packets_capacity;
	struct fsl_profile_link *links;
	size_t n_links, links_capacity;
	struct fsl_profile_signal_wait *waits; /* of trace_view.json, or the profiler's database */
	size_t n_waits, waits_capacity;
	struct fsl_profile_kernels *kernels;
	size_t n_kernels, kernels_capacity;
	struct fsl_profile_call *calls; /* become operators once all ranks are read */
	size_t n_calls, calls_capacity;
	struct fsl_profile_sample *samples; /* by begin, within a class */
	size_t n_samples, samples_capacity;
	const struct fsl_profile_found_comms *found; /* of the set, borrowed; NULL: none */
	struct fsl_kernel_sums *kernel_sums; /* set between slices of kernel_details, else NULL */
	struct fsl_profile_gap *gaps;
	size_t n_gaps, gaps_capacity;
	struct fsl_profile_statistic *op_statistics, *api_statistics;
	size_t n_op_statistics, op_statistics_capacity, n_api_statistics, api_statistics_capacity;
	struct fsl_profile_operator *operators;
	size_t n_operators, operators_capacity;
	struct fsl_kept_rows *kept; /* single rows; NULL: they are not wanted */
	struct fsl_profile_memory *memory;
	size_t n_memory, memory_capacity;
	struct fsl_profile_copies *copies; /* of trace_view.json, or the profiler's database */
	size_t n_copies, copies_capacity;
	struct fsl_profile_shares *shares; /* capture/shares.h: of the whole trace, then of steps;
					      none without traces of Kineto */
	size_t n_shares, shares_capacity;
	struct fsl_functions *functions;    /* capture/functions.h; NULL: they are not wanted */
	struct fsl_worker_figures *figures; /* capture/worker_figures.h; with functions */
	struct fsl_profile_reading counters[FSL_COUNTERS_N];
	uint64_t cached_kernels; /* sum of hashes of the kernels' names behind CACHE_HITS */
	struct fsl_profile_trace trace;
	bool has_trace, has_text, has_db; /* at least one such file was read, at least in part */
	bool has_bare_times; /* begins of kernels came without a unit; they were read as us */
};

/* A whole set of folders. */
struct fsl_profile {
	struct fsl_arena arena;
	const char *root;
	struct fsl_profile_folder *folders; /* one per rank, sorted by rank */
	size_t n_folders, folders_capacity;
	struct fsl_profile_rank *ranks; /* sorted by rank; the data of each folder */
	size_t n_ranks;
	struct fsl_profile_found_comms *found; /* in its arena; NULL: none */
	bool has_choice;                       /* some existing ranks were not asked for */
	bool takes_any_trace;                  /* the user tells what its lanes are */
	const char **remarks; /* conflicts, duplicates, skipped folders: one sentence each */
	size_t n_remarks, remarks_capacity;
	const char *left_out; /* the first remark on a file that should be a rank's; NULL: none */
	size_t n_left_out;    /* such files */
};

/* Which part of a set is read. */
struct fsl_profile_options {
	const char *path;
	const char *const *more_paths; /* [n_more_paths]: captures of the same job */
	size_t n_more_paths;
	const int32_t *ranks; /* wanted; n_ranks 0: all */
	size_t n_ranks;
	const int64_t *steps; /* wanted; n_steps 0: all */
	size_t n_steps;
	int n_threads;       /* 0: number of processors */
	bool keeps_rows;     /* single kernels and levels of memory, for timelines: kept_rows.h */
	bool sums_functions; /* of traces of Kineto: functions.h */
	const struct fsl_lanes *lanes; /* the user's, source/kineto/lanes.h; NULL: none */
};

/*
 * Finds the folders under the paths and reads them, ranks on threads. Never changes inputs. A
 * folder or file that cannot be used is reported in files[] or remarks[], and the rest is read.
 * Fails if memory is short, if the path cannot be read, or if there is no rank at all
 * (FSL_ERR_INPUT, with what was searched for). On failure @out is empty; else free it with
 * fsl_profile_fini.
 */
enum fsl_status fsl_profile_read(struct fsl_profile *out, const struct fsl_profile_options *options,
				 struct fsl_error *err);
void fsl_profile_fini(struct fsl_profile *profile);
/* Frees all that one rank owns and makes it {0}. */
void fsl_profile_rank_fini(struct fsl_profile_rank *rank);

/* The rank with this number; NULL if it is not in the set. Borrowed. */
const struct fsl_profile_rank *fsl_profile_rank_of(const struct fsl_profile *profile, int32_t rank);

/* Sorts rank->comms by step, begin, name and group; for readers that added operators. */
void fsl_profile_sort_comms(struct fsl_profile_rank *rank);

/* True when the operator has a begin and a duration, and both can be true (two weeks at most). */
bool fsl_profile_comm_is_timed(const struct fsl_profile_comm *comm);

/* The last "__" of an operator's name, before its group and number; NULL: the name has none. */
const char *fsl_profile_name_mark(const char *name);
/* Length of the type in an operator's name: all before the last "__", else the whole text. */
size_t fsl_profile_type_length(const char *name);

/* Adds a sentence to profile->remarks. FSL_ERR_MEMORY only. */
enum fsl_status fsl_profile_remark(struct fsl_profile *profile, struct fsl_error *err,
				   const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
