/* From which boundary reading may go on: what an earlier run left is held against the files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "source/mark_parts.h"
#include "team/team.h"

/* One file of both runs. */
struct candidate {
	const struct fsl_file_marks *old;
	bool is_free; /* read as a whole every time */
	bool is_sound[FSL_MARKS_KEPT + 1];
	int64_t limit_ns; /* greatest boundary behind which nothing is missing */
};

static bool can_have_marks(const struct fsl_ingest_options *options)
{
	return options->mark_period_ns > 0 && options->mark_period_ns <= FSL_MARK_SPAN_MAX_NS &&
	       options->mark_lead_ns >= 0 && options->mark_lead_ns <= FSL_MARK_SPAN_MAX_NS &&
	       options->from_ns == INT64_MIN && options->to_ns == INT64_MAX && fsl_team_size() == 1;
}

bool fsl_marks_are_on(const struct fsl_ingest_options *options)
{
	return can_have_marks(options) && (options->marks != NULL || options->resume != NULL);
}

static bool are_alike(const struct fsl_marks *marks, const struct fsl_ingest_options *options)
{
	return marks->period_ns == options->mark_period_ns &&
	       marks->lead_ns == options->mark_lead_ns;
}

const struct fsl_file_marks *fsl_marks_resumed(const struct fsl_ingest_options *options,
					       const char *path)
{
	const struct fsl_marks *marks = options->resume;
	bool is_resumed = marks != NULL && marks->n_files > 0 && options->resume_ns >= 0 &&
			  are_alike(marks, options);
	return is_resumed ? fsl_marks_of(marks, path) : NULL;
}

/* Fingerprint of what stands before @offset; false where that cannot be read. */
static bool sample(int fd, uint64_t offset, uint64_t *fingerprint)
{
	char bytes[FSL_MARK_SAMPLE_BYTES];
	size_t n_bytes = fsl_mark_sample_size(offset), n_read = 0;
	while (n_read < n_bytes) {
		ssize_t n = pread(fd, bytes + n_read, n_bytes - n_read,
				  (off_t)(offset - n_bytes + n_read));
		if (n == 0 || (n < 0 && errno != EINTR)) {
			return false;
		}
		n_read += n > 0 ? (size_t)n : 0;
	}
	*fingerprint = fsl_mark_fingerprint(bytes, n_bytes);
	return true;
}

/* NULL when the file has the head that it had, and *is_sound says which places did not change. */
static const char *look_inside(const char *path, struct candidate *candidate)
{
	const struct fsl_file_marks *old = candidate->old;
	uint64_t fingerprint = 0;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		return "the file cannot be opened";
	}
	bool is_same = sample(fd, fsl_mark_sample_size(old->n_bytes), &fingerprint) &&
		       fingerprint == old->head_fingerprint;
	for (size_t i = 0; is_same && i < old->n_marks; i++) {
		const struct fsl_mark *mark = &old->marks[i];
		candidate->is_sound[i] = sample(fd, mark->place.offset, &fingerprint) &&
					 fingerprint == mark->fingerprint;
		if (!candidate->is_sound[i]) {
			fsl_log(FSL_LOG_INFO, "ingest",
				"file was rewritten after an earlier run had read it: "
				"path=\"%s\", offset=%" PRIu64,
				path, mark->place.offset);
		}
	}
	(void)close(fd);
	return is_same ? NULL : "the file begins with other bytes";
}

/* A file without marks is read as a whole; that says the same again when it gave nothing and did
 * not change. */
static const char *check_without_marks(struct candidate *candidate, const struct fsl_input *input)
{
	const struct fsl_file_marks *old = candidate->old;
	candidate->is_free = true;
	if (!old->is_ignored && !old->is_bare) {
		return "the file has no marks: its format has none, it is compressed, or too much "
		       "is incomplete in it";
	}
	return input->n_bytes == old->n_bytes ? NULL
					      : "the file had nothing to read and has changed";
}

/* Rows may be out of order by @slack_ns; what queues for a device stands where it is launched. */
static int64_t limit_of(const struct fsl_last_ends *last, int64_t slack_ns)
{
	if (last->device_ns == FSL_NS_ABSENT) {
		return last->any_ns - slack_ns;
	}
	int64_t device_ns = last->device_ns - slack_ns;
	return last->any_ns < device_ns ? last->any_ns : device_ns;
}

/* NULL when reading may go on in this file, else why not. */
static const char *check(struct candidate *candidate, const struct fsl_input *input,
			 int64_t slack_ns)
{
	const struct fsl_file_marks *old = candidate->old;
	candidate->limit_ns = INT64_MAX;
	candidate->is_free =
		!old->is_ignored && (old->kind == FSL_INPUT_STEPS || old->kind == FSL_INPUT_LOG);
	candidate->is_free |= input->fault != NULL && old->inode == 0;
	candidate->is_free |= old->is_ignored && fsl_load_is_foreign(input);
	if (candidate->is_free) {
		return NULL;
	}
	if (old->device != (uint64_t)input->device || old->inode != (uint64_t)input->inode) {
		return "another file has its name";
	}
	if (input->n_bytes < old->n_bytes) {
		return "the file is shorter than it was";
	}
	if (!old->is_packed) {
		const char *why = look_inside(input->path, candidate);
		if (why != NULL) {
			return why;
		}
	}
	if (old->n_marks == 0 || old->is_ignored) {
		return check_without_marks(candidate, input);
	}
	if (input->n_bytes > old->n_bytes) {
		candidate->limit_ns = limit_of(&old->last, slack_ns);
	}
	return NULL;
}

