/*
 * Traffic over each link of the set: the totals of communication_matrix.json of all ranks. The file
 * numbers the ends of links inside a group; the table holds ranks.
 */
#ifndef FSL_CAPTURE_LINK_TABLE_H
#define FSL_CAPTURE_LINK_TABLE_H

#include "capture/cluster.h"

/* One direction between two ranks, for one type of operator over one kind of link. */
struct fsl_link_row {
	int32_t src, dst;        /* -1: the far end is not in the set and not told */
	int32_t dst_number;      /* number of the far end inside the group */
	size_t src_idx, dst_idx; /* in profile->ranks; SIZE_MAX: the far end is not in the set */
	const char *group,
		*type; /* "17522", "allreduce"; the names of a rank and the table's arena */
	enum fsl_profile_transport transport;
	int64_t n_bytes, time_ns; /* over all steps */
	size_t n_steps;           /* steps of the rank that sent */
	/* Links are alike when transport, type and this are equal: their bytes per step to the
	 * nearest power of 2. */
	int size_class;
};

struct fsl_link_table {
	struct fsl_arena arena;
	struct fsl_link_row *rows; /* sorted by transport, type, size class, group, src, dst */
	size_t n_rows;
};

/*
 * Fills @out (overwritten) with the links between two ranks that moved bytes in a time above 0. The
 * rank of a number is the rank whose file holds the link of the number to itself ("3-3"). If there
 * is none, the number is a place among the members of the group, if all members are told. Fails
 * only when memory is short.
 */
enum fsl_status fsl_link_table_build(struct fsl_link_table *out, const struct fsl_profile *profile,
				     const struct fsl_profile_cluster *cluster,
				     struct fsl_error *err);
void fsl_link_table_fini(struct fsl_link_table *table);

/* Bandwidth of a row of the table, whose time is above 0; bytes per ns are GB/s. */
double fsl_link_gb_per_s(const struct fsl_link_row *row);

/* -1, 0, 1: order of two rows by transport, type and size class. */
int fsl_link_compare_kind(const struct fsl_link_row *a, const struct fsl_link_row *b);

#endif
