/* For tests of a reader that all start with an empty rank: made and freed around each of them. */
#ifndef FSL_TESTS_PROFILE_ONE_READING_H
#define FSL_TESTS_PROFILE_ONE_READING_H

#include "reading.h"

/* Of the test that runs, from reading_setup() to reading_teardown(). */
static struct reading reading;

static inline int reading_setup(void **state)
{
	(void)state;
	reading_begin(&reading);
	return 0;
}

static inline int reading_teardown(void **state)
{
	(void)state;
	reading_end(&reading);
	return 0;
}

#endif
