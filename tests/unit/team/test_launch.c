/* One of several processes or alone: the meaning of the launchers' variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "team/team.h"

/* Name and value by turns, ended by NULL. */
static const char *const *variables;

static char *lookup(const char *name)
{
	for (size_t i = 0; variables[i] != NULL; i += 2) {
		if (strcmp(variables[i], name) == 0) {
			return (char *)(uintptr_t)variables[i + 1];
		}
	}
	return NULL;
}

static void check(const char *const *environment, int n_processes, int place)
{
	variables = environment;
	struct fsl_launch launch = fsl_launch_read(lookup);
	assert_int_equal(launch.n_processes, n_processes);
	assert_int_equal(launch.place, place);
}

#define CHECK(n_processes, place, ...)                                                             \
	check((const char *const[]){__VA_ARGS__, NULL}, n_processes, place)

static void each_launcher_tells_number_and_place(void **state)
{
	(void)state;
	CHECK(1, 0, "HOME", "/");
	CHECK(4, 3, "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "3");
	CHECK(2, 1, "PMI_SIZE", "2", "PMI_RANK", "1");
	CHECK(8, 7, "SLURM_STEP_NUM_TASKS", "8", "SLURM_PROCID", "7", "PMIX_RANK", "7");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "1", "OMPI_COMM_WORLD_RANK", "0");
}

static void mpirun_below_slurm_counts_its_own_processes(void **state)
{
	(void)state;
	CHECK(4, 2, "SLURM_STEP_NUM_TASKS", "2", "SLURM_PROCID", "1", "OMPI_COMM_WORLD_SIZE", "4",
	      "OMPI_COMM_WORLD_RANK", "2");
}

static void a_batch_script_is_one_process(void **state)
{
	(void)state;
	CHECK(1, 0, "SLURM_NTASKS", "16", "SLURM_PROCID", "0");
}

static void what_is_no_number_says_nothing(void **state)
{
	(void)state;
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "4x", "OMPI_COMM_WORLD_RANK", "3");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "", "OMPI_COMM_WORLD_RANK", "0");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "4");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_RANK", "4");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "-4", "OMPI_COMM_WORLD_RANK", "-1");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "99999999999", "OMPI_COMM_WORLD_RANK", "0");
	CHECK(1, 0, "OMPI_COMM_WORLD_SIZE", "99999999999999999999", "OMPI_COMM_WORLD_RANK", "0");
}

static void a_process_that_did_not_join_is_alone(void **state)
{
	(void)state;
	assert_int_equal(fsl_team_size(), 1);
	assert_int_equal(fsl_team_threads(), 0);
	fsl_team_leave(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_launcher_tells_number_and_place),
		cmocka_unit_test(mpirun_below_slurm_counts_its_own_processes),
		cmocka_unit_test(a_batch_script_is_one_process),
		cmocka_unit_test(what_is_no_number_says_nothing),
		cmocka_unit_test(a_process_that_did_not_join_is_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
