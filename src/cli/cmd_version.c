/* `failslow version`: what is installed and what was built in, for reports of faults. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <csv.h>
#include <failslow/detector.h>
#include <gsl/gsl_version.h>
#include <pcre2.h>
#include <protobuf-c/protobuf-c.h>
#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#include "alarm/channel.h"
#include "alarm/http.h"
#include "base/blas.h"
#include "base/gunzip.h"
#include "base/language.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "report/document.h"
#include "source/ftrace/trace_dat.h"
#include "source/systrace/frame_symbols.h"
#include "team/team.h"

enum { TEXT_BYTES = 64 };

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

struct fact {
	const char *name, *value;
};

static const char *const sanitizers =
#if defined(__SANITIZE_ADDRESS__)
	"address";
#elif defined(__SANITIZE_THREAD__)
	"thread";
#else
	"none";
#endif

/* "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." -> "0.3.21"; what follows depends on the machine. */
static const char *openblas_version(char *buffer, size_t size)
{
	struct fsl_blas blas;
	(void)snprintf(buffer, size, "absent, a plain loop takes its place");
	if (fsl_blas_open(&blas)) {
		const char *text = blas.config();
		text += strcspn(text, " ");
		text += strspn(text, " ");
		(void)snprintf(buffer, size, "%.*s", (int)strcspn(text, " "), text);
	}
	fsl_blas_close(&blas);
	return buffer;
}

static void add_facts(struct fsl_document *document, cJSON *root, const char *key,
		      const struct fact *facts, size_t n_facts)
{
	cJSON *object = fsl_document_object(document, root, key);
	for (size_t i = 0; i < n_facts; i++) {
		fsl_document_text(document, object, facts[i].name, facts[i].value);
	}
}

static void print_facts(const char *heading, const struct fact *facts, size_t n_facts)
{
	(void)fsl_tell_print(stdout, "%s:\n", heading);
	for (size_t i = 0; i < n_facts; i++) {
		printf("  %-11s  %s\n", facts[i].name, facts[i].value);
	}
}

static enum fsl_status print_version(bool as_json, struct fsl_error *err)
{
	char openblas[TEXT_BYTES], csv[TEXT_BYTES], pcre2[TEXT_BYTES], openmp[TEXT_BYTES];
	(void)snprintf(csv, sizeof(csv), "%d.%d.%d", CSV_MAJOR, CSV_MINOR, CSV_RELEASE);
	(void)snprintf(pcre2, sizeof(pcre2), "%d.%d", PCRE2_MAJOR, PCRE2_MINOR);
#ifdef _OPENMP
	(void)snprintf(openmp, sizeof(openmp), "%d", _OPENMP);
#else
	(void)snprintf(openmp, sizeof(openmp), "no");
#endif
	const struct fact libraries[] = {
		{"cJSON", cJSON_Version()},
		{"GSL", gsl_version},
		{"ISA-L", fsl_gunzip_isal()},
		{"libcsv", csv},
		{"libcurl", fsl_http_version()},
		{"libdw", fsl_frame_symbols_version()},
		{"librdkafka", fsl_kafka_version()},
		{"libtracecmd", fsl_trace_dat_version()},
		{"OpenBLAS", openblas_version(openblas, sizeof(openblas))},
		{"PCRE2", pcre2},
		{"protobuf-c", protobuf_c_version()},
		{"SQLite", sqlite3_libversion()},
		{"zlib", zlibVersion()},
		{"zstd", ZSTD_versionString()},
	};
	const struct fact options[] = {
		{"compiler", COMPILER},      {"openmp", openmp},
		{"mpi", fsl_team_library()}, {"sanitizers", sanitizers},
		{"configs", FSL_CONFIG_DIR}, {"confines", fsl_confined_support()},
	};
	size_t n_libraries = sizeof(libraries) / sizeof(libraries[0]);
	size_t n_options = sizeof(options) / sizeof(options[0]);
	if (as_json) {
		struct fsl_document document = {0};
		cJSON *root = fsl_document_object(&document, NULL, NULL);
		fsl_document_text(&document, root, "version", FSL_VERSION);
		fsl_document_count(&document, root, "pluginAbi", FSL_DETECTOR_ABI);
		add_facts(&document, root, "libraries", libraries, n_libraries);
		add_facts(&document, root, "options", options, n_options);
		return fsl_print_json(fsl_document_finish(&document, root), err);
	}
	printf("failslow %s (plug-in ABI %d)\n", FSL_VERSION, FSL_DETECTOR_ABI);
	print_facts(N_("Libraries"), libraries, n_libraries);
	print_facts(N_("Build"), options, n_options);
	return FSL_OK;
}

enum fsl_status fsl_cmd_version(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	static const struct fsl_output_command command = {
		.name = "version",
		.synopsis = "version [--format text|json]",
		.text = "Shows version, versions of the libraries, and how it was built.\n",
		.format_help = "text or json.",
		.operands = "no operand",
	};
	struct fsl_output_request request = {0};
	enum fsl_status status = fsl_output_request_parse(&request, &command, argc, argv, err);
	*exit_code = FSL_EXIT_DONE;
	if (status != FSL_OK || request.is_done) {
		return status;
	}
	return print_version(request.format == FSL_OUTPUT_JSON, err);
}
