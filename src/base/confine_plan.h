/* The list of what a confined process may do. */
#ifndef FSL_BASE_CONFINE_PLAN_H
#define FSL_BASE_CONFINE_PLAN_H

#include "base/confine.h"

struct fsl_confine_item {
	enum fsl_confine_need need;
	char *path; /* owned */
};

struct fsl_confine {
	struct fsl_confine_item *items;
	size_t n_items, items_capacity;
	bool has_network;
	const char *why_not; /* a literal: the process must not be confined; NULL: it may */
};

/* Appends what belongs to the inputs of the plan: folders around files, and targets of links. */
void fsl_confine_complete_inputs(struct fsl_confine *plan);

#endif
