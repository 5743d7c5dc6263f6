/* `failslow record`: who runs on which CPU, from the kernel's tracer. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/language.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/number_list.h"
#include "cli/record_control.h"
#include "record/record.h"

enum {
	SECONDS_DEFAULT = 30,      /* as of the recorder of MindStudio */
	SECONDS_MAX = 30 * 86400,  /* a month; longer ones go on until they are stopped */
	BUFFER_KIB_DEFAULT = 4096, /* 60,000 events of a CPU: ten looks of a busy one */
	BUFFER_KIB_MAX = 4 << 20,  /* 4 GiB for each CPU */
	KEEP_FREE_MIB_DEFAULT = 1024,
	KEEP_FREE_MIB_MAX = 1 << 30,
	BYTES_PER_MIB = 1 << 20,
	BYTES_PER_MB = 1000000,
};

/* The file that tells of a recording that was started. */
#define STATE_FOLDER "/run/failslow"
/* Instead of the tracefs of the kernel, for tests; the state of recordings goes there, too. */
#define TRACEFS_VARIABLE "FAILSLOW_TRACEFS"
/* Inode of the first PID namespace of a host, in every kernel (PROC_PID_INIT_INO). */
#define HOST_PID_NAMESPACE "pid:[4026531836]"

static const char *const clock_names[] = {"mono_raw", "mono",   "boot", "tai",
					  "local",    "global", "perf", NULL};

struct options {
	const char *cpu, *pid, *output;
	double seconds;
	int64_t buffer_kib, keep_free_mib;
	int clock;
	bool has_runtime, wants_help;
	int n_quiet;
	enum task { RECORD, START, STOP } task;
	struct fsl_number_list cpus, processes;
	int64_t *threads; /* [n_threads] of the processes; owned */
	size_t n_threads;
	char host[65]; /* the kernel allows 64 characters */
	char trace[FSL_RECORD_PATH_MAX];
	const char *tracefs, *state_folder;
};

static enum fsl_status parse_task(struct options *o, int n_operands, char **argv,
				  struct fsl_error *err)
{
	static const char *const words[] = {"", "start", "stop"};
	FSL_TRY(fsl_check_operands(n_operands, 0, 1, "start, stop or none", err));
	if (n_operands == 0) {
		return FSL_OK;
	}
	for (int i = START; i <= STOP; i++) {
		if (strcmp(argv[1], words[i]) == 0) {
			o->task = (enum task)i;
			return FSL_OK;
		}
	}
	return FSL_FAIL(err, FSL_ERR_USAGE,
			"no such task of record: word=\"%s\", wanted=\"start, stop\"", argv[1]);
}

/* MindStudio's recorder spells its options with underscores. */
static void take_original_words(int argc, char **argv)
{
	static const struct {
		const char *theirs, *ours;
	} words[] = {{"--record_time", "--record-time"}, {"--bf_size", "--buffer-size"}};
	static char texts[2][96];
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < 2; k++) {
			size_t length = strlen(words[k].theirs);
			if (strncmp(argv[i], words[k].theirs, length) == 0 &&
			    (argv[i][length] == '\0' || argv[i][length] == '=') &&
			    snprintf(texts[k], sizeof(texts[k]), "%s%s", words[k].ours,
				     argv[i] + length) < (int)sizeof(texts[k])) {
				argv[i] = texts[k];
			}
		}
	}
}

