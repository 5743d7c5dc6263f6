/* Gathers the progress of a job, and joins the progress of several chapters. */
#include "model/progress.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

enum {
	STEPS_MAX = 1 << 24, /* greatest count that is believed in bytes that are not trusted */
	SOURCE_BYTES_MAX = 64,
	STEP_COLUMNS_N = 5,
};

void fsl_progress_fini(struct fsl_progress *progress)
{
	fsl_steps_fini(&progress->steps);
	fsl_free(progress->loading_ns);
	fsl_free(progress->saves);
	progress->loading_ns = NULL;
	progress->saves = NULL;
	progress->n_saves = 0;
}

/* Makes room for so many steps and saves; their counts stay 0. */
static enum fsl_status make_room(struct fsl_progress *out, size_t n_steps, size_t n_saves,
				 struct fsl_error *err)
{
	*out = (struct fsl_progress){.steps = {.source_rank = FSL_RANK_UNKNOWN, .source = ""}};
	enum fsl_status status = FSL_NEW(out->steps.items, n_steps, "steps", err);
	FSL_THEN(status, FSL_NEW(out->loading_ns, n_steps, "steps", err));
	FSL_THEN(status, FSL_NEW(out->saves, n_saves, "saves", err));
	if (status != FSL_OK) {
		fsl_progress_fini(out);
	}
	return status;
}

/* Index of the step that a stage belongs to, SIZE_MAX: none. Other ranks begin a step a little
 * before or after the rank that tells when steps begin: of two steps side by side the one with the
 * number of the stage is meant. */
static size_t step_of(const struct fsl_steps *steps, const struct fsl_stage *stage)
{
	size_t step = fsl_steps_find(steps, stage->begin_ns);
	if (step == SIZE_MAX || steps->is_ordinal) {
		return step;
	}
	const struct fsl_job_step *item = &steps->items[step];
	if (step + 1 < steps->n_items && item[1].step == stage->step) {
		return step + 1;
	}
	return step > 0 && item[-1].step == stage->step ? step - 1 : step;
}

/* Loading of data that logs tell beside the time of a step. */
static void add_logged_loading(struct fsl_progress *out, const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		for (size_t i = 0; i < rank->n_steps; i++) {
			const struct fsl_step_time *time = &rank->steps[i];
			size_t step = time->data_ns > 0
					      ? fsl_steps_find(&out->steps, time->begin_ns)
					      : SIZE_MAX;
			if (step != SIZE_MAX && time->data_ns > out->loading_ns[step]) {
				out->loading_ns[step] = time->data_ns;
			}
		}
	}
}

/* Time in the data loader per step, of the slowest rank: the job waits for that rank. */
static enum fsl_status sum_loading(struct fsl_progress *out, const struct fsl_run *run,
				   struct fsl_error *err)
{
	const struct fsl_steps *steps = &out->steps;
	int64_t *sums_ns = NULL;
	FSL_TRY(FSL_NEW(sums_ns, steps->n_items, "steps", err));
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		if (rank->n_stages == 0) {
			continue;
		}
		memset(sums_ns, 0, steps->n_items * sizeof(*sums_ns));
		for (size_t i = 0; i < rank->n_stages; i++) {
			const struct fsl_stage *stage = &rank->stages[i];
			size_t step = stage->kind == FSL_STAGE_DATALOADER ? step_of(steps, stage)
									  : SIZE_MAX;
			if (step != SIZE_MAX) {
				sums_ns[step] += stage->end_ns - stage->begin_ns;
			}
		}
		for (size_t i = 0; i < steps->n_items; i++) {
			int64_t *longest_ns = &out->loading_ns[i];
			*longest_ns = sums_ns[i] > *longest_ns ? sums_ns[i] : *longest_ns;
		}
	}
	fsl_free(sums_ns);
	add_logged_loading(out, run);
	return FSL_OK;
}

static int compare_saves(const void *left, const void *right)
{
	const struct fsl_save *a = left, *b = right;
	int order = FSL_ORDER(a->begin_ns, b->begin_ns);
	return order != 0 ? order : FSL_ORDER(a->dur_ns, b->dur_ns);
}

