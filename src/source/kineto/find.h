/* Tells whether a file is a trace of Kineto, and of which rank. */
#ifndef FSL_SOURCE_KINETO_FIND_H
#define FSL_SOURCE_KINETO_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

/* True for names that traces have: JSON, plain or packed, with "trace", "rank", "worker", "kineto"
 * or "profil" in them. */
bool fsl_kineto_is_name(const char *name);

/* True if the file begins as a trace of Kineto does; with @takes_any as any Chrome trace does but
 * those of Ascend devices. Reads its first bytes alone. */
bool fsl_kineto_is_trace(const char *path, bool takes_any);

/* Rank in the name of a trace: rank-0, rank0, rank_0, rank[12], worker0; -1 if there is none. */
int64_t fsl_kineto_rank_of_name(const char *name);
/* The same without numbers that no word explains, as in report_3.sqlite. */
int64_t fsl_kineto_rank_by_word(const char *name);

/*
 * Rank that the content tells (distributedInfo.rank); -1: it tells none, or cannot be read. It may
 * stand behind all events, so a whole file may be read. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_kineto_rank_of_content(const char *path, int64_t *rank, struct fsl_error *err);

/* Forms of traces, for lists; false behind the last one. Static texts. */
bool fsl_kineto_form_at(size_t idx, const char **name, const char **summary);

#endif
