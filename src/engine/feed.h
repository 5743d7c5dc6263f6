/* Reads the operators of a long capture from its files, chapter by chapter. */
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
	struct fsl_arena arena;      /* holds pasts */
	struct fsl_file_past *pasts; /* one for each input, kept by an earlier run; NULL: none */
};

/* True if the files hold so many operators, by their sizes, that the capture is cut into chapters
 * before all is read. */
bool fsl_feed_is_worth_it(const struct fsl_inputs *inputs, const struct fsl_ingest_options *options,
			  const struct fsl_config *config);
/* Makes a feed and takes over @inputs. NULL: out of memory; @inputs stay the caller's. */
struct fsl_feed *fsl_feed_create(struct fsl_inputs *inputs,
				 const struct fsl_ingest_options *options);
void fsl_feed_destroy(struct fsl_feed *feed); /* NULL is fine */

/* Finds the time span of the capture from the begins and ends of its files. */
enum fsl_status fsl_feed_span(const struct fsl_feed *feed, struct fsl_span *span,
			      const struct fsl_chapter_rule *longest, struct fsl_error *err);
/* Adds the events that end before @end_ns to an empty @run, of @only_rank alone unless it is
 * FSL_RANK_UNKNOWN. */
enum fsl_status fsl_feed_look(const struct fsl_feed *feed, struct fsl_run *run, int64_t end_ns,
			      const struct fsl_chapter_rule *rule, int32_t only_rank,
			      struct fsl_error *err);

/*
 * Begins to read. There are @n chapters; the first ends at @first_ns, the next ones by @rule.
 * Chapters before @known_ns need not be read: feed->pasts tells where the files go on. If
 * feed->pasts is NULL, all is read.
 */
enum fsl_status fsl_feed_begin(struct fsl_feed *feed, const struct fsl_chapter_rule *rule,
			       int64_t first_ns, size_t n, int64_t known_ns, struct fsl_error *err);
/* Adds the events that end before @end_ns, the end of a chapter, to @run; INT64_MAX: all events. */
enum fsl_status fsl_feed_until(struct fsl_feed *feed, struct fsl_run *run, int64_t end_ns,
			       struct fsl_error *err);

#endif
