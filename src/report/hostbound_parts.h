/* Parts of telling about hosts that its files share. */
#ifndef FSL_REPORT_HOSTBOUND_PARTS_H
#define FSL_REPORT_HOSTBOUND_PARTS_H

#include "report/document.h"
#include "report/hostbound.h"
#include "text/phrase.h"

/*
 * Each adds a sentence about a rank, in the language of the screen if @is_screen, else in English;
 * nothing if there is nothing to tell.
 */
/* "step 12: interrupt 36 (nvme0q1) > loader (210) awake 12.0 ms, of it 10.0 ms queued > ...", the
 * chain of the rank's worst step in the order of time. */
void fsl_hostbound_add_chain(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank,
			     const struct fsl_sched *sched, bool is_screen);
/* "nvme0q1 (irq 36) on CPU 1 0.50 ms; ...", per step. */
void fsl_hostbound_add_interrupts(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank);
/* "12 to another CPU, of these 3 to another cache and 1 to another NUMA node". */
void fsl_hostbound_add_moves(struct fsl_phrase *phrase, const struct fsl_hostbound_rank *rank,
			     const struct fsl_sched *sched);

enum { FSL_HOSTBOUND_PARTED_MAX = 64 };
/* Writes the ranks that share the CPU of advice to part ranks, as far as FSL_HOSTBOUND_PARTED_MAX;
 * returns how many; 0: other advice. */
size_t fsl_hostbound_parted(const struct fsl_hostbound *judged, size_t at,
			    int32_t ranks[FSL_HOSTBOUND_PARTED_MAX]);
/* True if earlier advice tells of the same: three ranks that share a CPU are one sentence. */
bool fsl_hostbound_is_told(const struct fsl_hostbound *judged, size_t at);
/* As fsl_hostbound_advice_text, of all ranks that share the CPU. */
void fsl_hostbound_advice_for_all(const struct fsl_hostbound *judged, size_t at, char *text,
				  size_t size);

/* Adds members of a rank: migrations, CPU time by node, interrupts, the chain. */
void fsl_hostbound_put_details(struct fsl_document *document, cJSON *object,
			       const struct fsl_hostbound_rank *rank,
			       const struct fsl_sched *sched);

/* "picture": what the page draws; null if it was not made. */
void fsl_hostbound_put_picture(struct fsl_document *document, cJSON *parent,
			       const struct fsl_host_trace *trace);
/* Number and percentiles of latencies, of which there are some. */
void fsl_hostbound_put_latency(struct fsl_document *document, cJSON *object,
			       const struct fsl_latency *latency);

#endif
