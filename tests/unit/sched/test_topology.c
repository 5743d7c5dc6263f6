/* Columns of lscpu in the forms of its versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "sched/topology.h"

static struct fsl_sched_topology g_topology;

static enum fsl_status parse(const char *text)
{
	fsl_sched_topology_fini(&g_topology);
	return fsl_sched_topology_parse(&g_topology, text, strlen(text), NULL);
}

static void commas_and_colons_separate_caches(void **state)
{
	static const char *const texts[] = {
		"# The following is the parsable format\n# CPU,Node,Socket,,L1d,L1i,L2,L3\n"
		"0,0,0,,0,0,0,0\n2,1,1,,2,2,1,1\n",
		"# CPU,Node,Socket,L1d:L1i:L2:L3\r\n0,0,0,0:0:0:0\r\n2,1,1,2:2:1:1\r\n",
	};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(parse(texts[i]), FSL_OK);
		assert_int_equal(g_topology.n_cpus, 3);
		struct fsl_sched_place place = fsl_sched_place_of(&g_topology, 2);
		assert_true(place.node == 1 && place.socket == 1 && place.cache == 1 &&
			    place.core == -1);
		assert_int_equal(fsl_sched_place_of(&g_topology, 1).node, -1);
		assert_true(fsl_sched_is_far(&g_topology, FSL_SCHED_FAR_NODE, 0, 2));
		assert_false(fsl_sched_is_far(&g_topology, FSL_SCHED_FAR_NODE, 0, 1));
		assert_false(fsl_sched_is_far(&g_topology, FSL_SCHED_FAR_CACHE, 0, 7));
	}
}

static void the_last_level_of_caches_counts(void **state)
{
	(void)state;
	assert_int_equal(parse("# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,5,0,0,,0,0,0,0\n"
			       "1,5,0,0,,1,1,1,0\n2,6,0,0,,2,2,2,4"),
			 FSL_OK);
	assert_int_equal(fsl_sched_place_of(&g_topology, 1).core, 5);
	assert_false(fsl_sched_is_far(&g_topology, FSL_SCHED_FAR_CACHE, 0, 1));
	assert_true(fsl_sched_is_far(&g_topology, FSL_SCHED_FAR_CACHE, 0, 2));
}

static void other_texts_are_no_topology(void **state)
{
	(void)state;
	assert_int_equal(parse(""), FSL_ERR_FORMAT);
	assert_int_equal(parse("0,0,0,0\n"), FSL_ERR_FORMAT);
	assert_int_equal(parse("# CPU,Node\nx,y\n-1,0\n99999999999,0\n"), FSL_ERR_FORMAT);
	assert_int_equal(fsl_sched_place_of(NULL, 0).node, -1);
}

static int forget(void **state)
{
	(void)state;
	fsl_sched_topology_fini(&g_topology);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_colons_separate_caches),
		cmocka_unit_test(the_last_level_of_caches_counts),
		cmocka_unit_test(other_texts_are_no_topology),
	};
	return cmocka_run_group_tests(tests, NULL, forget);
}
