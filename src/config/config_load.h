/* Shared by the parts of the configuration loader; private to src/config. */
#ifndef FSL_CONFIG_CONFIG_LOAD_H
#define FSL_CONFIG_CONFIG_LOAD_H

#include "config/config.h"

/* Names that one message about a file lists, each once. */
struct fsl_config_names {
	const char *text; /* "a, b"; config arena; NULL: none */
	size_t n_names;
};

/* One loading. A function of the loader fails only if it cannot go on (out of memory). A mistake in
 * a file is reported and counted, and the value keeps its default. */
struct fsl_config_loader {
	struct fsl_config *config;
	struct fsl_registry *registry;
	const struct fsl_config_reporter *reporter; /* NULL: warnings go to the log */
	const char *file;                           /* file being read; "" for defaults */
	const char *directory;                      /* folder of that file */
	struct fsl_config_names idle;               /* keys of that file that nothing uses */
	struct fsl_config_names missing; /* its blocks with detectors that only sysTrace has */
	size_t n_errors;
	const char *first_error; /* config arena */
	bool is_short;           /* out of memory for the text of a key: the loading has failed */
	struct fsl_error *err;
};

/* Formats and reports one problem. FSL_ERR_MEMORY or FSL_OK. */
enum fsl_status fsl_config_problem(struct fsl_config_loader *loader, enum fsl_log_level level,
				   const char *format, ...) __attribute__((format(printf, 3, 4)));
enum fsl_status fsl_config_no_memory(struct fsl_config_loader *loader);
/* Prints the path of a key, in the config arena. "" if memory is short: is_short is then set, so
 * that the loading fails at its end. */
const char *fsl_config_path(struct fsl_config_loader *loader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Reports "wrong value: file=, key=, value=, allowed=". */
enum fsl_status fsl_config_wrong(struct fsl_config_loader *loader, const char *key,
				 const cJSON *value, const char *allowed);
/* Reports the unknown key @prefix@name with the nearest of the names in @known, which may have
 * dots. If @name has dots, the message shows how to nest it. */
enum fsl_status fsl_config_unknown(struct fsl_config_loader *loader, const char *prefix,
				   const char *name, const char *const *known, size_t n_known);

/* Adds @name, unless it is there. */
void fsl_config_name(struct fsl_config_loader *loader, struct fsl_config_names *names,
		     const char *name);
/* Reports what was named, at the end of a file, and forgets it. */
enum fsl_status fsl_config_tell_names(struct fsl_config_loader *loader);

/*
 * Reads and parses a whole file. Syntax errors are reported with line and column. Of duplicate keys
 * the last one stays, with a warning. The root is an object, owned by the caller; *root is NULL
 * after a reported error.
 */
enum fsl_status fsl_config_read(struct fsl_config_loader *loader, const char *path, cJSON **root);
/* The same for text in memory. */
enum fsl_status fsl_config_parse(struct fsl_config_loader *loader, const char *text, size_t length,
				 cJSON **root);

/* Item at a dotted path below @root; NULL if it is absent or a step of the path is no object. */
const cJSON *fsl_config_item(const cJSON *root, const char *path);
/* Row of the key table; the key must exist. */
const struct fsl_config_key *fsl_config_row(const char *key);
/* Checks @item (NULL: the row's default) against @row, writes it below @base, and records the
 * effective value under @key. */
enum fsl_status fsl_config_store(struct fsl_config_loader *loader, const struct fsl_config_key *row,
				 const cJSON *item, const char *key, void *base);
/* Records an effective value; @is_default: it is the default. */
enum fsl_status fsl_config_record(struct fsl_config_loader *loader, const char *key,
				  const char *value, bool is_default);
enum fsl_status fsl_config_record_json(struct fsl_config_loader *loader, const char *key,
				       const cJSON *value, bool is_default);
/* Replaces the value recorded under @key by @path (NULL: JSON null). */
enum fsl_status fsl_config_amend(struct fsl_config_loader *loader, const char *key,
				 const char *path);
/* @path relative to the folder of the file being read; config arena; NULL if out of memory. */
const char *fsl_config_resolve(struct fsl_config_loader *loader, const char *path);
/* Shortest decimal text that reads back as @value ("0.1", "1e-05"; "null" for NaN); @buffer of 32.
 */
const char *fsl_config_number_text(double value, char *buffer, size_t size);
/* True for a whole number in [min, max]. */
bool fsl_config_is_integer(const cJSON *item, double min, double max);

/* Loads the keys of the model file, except metrics and detectors. */
enum fsl_status fsl_config_load_model(struct fsl_config_loader *loader, const cJSON *root);
/* Loads hccl_domain. */
enum fsl_status fsl_config_load_domains(struct fsl_config_loader *loader, const cJSON *root);
/* Loads the "detectors" section, then the defaults of all other built-in detectors. */
enum fsl_status fsl_config_load_detectors(struct fsl_config_loader *loader, const cJSON *section);
/* Loads one detector block. @key: its dotted path; @outer_window: alarm_filter_window_size from
 * outside the block, or NULL. */
enum fsl_status fsl_config_load_detector(struct fsl_config_loader *loader, const cJSON *block,
					 const char *key, const cJSON *outer_window,
					 struct fsl_detector_config *out);
/* Loads all metrics of a metric configuration. */
enum fsl_status fsl_config_load_metrics(struct fsl_config_loader *loader, const cJSON *root);

#endif
