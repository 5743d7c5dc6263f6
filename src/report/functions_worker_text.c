/* How hosts feed their devices, on the terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/language.h"
#include "report/functions_parts.h"
#include "text/phrase.h"

/* Parts of the path that take less are not told. */
static const double PART_TOLD_MIN = 0.005;

enum { NAMED_MAX = 3 };

/* How a figure reads. */
enum form { SHARE, MICROSECONDS, WORKS, GB_PER_S };
static const struct {
	const char *title; /* of its column */
	const char *name;  /* in a sentence */
	enum form form;
} shown[FSL_WORKER_FIGURES_N] = {
	[FSL_FIGURE_HOST_WAIT] = {N_("host wait"), "waits for launches", SHARE},
	[FSL_FIGURE_LAUNCH_DELAY] = {N_("delay"), "delay of launches", MICROSECONDS},
	[FSL_FIGURE_SHORT_WORK] = {N_("short"), "works shorter than their launch", SHARE},
	[FSL_FIGURE_QUEUE] = {N_("queue"), "launches in the queue", WORKS},
	[FSL_FIGURE_HOST_LINK] = {N_("link"), "copies from and to the host", GB_PER_S},
	[FSL_FIGURE_PATH_HOST] = {N_("path"), "share of the host in the critical path", SHARE},
};

static void add_value(struct fsl_phrase *phrase, double value, enum form form)
{
	if (!isfinite(value)) {
		fsl_phrase_add(phrase, "-");
		return;
	}
	switch (form) {
	case SHARE:
		fsl_phrase_add_percent(phrase, value);
		break;
	case MICROSECONDS:
		fsl_phrase_add(phrase, value >= 100.0 ? "%.0f us" : "%.3g us", value);
		break;
	case WORKS:
		fsl_phrase_add(phrase, value >= 100.0 ? "%.0f" : "%.3g", value);
		break;
	case GB_PER_S:
		fsl_phrase_add(phrase, value >= 100.0 ? "%.0f GB/s" : "%.3g GB/s", value);
		break;
	}
}

/* Begins a part of a list. Parts are translated one by one, as lists are read back as a whole. */
static void add_name(struct fsl_phrase *phrase, const char *name)
{
	struct fsl_told told;
	fsl_phrase_add(phrase, phrase->length > 0 ? ", %s " : "%s ", fsl_tell(name, &told));
}

static void print_launches(const struct fsl_function_worker *worker,
			   const struct fsl_screen *screen)
{
	const struct fsl_launch_figures *launches = &worker->rank->figures->launches;
	struct fsl_phrase phrase = {0};
	if (launches->count == 0) {
		return;
	}
	fsl_phrase_add(&phrase, "%lld launches, delay ", (long long)launches->count);
	add_value(&phrase, (double)launches->delay_median_ns / 1e3, MICROSECONDS);
	fsl_phrase_add(&phrase, ", at most ");
	add_value(&phrase, (double)launches->delay_max_ns / 1e3, MICROSECONDS);
	fsl_phrase_add(&phrase, "; works shorter than their launch ");
	fsl_phrase_add_percent(&phrase, worker->figures[FSL_FIGURE_SHORT_WORK]);
	(void)fsl_screen_extra(screen, "launches", phrase.text);
}

static void print_stream(const struct fsl_function_worker *worker, const struct fsl_screen *screen)
{
	const struct fsl_stream_figures *stream = fsl_worker_busiest_stream(worker->rank->figures);
	double window_ns = (double)worker->functions->window_ns;
	struct fsl_phrase phrase = {0};
	if (stream == NULL) {
		return;
	}
	fsl_phrase_add(&phrase, "stream %d: busy ", (int)stream->stream);
	fsl_phrase_add_percent(&phrase, (double)stream->busy_ns / window_ns);
	fsl_phrase_add(&phrase, ", waits for launches ");
	fsl_phrase_add_percent(&phrase, (double)stream->wait_ns[FSL_STREAM_HOST_WAIT] / window_ns);
	fsl_phrase_add(&phrase, ", between works ");
	fsl_phrase_add_percent(&phrase,
			       (double)stream->wait_ns[FSL_STREAM_KERNEL_WAIT] / window_ns);
	fsl_phrase_add(&phrase, ", other ");
	fsl_phrase_add_percent(&phrase, (double)stream->wait_ns[FSL_STREAM_OTHER_WAIT] / window_ns);
	if (stream->n_lengths > 0) {
		fsl_phrase_add(&phrase, "; queue ");
		add_value(&phrase, worker->figures[FSL_FIGURE_QUEUE], WORKS);
		fsl_phrase_add(&phrase, ", at most %lld", (long long)stream->length_max);
	}
	(void)fsl_screen_extra(screen, "streams", phrase.text);
}

static void print_copies(const struct fsl_function_worker *worker, const struct fsl_screen *screen)
{
	static const char *const names[FSL_COPY_KINDS_N] = {
		[FSL_COPY_TO_DEVICE] = N_("to the device"),
		[FSL_COPY_TO_HOST] = N_("to the host"),
		[FSL_COPY_ON_DEVICE] = N_("on the device"),
		[FSL_COPY_TO_PEER] = N_("to a peer"),
		[FSL_COPY_FILL] = N_("fills"),
		[FSL_COPY_OTHER] = N_("others"),
	};
	struct fsl_phrase phrase = {0};
	for (size_t i = 0; i < FSL_COPY_KINDS_N; i++) {
		const struct fsl_copy_figures *copies = &worker->rank->figures->copies[i];
		if (copies->n_told > 0) {
			add_name(&phrase, names[i]);
			add_value(&phrase, copies->bandwidth_sum / (double)copies->n_told,
				  GB_PER_S);
		}
	}
	(void)fsl_screen_extra(screen, "copies", phrase.text);
}

