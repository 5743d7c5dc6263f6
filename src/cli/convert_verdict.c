/* The analysis of the inputs, as detect makes it, for the tracks of the verdict. */
#include <math.h>

#include "base/log.h"
#include "cli/convert_parts.h"
#include "cli/operands.h"
#include "engine/chapters.h"
#include "engine/load.h"
#include "report/words.h"

/* The headline that detect prints for the same inputs. */
static void word(struct fsl_conversion *c)
{
	char buffer[PATH_MAX];
	struct fsl_job *job = c->job;
	fsl_coverage_share(&job->perception.coverage, &job->localisation.coverage);
	const struct fsl_report report = {
		.root = fsl_operands_root(c->wanted->paths, c->wanted->n_paths, buffer),
		.perception = &job->perception,
		.localisation = &job->localisation,
		.topology = &job->topology,
		.run = &job->run,
		.steps = &job->steps,
		.series = &job->progress.steps,
		.now_ns = c->config.lacks_present ? FSL_NS_ABSENT : c->config.now_ns,
	};
	if (c->has_verdict || fsl_words_kind(&report) == FSL_VERDICT_HANG) {
		fsl_words_headline(&c->headline, &report);
	}
}

enum fsl_status fsl_conversion_judge(struct fsl_conversion *c, struct fsl_error *err)
{
	struct fsl_time_range range = fsl_time_range_of(&c->config);
	struct fsl_error *why = &c->failure;
	FSL_TRY(FSL_NEW(c->job, 1, "jobs", err));
	FSL_TRY(fsl_job_init(c->job, err));
	enum fsl_status status = fsl_job_load(c->job, &c->config, &range, why);
	FSL_THEN(status, fsl_job_judge(c->job, &c->config, why));
	if (status == FSL_ERR_MEMORY) {
		*err = *why;
		return status;
	}
	c->has_verdict = status == FSL_OK;
	if (status != FSL_OK) {
		fsl_log(FSL_LOG_INFO, "convert", "no verdict: %s", fsl_error_root(why));
		fsl_job_note_failure(c->job, why);
	} else if (range.is_waiting_for_fail_slow && !c->job->perception.is_anomaly) {
		fsl_job_withhold(c->job);
	}
	word(c);
	return FSL_OK;
}

/* Own time, lateness and loss of the job that was judged last, in columns. */
static enum fsl_status fill_matrices(struct fsl_matrices *out, const struct fsl_job *job,
				     struct fsl_error *err)
{
	const struct fsl_blame *blame = &job->blame;
	const struct fsl_steps *steps = &job->steps;
	size_t n = blame->n_ranks * blame->n_steps, n_columns = blame->n_steps;
	const struct fsl_job_step *last = &steps->items[steps->n_items - 1];
	n_columns = n_columns < FSL_MATRIX_COLUMNS_MAX ? n_columns : FSL_MATRIX_COLUMNS_MAX;
	double *loss_ms = NULL;
	FSL_TRY(FSL_NEW(loss_ms, n, "values", err));
	enum fsl_status status =
		fsl_matrices_init(out, blame->n_ranks, n_columns, steps->items[0].begin_ns,
				  last->begin_ns + last->dur_ns, err);
	if (status == FSL_OK) {
		for (size_t i = 0; i < n; i++) {
			loss_ms[i] = blame->own_ms[i] - blame->reference_ms[i];
		}
		for (size_t r = 0; r < blame->n_ranks; r++) {
			out->ranks[r] = job->run.ranks[r].rank;
		}
		fsl_matrices_fill(out, FSL_MATRIX_OWN, blame->own_ms, steps);
		fsl_matrices_fill(out, FSL_MATRIX_LATE, blame->late_ms, steps);
		fsl_matrices_fill(out, FSL_MATRIX_LOSS, loss_ms, steps);
	}
	fsl_free(loss_ms);
	return status;
}

enum fsl_status fsl_conversion_fill_matrices(struct fsl_conversion *c, struct fsl_error *err)
{
	const struct fsl_job *job = c->job;
	const struct fsl_blame *blame = &job->blame;
	FSL_TRY(FSL_NEW(c->matrices, job->chapters.n_items + 1, "matrices", err));
	for (size_t i = 0; i < job->chapters.n_items; i++) {
		const struct fsl_pack *packed = &job->chapters.items[i].matrices;
		if (packed->n_bytes > 0 &&
		    fsl_matrices_unpack(&c->matrices[c->n_matrices], packed->bytes, packed->n_bytes,
					err) == FSL_OK) {
			c->n_matrices++;
		}
	}
	if (blame->n_ranks * blame->n_steps == 0 || blame->n_steps != job->steps.n_items ||
	    blame->n_ranks != job->run.n_ranks) {
		return FSL_OK;
	}
	FSL_TRY(fill_matrices(&c->matrices[c->n_matrices], job, err));
	c->n_matrices++;
	return FSL_OK;
}

void fsl_conversion_drop_verdict(struct fsl_conversion *c)
{
	for (size_t i = 0; i < c->n_matrices; i++) {
		fsl_matrices_fini(&c->matrices[i]);
	}
	fsl_free(c->matrices);
	if (c->job != NULL) {
		fsl_job_fini(c->job);
	}
	fsl_free(c->job);
}
