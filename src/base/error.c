/* Fills the caller's chain of causes; never allocates, prints or exits. */
#include <failslow/error.h>

#include <stdio.h>

enum fsl_status fsl_error_add(struct fsl_error *err, enum fsl_status status, const char *file,
			      int line, const char *format, ...)
{
	if (err == NULL) {
		return status;
	}
	size_t slot = err->n_causes < FSL_CAUSES_MAX ? err->n_causes++ : FSL_CAUSES_MAX - 1;
	struct fsl_cause_link *link = &err->causes[slot];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(link->message, sizeof(link->message), format, args);
	va_end(args);
	link->file = file;
	link->line = line;
	err->status = status;
	return status;
}

void fsl_error_clear(struct fsl_error *err)
{
	if (err != NULL) {
		err->status = FSL_OK;
		err->n_causes = 0;
	}
}

const char *fsl_error_root(const struct fsl_error *err)
{
	return err != NULL && err->n_causes > 0 ? err->causes[0].message : "";
}

const char *fsl_status_text(enum fsl_status status)
{
	static const char *const texts[] = {
		[-FSL_OK] = "done",
		[-FSL_ERR_USAGE] = "wrong command line",
		[-FSL_ERR_CONFIG] = "wrong configuration",
		[-FSL_ERR_INPUT] = "unusable input",
		[-FSL_ERR_FORMAT] = "broken input",
		[-FSL_ERR_LIMIT] = "limit exceeded",
		[-FSL_ERR_IO] = "read or write refused",
		[-FSL_ERR_MEMORY] = "out of memory",
		[-FSL_ERR_PLUGIN] = "unusable plug-in",
		[-FSL_ERR_INTERNAL] = "internal error",
	};
	size_t idx = (size_t) - (int)status;
	return idx < sizeof(texts) / sizeof(texts[0]) ? texts[idx] : "unknown status";
}
