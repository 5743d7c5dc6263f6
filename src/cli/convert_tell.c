/* The summary of a conversion: what was written, and what was left out and why. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/language.h"
#include "base/number.h"
#include "cli/convert_parts.h"
#include "text/phrase.h"

static void add_size(struct fsl_phrase *phrase, const char *path)
{
	struct stat facts;
	double bytes = stat(path, &facts) == 0 ? (double)facts.st_size : 0.0;
	const char *const units[] = {"B", "kB", "MB", "GB"};
	size_t unit = 0;
	while (bytes >= 1000.0 && unit < 3) {
		bytes /= 1000.0;
		unit++;
	}
	fsl_phrase_add(phrase, "%s%.3g %s", phrase->length > 0 ? ", " : "", bytes, units[unit]);
}

static void tell_events(const struct fsl_conversion *c)
{
	const struct fsl_track_counts *counts = &c->file.counts;
	struct fsl_phrase phrase = {0};
	fsl_phrase_add_count(&phrase, counts->n_slices + counts->n_instants + counts->n_values,
			     "event");
	fsl_phrase_add(&phrase, " (");
	fsl_phrase_add_count(&phrase, counts->n_slices, "slice");
	fsl_phrase_add(&phrase, ", ");
	fsl_phrase_add_count(&phrase, counts->n_instants, "instant");
	fsl_phrase_add(&phrase, ", ");
	fsl_phrase_add_count(&phrase, counts->n_values, "counter value");
	fsl_phrase_add(&phrase, "), ");
	fsl_phrase_add_count(&phrase, counts->n_launches + counts->n_meetings, "flow");
	add_size(&phrase, c->wanted->output);
	(void)fsl_tell_print(stdout, "%s: %s\n", c->wanted->output, phrase.text);
}

static void tell_span(const struct fsl_conversion *c)
{
	const struct fsl_track_counts *counts = &c->file.counts;
	struct fsl_phrase phrase = {0};
	char begin[40];
	if (c->n_shown > 0 || (!c->has_captures && c->memory.n_items == 0)) {
		fsl_phrase_add_count(&phrase, c->n_shown, "rank");
	}
	if (c->has_captures) {
		fsl_phrase_add(&phrase, "%s", phrase.length > 0 ? ", " : "");
		fsl_phrase_add_count(&phrase, c->profile.n_ranks, "captured rank");
	}
	if (c->memory.n_items > 0) {
		fsl_phrase_add(&phrase, "%s", phrase.length > 0 ? ", " : "");
		fsl_phrase_add_count(&phrase, c->memory.n_items, "file");
		fsl_phrase_add(&phrase, " of device memory");
	}
	if (counts->begin_ns != FSL_NS_ABSENT && !c->lacks_times) {
		fsl_phrase_add(&phrase, ", ");
		fsl_phrase_add_length(&phrase, counts->end_ns - counts->begin_ns);
		fsl_phrase_add(&phrase, " from %s",
			       fsl_format_utc(counts->begin_ns, begin, sizeof(begin)));
	}
	(void)fsl_tell_print(stdout, "%s\n", phrase.text);
}

/* Files of captures that were not read as a whole, and remarks on those that were left out. */
static void tell_captured_files(const struct fsl_conversion *c)
{
	for (size_t i = 0; i < c->profile.n_remarks; i++) {
		(void)fsl_tell_print(stdout, "%s\n", c->profile.remarks[i]);
	}
	for (size_t r = 0; r < c->profile.n_ranks; r++) {
		const struct fsl_profile_rank *rank = &c->profile.ranks[r];
		for (size_t f = 0; f < rank->n_files; f++) {
			const struct fsl_file *file = &rank->files[f];
			bool is_partial = file->state == FSL_FILE_PARTIAL;
			if (file->state != FSL_FILE_READ) {
				(void)fsl_tell_print(stdout,
						     is_partial ? N_("read in part: %s: %s\n")
								: N_("not read: %s: %s\n"),
						     file->path, fsl_text_or_empty(file->message));
			}
		}
	}
}

static void tell_left_out(const struct fsl_conversion *c)
{
	uint64_t n_dropped[FSL_DROPS_N] = {0};
	for (size_t f = 0; f < c->run.n_files; f++) {
		const struct fsl_file *file = &c->run.files[f];
		for (int d = 0; d < FSL_DROPS_N; d++) {
			n_dropped[d] += file->n_dropped[d];
		}
	}
	for (int d = 0; d < FSL_DROPS_N; d++) {
		n_dropped[d] += c->host.n_dropped[d] + c->memory.n_dropped[d];
		if (n_dropped[d] > 0) {
			(void)fsl_tell_print(stdout, "left out: %" PRIu64 " records, reason: %s\n",
					     n_dropped[d], fsl_drop_text((enum fsl_drop)d));
		}
	}
	uint64_t n_left_out = c->tracks.n_left_out + c->captured.n_left_out + c->n_host_left_out +
			      fsl_conversion_kernel_left_out(c);
	if (n_left_out > 0) {
		(void)fsl_tell_print(stdout,
				     "left out: %" PRIu64
				     " slices, reason: too many overlap each other\n",
				     n_left_out);
	}
	if (c->meetings.n_unusable > 0) {
		(void)fsl_tell_print(stdout,
				     "left out: %" PRIu64
				     " operators of captures, reason: no time or no group\n",
				     c->meetings.n_unusable);
	}
	for (size_t f = 0; f < c->run.n_files; f++) {
		if (c->run.files[f].state == FSL_FILE_UNUSABLE) {
			(void)fsl_tell_print(stdout, "not read: %s: %s\n", c->run.files[f].path,
					     c->run.files[f].message);
		}
	}
	tell_captured_files(c);
	if (c->tracks.n_no_device > 0) {
		(void)fsl_tell_print(stdout,
				     "without times of the device: %" PRIu64
				     " operators, on the lanes of the host alone\n",
				     c->tracks.n_no_device);
	}
}

static void tell_verdict(const struct fsl_conversion *c)
{
	if (c->headline.length > 0) {
		(void)fsl_tell_print(stdout, "%s\n", c->headline.text);
	}
}

enum fsl_status fsl_conversion_tell(const struct fsl_conversion *c, struct fsl_error *err)
{
	tell_events(c);
	tell_span(c);
	tell_verdict(c);
	FSL_TRY(fsl_conversion_tell_host(c, err));
	fsl_conversion_tell_kernel(c);
	fsl_conversion_tell_memory(c);
	tell_left_out(c);
	return FSL_OK;
}

void fsl_conversion_tell_stacks(const struct fsl_conversion *c)
{
	struct fsl_phrase phrase = {0};
	add_size(&phrase, c->wanted->output);
	(void)fsl_tell_print(stdout, "%s: %s\n", c->wanted->output, phrase.text);
	fsl_conversion_tell_memory(c);
	tell_left_out(c);
}
