/* Pictures of the job and of its ranks over time, with use_plot: PNG, or SVG if that cannot be
 * drawn. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/try.h"
#include "config/config.h"
#include "report/case_json.h"
#include "report/page/page.h"
#include "report/page/png.h"
#include "report/pictures.h"
#include "report/report.h"
#include "report/terminal.h"

enum { RANKS_MAX = 20 }; /* as sysTrace's plots: more are not looked at */

struct plots {
	const struct fsl_config *config;
};

/* One run of the reporter. */
struct drawing {
	const struct fsl_report *report;
	const char *job;   /* begin of the names of files */
	char *folder;      /* owned */
	const cJSON *root; /* the case */
	bool has_png;      /* false once a picture could not be drawn as PNG */
};

/* A rank, and what decides whether it is drawn. */
struct choice {
	int32_t rank;
	bool is_named;
	double cost_ms; /* at least 0 */
};

static bool begin(void *self, const struct fsl_config *config, const struct fsl_report *report)
{
	*(struct plots *)self = (struct plots){config};
	return config != NULL && config->use_plot && !config->is_look && report->profile == NULL &&
	       report->perception != NULL && report->run != NULL && report->localisation != NULL;
}

/* Path of a picture; free with fsl_free. @rank -1: of the steps. NULL if memory is short. */
static char *path_of(const struct drawing *drawing, int32_t rank, const char *suffix)
{
	char name[FSL_JOB_NAME_MAX + 48];
	if (rank < 0) {
		(void)snprintf(name, sizeof(name), "%s-steps.%s", drawing->job, suffix);
	} else {
		(void)snprintf(name, sizeof(name), "%s-rank%" PRId32 ".%s", drawing->job, rank,
			       suffix);
	}
	return fsl_path_join(drawing->folder, name);
}

/* Removes a picture of an earlier run, which would be taken for one of this. */
static void remove_old(const struct drawing *drawing, int32_t rank, const char *suffix)
{
	char *path = path_of(drawing, rank, suffix);
	if (path != NULL) {
		(void)unlink(path);
	}
	fsl_free(path);
}

static enum fsl_status write_picture(struct drawing *drawing, int32_t rank,
				     const struct fsl_pack *svg, struct fsl_error *err)
{
	struct fsl_pack png = {0};
	struct fsl_error refusal = {0};
	if (drawing->has_png && fsl_html_png_of(&png, svg, &refusal) != FSL_OK) {
		fsl_log(FSL_LOG_WARNING, "report", "pictures are SVG: %s",
			fsl_error_root(&refusal));
		drawing->has_png = false;
	}
	const struct fsl_pack *picture = drawing->has_png ? &png : svg;
	char *path = path_of(drawing, rank, drawing->has_png ? "png" : "svg");
	enum fsl_status status = path != NULL && !picture->is_failed
					 ? fsl_file_write_atomic(path, (const char *)picture->bytes,
								 picture->n_bytes, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: picture");
	if (status == FSL_OK) {
		remove_old(drawing, rank, drawing->has_png ? "svg" : "png");
	}
	fsl_free(path);
	fsl_pack_fini(&png);
	return status;
}

/* Draws one picture; none if the case does not tell it. @rank -1: the steps. */
static enum fsl_status draw(struct drawing *drawing, int32_t rank, struct fsl_error *err)
{
	struct fsl_pack svg = {0};
	enum fsl_status status = rank < 0 ? fsl_html_make_chart(&svg, drawing->root, "strip", NULL)
					  : fsl_html_make_rank(&svg, drawing->root, rank, NULL);
	if (status == FSL_OK) {
		status = write_picture(drawing, rank, &svg, err);
	} else if (status == FSL_ERR_INPUT) {
		remove_old(drawing, rank, "png");
		remove_old(drawing, rank, "svg");
		status = FSL_OK;
	} else {
		status = FSL_FAIL(err, status, "the picture could not be drawn");
	}
	fsl_pack_fini(&svg);
	return status;
}

/* Named ranks first, then the costliest. */
static int by_weight(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	if (x->is_named != y->is_named) {
		return x->is_named ? -1 : 1;
	}
	if (x->cost_ms != y->cost_ms) {
		return x->cost_ms > y->cost_ms ? -1 : 1;
	}
	return (x->rank > y->rank) - (x->rank < y->rank);
}

static enum fsl_status choose(struct choice *choices, const struct fsl_report *report,
			      struct fsl_error *err)
{
	struct fsl_stretch stretch = fsl_pictures_stretch(report);
	double *cost_ms = NULL;
	size_t n = report->run->n_ranks;
	FSL_TRY(FSL_NEW(cost_ms, n, "costs", err));
	enum fsl_status status = FSL_OK;
	if (fsl_pictures_have_blame(report)) {
		status = fsl_pictures_costs(cost_ms, report, &stretch, err);
	}
	for (size_t r = 0; r < n && status == FSL_OK; r++) {
		int32_t rank = report->run->ranks[r].rank;
		choices[r] = (struct choice){rank, fsl_terminal_is_named(report, rank),
					     cost_ms[r] > 0.0 ? cost_ms[r] : 0.0};
	}
	if (status == FSL_OK) {
		qsort(choices, n, sizeof(*choices), by_weight);
	}
	fsl_free(cost_ms);
	return status;
}

static enum fsl_status draw_all(struct drawing *drawing, struct fsl_error *err)
{
	size_t n = drawing->report->run->n_ranks;
	struct choice *choices = NULL;
	FSL_TRY(FSL_NEW(choices, n + 1, "ranks", err));
	enum fsl_status status = draw(drawing, -1, err);
	FSL_THEN(status, choose(choices, drawing->report, err));
	for (size_t i = 0; i < n && status == FSL_OK; i++) {
		if (i < RANKS_MAX) {
			status = draw(drawing, choices[i].rank, err);
		} else {
			remove_old(drawing, choices[i].rank, "png");
			remove_old(drawing, choices[i].rank, "svg");
		}
	}
	fsl_free(choices);
	return status;
}

/*
 * Draws PNG in a process of its own: librsvg and its libraries end the process if memory is short.
 * False if not all pictures were drawn; a warning says why unless the folder is at fault.
 */
static bool draw_apart(struct drawing *drawing)
{
	enum { DRAWN, REFUSED, FAILED, SECONDS_MAX = 60 };
	int ended = 0;
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(SECONDS_MAX);
		bool is_written = draw_all(drawing, NULL) == FSL_OK;
		_exit(!is_written ? FAILED : drawing->has_png ? DRAWN : REFUSED);
	}
	while (child > 0 && waitpid(child, &ended, 0) < 0) {
		if (errno != EINTR) {
			return false;
		}
	}
	if (child < 0 || !WIFEXITED(ended)) {
		fsl_log(FSL_LOG_WARNING, "report", "pictures are SVG: drawing PNG failed");
		return false;
	}
	/* Of REFUSED all are written, as SVG. */
	return WEXITSTATUS(ended) != FAILED;
}

