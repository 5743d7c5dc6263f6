/* Lists of numbers on the command line: "0,8-15". */
#ifndef FSL_CLI_NUMBER_LIST_H
#define FSL_CLI_NUMBER_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>

enum { FSL_NUMBER_LIST_MAX = 4096 };

/* Numbers of 0 to INT32_MAX, as given. Start as {0}. */
struct fsl_number_list {
	int64_t items[FSL_NUMBER_LIST_MAX];
	size_t n_items;
};

/* Adds the numbers of @text; NULL adds none. @option: whose list it is, for the message.
 * FSL_ERR_USAGE. */
enum fsl_status fsl_number_list_parse(struct fsl_number_list *list, const char *option,
				      const char *text, struct fsl_error *err);

#endif
