/* Status codes and the caller-owned chain of causes that every failing call fills. */
#ifndef FAILSLOW_ERROR_H
#define FAILSLOW_ERROR_H

#include <stdarg.h>
#include <stddef.h>

/* 0 is success, every failure is negative. "Not found" and "too little data" are results, not
 * errors. */
enum fsl_status {
	FSL_OK = 0,
	FSL_ERR_USAGE = -1,    /* wrong command line */
	FSL_ERR_CONFIG = -2,   /* wrong configuration file */
	FSL_ERR_INPUT = -3,    /* no input that could be used */
	FSL_ERR_FORMAT = -4,   /* one input breaks the rules of its format */
	FSL_ERR_LIMIT = -5,    /* one input exceeds a documented limit */
	FSL_ERR_IO = -6,       /* the operating system refused a read or write */
	FSL_ERR_MEMORY = -7,   /* out of memory */
	FSL_ERR_PLUGIN = -8,   /* a shared object is no usable detector */
	FSL_ERR_INTERNAL = -9, /* a broken promise inside failslow */
};

enum { FSL_CAUSES_MAX = 8, FSL_CAUSE_MESSAGE_MAX = 512 };

/* One link of the chain: the step that failed, with "name=value" facts. causes[0] is the root. */
struct fsl_cause_link {
	char message[FSL_CAUSE_MESSAGE_MAX];
	const char *file; /* static storage */
	int line;
};

/* A status and its chain of causes. The caller owns it, usually on its stack, and starts it as {0}.
 * No function allocates for it. */
struct fsl_error {
	enum fsl_status status;
	size_t n_causes;
	struct fsl_cause_link causes[FSL_CAUSES_MAX];
};

/* Appends one cause and returns @status, so that a function fails in one statement. @err may be
 * NULL. A full chain overwrites its newest link, so that the root is never lost. */
enum fsl_status fsl_error_add(struct fsl_error *err, enum fsl_status status, const char *file,
			      int line, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Empties the chain so that the object can be used again. */
void fsl_error_clear(struct fsl_error *err);

/* Message of the root cause, borrowed from @err; "" if there is none. */
const char *fsl_error_root(const struct fsl_error *err);

/* Short text of a status ("wrong configuration"); static storage. */
const char *fsl_status_text(enum fsl_status status);

/*
 * Begins a chain with its root cause. The value is @status: the macro itself holds it, so that
 * compilers and analysers see that a failure is returned. Usual grammar of the message: a sentence
 * without full stop, then ": name=value, name=\"text\"".
 */
#define FSL_FAIL(err, status, ...)                                                                 \
	((void)fsl_error_add((err), (status), __FILE__, __LINE__, __VA_ARGS__), (status))
/* Adds a cause on the way up. Use it only if it adds a fact. */
#define FSL_CAUSE(err, status, ...) FSL_FAIL((err), (status), __VA_ARGS__)

/*
 * Returns the status of @call from the calling function unless it is FSL_OK. A function that holds
 * memory, a file or a lock of its own checks the status and goes to its label `out:` instead.
 */
#define FSL_TRY(call)                                                                              \
	do {                                                                                       \
		enum fsl_status fsl_try_status = (call);                                           \
		if (fsl_try_status != FSL_OK) {                                                    \
			return fsl_try_status;                                                     \
		}                                                                                  \
	} while (0)

#endif
