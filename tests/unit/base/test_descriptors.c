/* A file is opened as soon as another thread closes one, and never waited for without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/file.h"
#include "base/mem.h"

static int held = -1;
static struct rlimit before;

/* From here on the process can open no file but in the place of @held. */
static void take_descriptors(void)
{
	held = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(held >= 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	struct rlimit none = before;
	none.rlim_cur = (rlim_t)held + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void give_back(void)
{
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void *close_held(void *unused)
{
	(void)close(held);
	return unused;
}

static void a_file_is_opened_once_another_thread_closes_one(void **state)
{
	pthread_t thread;
	struct fsl_reader *reader = NULL;
	char **names = NULL;
	size_t n_names = 0;
	(void)state;
	for (int is_folder = 0; is_folder <= 1; is_folder++) {
		take_descriptors();
		assert_int_equal(pthread_create(&thread, NULL, close_held, NULL), 0);
		enum fsl_status status =
			is_folder ? fsl_dir_list("/proc/self", &names, &n_names, NULL)
				  : fsl_reader_open(&reader, "/etc/passwd", NULL);
		assert_int_equal(pthread_join(thread, NULL), 0);
		give_back();
		assert_int_equal(status, FSL_OK);
	}
	fsl_reader_close(reader);
	fsl_free(names);
}

static void waiting_ends_and_tells_the_remedy(void **state)
{
	struct fsl_reader *reader = NULL;
	struct fsl_error err = {0};
	(void)state;
	take_descriptors();
	enum fsl_status status = fsl_reader_open(&reader, "/etc/passwd", &err);
	give_back();
	(void)close(held);
	assert_int_equal(status, FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "ulimit -n"));
}

static void only_a_lack_of_descriptors_is_worth_waiting(void **state)
{
	int n_tries = 0;
	(void)state;
	assert_false(fsl_may_open_again(EACCES, &n_tries));
	assert_int_equal(errno, EACCES);
	assert_true(fsl_may_open_again(ENFILE, &n_tries));
	while (fsl_may_open_again(EMFILE, &n_tries)) {
		assert_true(n_tries < 1000);
	}
	assert_int_equal(errno, EMFILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_opened_once_another_thread_closes_one),
		cmocka_unit_test(waiting_ends_and_tells_the_remedy),
		cmocka_unit_test(only_a_lack_of_descriptors_is_worth_waiting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
