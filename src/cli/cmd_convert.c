/* `failslow convert IN... -o OUT`: every input as a timeline. */
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/convert_run.h"
#include "cli/number_list.h"
#include "cli/operands.h"

enum { JOBS_MAX = 4096 };

/* The command line. */
struct request {
	struct fsl_convert_run run;
	const char *ranks, *cpus;
	struct fsl_number_list rank_list, cpu_list;
	int64_t device_gib;
	bool lacks_verdict, wants_help;
	int n_quiet;
};

static enum fsl_status check(const struct request *r, struct fsl_error *err)
{
	if (r->run.output == NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"name the file to write: failslow convert DIR -o job.pftrace");
	}
	if (!fsl_convert_knows(r->run.output)) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"the name of the output tells its form: .json, .json.gz, .pftrace, "
				".db, or for device memory .folded or .speedscope.json: "
				"output=\"%s\"",
				r->run.output);
	}
	if (r->run.from_ns > r->run.to_ns) {
		char from[40], to[40];
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"--from is later than --to: from=\"%s\", to=\"%s\"",
				fsl_format_utc(r->run.from_ns, from, sizeof(from)),
				fsl_format_utc(r->run.to_ns, to, sizeof(to)));
	}
	return FSL_OK;
}

/* Words of MindStudio's converter of kernel traces: inputs are operands here. Returns how many
 * words are left. */
static int take_original_words(int argc, char **argv)
{
	static const char *const inputs[] = {"--input", "--profiling_data"};
	static const char cpus[] = "--cpu_list";
	static char ours[128];
	int n = 1;
	for (int i = 1; i < argc; i++) {
		char *word = argv[i];
		for (size_t k = 0; k < sizeof(inputs) / sizeof(inputs[0]); k++) {
			size_t length = strlen(inputs[k]);
			if (strncmp(word, inputs[k], length) == 0) {
				word = word[length] == '='    ? word + length + 1
				       : word[length] == '\0' ? NULL
							      : word;
				break;
			}
		}
		if (word != NULL && strncmp(word, cpus, strlen(cpus)) == 0 &&
		    snprintf(ours, sizeof(ours), "--cpus%s", word + strlen(cpus)) <
			    (int)sizeof(ours)) {
			word = ours;
		}
		if (word != NULL) {
			argv[n++] = word;
		}
	}
	argv[n] = NULL;
	return n;
}

static enum fsl_status parse(struct request *r, int argc, char **argv, struct fsl_error *err)
{
	int n_operands = 0;
	*r = (struct request){.run = {.from_ns = INT64_MIN,
				      .to_ns = INT64_MAX,
				      .now_ns = INT64_MIN,
				      .n_jobs = -1}};
	const struct fsl_opt table[] = {
		{"output", 'o', FSL_OPT_TEXT, &r->run.output, 0, 0, NULL, "FILE",
		 "file to write; its name tells its form: .json, .json.gz (Chrome), .pftrace "
		 "(Perfetto), .db (MindStudio), .folded or .speedscope.json (device memory by call path)"},
		{"ranks", 0, FSL_OPT_TEXT, &r->ranks, 0, 0, NULL, "LIST",
		 "only these ranks: numbers and ranges, as in 0,8-15"},
		{"cpus", 0, FSL_OPT_TEXT, &r->cpus, 0, 0, NULL, "LIST",
		 "only these CPUs of kernel traces, as in 0,8-15"},
		{"from", 0, FSL_OPT_TIME, &r->run.from_ns, 0, 0, NULL, "TIME",
		 "only events that end at or after TIME"},
		{"to", 0, FSL_OPT_TIME, &r->run.to_ns, 0, 0, NULL, "TIME",
		 "only events that end at or before TIME"},
		{"now", 0, FSL_OPT_TIME, &r->run.now_ns, 0, 0, NULL, "TIME",
		 "take TIME as the present"},
		{"clock-align", 0, FSL_OPT_FLAG, &r->run.is_aligned, 0, 0, NULL, NULL,
		 "put all ranks on one clock, by the common ends of their collectives"},
		{"no-verdict", 0, FSL_OPT_FLAG, &r->lacks_verdict, 0, 0, NULL, NULL,
		 "leave out the tracks of the verdict: culprits, own time, lateness, loss"},
		{"device-memory", 0, FSL_OPT_INT, &r->device_gib, 1, FSL_DEVICE_GIB_MAX, NULL,
		 "GIB", "memory of a device in GiB: a peak that reaches it is told"},
		{"libraries", 0, FSL_OPT_TEXT, &r->run.libraries, 0, 0, NULL, "DIRS",
		 "folders with the job's libraries, separated by ':': call paths get names of "
		 "functions"},
		{"config", 'c', FSL_OPT_TEXT, &r->run.config_path, 0, 0, NULL, "FILE",
		 "model_config.json for the verdict; without it the installed one"},
		{"jobs", 'j', FSL_OPT_INT, &r->run.n_jobs, 0, JOBS_MAX, NULL, "N",
		 "threads; 0: one for each 16 MiB, one per core at most"},
		{"quiet", 'q', FSL_OPT_COUNT, &r->n_quiet, 0, 0, NULL, NULL, "print no summary"},
		{"help", 'h', FSL_OPT_FLAG, &r->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	argc = take_original_words(argc, argv);
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (r->wants_help) {
		fsl_command_help("convert", "convert [OPTION]... PATH... -o FILE",
				 "Writes the events of files and folders as a timeline that "
				 "https://ui.perfetto.dev opens, with the verdict as tracks.\n\n"
				 "TIME is ISO 8601 or an integer epoch in s, ms, us or ns.\n",
				 table);
		return FSL_OK;
	}
	FSL_TRY(fsl_check_operands(n_operands, 1, argc, "the files or folders to convert", err));
	FSL_TRY(check(r, err));
	FSL_TRY(fsl_number_list_parse(&r->rank_list, "--ranks", r->ranks, err));
	FSL_TRY(fsl_number_list_parse(&r->cpu_list, "--cpus", r->cpus, err));
	fsl_operands_sort(argv + 1, (size_t)n_operands);
	r->run.paths = (const char *const *)argv + 1;
	r->run.n_paths = (size_t)n_operands;
	r->run.ranks = r->rank_list.items;
	r->run.n_ranks = r->rank_list.n_items;
	r->run.cpus = r->cpu_list.items;
	r->run.n_cpus = r->cpu_list.n_items;
	r->run.device_bytes = r->device_gib * FSL_BYTES_PER_GIB;
	r->run.wants_verdict = !r->lacks_verdict;
	r->run.is_quiet = r->n_quiet > 0;
	return FSL_OK;
}

enum fsl_status fsl_cmd_convert(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	static struct request request;
	FSL_TRY(parse(&request, argc, argv, err));
	if (request.wants_help) {
		return FSL_OK;
	}
	FSL_TRY(fsl_convert_run(&request.run, err));
	*exit_code = FSL_EXIT_DONE;
	return FSL_OK;
}