static enum fsl_status parse(struct options *o, int argc, char **argv, struct fsl_error *err)
{
	const double not_given = -2.0 * SECONDS_MAX;
	o->seconds = not_given;
	o->buffer_kib = BUFFER_KIB_DEFAULT;
	o->keep_free_mib = KEEP_FREE_MIB_DEFAULT;
	const struct fsl_opt table[] = {
		{"cpu", 0, FSL_OPT_TEXT, &o->cpu, 0, 0, NULL, "LIST",
		 "CPUs to record, as in 0,1,4-7; without it all"},
		{"record-time", 't', FSL_OPT_REAL, &o->seconds, -SECONDS_MAX, SECONDS_MAX, NULL,
		 "SECONDS",
		 "how long; 0 or less: until it is stopped; without it 30, of start until stop"},
		{"output", 'o', FSL_OPT_TEXT, &o->output, 0, 0, NULL, "PATH",
		 "file to write, or folder for a file named by host and time; without it the "
		 "present folder"},
		{"pid", 'p', FSL_OPT_TEXT, &o->pid, 0, 0, NULL, "LIST",
		 "only events of these processes with their threads and children"},
		{"buffer-size", 'b', FSL_OPT_INT, &o->buffer_kib, 1, BUFFER_KIB_MAX, NULL, "KIB",
		 "the kernel's buffer for each CPU; without it 4096"},
		{"clock", 0, FSL_OPT_CHOICE, &o->clock, 0, 0, clock_names, "CLOCK",
		 "clock of the events: mono_raw (default), mono, boot, tai, local, global or perf"},
		{"stat-runtime", 0, FSL_OPT_FLAG, &o->has_runtime, 0, 0, NULL, NULL,
		 "also sched_stat_runtime, which may be five times as many events as all others"},
		{"keep-free", 0, FSL_OPT_INT, &o->keep_free_mib, 0, KEEP_FREE_MIB_MAX, NULL, "MIB",
		 "end when the disk has less free space; without it 1024"},
		{"quiet", 'q', FSL_OPT_COUNT, &o->n_quiet, 0, 0, NULL, NULL,
		 "no summary; twice: no warnings either"},
		{"help", 'h', FSL_OPT_FLAG, &o->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	int n_operands = 0;
	take_original_words(argc, argv);
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (o->wants_help) {
		fsl_command_help(
			"record", "record [start|stop] [OPTION]...",
			"Records which thread ran on which CPU, who woke it, and "
			"interrupts, from the kernel's tracer, for failslow hostbound. Needs root. "
			"Changes nothing that others have set.\n\n"
			"start returns as soon as recording has begun, stop ends it.\n\n" FSL_EXIT_CODES_TEXT,
			table);
		return FSL_OK;
	}
	FSL_TRY(parse_task(o, n_operands, argv, err));
	if (o->seconds == not_given) {
		o->seconds = o->task == START ? 0 : SECONDS_DEFAULT;
	}
	FSL_TRY(fsl_number_list_parse(&o->cpus, "--cpu", o->cpu, err));
	return fsl_number_list_parse(&o->processes, "--pid", o->pid, err);
}

/* Threads of one process. */
static enum fsl_status add_threads(struct options *o, int64_t pid, struct fsl_error *err)
{
	char path[64], **names = NULL;
	size_t n_names = 0;
	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/task", pid);
	if (fsl_dir_list(path, &names, &n_names, NULL) != FSL_OK) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"there is no such process: option=\"--pid\", pid=%" PRId64, pid);
	}
	for (size_t i = 0; i < n_names && o->n_threads < FSL_TRACE_PIDS_MAX; i++) {
		int64_t tid = 0;
		if (fsl_parse_i64(names[i], strlen(names[i]), &tid)) {
			o->threads[o->n_threads++] = tid;
		}
	}
	fsl_free(names);
	return FSL_OK;
}

/* The kernel's tracer counts as the host does. */
static enum fsl_status find_threads(struct options *o, struct fsl_error *err)
{
	char name[64];
	if (o->processes.n_items == 0) {
		return FSL_OK;
	}
	ssize_t length = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);
	name[length > 0 ? length : 0] = '\0';
	if (length > 0 && strcmp(name, HOST_PID_NAMESPACE) != 0) {
		return FSL_FAIL(
			err, FSL_ERR_USAGE,
			"this container has its own numbers of processes, record on the host: "
			"option=\"--pid\"");
	}
	FSL_TRY(FSL_NEW(o->threads, (size_t)FSL_TRACE_PIDS_MAX, "threads", err));
	for (size_t i = 0; i < o->processes.n_items; i++) {
		FSL_TRY(add_threads(o, o->processes.items[i], err));
	}
	return FSL_OK;
}

