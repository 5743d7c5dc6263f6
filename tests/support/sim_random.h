/* Random numbers of the job simulator: same seed, same numbers on every machine (no libm). */
#ifndef TESTS_SUPPORT_SIM_RANDOM_H
#define TESTS_SUPPORT_SIM_RANDOM_H

#include <stdint.h>

/* xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64. */
struct sim_random {
	uint64_t state[4];
};

void sim_random_seed(struct sim_random *random, uint64_t seed);
uint64_t sim_random_next(struct sim_random *random);
/* Uniform in [0, 1). */
double sim_random_uniform(struct sim_random *random);
/*
 * Mean 0, deviation 1, within [-6, 6]: sum of twelve uniforms (Irwin-Hall). Always takes twelve
 * numbers, so that a fault never shifts the noise of a run.
 */
double sim_random_normal(struct sim_random *random);

#endif
