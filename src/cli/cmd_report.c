/* `failslow report FILE`: the page of a case that was kept, of functions or of hosts, or one of its
 * pictures. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/language.h"
#include "base/mem.h"
#include "base/try.h"
#include "cli/command.h"
#include "cli/command_output.h"
#include "cli/confined.h"
#include "report/page/page.h"
#include "report/page/png.h"
#include "text/json_tree.h"

/* The command line. */
struct request {
	const char *path, *output, *svg, *png;
	bool wants_help;
};

static enum fsl_status parse(struct request *r, int argc, char **argv, struct fsl_error *err)
{
	int n_operands = 0;
	*r = (struct request){0};
	const struct fsl_opt table[] = {
		{"output", 'o', FSL_OPT_TEXT, &r->output, 0, 0, NULL, "FILE",
		 "file to write; without it standard output"},
		{"svg", 0, FSL_OPT_TEXT, &r->svg, 0, 0, NULL, "CHART",
		 "one picture of a case alone: grid, strip, bars, links, bandwidth, waits, stalls, growth, account, band "
		 "or arrival; of functions: shares, function, paths or roofline; of hosts: cpus, held, "
		 "steps, states or latency"},
		{"png", 0, FSL_OPT_TEXT, &r->png, 0, 0, NULL, "CHART",
		 "the same as PNG, which needs librsvg"},
		{"help", 'h', FSL_OPT_FLAG, &r->wants_help, 0, 0, NULL, NULL, "show this help"},
		{0},
	};
	FSL_TRY(fsl_opt_parse(table, argc, argv, &n_operands, err));
	if (r->wants_help) {
		fsl_command_help("report", "report FILE [OPTION]...",
				 "Draws one self-contained HTML page from a case, "
				 "failslow_<job>.json, or one of its pictures; or the page of what "
				 "`failslow functions --format json` or `failslow hostbound "
				 "--format json` printed.\n",
				 table);
		return FSL_OK;
	}
	if (r->svg != NULL && r->png != NULL) {
		return FSL_FAIL(err, FSL_ERR_USAGE, "--svg and --png exclude each other");
	}
	FSL_TRY(fsl_check_operands(n_operands, 1, 1, "one case, - for standard input", err));
	r->path = argv[1];
	if (r->output == NULL && r->png != NULL && isatty(STDOUT_FILENO) != 0) {
		return FSL_FAIL(err, FSL_ERR_USAGE,
				"a picture in PNG is not for a terminal, give a file: "
				"option=\"--output\"");
	}
	return FSL_OK;
}

/* The text of a case, at most FSL_TEXT_BYTES_MAX; free with fsl_free. */
static enum fsl_status read_text(char **text, size_t *length, const char *path,
				 struct fsl_error *err)
{
	struct fsl_reader *reader = NULL;
	struct fsl_pack pack = {0};
	if (strcmp(path, "-") != 0) {
		return fsl_file_read_text(path, text, length, err);
	}
	FSL_TRY(fsl_reader_open_fd(&reader, dup(STDIN_FILENO), "standard input", err));
	enum fsl_status status = FSL_OK;
	size_t n = 1;
	while (status == FSL_OK && n > 0) {
		const char *bytes = NULL;
		status = fsl_reader_peek(reader, 1, &bytes, &n, err);
		if (status == FSL_OK && pack.n_bytes + n > FSL_TEXT_BYTES_MAX) {
			status = FSL_FAIL(err, FSL_ERR_LIMIT, "the case is too long: most=%d",
					  FSL_TEXT_BYTES_MAX);
		}
		if (status == FSL_OK) {
			fsl_pack_packed(&pack, bytes, n);
			fsl_reader_skip(reader, n);
		}
	}
	fsl_reader_close(reader);
	fsl_pack_u8(&pack, 0);
	if (status == FSL_OK && pack.is_failed) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: case");
	}
	if (status != FSL_OK) {
		fsl_pack_fini(&pack);
		return status;
	}
	*text = (char *)pack.bytes;
	*length = pack.n_bytes - 1;
	return FSL_OK;
}

static enum fsl_status read_case(cJSON **out, const char *path, struct fsl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	const char *end = NULL;
	bool is_short = false;
	FSL_TRY(read_text(&text, &length, path, err));
	cJSON *root = fsl_json_tree(text, length + 1, &end, &is_short);
	size_t offset = end != NULL ? (size_t)(end - text) : 0;
	fsl_free(text);
	if (root == NULL && is_short) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: file=\"%s\"", path);
	}
	if (root == NULL) {
		return FSL_FAIL(err, FSL_ERR_FORMAT,
				"the file is no JSON, give a failslow_<job>.json: file=\"%s\", "
				"offset=%zu",
				path, offset);
	}
	*out = root;
	return FSL_OK;
}

static enum fsl_status make(struct fsl_pack *pack, const struct request *request, const cJSON *root,
			    struct fsl_error *err)
{
	if (request->png != NULL) {
		return fsl_html_make_png(pack, root, request->png, err);
	}
	return request->svg != NULL ? fsl_html_make_chart(pack, root, request->svg, err)
				    : fsl_html_make(pack, root, err);
}

enum fsl_status fsl_cmd_report(int argc, char **argv, int *exit_code, struct fsl_error *err)
{
	struct request request;
	struct fsl_pack pack = {0};
	cJSON *root = NULL;
	*exit_code = FSL_EXIT_DONE;
	FSL_TRY(parse(&request, argc, argv, err));
	if (request.wants_help) {
		return FSL_OK;
	}
	fsl_language_add("zh_CN"); /* pages hold both */
	if (request.png == NULL) { /* which needs the fonts of the host */
		fsl_confined_begin_files(request.path, NULL, request.output);
	}
	enum fsl_status status = read_case(&root, request.path, err);
	FSL_THEN(status, make(&pack, &request, root, err));
	if (status == FSL_OK && request.output != NULL) {
		status = fsl_file_write_atomic(request.output, (const char *)pack.bytes,
					       pack.n_bytes, err);
	} else if (status == FSL_OK) {
		(void)fwrite(pack.bytes, 1, pack.n_bytes, stdout);
	}
	if (status != FSL_OK && root != NULL && request.path != NULL) {
		status = FSL_CAUSE(err, status, "cannot draw the case: file=\"%s\"", request.path);
	}
	cJSON_Delete(root);
	fsl_pack_fini(&pack);
	return status;
}
