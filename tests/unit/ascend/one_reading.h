/* For tests of a reader that start with an empty rank: makes and frees it around each test. */
#ifndef FSL_TESTS_PROFILE_ONE_READING_H
#define FSL_TESTS_PROFILE_ONE_READING_H

#include "reading.h"

/* Reading of the running test, from reading_setup() to reading_teardown(). */
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