static void print_path(const struct fsl_function_worker *worker, const struct fsl_screen *screen)
{
	static const char *const names[FSL_PATH_PARTS_N] = {
		[FSL_PATH_HOST] = N_("host"),
		[FSL_PATH_LOADING] = N_("loading of data"),
		[FSL_PATH_COMPUTE] = N_("computing"),
		[FSL_PATH_COMMUNICATION] = N_("communication"),
		[FSL_PATH_MEMORY] = N_("copies"),
		[FSL_PATH_LAUNCH] = N_("launches"),
		[FSL_PATH_BETWEEN] = N_("between works"),
	};
	const struct fsl_critical_path *path = &worker->rank->figures->path;
	struct fsl_phrase phrase = {0};
	for (size_t i = 0; i < FSL_PATH_PARTS_N && path->length_ns > 0; i++) {
		double share = (double)path->parts_ns[i] / (double)path->length_ns;
		if (share >= PART_TOLD_MIN) {
			add_name(&phrase, names[i]);
			fsl_phrase_add_percent(&phrase, share);
		}
	}
	(void)fsl_screen_extra(screen, "path", phrase.text);
}

void fsl_functions_worker_print(const struct fsl_function_worker *worker,
				const struct fsl_screen *screen)
{
	if (worker->rank->figures != NULL) {
		print_launches(worker, screen);
		print_stream(worker, screen);
		print_copies(worker, screen);
		print_path(worker, screen);
	}
}

static bool has_unusual(const struct fsl_function_worker *worker)
{
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		if (worker->is_unusual[i]) {
			return true;
		}
	}
	return false;
}

static void set_cells(char (*cells)[FSL_TABLE_CELL_MAX], const struct fsl_function_worker *worker)
{
	(void)snprintf(cells[0], FSL_TABLE_CELL_MAX, "%d", (int)worker->rank->rank);
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		struct fsl_phrase phrase = {0};
		add_value(&phrase, worker->figures[i], shown[i].form);
		(void)snprintf(cells[i + 1], FSL_TABLE_CELL_MAX, "%.40s%s", phrase.text,
			       worker->is_unusual[i] ? " *" : "");
	}
}

void fsl_functions_workers_print(const struct fsl_functions_view *view,
				 const struct fsl_functions_choice *choice,
				 const struct fsl_screen *screen)
{
	struct fsl_table table = {.n_columns = FSL_WORKER_FIGURES_N + 1, .n_rows = 1};
	struct fsl_phrase phrase = {0};
	size_t n_left_out = 0;
	struct fsl_told told;
	(void)snprintf(table.cells[0][0], FSL_TABLE_CELL_MAX, "%.*s", FSL_TABLE_CELL_MAX - 1,
		       fsl_tell(N_("rank"), &told));
	table.is_right_aligned[0] = true;
	for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
		table.is_right_aligned[i + 1] = true;
		(void)snprintf(table.cells[0][i + 1], FSL_TABLE_CELL_MAX, "%.*s",
			       FSL_TABLE_CELL_MAX - 1, fsl_tell(shown[i].title, &told));
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t w = 0; w < view->n_workers; w++) {
			const struct fsl_function_worker *worker = &view->workers[w];
			if (has_unusual(worker) != (pass == 0) ||
			    !fsl_functions_tells_worker(choice, worker->rank->rank)) {
				continue;
			}
			if (table.n_rows == FSL_TABLE_ROWS_MAX) {
				n_left_out++;
				continue;
			}
			set_cells(table.cells[table.n_rows++], worker);
		}
	}
	if (table.n_rows > 1 && fsl_screen_has_room(screen, table.n_rows + 1)) {
		fsl_screen_table(screen, &table);
	}
	if (n_left_out > 0) {
		fsl_phrase_add(&phrase, "%zu more workers, --format json has all", n_left_out);
	}
	fsl_screen_field(screen, "", phrase.text);
}

/* "rank 3: launches in the queue 40 (peers 4.2)" */
static void add_unusual(struct fsl_phrase *phrase, const struct fsl_function_worker *worker,
			size_t figure)
{
	struct fsl_phrase one = {0};
	struct fsl_told told;
	fsl_phrase_add(&one, "rank %d: %s ", (int)worker->rank->rank, shown[figure].name);
	add_value(&one, worker->figures[figure], shown[figure].form);
	fsl_phrase_add(&one, " (peers ");
	add_value(&one, worker->usual[figure], shown[figure].form);
	fsl_phrase_add(&one, ")");
	fsl_phrase_add(phrase, phrase->length > 0 ? "; %s" : "%s", fsl_tell(one.text, &told));
}

void fsl_functions_unusual_print(const struct fsl_functions_view *view,
				 const struct fsl_screen *screen)
{
	struct fsl_phrase phrase = {0};
	size_t n = 0;
	for (size_t w = 0; w < view->n_workers; w++) {
		for (size_t i = 0; i < FSL_WORKER_FIGURES_N; i++) {
			if (view->workers[w].is_unusual[i] && n++ < NAMED_MAX) {
				add_unusual(&phrase, &view->workers[w], i);
			}
		}
	}
	if (n > NAMED_MAX) {
		struct fsl_phrase more = {0};
		struct fsl_told told;
		fsl_phrase_add(&more, " and %zu more", n - NAMED_MAX);
		fsl_phrase_add(&phrase, "%s", fsl_tell(more.text, &told));
	}
	(void)fsl_screen_extra(screen, "figures", phrase.text);
}
