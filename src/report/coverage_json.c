/* The parts of both documents on coverage and engine. */
#include "report/document.h"

/* Keys of rowsDropped; part of docs/verdict.schema.json. */
static const char *const drop_keys[] = {
	[FSL_DROP_MALFORMED] = "malformed", [FSL_DROP_TOO_LONG] = "tooLong",
	[FSL_DROP_NO_NAME] = "noName",      [FSL_DROP_BAD_NAME] = "badName",
	[FSL_DROP_NO_START] = "noStart",    [FSL_DROP_NO_END] = "noEnd",
	[FSL_DROP_BACKWARDS] = "backwards", [FSL_DROP_CUT] = "cut",
	[FSL_DROP_DUPLICATE] = "duplicate", [FSL_DROP_OUT_OF_RANGE] = "outOfRange",
};
_Static_assert(sizeof(drop_keys) / sizeof(drop_keys[0]) == FSL_DROPS_N,
	       "every reason to drop a row has a key");

static void put_files(struct fsl_document *document, cJSON *parent,
		      const struct fsl_coverage *coverage)
{
	cJSON *files = fsl_document_object(document, parent, "files");
	fsl_document_count(document, files, "total", coverage->n_files);
	fsl_document_count(document, files, "partial", coverage->n_files_partial);
	fsl_document_count(document, files, "unusable", coverage->n_files_unusable);
	fsl_document_count(document, files, "bytes", coverage->n_bytes);
	if (coverage->n_bytes_before > 0) {
		fsl_document_count(document, files, "bytesBeforeRange", coverage->n_bytes_before);
	}
	if (coverage->n_bytes_behind > 0) {
		fsl_document_count(document, files, "bytesBehindRange", coverage->n_bytes_behind);
	}
}

static void put_dropped(struct fsl_document *document, cJSON *parent,
			const struct fsl_coverage *coverage)
{
	cJSON *dropped = fsl_document_object(document, parent, "rowsDropped");
	for (size_t drop = 0; drop < FSL_DROPS_N; drop++) {
		if (coverage->n_dropped[drop] > 0) {
			fsl_document_count(document, dropped, drop_keys[drop],
					   coverage->n_dropped[drop]);
		}
	}
}

/* Files listed one by one; a folder of 100,000 broken files must not make a verdict of 30 MB. */
enum { PROBLEMS_LISTED_MAX = 1000 };

static void put_problems(struct fsl_document *document, cJSON *parent, const struct fsl_run *run)
{
	cJSON *list = fsl_document_array(document, parent, "filesWithProblems");
	uint64_t n_problems = 0;
	for (size_t i = 0; i < run->n_files && !document->has_failed; i++) {
		const struct fsl_file *file = &run->files[i];
		if (file->state == FSL_FILE_READ || ++n_problems > PROBLEMS_LISTED_MAX) {
			continue;
		}
		cJSON *entry = fsl_document_object(document, list, NULL);
		fsl_document_text(document, entry, "path", file->path);
		fsl_document_text(document, entry, "state", fsl_file_state_text(file->state));
		fsl_document_text(document, entry, "message", file->message);
	}
	uint64_t n_listed = n_problems < PROBLEMS_LISTED_MAX ? n_problems : PROBLEMS_LISTED_MAX;
	fsl_document_count(document, parent, "filesWithProblemsNotListed", n_problems - n_listed);
}

static void put_skipped(struct fsl_document *document, cJSON *parent,
			const struct fsl_coverage *coverage)
{
	cJSON *list = fsl_document_array(document, parent, "detectorsSkipped");
	for (size_t i = 0; i < coverage->n_skipped && !document->has_failed; i++) {
		fsl_document_text(document, list, NULL, coverage->skipped[i]);
	}
}

void fsl_document_coverage(struct fsl_document *document, cJSON *parent,
			   const struct fsl_coverage *coverage, const struct fsl_run *run)
{
	cJSON *object = fsl_document_object(document, parent, "coverage");
	fsl_document_count(document, object, "ranksExpected", coverage->n_ranks_expected);
	fsl_document_count(document, object, "ranksSeen", coverage->n_ranks_seen);
	fsl_document_ranks(document, object, "ranksMissing", coverage->missing_ranks,
			   coverage->n_missing_ranks);
	put_files(document, object, coverage);
	fsl_document_count(document, object, "rowsRead", coverage->n_records);
	put_dropped(document, object, coverage);
	fsl_document_time(document, object, "timeBegin", coverage->begin_ns);
	fsl_document_time(document, object, "timeEnd", coverage->end_ns);
	const struct fsl_time_unit *unit = fsl_coverage_doubted_unit(coverage);
	if (unit != NULL) {
		fsl_document_text(document, object, "timeUnitDoubt", unit->name);
	}
	fsl_document_count(document, object, "steps", coverage->n_steps);
	fsl_document_text(document, object, "stepsSource", coverage->steps_source);
	fsl_document_count(document, object, "groups", coverage->n_groups);
	fsl_document_count(document, object, "groupsMatched", coverage->n_groups_matched);
	fsl_document_count(document, object, "groupsDisagreeing", coverage->n_groups_disagreeing);
	fsl_document_number(document, object, "endsDisagreeMs", coverage->ends_disagree_ms,
			    FSL_DECIMALS_MS);
	fsl_document_count(document, object, "instances", coverage->n_instances);
	fsl_document_count(document, object, "instancesMatched", coverage->n_instances_matched);
	fsl_document_count(document, object, "pointToPoint", coverage->n_p2p);
	fsl_document_count(document, object, "pointToPointMatched", coverage->n_p2p_matched);
	fsl_document_number(document, object, "clockOffsetMaxMs", coverage->clock_offset_max_ms,
			    FSL_DECIMALS_MS);
	fsl_document_number(document, object, "clockResidualMs", coverage->clock_residual_ms,
			    FSL_DECIMALS_MS);
	put_skipped(document, object, coverage);
	if (run != NULL) {
		put_problems(document, object, run);
	}
}

void fsl_document_engine(struct fsl_document *document, cJSON *parent, const char *algorithm)
{
	cJSON *engine = fsl_document_object(document, parent, "engine");
	fsl_document_text(document, engine, "name", "failslow");
	fsl_document_text(document, engine, "version", FSL_VERSION);
	if (algorithm != NULL) {
		fsl_document_text(document, engine, "algorithm", algorithm);
	}
}
