/* Folders of a rank that are there and cannot be listed count as unusable, with the remedy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/strpool.h"
#include "source/ascend/databases.h"
#include "source/ascend/files.h"
#include "source/ascend/info.h"

/* From here on no file can be opened; returns the limit before. */
static struct rlimit take_descriptors(void)
{
	struct rlimit before, none;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(next >= 0 && close(next) == 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

/* Reads a rank of two folders without any descriptor. */
static void read_blindly(struct fsl_profile_rank *rank, char *folder, char *output)
{
	const struct fsl_profile_options options = {0};
	*rank = (struct fsl_profile_rank){
		.rank = 3,
		.folder = {.path = folder, .output_path = output, .rank = 3},
		.names = fsl_strpool_create()};
	struct rlimit before = take_descriptors();
	assert_int_equal(fsl_profile_read_info(rank, NULL), FSL_OK);
	assert_int_equal(fsl_profile_read_files(rank, &options, NULL), FSL_OK);
	assert_int_equal(fsl_profile_read_databases(rank, &options, NULL), FSL_OK);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void a_lack_of_descriptors_makes_each_folder_unusable_once(void **state)
{
	char folder[] = "/tmp/unlisted-XXXXXX", output[64];
	struct fsl_profile_rank rank;
	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(output, sizeof(output), "%s/ASCEND_PROFILER_OUTPUT", folder);
	assert_int_equal(fsl_dir_create(output, NULL), FSL_OK);
	read_blindly(&rank, folder, output);
	assert_int_equal(rank.n_files, 2);
	for (size_t i = 0; i < rank.n_files; i++) {
		assert_int_equal(rank.files[i].state, FSL_FILE_UNUSABLE);
		assert_int_equal(rank.files[i].rank, 3);
		assert_string_equal(rank.files[i].path, i == 0 ? folder : output);
		assert_non_null(strstr(rank.files[i].message, "ulimit -n"));
	}
	assert_string_equal(fsl_profile_first_unlisted(&rank), rank.files[0].message);
	fsl_profile_rank_fini(&rank);
	read_blindly(&rank, folder, folder);
	assert_int_equal(rank.n_files, 1);
	fsl_profile_rank_fini(&rank);
	assert_int_equal(rmdir(output), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void an_absent_folder_is_no_fault(void **state)
{
	char folder[] = "/tmp/unlisted-absent", output[] = "/tmp/unlisted-absent/output";
	struct fsl_profile_rank rank;
	(void)state;
	read_blindly(&rank, folder, output);
	assert_int_equal(rank.n_files, 0);
	assert_null(fsl_profile_first_unlisted(&rank));
	fsl_profile_rank_fini(&rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lack_of_descriptors_makes_each_folder_unusable_once),
		cmocka_unit_test(an_absent_folder_is_no_fault),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