static bool is_folder(const char *path)
{
	struct stat info;
	size_t length = strlen(path);
	return path[length - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* Absolute path of the trace: as given, or by host and time. The recorder of MindStudio is told
 * names that end in .dat; the trace is text. */
static enum fsl_status name_trace(struct options *o, struct fsl_error *err)
{
	const char *output = o->output != NULL ? o->output : ".";
	char folder[FSL_RECORD_PATH_MAX], name[128] = "";
	if (output[0] == '/' || getcwd(folder, sizeof(folder)) == NULL) {
		folder[0] = '\0';
	}
	if (is_folder(output)) {
		time_t now = (time_t)(fsl_now_ns() / FSL_NS_PER_S);
		struct tm utc = {0};
		char when[32];
		(void)gmtime_r(&now, &utc);
		(void)strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
		(void)snprintf(name, sizeof(name), "%sftrace_%s_%s.txt",
			       output[strlen(output) - 1] == '/' ? "" : "/", o->host, when);
	}
	output = strcmp(output, ".") == 0 ? "" : output;
	int length = snprintf(o->trace, sizeof(o->trace), "%s%s%s%s", folder,
			      folder[0] != '\0' && output[0] != '\0' ? "/" : "", output, name);
	if (length < 0 || length >= (int)sizeof(o->trace)) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "the path is too long: option=\"--output\"");
	}
	if (length > 4 && strcmp(o->trace + length - 4, ".dat") == 0) {
		(void)memcpy(o->trace + length - 4, ".txt", 4);
	}
	return FSL_OK;
}

static struct fsl_record_plan plan_of(const struct options *o)
{
	return (struct fsl_record_plan){
		.trace = {.cpus = o->cpus.items,
			  .n_cpus = o->cpus.n_items,
			  .pids = o->threads,
			  .n_pids = o->n_threads,
			  .buffer_kib = o->buffer_kib,
			  .clock = clock_names[o->clock],
			  .has_runtime = o->has_runtime},
		.tracefs = o->tracefs,
		.path = o->trace,
		.host = o->host,
		.seconds = o->seconds,
		.keep_free_bytes = o->keep_free_mib * BYTES_PER_MIB,
	};
}

static enum fsl_status tell(const struct fsl_record_result *result, const char *trace,
			    bool is_quiet, struct fsl_error *err)
{
	if (!is_quiet) {
		(void)fsl_tell_print(stdout,
				     "recorded for %.1f s: CPUs %zu, lines %" PRIu64
				     ", size %.1f MB, lost events %" PRIu64 "\n",
				     result->seconds, result->n_cpus, result->n_lines,
				     (double)result->n_bytes / BYTES_PER_MB, result->n_lost);
		printf("%s\n", trace);
	}
	if (result->n_lost > 0) {
		fsl_log(FSL_LOG_WARNING, "record",
			"events were lost because the buffer was full, give it more or record fewer "
			"CPUs: option=\"--buffer-size\", events=%" PRIu64,
			result->n_lost);
	}
	if (result->n_lines == 0) {
		fsl_log(FSL_LOG_WARNING, "record",
			"there was no event, look at the CPUs and processes that were named: "
			"file=\"%s\"",
			trace);
	}
	if (result->end == FSL_RECORD_NO_SPACE) {
		return FSL_FAIL(
			err, FSL_ERR_IO,
			"the disk is nearly full, so the recording ended early, whole up to "
			"then: option=\"--keep-free\", file=\"%s\"",
			trace);
	}
	return FSL_OK;
}

/* State of a recording that was started. */
struct started {
	const struct options *options;
	struct fsl_record_state state;
	int ready; /* who started it waits for a byte */
};

/* Recording has begun: whoever started it is told, and its terminal is left. */
static enum fsl_status leave_starter(void *context, struct fsl_error *err)
{
	struct started *started = context;
	FSL_TRY(fsl_record_state_write(started->options->state_folder, &started->state, err));
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int file = STDIN_FILENO; null >= 0 && file <= STDERR_FILENO; file++) {
		(void)dup2(null, file);
	}
	if (null > STDERR_FILENO) {
		(void)close(null);
	}
	(void)!chdir("/");
	(void)!write(started->ready, "", 1);
	(void)close(started->ready);
	started->ready = -1;
	return FSL_OK;
}

/* In the new process. */
static enum fsl_status record_alone(const struct options *o, int ready, struct fsl_error *err)
{
	struct started started = {.options = o, .ready = ready};
	struct fsl_record_plan plan = plan_of(o);
	(void)setsid();
	fsl_record_state_take(&started.state);
	(void)snprintf(started.state.trace, sizeof(started.state.trace), "%s", o->trace);
	plan.begun = leave_starter;
	plan.context = &started;
	enum fsl_status status = fsl_record_run(&plan, &started.state.result, err);
	if (started.ready < 0) {
		started.state.is_over = true;
		if (status != FSL_OK) {
			(void)snprintf(started.state.failure, sizeof(started.state.failure), "%s",
				       fsl_error_root(err));
		}
		(void)fsl_record_state_write(o->state_folder, &started.state, NULL);
	}
	return status;
}