/* Joins sorted saves of single ranks to checkpoints of the job: overlapping saves are one. */
static size_t join_saves(struct fsl_save *saves, size_t n)
{
	size_t n_joined = 0;
	for (size_t i = 0; i < n; i++) {
		struct fsl_save *last = n_joined > 0 ? &saves[n_joined - 1] : NULL;
		int64_t since_ns = last != NULL ? saves[i].begin_ns - last->begin_ns : INT64_MAX;
		if (last != NULL && since_ns < last->dur_ns) {
			int64_t dur_ns = since_ns + saves[i].dur_ns;
			last->dur_ns = dur_ns > last->dur_ns ? dur_ns : last->dur_ns;
		} else {
			saves[n_joined++] = saves[i];
		}
	}
	return n_joined;
}

static size_t count_saves(const struct fsl_run *run)
{
	size_t n = 0;
	for (size_t r = 0; r < run->n_ranks; r++) {
		for (size_t i = 0; i < run->ranks[r].n_stages; i++) {
			n += run->ranks[r].stages[i].kind == FSL_STAGE_CKPT;
		}
	}
	return n;
}

static void gather_saves(struct fsl_progress *out, const struct fsl_run *run)
{
	for (size_t r = 0; r < run->n_ranks; r++) {
		const struct fsl_rank *rank = &run->ranks[r];
		for (size_t i = 0; i < rank->n_stages; i++) {
			const struct fsl_stage *stage = &rank->stages[i];
			if (stage->kind != FSL_STAGE_CKPT) {
				continue;
			}
			size_t step = fsl_steps_find(&out->steps, stage->begin_ns);
			out->saves[out->n_saves++] = (struct fsl_save){
				.step = step != SIZE_MAX ? out->steps.items[step].step
							 : stage->step,
				.begin_ns = stage->begin_ns,
				.dur_ns = stage->end_ns - stage->begin_ns,
			};
		}
	}
	qsort(out->saves, out->n_saves, sizeof(*out->saves), compare_saves);
	out->n_saves = join_saves(out->saves, out->n_saves);
}

enum fsl_status fsl_progress_build(struct fsl_progress *out, const struct fsl_run *run,
				   const struct fsl_steps *steps, struct fsl_error *err)
{
	FSL_TRY(make_room(out, steps->n_items, count_saves(run), err));
	struct fsl_job_step *items = out->steps.items;
	if (steps->n_items > 0) { /* without steps there may be no array */
		memcpy(items, steps->items, steps->n_items * sizeof(*items));
	}
	out->steps = *steps;
	out->steps.items = items;
	gather_saves(out, run);
	enum fsl_status status = sum_loading(out, run, err);
	if (status != FSL_OK) {
		fsl_progress_fini(out);
	}
	return status;
}

void fsl_progress_trim(struct fsl_progress *progress, int64_t from_ns, size_t n_steps_max)
{
	struct fsl_steps *steps = &progress->steps;
	size_t n_gone = fsl_steps_over(steps, from_ns), n_saves_gone = 0;
	if (steps->n_items - n_gone > n_steps_max) {
		n_gone = steps->n_items - n_steps_max;
	}
	while (n_saves_gone < progress->n_saves &&
	       (progress->saves[n_saves_gone].begin_ns < from_ns ||
		progress->n_saves - n_saves_gone > FSL_PROGRESS_SAVES_MAX)) {
		n_saves_gone++;
	}
	steps->n_items -= n_gone;
	progress->n_saves -= n_saves_gone;
	memmove(steps->items, steps->items + n_gone, steps->n_items * sizeof(*steps->items));
	memmove(progress->loading_ns, progress->loading_ns + n_gone,
		steps->n_items * sizeof(*progress->loading_ns));
	memmove(progress->saves, progress->saves + n_saves_gone,
		progress->n_saves * sizeof(*progress->saves));
}

/* True if the steps of @later continue the steps of @earlier. */
static bool follows(const struct fsl_progress *later, const struct fsl_progress *earlier)
{
	const struct fsl_steps *a = &earlier->steps, *b = &later->steps;
	if (a->n_items == 0 || b->n_items == 0) {
		return false;
	}
	const struct fsl_job_step *last = &a->items[a->n_items - 1];
	return a->source_rank == b->source_rank && strcmp(a->source, b->source) == 0 &&
	       last->step < b->items[0].step && last->begin_ns < b->items[0].begin_ns;
}

