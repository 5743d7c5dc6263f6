/* What the parts of the configuration loader share; private to src/config. */
#ifndef FSL_CONFIG_CONFIG_LOAD_H
#define FSL_CONFIG_CONFIG_LOAD_H

#include "config/config.h"

/*
 * One loading. A function of the loader returns a failure only when it cannot go on (out of
 * memory); what is wrong in a file is reported and counted, and the value keeps its default.
 */
struct fsl_config_loader {
	struct fsl_config *config;
	struct fsl_registry *registry;
	const struct fsl_config_reporter *reporter; /* NULL: warnings go to the log */
	const char *file;                           /* the one being read; "" for defaults */
	const char *directory;                      /* of it */
	size_t n_errors;
	const char *first_error; /* config arena */
	struct fsl_error *err;
};

/* Formats and reports one problem. FSL_ERR_MEMORY or FSL_OK. */
enum fsl_status fsl_config_problem(struct fsl_config_loader *loader, enum fsl_log_level level,
				   const char *format, ...) __attribute__((format(printf, 3, 4)));
enum fsl_status fsl_config_no_memory(struct fsl_config_loader *loader);
/* Reports "wrong value: file=, key=, value=, allowed=". */
enum fsl_status fsl_config_wrong(struct fsl_config_loader *loader, const char *key,
				 const cJSON *value, const char *allowed);
/* Reports the unknown key @prefix@name with the nearest of the names in @known, which may have
 * dots; a @name with dots is told to be written nested. */
enum fsl_status fsl_config_unknown(struct fsl_config_loader *loader, const char *prefix,
				   const char *name, const char *const *known, size_t n_known);

/*
 * Reads and parses a whole file: syntax errors are reported with line and column, of duplicate keys
 * the last one stays, with a warning. *root is NULL after a reported error; else the caller deletes
 * it. The root is an object.
 */
enum fsl_status fsl_config_read(struct fsl_config_loader *loader, const char *path, cJSON **root);
/* The same for text in memory. */
enum fsl_status fsl_config_parse(struct fsl_config_loader *loader, const char *text, size_t length,
				 cJSON **root);

/* Item at a dotted path below @root; NULL when absent or when a step is no object. */
const cJSON *fsl_config_item(const cJSON *root, const char *path);
/* Row of the key table; the key must exist. */
const struct fsl_config_key *fsl_config_row(const char *key);
/*
 * Checks @item (NULL: the row's default) against @row and writes it below @base; records the
 * effective value under @key.
 */
enum fsl_status fsl_config_store(struct fsl_config_loader *loader, const struct fsl_config_key *row,
				 const cJSON *item, const char *key, void *base);
/* Records an effective value; @is_default tells where it came from. */
enum fsl_status fsl_config_record(struct fsl_config_loader *loader, const char *key,
				  const char *value, bool is_default);
enum fsl_status fsl_config_record_json(struct fsl_config_loader *loader, const char *key,
				       const cJSON *value, bool is_default);
/* Puts @path (NULL: JSON null) in the place of the value recorded under @key. */
enum fsl_status fsl_config_amend(struct fsl_config_loader *loader, const char *key,
				 const char *path);
/* "path" relative to the file being read; config arena; NULL when out of memory. */
const char *fsl_config_resolve(struct fsl_config_loader *loader, const char *path);
/* Shortest decimal text that reads back as @value ("0.1", "1e-05"; "null" for NaN); @buffer of 32.
 */
const char *fsl_config_number_text(double value, char *buffer, size_t size);
/* Whole number in [min, max]. */
bool fsl_config_is_integer(const cJSON *item, double min, double max);

/* Keys of the model file: everything but metrics and detectors. */
enum fsl_status fsl_config_load_model(struct fsl_config_loader *loader, const cJSON *root);
/* The "detectors" section; then the defaults of all other built-in detectors. */
enum fsl_status fsl_config_load_detectors(struct fsl_config_loader *loader, const cJSON *section);
/* One detector block: @key is its dotted path; @outer_window an alarm_filter_window_size that
 * stands outside the block, or NULL. */
enum fsl_status fsl_config_load_detector(struct fsl_config_loader *loader, const cJSON *block,
					 const char *key, const cJSON *outer_window,
					 struct fsl_detector_config *out);
/* All metrics of a metric configuration. */
enum fsl_status fsl_config_load_metrics(struct fsl_config_loader *loader, const cJSON *root);
/* Text of the built-in metric configuration. */
const char *fsl_config_builtin_metrics(void);

#endif
