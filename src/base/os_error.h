/* Text of a system error, for messages. */
#ifndef FSL_BASE_OS_ERROR_H
#define FSL_BASE_OS_ERROR_H

#include <stdio.h>
#include <string.h>

struct fsl_os_error {
	char text[128];
};

/* By value, because older C libraries share the buffer of strerror() between threads.
 * fsl_os_error(errno).text lives until the end of the statement. */
static inline struct fsl_os_error fsl_os_error(int code)
{
	struct fsl_os_error error;
	char buffer[sizeof(error.text)];
	(void)snprintf(error.text, sizeof(error.text), "%s",
		       strerror_r(code, buffer, sizeof(buffer)));
	return error;
}

#endif