static enum fsl_status start(const struct options *o, int *exit_code, struct fsl_error *err)
{
	struct fsl_record_state state;
	bool is_there = false;
	int ends[2], how = 0;
	char byte;
	FSL_TRY(fsl_record_state_read(o->state_folder, &state, &is_there, err));
	if (is_there && fsl_record_state_is_alive(&state)) {
		return FSL_FAIL(err, FSL_ERR_IO,
				"a recording was started already, stop it first: pid=%" PRId64
				", file=\"%s\", remedy=\"failslow record stop\"",
				state.pid, state.trace);
	}
	if (pipe2(ends, O_CLOEXEC) != 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot make a pipe: reason=\"%s\"",
				fsl_os_error(errno).text);
	}
	pid_t recorder = fork();
	if (recorder == 0) {
		(void)close(ends[0]);
		return record_alone(o, ends[1], err);
	}
	int code = errno;
	(void)close(ends[1]);
	bool has_begun = recorder > 0 && read(ends[0], &byte, 1) == 1;
	(void)close(ends[0]);
	if (recorder < 0) {
		return FSL_FAIL(err, FSL_ERR_IO, "cannot start a process: reason=\"%s\"",
				fsl_os_error(code).text);
	}
	if (has_begun) {
		if (o->n_quiet == 0) {
			(void)fsl_tell_print(stdout, "recording until `failslow record stop`\n");
			printf("%s\n", o->trace);
		}
		return FSL_OK;
	}
	/* The process has told why not. */
	*exit_code =
		waitpid(recorder, &how, 0) == recorder && WIFEXITED(how) && WEXITSTATUS(how) != 0
			? WEXITSTATUS(how)
			: FSL_EXIT_INTERNAL;
	return FSL_OK;
}

static enum fsl_status stop(const struct options *o, struct fsl_error *err)
{
	struct fsl_record_state state;
	bool is_there = false;
	FSL_TRY(fsl_record_state_read(o->state_folder, &state, &is_there, err));
	if (!is_there) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"no recording was started on this host: folder=\"%s\"",
				o->state_folder);
	}
	FSL_TRY(fsl_record_state_stop(&state, err));
	FSL_TRY(fsl_record_state_read(o->state_folder, &state, &is_there, err));
	fsl_record_state_remove(o->state_folder);
	if (!state.is_over) {
		return FSL_FAIL(
			err, FSL_ERR_IO,
			"the recording was killed, the file has what was written until then: "
			"file=\"%s.part\"",
			state.trace);
	}
	if (state.failure[0] != '\0') {
		return FSL_FAIL(err, FSL_ERR_IO, "%s", state.failure);
	}
	return tell(&state.result, state.trace, o->n_quiet > 0, err);
}

static enum fsl_status record(const struct options *o, struct fsl_error *err)
{
	struct fsl_record_result result;
	struct fsl_record_plan plan = plan_of(o);
	FSL_TRY(fsl_record_run(&plan, &result, err));
	return tell(&result, o->trace, o->n_quiet > 0, err);
}

static enum fsl_status do_task(struct options *o, int *exit_code, struct fsl_error *err)
{
	if (o->n_quiet > 1) {
		fsl_log_set_level(FSL_LOG_ERROR);
	}
	o->tracefs = getenv(TRACEFS_VARIABLE);
	o->state_folder = o->tracefs != NULL ? o->tracefs : STATE_FOLDER;
	(void)gethostname(o->host, sizeof(o->host) - 1);
	if (o->task == STOP) {
		return stop(o, err);
	}
	FSL_TRY(find_threads(o, err));
	FSL_TRY(name_trace(o, err));
	return o->task == START ? start(o, exit_code, err) : record(o, err);
}

enum fsl_status fsl_cmd_record(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct options *options = NULL;
	FSL_TRY(FSL_NEW(options, 1, "options", err)); /* two long lists */
	*exit_code = FSL_EXIT_DONE;
	enum fsl_status status = parse(options, argc, argv, err);
	if (status == FSL_OK && !options->wants_help) {
		status = do_task(options, exit_code, err);
	}
	fsl_free(options->threads);
	fsl_free(options);
	return status;
}
