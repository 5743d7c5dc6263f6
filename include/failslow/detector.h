/*
 * The plug-in contract. A detector is a pure function and a table. It needs no registration code,
 * keeps no state and takes no lock, so that threads and processes may call it freely. Detectors
 * compile with include/ alone on the include path: a detector that reaches into src/ does not
 * build.
 */
#ifndef FAILSLOW_DETECTOR_H
#define FAILSLOW_DETECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <failslow/error.h>
#include <failslow/finding.h>
#include <failslow/view.h>

/* Version of the contract. Rises if a struct of include/failslow changes layout or meaning. */
enum { FSL_DETECTOR_ABI = 1 };

/* Data that one scan() sees. */
enum fsl_scope {
	FSL_SCOPE_RANK,  /* each member against its own past; members are independent */
	FSL_SCOPE_GROUP, /* members of one group against each other */
	FSL_SCOPE_JOB,   /* one series for the whole job, or one value per rank */
};

enum fsl_param_type {
	FSL_PARAM_INT,    /* int64_t */
	FSL_PARAM_REAL,   /* double; JSON null reads as NaN if nullable is set */
	FSL_PARAM_BOOL,   /* bool */
	FSL_PARAM_CHOICE, /* int: index into choices */
};

/*
 * One configuration key. The registry checks type and range, then writes the field at @offset of
 * the params struct. A dotted key ("n_sigma_method.bias") is read from a nested object. A key
 * carries its unit, unless sysTrace fixed its name.
 */
struct fsl_param {
	const char *key; /* NULL ends the table */
	enum fsl_param_type type;
	size_t offset;
	double fallback;            /* default; NaN with nullable: absent */
	double min, max;            /* inclusive; not used for BOOL and CHOICE */
	bool nullable;              /* REAL only: null is allowed */
	const char *const *choices; /* CHOICE only: NULL-terminated texts */
	const char *help;           /* one sentence; also the text in docs/users/detectors.md */
};

#define FSL_NEED(metric) (UINT32_C(1) << (metric))
#define FSL_NEED_ANY     UINT32_MAX

struct fsl_detector {
	uint32_t abi;        /* always FSL_DETECTOR_ABI */
	const char *name;    /* file name, "type" in the configuration, test name, manual heading */
	const char *summary; /* one line for `failslow list detectors` */
	uint32_t needs;      /* metrics it understands: FSL_NEED(...) | ..., or FSL_NEED_ANY */
	enum fsl_scope scope;
	const struct fsl_param *params; /* ends with a NULL key */
	size_t params_size;
	/*
	 * Judges one unit. Called once for each unit, from several threads, in any order: no
	 * globals, no I/O, no clock. Adds zero or more findings to @out. Too little data is no
	 * error: add nothing, return FSL_OK.
	 */
	enum fsl_status (*scan)(const struct fsl_view *view, const void *params,
				struct fsl_findings *out, struct fsl_error *err);
};

/* A shared object exports its descriptor as `const struct fsl_detector fsl_plugin`. */
#define FSL_PLUGIN_SYMBOL "fsl_plugin"

#endif
