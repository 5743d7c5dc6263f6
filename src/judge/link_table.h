/*
 * What went over each link of the set: the totals of communication_matrix.json of all ranks, with
 * the numbers that links have inside a group turned into ranks.
 */
#ifndef FSL_JUDGE_LINK_TABLE_H
#define FSL_JUDGE_LINK_TABLE_H

#include "capture/cluster.h"

/* One direction between two ranks, for one type of operator over one kind of link. */
struct fsl_link_row {
	int32_t src, dst;   /* -1: the far end is not in the set, nor told */
	int32_t dst_number; /* of the far end inside the group */
	const char *group,
		*type; /* "17522", "allreduce"; the names of a rank and the table's arena */
	enum fsl_profile_transport transport;
	int64_t n_bytes, time_ns; /* over all steps */
	size_t n_steps;           /* of the rank that sent */
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
 * Fills @out (overwritten): links between two ranks that moved something in some time. A number is
 * the rank in whose file the link to itself ("3-3") lies; else its place among the members, where
 * all of these are told. Fails only when memory is short.
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
