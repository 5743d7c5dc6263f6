/* Any bytes as a kernel trace, into the model of its threads. */
#include "base/log.h"
#include "fuzz/fuzz.h"
#include "judge/hostbound.h"
#include "source/ftrace/read.h"

static void check_thread(const struct fsl_sched *sched, const struct fsl_sched_thread *thread,
			 int64_t charged_ns)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < FSL_SCHED_STATES_N; i++) {
		FSL_REQUIRE(thread->in_ns[i] >= 0);
		sum_ns += thread->in_ns[i];
	}
	FSL_REQUIRE(sum_ns == fsl_sched_lived_ns(sched, thread));
	FSL_REQUIRE(charged_ns == fsl_sched_waited_ns(thread->in_ns));
}

static void check(const struct fsl_sched *sched)
{
	int64_t *charged_ns = fsl_calloc(sched->n_threads + 1, sizeof(*charged_ns));
	FSL_REQUIRE(charged_ns != NULL);
	for (size_t i = 0; i < sched->pairs.n_items; i++) {
		charged_ns[sched->pairs.items[i].victim] += sched->pairs.items[i].ns;
	}
	for (size_t t = 0; t < sched->n_threads; t++) {
		check_thread(sched, &sched->threads[t], charged_ns[t]);
	}
	fsl_free(charged_ns);
}

static void feed_all(struct fsl_sched *sched, struct fsl_ftrace_reader *reader)
{
	int64_t last_ns = 0;
	for (;;) {
		const struct fsl_sched_event *event = NULL;
		if (fsl_ftrace_next(reader, &event, NULL) != FSL_OK || event == NULL) {
			return;
		}
		struct fsl_sched_event late = *event;
		late.time_ns = event->time_ns > last_ns ? event->time_ns : last_ns;
		last_ns = late.time_ns;
		FSL_REQUIRE(event->cpu >= 0 && event->cpu < FSL_SCHED_CPUS_MAX);
		FSL_REQUIRE(fsl_sched_feed(sched, &late, NULL) == FSL_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static const struct fsl_sched_step steps[] = {
		{7, 0, INT64_C(1300000000000)},
		{8, INT64_C(1300000000000), INT64_C(1340006000000)},
		{9, INT64_C(1340006000000), INT64_C(1340100000000)}};
	struct fsl_ftrace_reader *reader = NULL;
	struct fsl_hostbound judged = {0};
	struct fsl_sched sched;
	struct fsl_reader *file = fuzz_reader(data, n_bytes);
	if (file == NULL || fsl_ftrace_adopt(&reader, file, NULL) != FSL_OK) {
		return 0;
	}
	fsl_sched_init(&sched, INT64_MIN, INT64_MAX);
	FSL_REQUIRE(fsl_sched_add_rank(&sched, 0, 28829, steps, 3, NULL) == FSL_OK);
	feed_all(&sched, reader);
	FSL_REQUIRE(fsl_sched_finish(&sched, NULL) == FSL_OK);
	check(&sched);
	FSL_REQUIRE(fsl_hostbound_judge(&judged, &sched, NULL) == FSL_OK);
	fsl_hostbound_fini(&judged);
	fsl_sched_fini(&sched);
	fsl_ftrace_close(reader);
	return 0;
}