/* The greatest boundary up to @boundary_ns that the file can be read from; FSL_NS_ABSENT: none. A
 * mark for an earlier one does, too, but where the file was rewritten behind it. */
static int64_t lower(const struct candidate *candidate, int64_t boundary_ns, int64_t period_ns)
{
	const struct fsl_file_marks *old = candidate->old;
	int64_t limit_ns = candidate->limit_ns < boundary_ns ? candidate->limit_ns : boundary_ns;
	if (candidate->is_free) {
		return boundary_ns;
	}
	if (limit_ns < 0) {
		return FSL_NS_ABSENT;
	}
	limit_ns -= limit_ns % period_ns;
	bool is_rewritten = false;
	for (size_t i = old->n_marks; i > 0; i--) {
		const struct fsl_mark *mark = &old->marks[i - 1];
		is_rewritten = is_rewritten || !candidate->is_sound[i - 1];
		if (mark->first_ns <= limit_ns && candidate->is_sound[i - 1]) {
			bool is_earlier = is_rewritten && mark->boundary_ns < limit_ns;
			return is_earlier ? mark->boundary_ns : limit_ns;
		}
	}
	return FSL_NS_ABSENT;
}

/* The newest boundary that any row has reached; FSL_NS_ABSENT: no file has marks. */
static int64_t newest_boundary(const struct candidate *candidates, size_t n)
{
	int64_t newest_ns = FSL_NS_ABSENT;
	for (size_t i = 0; i < n; i++) {
		const struct fsl_file_marks *old = candidates[i].old;
		for (size_t k = 0; k < old->n_marks; k++) {
			const struct fsl_mark *mark = &old->marks[k];
			if (mark->boundary_ns != INT64_MAX && mark->boundary_ns > newest_ns) {
				newest_ns = mark->boundary_ns;
			}
		}
	}
	return newest_ns;
}

/* The boundary falls until all files agree. */
static int64_t agree(const struct candidate *candidates, size_t n, int64_t period_ns,
		     int64_t most_ns)
{
	int64_t newest_ns = newest_boundary(candidates, n);
	int64_t boundary_ns = newest_ns < most_ns ? newest_ns : most_ns;
	if (newest_ns == FSL_NS_ABSENT) {
		fsl_log(FSL_LOG_INFO, "ingest",
			"everything is read again: no marks were left for these chapters");
	}
	size_t n_agreed = 0;
	for (size_t i = 0; n_agreed < n && boundary_ns != FSL_NS_ABSENT; i = (i + 1) % n) {
		int64_t lower_ns = lower(&candidates[i], boundary_ns, period_ns);
		n_agreed = lower_ns == boundary_ns ? n_agreed + 1 : 1;
		boundary_ns = lower_ns;
		if (boundary_ns == FSL_NS_ABSENT) {
			fsl_log(FSL_LOG_INFO, "ingest",
				"everything is read again, a file has grown by what may be older "
				"than its marks: path=\"%s\"",
				candidates[i].old->path);
		}
	}
	return boundary_ns;
}

static void log_again(const char *why, const char *path)
{
	fsl_log(FSL_LOG_INFO, "ingest", "everything is read again: path=\"%s\", reason=\"%s\"",
		path, why);
}

/* Pairs the files of both runs; false, and said why, when they cannot be. */
static bool match(const struct fsl_marks *old, const struct fsl_inputs *inputs, int64_t slack_ns,
		  struct candidate *candidates, size_t *n_candidates)
{
	size_t at = 0;
	for (size_t i = 0; i < inputs->n_items; i++) {
		const struct fsl_input *input = &inputs->items[i];
		while (at < old->n_files && strcmp(old->files[at].path, input->path) < 0 &&
		       old->files[at].is_ignored) {
			at++; /* gone, and was none of ours */
		}
		int order = at < old->n_files ? strcmp(old->files[at].path, input->path) : 1;
		if (order > 0 && fsl_load_is_foreign(input)) {
			continue; /* new, and none of ours */
		}
		if (order != 0) {
			log_again(order > 0 ? "the file is new" : "a file is gone",
				  order > 0 ? input->path : old->files[at].path);
			return false;
		}
		struct candidate *candidate = &candidates[(*n_candidates)++];
		*candidate = (struct candidate){.old = &old->files[at++]};
		const char *why = check(candidate, input, slack_ns);
		if (why != NULL) {
			log_again(why, input->path);
			return false;
		}
	}
	while (at < old->n_files && old->files[at].is_ignored) {
		at++;
	}
	if (at < old->n_files) {
		log_again("a file is gone", old->files[at].path);
	}
	return at == old->n_files;
}

enum fsl_status fsl_marks_resume_ns(const struct fsl_marks *old,
				    const struct fsl_ingest_options *options, int64_t slack_ns,
				    int64_t most_ns, int64_t *resume_ns, struct fsl_error *err)
{
	struct fsl_inputs inputs = {0};
	size_t n_candidates = 0;
	*resume_ns = FSL_NS_ABSENT;
	if (!can_have_marks(options) || !are_alike(old, options) || slack_ns < 0) {
		return FSL_OK;
	}
	enum fsl_status status = fsl_inputs_find(&inputs, options, err);
	struct candidate *candidates = fsl_calloc(inputs.n_items, sizeof(*candidates));
	if (status == FSL_OK && candidates == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: files=%zu", inputs.n_items);
	}
	if (status == FSL_OK && match(old, &inputs, slack_ns, candidates, &n_candidates)) {
		*resume_ns = agree(candidates, n_candidates, options->mark_period_ns, most_ns);
	}
	fsl_free(candidates);
	fsl_inputs_fini(&inputs);
	return status;
}
