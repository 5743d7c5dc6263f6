/*
 * Any bytes as one or two files of a kernel trace, with all passes: marks of steps, events in the
 * order of time, losses, intervals for a timeline. The byte 0x1e ends a file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/ftrace/intervals.h"

enum { FILES_MAX = 2, PATH_BYTES = 64 };

static void write_file(char path[PATH_BYTES], size_t i, const uint8_t *data, size_t n_bytes)
{
	(void)snprintf(path, PATH_BYTES, "/tmp/failslow-fuzz-trace-%ld-%zu", (long)getpid(), i);
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FSL_REQUIRE(file >= 0 && write(file, data, n_bytes) == (ssize_t)n_bytes);
	FSL_REQUIRE(close(file) == 0);
}

static void check_model(const struct fsl_sched *sched)
{
	for (size_t t = 0; t < sched->n_threads; t++) {
		const struct fsl_sched_thread *thread = &sched->threads[t];
		int64_t sum_ns = 0;
		for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
			FSL_REQUIRE(thread->in_ns[i] >= 0);
			sum_ns += thread->in_ns[i];
		}
		FSL_REQUIRE(sum_ns == fsl_sched_lived_ns(sched, thread));
	}
}

static void check_list(const struct fsl_ftrace_intervals *all, const struct fsl_ftrace_list *list)
{
	for (size_t i = 0; i < list->n_items; i++) {
		const struct fsl_ftrace_interval *item = &list->items[i];
		FSL_REQUIRE(item->begin_ns <= item->end_ns);
		FSL_REQUIRE(item->cpu == FSL_SCHED_ID_NONE ||
			    (item->cpu >= 0 && item->cpu < FSL_SCHED_CPUS_MAX));
		FSL_REQUIRE(item->thread < (int64_t)all->sched.n_threads);
		FSL_REQUIRE(item->name_id == FSL_STR_NONE ||
			    item->name_id < fsl_strpool_size(all->names));
		FSL_REQUIRE(item->wake <= all->wakes.n_items);
	}
}

static void read_all(const char *const *paths, size_t n_paths)
{
	struct fsl_sched sched;
	struct fsl_ftrace_loaded loaded;
	struct fsl_ftrace_ranks ranks = {0};
	struct fsl_ftrace_intervals all = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
	fsl_sched_init(&sched, INT64_MIN, INT64_MAX);
	if (fsl_ftrace_load(&sched, &ranks, paths, n_paths, &loaded, NULL) == FSL_OK) {
		check_model(&sched);
		if (fsl_ftrace_intervals_read(&all, &ranks, paths, n_paths, &loaded, sched.begin_ns,
					      sched.end_ns, NULL) == FSL_OK) {
			check_list(&all, &all.held);
			check_list(&all, &all.states);
			check_list(&all, &all.interrupts);
			check_list(&all, &all.wakes);
		}
		fsl_ftrace_intervals_fini(&all);
	}
	fsl_sched_fini(&sched);
	fsl_ftrace_ranks_fini(&ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	char names[FILES_MAX][PATH_BYTES];
	const char *const paths[FILES_MAX] = {names[0], names[1]};
	const uint8_t *end = n_bytes > 0 ? memchr(data, 0x1e, n_bytes) : NULL;
	size_t n_first = end != NULL ? (size_t)(end - data) : n_bytes;
	fsl_log_set_level(FSL_LOG_ERROR);
	write_file(names[0], 0, data, n_first);
	if (end != NULL) {
		write_file(names[1], 1, end + 1, n_bytes - n_first - 1);
	}
	read_all(paths, end != NULL ? 2 : 1);
	for (size_t i = 0; i < (end != NULL ? 2 : 1); i++) {
		(void)unlink(paths[i]);
	}
	return 0;
}
