/* Records of device memory among the inputs of a conversion. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/language.h"
#include "base/sort.h"
#include "base/try.h"
#include "cli/convert_parts.h"
#include "judge/codes.h"
#include "report/trace/memory_stacks.h"
#include "text/phrase.h"

enum {
	PROCESSES_TOLD_MAX = 8,
	HOLDERS_TOLD_MAX = 3, /* call paths of each process */
	LIBRARIES_TOLD_MAX = 8,
	FRAMES_TOLD_MAX = 3, /* innermost ones of a call path */
};

enum fsl_status fsl_conversion_name_frames(struct fsl_conversion *c, struct fsl_error *err)
{
	if (c->wanted->libraries == NULL || c->memory.n_records == 0) {
		return FSL_OK;
	}
	FSL_TRY(fsl_frame_symbols_create(&c->symbols, c->wanted->libraries, err));
	return fsl_frame_symbols_apply(c->symbols, &c->memory, err);
}

enum fsl_status fsl_conversion_replay_memory(struct fsl_conversion *c, struct fsl_error *err)
{
	FSL_TRY(FSL_NEW(c->replays, c->memory.n_items + 1, "processes", err));
	for (size_t i = 0; i < c->memory.n_items; i++) {
		FSL_TRY(fsl_memory_replay(&c->replays[i], &c->memory.items[i], err));
	}
	return FSL_OK;
}

/* Records have no times: they begin with the other events. */
enum fsl_status fsl_conversion_add_memory(struct fsl_conversion *c, struct fsl_error *err)
{
	int64_t begin_ns = fsl_track_plan_begin_ns(c->plan);
	const struct fsl_memory_tracks tracks = {
		.memory = &c->memory,
		.replays = c->replays,
		.device_bytes = c->wanted->device_bytes,
		.begin_ns = begin_ns != FSL_NS_ABSENT ? begin_ns : 0,
	};
	c->lacks_times = begin_ns == FSL_NS_ABSENT;
	return fsl_memory_tracks_add(c->plan, &tracks, fsl_conversion_wants, c->wanted, err);
}

enum fsl_status fsl_conversion_write_stacks(const struct fsl_conversion *c,
					    fsl_stacks_writer *write, struct fsl_error *err)
{
	const struct fsl_memory_stacks stacks = {.memory = &c->memory,
						 .replays = c->replays,
						 .is_wanted = fsl_conversion_wants,
						 .context = c->wanted};
	struct fsl_draft *draft = NULL;
	if (c->memory.n_records == 0) {
		return FSL_FAIL(err, FSL_ERR_INPUT,
				"no records of device memory found, name files hbm_trace_*.pb or "
				"their folder: path=\"%s\"",
				c->wanted->paths[0]);
	}
	enum fsl_status status = fsl_draft_create(&draft, c->wanted->output, err);
	FSL_THEN(status, write(fsl_draft_stream(draft), &stacks, err));
	FSL_THEN(status, fsl_draft_publish(draft, err));
	fsl_draft_destroy(draft);
	return status;
}

/* "1.5 GiB", "7 B" */
static struct fsl_phrase amount(int64_t n_bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	enum { UNITS_N = sizeof(units) / sizeof(units[0]), FACTOR = 1024 };
	struct fsl_phrase phrase = {0};
	double value = (double)n_bytes;
	size_t unit = 0;
	while (value >= FACTOR && unit < UNITS_N - 1) {
		value /= FACTOR;
		unit++;
	}
	fsl_phrase_add(&phrase, "%.4g %s", value, units[unit]);
	return phrase;
}

/* The innermost frames, the innermost first: "a+0x1 < b+0x2 < ...". */
static void add_path(struct fsl_phrase *phrase, const char *path)
{
	const char *end = path + strlen(path);
	for (int i = 0; i < FRAMES_TOLD_MAX && end != NULL; i++) {
		const char *begin = end;
		while (begin > path && begin[-1] != ';') {
			begin--;
		}
		fsl_phrase_add(phrase, "%s%.*s", i > 0 ? " < " : "", (int)(end - begin), begin);
		end = begin > path ? begin - 1 : NULL;
	}
	if (end != NULL) {
		fsl_phrase_add(phrase, " < ...");
	}
}

static void tell_holders(const struct fsl_conversion *c, const struct fsl_memory_holder *holders,
			 size_t n)
{
	for (size_t i = 0; i < n && i < HOLDERS_TOLD_MAX; i++) {
		struct fsl_phrase path = {0};
		add_path(&path, fsl_strpool_text(c->memory.paths, holders[i].path_id));
		(void)fsl_tell_print(stdout,
				     holders[i].n_blocks > 1 ? "  %s in %zu blocks: %s\n"
							     : "  %s in %zu block: %s\n",
				     amount(holders[i].n_bytes).text, holders[i].n_blocks,
				     path.text);
	}
	if (n > HOLDERS_TOLD_MAX) {
		(void)fsl_tell_print(stdout, "  and %zu more call paths\n", n - HOLDERS_TOLD_MAX);
	}
}

