/* The facts of a document of hosts (failslow.hostbound/1) that its page needs, checked: the
 * document may be hostile. Its texts are borrowed, arrays live in the arena. */
#ifndef FSL_REPORT_PAGE_HOSTS_MODEL_H
#define FSL_REPORT_PAGE_HOSTS_MODEL_H

#include "report/page/model.h"

/* Who held a CPU, in the order of tables. */
enum fsl_html_class {
	FSL_HTML_TOLD,
	FSL_HTML_CULPRIT,
	FSL_HTML_LIKELY,
	FSL_HTML_RANKS,
	FSL_HTML_PROCESSES,
	FSL_HTML_KERNEL,
	FSL_HTML_INTERRUPT,
	FSL_HTML_IDLE,
	FSL_HTML_UNHELD, /* nothing tells who */
	FSL_HTML_CLASSES_N
};

struct fsl_html_lane {
	int64_t cpu;
	const char *holders, *waits; /* [n] letters: fsl_html_class_of(), 'w' if the thread waits */
	size_t n;
	double wait_ms, ms[FSL_HTML_CLASSES_N];
};

/* States of a thread in the order of pictures: waits for a CPU come first. */
enum fsl_html_state {
	FSL_HTML_PREEMPTED,
	FSL_HTML_WOKEN,
	FSL_HTML_RUN,
	FSL_HTML_IRQ,
	FSL_HTML_DISK,
	FSL_HTML_STOP,
	FSL_HTML_NOT_KNOWN,
	FSL_HTML_SLEEP,
	FSL_HTML_STATES_N
};

/* A rank, or one step of the told rank. */
struct fsl_html_times {
	int64_t number; /* of the rank or step */
	double ms[FSL_HTML_STATES_N];
	double whole_ms;
};

struct fsl_html_holder {
	const char *kind, *name;
	int64_t rank, cpu; /* -1: none */
	const cJSON *pids;
	bool has_more_pids;
	double seen_ms, likely_ms; /* per step */
};

enum { FSL_HTML_BUCKETS_MAX = 48 };

/* Lengths of waits; count 0: there are none. */
struct fsl_html_waits {
	double count, p50_ms, p95_ms, p99_ms, max_ms, over_100us, over_1ms, over_10ms;
	size_t n_buckets;
	double below_ms[FSL_HTML_BUCKETS_MAX]; /* each twice the one before */
	double counts[FSL_HTML_BUCKETS_MAX];
};

struct fsl_html_hosts {
	struct fsl_arena arena;
	const cJSON *root;    /* the document; NULL: one trace of a case */
	const cJSON *trace;   /* the told one: that with most waits */
	const cJSON *picture; /* NULL: the document has none */
	const cJSON *told;    /* the rank that is told, an item of the trace's ranks; NULL: none */
	bool is_named, is_quota;
	int64_t rank, step; /* told; -1: none */
	double length_ms;   /* of the step, or of the trace */
	struct fsl_html_lane *lanes;
	size_t n_lanes;
	struct fsl_html_times *ranks, *steps;
	size_t n_ranks, n_steps;
	struct fsl_html_holder *holders; /* of the told rank, most first */
	size_t n_holders;
	size_t main_holder; /* index of the holder that is to blame; SIZE_MAX: none */
	struct fsl_html_waits woken[2], preempted[2]; /* of the told rank, of others */
};

/* True if the document is one of hosts. */
bool fsl_html_is_hosts(const cJSON *document);
/* Fills @out (overwritten; release with fsl_html_hosts_fini) from a document that outlives it.
 * FSL_ERR_FORMAT, FSL_ERR_MEMORY. */
enum fsl_status fsl_html_hosts_read(struct fsl_html_hosts *out, const cJSON *document,
				    struct fsl_error *err);
/* The same from one item of its "traces". */
enum fsl_status fsl_html_hosts_read_trace(struct fsl_html_hosts *out, const cJSON *trace,
					  struct fsl_error *err);
void fsl_html_hosts_fini(struct fsl_html_hosts *page);

/* The class of a letter of lanes; UNHELD if there is none. */
enum fsl_html_class fsl_html_class_of(char letter);

#endif