static enum fsl_status verdict(void *self, struct fsl_report *report, struct fsl_error *err)
{
	const struct fsl_config *config = ((const struct plots *)self)->config;
	struct fsl_job_identity job = fsl_report_job(report, config);
	cJSON *root = fsl_case_json(report, config);
	struct drawing drawing = {
		.report = report,
		.job = job.name,
		.folder = fsl_path_join(config->slow_node_detection_path, config->save_image),
		.root = root,
		.has_png = true,
	};
	enum fsl_status status = root != NULL && drawing.folder != NULL
					 ? fsl_dir_create(drawing.folder, err)
					 : FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: pictures");
	if (status == FSL_OK) {
		(void)fsl_dir_sweep(drawing.folder); /* of a process that was ended */
	}
	if (status == FSL_OK && !draw_apart(&drawing)) {
		drawing.has_png = false;
		status = draw_all(&drawing, err);
	}
	if (status != FSL_OK) {
		status = FSL_CAUSE(err, status,
				   "cannot write pictures, free space or set another folder: "
				   "folder=\"%s\", key=\"save_image\"",
				   drawing.folder != NULL ? drawing.folder : "");
	} else {
		fsl_log(FSL_LOG_INFO, "report", "pictures were written: folder=\"%s\"",
			drawing.folder);
	}
	cJSON_Delete(root);
	fsl_free(drawing.folder);
	return status;
}

/* librsvg looks for the fonts of the host. */
static void allow(struct fsl_confine *plan, const struct fsl_config *config)
{
	static const char *const fonts[] = {"/etc/fonts", "/usr/share/fonts",
					    "/usr/local/share/fonts", "/usr/share/fontconfig",
					    "/var/cache/fontconfig"};
	if (!config->use_plot) {
		return;
	}
	for (size_t i = 0; i < sizeof(fonts) / sizeof(fonts[0]); i++) {
		fsl_confine_allow(plan, FSL_CONFINE_READ, fonts[i]);
	}
	char *folder = fsl_path_join(config->slow_node_detection_path, config->save_image);
	fsl_confine_allow(plan, FSL_CONFINE_WRITE, folder);
	fsl_free(folder);
}

const struct fsl_reporter fsl_reporter_plots = {
	.name = "plots",
	.summary = "writes pictures of the job and of its ranks over time (use_plot, save_image)",
	.self_bytes = sizeof(struct plots),
	.begin = begin,
	.verdict = verdict,
	.allow = allow,
};
