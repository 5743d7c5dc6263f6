/* Parses the name of an input: kind of file, rank, host. */
#ifndef FSL_SOURCE_FILE_NAME_H
#define FSL_SOURCE_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fsl_name_kind {
	FSL_NAME_UNKNOWN,  /* tells nothing; content alone decides whether it is an input */
	FSL_NAME_MARKERS,  /* hccl_activity*, mspti-marker* */
	FSL_NAME_TIMELINE, /* *.timeline* */
	FSL_NAME_STEPS,    /* training-step-time* */
	FSL_NAME_LOG,      /* *.log, *.out, *.txt and others that logs have */
	FSL_NAME_RESULT,   /* written by an analysis, never an input */
};

enum fsl_name_rank {
	FSL_NAME_NO_RANK,
	FSL_NAME_HAS_RANK,
	FSL_NAME_BAD_RANK, /* -1 (launched without a rank) or over FSL_RANKS_MAX */
};

struct fsl_file_name {
	enum fsl_name_kind kind;
	enum fsl_name_rank rank_state;
	int32_t rank;     /* only with FSL_NAME_HAS_RANK */
	const char *host; /* points into the name; length 0: none */
	size_t n_host;
};

/* Length of @name without .gz or .zst. */
size_t fsl_file_name_plain(const char *name);
/* True for names that logs have, and for names that tables have (.csv, .json). */
bool fsl_file_name_is_log(const char *name);
bool fsl_file_name_is_table(const char *name);
/* Takes the rank of a log from the name of its folder (rank_3/info.log) if its own tells none. */
void fsl_file_name_take_folder(struct fsl_file_name *name, const char *folder, size_t n_folder);
/* Parses @name (without directory). The result borrows @name. */
struct fsl_file_name fsl_file_name_parse(const char *name);

#endif