static void tell_leaks(const struct fsl_conversion *c, const struct fsl_memory_holder *leaks,
		       size_t n)
{
	for (size_t i = 0; i < n && i < HOLDERS_TOLD_MAX; i++) {
		struct fsl_phrase path = {0};
		add_path(&path, fsl_strpool_text(c->memory.paths, leaks[i].path_id));
		(void)fsl_tell_print(stdout,
				     "  %s, allocated %zu times in steps %" PRIu32 " to %" PRIu32
				     ": %s\n",
				     amount(leaks[i].n_bytes).text, leaks[i].n_blocks,
				     leaks[i].first_step, leaks[i].last_step, path.text);
	}
	if (n > HOLDERS_TOLD_MAX) {
		(void)fsl_tell_print(stdout, "  and %zu more call paths\n", n - HOLDERS_TOLD_MAX);
	}
}

/* Paths that went on to allocate in later steps first: weights are never freed, too. */
static int compare_growth(const void *left, const void *right)
{
	const struct fsl_memory_holder *a = left, *b = right;
	FSL_ORDER_BY(b->n_steps > 1, a->n_steps > 1);
	FSL_ORDER_BY(b->n_bytes, a->n_bytes);
	return FSL_ORDER(a->path_id, b->path_id);
}

static void tell_out_of_memory(const struct fsl_conversion *c, size_t process)
{
	const struct fsl_memory_replay *replay = &c->replays[process];
	int rank = c->memory.items[process].rank;
	const char *code = fsl_code_text(FSL_CODE_HBM_OOM);
	struct fsl_told room;
	size_t record = 0;
	if (!fsl_memory_is_out(replay, c->wanted->device_bytes, &record)) {
		return;
	}
	if (replay->n_failed == 0) {
		(void)fsl_tell_print(stdout,
				     "%s: rank %d: the peak reaches the memory of the device, %s\n",
				     code, rank, amount(c->wanted->device_bytes).text);
	} else {
		(void)fsl_tell_print(stdout,
				     "%s: rank %d: an allocation of %s failed while %s were held\n",
				     code, rank, amount(replay->failed_bytes).text,
				     amount(replay->held[record]).text);
	}
	if (replay->n_failed > 1) {
		(void)fsl_tell_print(stdout, "  and %" PRIu64 " more allocations failed\n",
				     replay->n_failed - 1);
	}
	(void)fprintf(stdout, "  -> %s\n", fsl_tell(fsl_oom_advice, &room));
}

static void tell_process(const struct fsl_conversion *c, size_t process)
{
	const struct fsl_memory_replay *replay = &c->replays[process];
	struct fsl_memory_holder *holders = NULL;
	size_t n = 0;
	(void)fsl_tell_print(stdout,
			     "device memory of rank %d: peak %s at record %zu of %zu, step %" PRIu32
			     "\n",
			     (int)c->memory.items[process].rank, amount(replay->peak_bytes).text,
			     replay->peak + 1, replay->n_records,
			     c->memory.items[process].records[replay->peak].step);
	if (fsl_memory_holders(&holders, &n, replay, fsl_memory_is_at_peak, NULL) == FSL_OK) {
		tell_holders(c, holders, n);
	}
	fsl_free(holders);
	holders = NULL;
	tell_out_of_memory(c, process);
	if (fsl_memory_holders(&holders, &n, replay, fsl_memory_may_leak, NULL) == FSL_OK &&
	    n > 0) {
		(void)fsl_tell_print(stdout,
				     "candidates for leaks of rank %d, not freed for more than %d "
				     "steps:\n",
				     (int)c->memory.items[process].rank, FSL_LEAK_AGE_STEPS);
		qsort(holders, n, sizeof(*holders), compare_growth);
		tell_leaks(c, holders, n);
	}
	fsl_free(holders);
}

/* Libraries whose frames keep their addresses. */
static void tell_notes(const struct fsl_frame_symbols *symbols)
{
	struct fsl_frame_note note;
	struct fsl_told room;
	size_t n = 0;
	for (; symbols != NULL && fsl_frame_symbols_note(symbols, n, &note); n++) {
		if (n < LIBRARIES_TOLD_MAX) {
			(void)fsl_tell_print(stdout, "without names of functions: %s%s%s\n",
					     note.library, note.library[0] != '\0' ? ": " : "",
					     fsl_tell(note.reason, &room));
		}
	}
	if (n > LIBRARIES_TOLD_MAX) {
		(void)fsl_tell_print(stdout, "  and %zu more libraries\n", n - LIBRARIES_TOLD_MAX);
	}
}

void fsl_conversion_tell_memory(const struct fsl_conversion *c)
{
	size_t n_told = 0, n_not_told = 0;
	for (size_t i = 0; i < c->memory.n_items; i++) {
		const struct fsl_memory_process *process = &c->memory.items[i];
		if (process->n_records == 0 || !fsl_conversion_wants(c->wanted, process->rank)) {
			continue;
		}
		if (n_told < PROCESSES_TOLD_MAX) {
			tell_process(c, i);
			n_told++;
		} else {
			tell_out_of_memory(c, i);
			n_not_told++;
		}
	}
	if (n_not_told > 0) {
		(void)fsl_tell_print(stdout, "device memory of %zu more processes: in the file\n",
				     n_not_told);
	}
	tell_notes(c->symbols);
}

void fsl_conversion_drop_memory(struct fsl_conversion *c)
{
	for (size_t i = 0; c->replays != NULL && i < c->memory.n_items; i++) {
		fsl_memory_replay_fini(&c->replays[i]);
	}
	fsl_frame_symbols_destroy(c->symbols);
	fsl_free(c->replays);
	if (c->memory.paths != NULL) {
		fsl_memory_fini(&c->memory);
	}
}
