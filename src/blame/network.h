/* Looks at slow links together: a link, a host or the network that all share is at fault. */
#ifndef FSL_BLAME_NETWORK_H
#define FSL_BLAME_NETWORK_H

#include "blame/link.h"

enum fsl_network_kind {
	FSL_NETWORK_LINKS, /* each link by itself */
	FSL_NETWORK_ALL,   /* the slow groups hold all ranks: something that all share */
	FSL_NETWORK_MOVES, /* one group is slow, then another, and each is well again */
	FSL_NETWORK_HOST,  /* all that leaves one host */
};

struct fsl_network {
	enum fsl_network_kind kind;
	const char *server_ip; /* of the host; borrowed from the run. NULL: none */
};

/*
 * Looks at the slow links together. @counts: [n_links] true for links that cost what counts; others
 * are heard, but decide nothing by themselves. Linear in the members of all links, and in hosts
 * times links, which are few. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_network_look(struct fsl_network *out, const struct fsl_case *facts,
				 const struct fsl_link *links, const bool *counts, size_t n_links,
				 struct fsl_error *err);

#endif
