/* Where the operators of a long capture come from, chapter by chapter. */
#ifndef FSL_ENGINE_FEED_H
#define FSL_ENGINE_FEED_H

#include "config/config.h"
#include "model/chapter.h"
#include "source/discover.h"
#include "source/ingest.h"
#include "source/stream.h"

/* The files of a capture that is too long to be held in memory. */
struct fsl_feed {
	struct fsl_inputs inputs;
	struct fsl_ingest_options options;
	uint64_t n_bytes;            /* fsl_inputs_bytes() */
	struct fsl_stream *stream;   /* NULL: reading has not begun */
	struct fsl_arena arena;      /* of what an earlier run knew: */
	struct fsl_file_past *pasts; /* of each input; NULL: nothing */
};

/* True for files that hold so many operators that they are cut into chapters before they are all
 * read, going by their sizes. */
bool fsl_feed_is_worth_it(const struct fsl_inputs *inputs, const struct fsl_ingest_options *options,
			  const struct fsl_config *config);
/* Takes over @inputs; NULL: out of memory, and they stay the caller's. */
struct fsl_feed *fsl_feed_create(struct fsl_inputs *inputs,
				 const struct fsl_ingest_options *options);
void fsl_feed_destroy(struct fsl_feed *feed); /* NULL is fine */

/* From when to when the capture goes, by the begins and the ends of its files. */
enum fsl_status fsl_feed_span(const struct fsl_feed *feed, struct fsl_span *span,
			      const struct fsl_chapter_rule *longest, struct fsl_error *err);
/* Adds to an empty @run what ends before @end_ns; of one rank alone unless @only_rank is
 * FSL_RANK_UNKNOWN. */
enum fsl_status fsl_feed_look(const struct fsl_feed *feed, struct fsl_run *run, int64_t end_ns,
			      const struct fsl_chapter_rule *rule, int32_t only_rank,
			      struct fsl_error *err);

/*
 * Begins to read; chapters end at @first_ns and by @rule from there on, and there are @n of them.
 * Those before @known_ns need not be read, by what feed->pasts tells; NULL: all are read.
 */
enum fsl_status fsl_feed_begin(struct fsl_feed *feed, const struct fsl_chapter_rule *rule,
			       int64_t first_ns, size_t n, int64_t known_ns, struct fsl_error *err);
/* Adds to @run what ends before @end_ns, the end of a chapter; INT64_MAX: all there is. */
enum fsl_status fsl_feed_until(struct fsl_feed *feed, struct fsl_run *run, int64_t end_ns,
			       struct fsl_error *err);

#endif
