/* Fuzzing of the readers of a rank's folder: fuzz_profile(read, data, n_bytes) reads the input into
 * a rank and checks the promises of every reader. */
#ifndef FSL_TESTS_FUZZ_FUZZ_PROFILE_H
#define FSL_TESTS_FUZZ_FUZZ_PROFILE_H

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "source/ascend/files.h"

static inline void fuzz_check_file(const struct fsl_file *file)
{
	uint64_t n_dropped = 0;
	for (size_t i = 0; i < FSL_DROPS_N; i++) {
		n_dropped += file->n_dropped[i];
	}
	FSL_REQUIRE(n_dropped <= file->n_records);
	FSL_REQUIRE(file->message != NULL);
	FSL_REQUIRE((file->state == FSL_FILE_READ) == (file->message[0] == '\0'));
	FSL_REQUIRE(file->state != FSL_FILE_READ || n_dropped == 0);
}

static inline void fuzz_check_steps(const struct fsl_profile_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		FSL_REQUIRE(steps[i].computing_ns >= 0 && steps[i].exposed_ns >= 0);
		FSL_REQUIRE(steps[i].free_ns >= 0 && steps[i].stage_ns >= FSL_NS_ABSENT);
	}
}

static inline void fuzz_check_rank(const struct fsl_profile_rank *rank)
{
	size_t n_names = fsl_strpool_size(rank->names);
	fuzz_check_steps(rank->steps, rank->n_steps);
	fuzz_check_steps(rank->rebuilt, rank->n_rebuilt);
	for (size_t i = 0; i < rank->n_kernels; i++) {
		const struct fsl_profile_kernels *kernels = &rank->kernels[i];
		FSL_REQUIRE(kernels->count > 0 && kernels->min_ns >= 0);
		FSL_REQUIRE(kernels->min_ns <= kernels->max_ns);
		FSL_REQUIRE(kernels->max_ns <= kernels->total_ns);
		FSL_REQUIRE(kernels->shape_id < n_names || kernels->shape_id == FSL_STR_NONE);
	}
	for (size_t i = 0; i < rank->n_gaps; i++) {
		FSL_REQUIRE(rank->gaps[i].dur_ns > 0 && rank->gaps[i].begin_ns >= 0);
	}
	for (size_t i = 1; i < rank->n_comms; i++) {
		FSL_REQUIRE(rank->comms[i - 1].step <= rank->comms[i].step);
	}
}

static inline int fuzz_profile(fsl_profile_reader read, const uint8_t *data, size_t n_bytes)
{
	struct fsl_profile profile = {.ranks = fsl_calloc(1, sizeof(*profile.ranks))};
	struct fsl_file file = {.path = "memory", .message = ""};
	const struct fsl_profile_input input = {
		.reader = fuzz_reader(data, n_bytes), .path = "memory", .file = &file};
	if (input.reader != NULL && profile.ranks != NULL) {
		profile.n_ranks = 1;
		profile.ranks->names = fsl_strpool_create();
		FSL_REQUIRE(profile.ranks->names != NULL);
		FSL_REQUIRE(read(profile.ranks, &input, NULL) == FSL_OK);
		fuzz_check_file(&file);
		fuzz_check_rank(profile.ranks);
	}
	fsl_reader_close(input.reader);
	if (profile.n_ranks > 0) {
		fsl_profile_fini(&profile);
	} else {
		fsl_free(profile.ranks);
	}
	return 0;
}

#endif
