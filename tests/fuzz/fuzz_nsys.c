/* Any bytes as an export of Nsight Systems. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/functions.h"
#include "fuzz/fuzz_profile.h"
#include "source/kineto/nsys.h"
#include "source/kineto/read.h"

/* SQLite reads files by name alone. */
static void write_file(const char *path, const uint8_t *data, size_t n_bytes)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FSL_REQUIRE(file >= 0);
	FSL_REQUIRE(write(file, data, n_bytes) == (ssize_t)n_bytes);
	FSL_REQUIRE(close(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_profile profile = {.ranks = fsl_calloc(1, sizeof(*profile.ranks)), .n_ranks = 1};
	char path[64];
	(void)snprintf(path, sizeof(path), "/tmp/failslow-fuzz-nsys-%ld.sqlite", (long)getpid());
	struct fsl_file file = {.path = path, .message = ""};
	const struct fsl_profile_input input = {
		.reader = fuzz_reader(data, n_bytes), .path = path, .file = &file};
	FSL_REQUIRE(profile.ranks != NULL);
	profile.ranks->names = fsl_strpool_create();
	profile.ranks->functions = fsl_calloc(1, sizeof(*profile.ranks->functions));
	FSL_REQUIRE(profile.ranks->names != NULL && profile.ranks->functions != NULL);
	if (input.reader != NULL && fsl_nsys_is((const char *)data, n_bytes)) {
		write_file(path, data, n_bytes);
		FSL_REQUIRE(fsl_kineto_read_file(profile.ranks, &input, NULL) == FSL_OK);
		fuzz_check_file(&file);
		fuzz_check_rank(profile.ranks);
		(void)unlink(path);
	}
	fsl_reader_close(input.reader);
	fsl_profile_fini(&profile);
	return 0;
}