/* How much of the earlier progress is put in front. */
struct extent {
	size_t first;            /* first of the chapters */
	size_t n_steps, n_saves; /* number put in front, at most the wanted number */
};

static struct extent extent_of(const struct fsl_progress *progress,
			       const struct fsl_progress *const *earlier, size_t n_earlier,
			       size_t n_steps_max)
{
	struct extent extent = {.first = n_earlier};
	const struct fsl_progress *later = progress;
	while (extent.first > 0) {
		const struct fsl_progress *before = earlier[extent.first - 1];
		/* A job that stood for longer than a chapter has no steps in it, and goes on. */
		bool is_pause = before->steps.n_items == 0;
		if (!is_pause && !follows(later, before)) {
			break;
		}
		later = is_pause ? later : before;
		extent.n_steps += before->steps.n_items;
		extent.n_saves += before->n_saves;
		extent.first--;
	}
	extent.n_steps = extent.n_steps < n_steps_max ? extent.n_steps : n_steps_max;
	extent.n_saves =
		extent.n_saves < FSL_PROGRESS_SAVES_MAX ? extent.n_saves : FSL_PROGRESS_SAVES_MAX;
	return extent;
}

/* Copies steps and saves so that they end at *step and *save. */
static void copy_before(struct fsl_progress *out, const struct fsl_progress *from, size_t *step,
			size_t *save)
{
	size_t n_steps = from->steps.n_items < *step ? from->steps.n_items : *step;
	size_t n_saves = from->n_saves < *save ? from->n_saves : *save;
	size_t skip = from->steps.n_items - n_steps;
	*step -= n_steps;
	*save -= n_saves;
	memcpy(out->steps.items + *step, from->steps.items + skip,
	       n_steps * sizeof(*out->steps.items));
	memcpy(out->loading_ns + *step, from->loading_ns + skip,
	       n_steps * sizeof(*out->loading_ns));
	memcpy(out->saves + *save, from->saves + (from->n_saves - n_saves),
	       n_saves * sizeof(*out->saves));
}

enum fsl_status fsl_progress_extend(struct fsl_progress *progress,
				    const struct fsl_progress *const *earlier, size_t n_earlier,
				    size_t n_steps_max, struct fsl_error *err)
{
	struct extent extent = extent_of(progress, earlier, n_earlier, n_steps_max);
	size_t step = extent.n_steps + progress->steps.n_items;
	size_t save = extent.n_saves + progress->n_saves;
	struct fsl_progress out;
	FSL_TRY(make_room(&out, step, save, err));
	struct fsl_job_step *items = out.steps.items;
	out.steps = progress->steps;
	out.steps.items = items;
	out.steps.n_items = step;
	out.n_saves = save;
	copy_before(&out, progress, &step, &save);
	for (size_t k = n_earlier; k > extent.first; k--) {
		size_t joint = step; /* the first step of the later stretch */
		copy_before(&out, earlier[k - 1], &step, &save);
		if (step < joint && items[joint - 1].step + 1 == items[joint].step) {
			items[joint - 1].dur_ns = items[joint].begin_ns - items[joint - 1].begin_ns;
		}
	}
	fsl_progress_fini(progress);
	*progress = out;
	return FSL_OK;
}

/* Field @field (0 to STEP_COLUMNS_N - 1) of a step. */
static int64_t *step_field(struct fsl_job_step *step, int field)
{
	int64_t *const fields[STEP_COLUMNS_N] = {&step->step, &step->begin_ns, &step->dur_ns,
						 &step->ckpt_ns, &step->gc_ns};
	return fields[field];
}

static const struct fsl_pack_field step_shape = {sizeof(int64_t), sizeof(struct fsl_job_step)};
static const struct fsl_pack_field loading_shape = {sizeof(int64_t), sizeof(int64_t)};

