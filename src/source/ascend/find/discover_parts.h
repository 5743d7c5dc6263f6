/* Shared by discover.c and its walk: folders that may be a rank's, and remarks on them. */
#ifndef FSL_SOURCE_ASCEND_FIND_DISCOVER_PARTS_H
#define FSL_SOURCE_ASCEND_FIND_DISCOVER_PARTS_H

#include "capture/capture.h"
#include "source/ascend/find/listing.h"

/* Kinds of remarks. Only the first remarks of each kind are made; the rest is counted. */
enum fsl_discover_kind {
	FSL_DISCOVER_UNREADABLE,
	FSL_DISCOVER_NOT_PARSED,
	FSL_DISCOVER_STRANGERS,
	FSL_DISCOVER_BAD_INFO,
	FSL_DISCOVER_BAD_RANK,
	FSL_DISCOVER_CONFLICT,
	FSL_DISCOVER_MIXED,
	FSL_DISCOVER_PASSES,
	FSL_DISCOVER_DUPLICATE,
	FSL_DISCOVER_ROUNDS,
	FSL_DISCOVER_NO_RANK,
	FSL_DISCOVER_LOOSE,
	FSL_DISCOVER_UNFINISHED,
	FSL_DISCOVER_WORKERS,
	FSL_DISCOVER_TOO_MANY,
	FSL_DISCOVER_KINDS_N
};

/* A folder with output of the profiler. */
struct fsl_candidate {
	struct fsl_profile_folder folder; /* rank is -1 until it is known */
	const char *name;                 /* last part of folder.path; profile's arena */
	const char *parent_name; /* name of the parent folder, "" at the top; profile's arena */
	bool is_loose;           /* files of the profiler in a folder without any sign of a rank */
	bool is_finished;        /* has analyse.done */
	size_t n_files;          /* tables, documents and databases in its output folder */
	const char *host_uid;    /* PROF_*: host and device from its info; "" and -1 */
	int64_t device;
	/* Processes of a report of Nsight Systems that are ranks, this one's place among them, and
	 * its rank of MPI; 0, 0, and -1 if that is not told. */
	size_t n_workers, worker;
	int64_t mpi_rank;
};

struct fsl_search {
	struct fsl_profile *profile;
	const char *root;            /* as the user gave it */
	struct fsl_candidate *items; /* sorted by path after the walk */
	size_t n_items, capacity;
	size_t n_told[FSL_DISCOVER_KINDS_N];
	const char
		*stranger; /* named as a rank's trace beside no trace; profile's arena; or NULL */
	int64_t newest_left_out; /* stamp of the newest capture that was left out of a rank; 0: none
				  */
};

/* Adds a remark, unless there are many of its kind. */
enum fsl_status fsl_search_remark(struct fsl_search *search, enum fsl_discover_kind kind,
				  struct fsl_error *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A path as remarks show it: relative to the root; borrowed from @path. */
const char *fsl_search_shown(const struct fsl_search *search, const char *path);

/* Natural order, so that node10 comes after node2; a total order. */
int fsl_search_compare_paths(const char *a, const char *b);

/* Keeps one pass of several over one run: the one that tells most of kernels, else the first. */
enum fsl_status fsl_search_settle_passes(struct fsl_search *search, struct fsl_error *err);

/* Folders in one folder are one capture: if ranks are there more than once, keeps the folders of
 * one capture, and those that have other ranks. Items are sorted by path. */
enum fsl_status fsl_search_settle_sets(struct fsl_search *search, struct fsl_error *err);

/* Makes the last item, an export of Nsight Systems, one item for each process that is a rank. */
enum fsl_status fsl_search_split_report(struct fsl_search *search, const char *path,
					struct fsl_error *err);
/* Rank of a process of a report by the number in the report's name, which counts hosts; -1 if
 * reports lack numbers, or have different numbers of processes. */
int64_t fsl_search_rank_in_report(const struct fsl_search *search,
				  const struct fsl_candidate *item);

/* Tells that @item is left out, because @kept is of the same rank. */
enum fsl_status fsl_search_remark_duplicate(struct fsl_search *search,
					    const struct fsl_candidate *item,
					    const struct fsl_candidate *kept,
					    struct fsl_error *err);

/* Tells why a file that has the name of a trace is none, as the root of @err: FSL_ERR_INPUT. */
enum fsl_status fsl_search_fail_stranger(const char *path, struct fsl_error *err);

/* Walks the tree and fills search->items, without ranks. */
enum fsl_status fsl_search_walk(struct fsl_search *search, const char *root, struct fsl_error *err);

#endif