void fsl_progress_pack(const struct fsl_progress *progress, struct fsl_pack *pack)
{
	const struct fsl_steps *steps = &progress->steps;
	fsl_pack_text(pack, steps->source);
	fsl_pack_u32(pack, (uint32_t)steps->source_rank);
	fsl_pack_u64(pack, steps->n_items);
	for (int i = 0; i < STEP_COLUMNS_N && steps->n_items > 0; i++) {
		fsl_pack_column(pack, step_field(&steps->items[0], i), step_shape, steps->n_items);
	}
	if (steps->n_items > 0) {
		fsl_pack_column(pack, progress->loading_ns, loading_shape, steps->n_items);
	}
	fsl_pack_u64(pack, progress->n_saves);
	for (size_t i = 0; i < progress->n_saves; i++) {
		fsl_pack_u64(pack, (uint64_t)progress->saves[i].step);
		fsl_pack_u64(pack, (uint64_t)progress->saves[i].begin_ns);
		fsl_pack_u64(pack, (uint64_t)progress->saves[i].dur_ns);
	}
}

/* True for a time or a duration whose sum with another does not overflow. */
static bool is_time(int64_t ns)
{
	return ns >= 0 && ns <= INT64_MAX / 2;
}

static bool are_sound(const struct fsl_progress *progress)
{
	const struct fsl_steps *steps = &progress->steps;
	for (size_t i = 0; i < steps->n_items; i++) {
		const struct fsl_job_step *item = &steps->items[i];
		bool is_next = i == 0 ||
			       (item[-1].step < item->step && item[-1].begin_ns < item->begin_ns);
		if (!is_next || !is_time(item->begin_ns) || !is_time(item->dur_ns) ||
		    item->dur_ns == 0 || !is_time(item->ckpt_ns) || !is_time(item->gc_ns) ||
		    !is_time(progress->loading_ns[i]) || item->step == INT64_MAX) {
			return false;
		}
	}
	for (size_t i = 0; i < progress->n_saves; i++) {
		if (!is_time(progress->saves[i].begin_ns) || !is_time(progress->saves[i].dur_ns)) {
			return false;
		}
	}
	return true;
}

static void unpack_arrays(struct fsl_progress *out, struct fsl_unpack *unpack)
{
	size_t n = out->steps.n_items;
	for (int i = 0; i < STEP_COLUMNS_N && n > 0; i++) {
		fsl_unpack_column(unpack, step_field(&out->steps.items[0], i), step_shape, n);
	}
	if (n > 0) {
		fsl_unpack_column(unpack, out->loading_ns, loading_shape, n);
	}
}

static void unpack_saves(struct fsl_progress *out, struct fsl_unpack *unpack)
{
	size_t n = fsl_unpack_count(unpack, FSL_PROGRESS_SAVES_MAX, 3 * sizeof(uint64_t));
	for (out->n_saves = 0; out->n_saves < n; out->n_saves++) {
		struct fsl_save *save = &out->saves[out->n_saves];
		save->step = (int64_t)fsl_unpack_u64(unpack);
		save->begin_ns = (int64_t)fsl_unpack_u64(unpack);
		save->dur_ns = (int64_t)fsl_unpack_u64(unpack);
	}
}

enum fsl_status fsl_progress_unpack(struct fsl_progress *out, struct fsl_unpack *unpack,
				    struct fsl_arena *arena, struct fsl_error *err)
{
	size_t n_source = 0;
	const char *source = fsl_unpack_text(unpack, SOURCE_BYTES_MAX, &n_source);
	const char *copy = fsl_arena_strndup(arena, source, n_source);
	int32_t source_rank = (int32_t)fsl_unpack_u32(unpack);
	size_t n = fsl_unpack_count(unpack, STEPS_MAX, STEP_COLUMNS_N + 1);
	FSL_TRY(make_room(out, n, FSL_PROGRESS_SAVES_MAX, err));
	if (copy == NULL) {
		fsl_progress_fini(out);
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory for steps: steps=%zu", n);
	}
	out->steps.source = copy;
	out->steps.source_rank = source_rank;
	out->steps.n_items = n;
	unpack_arrays(out, unpack);
	unpack_saves(out, unpack);
	if (unpack->is_bad || !are_sound(out)) {
		fsl_progress_fini(out);
		return FSL_FAIL(err, FSL_ERR_FORMAT, "kept steps are damaged");
	}
	return FSL_OK;
}
