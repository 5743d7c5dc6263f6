/* Random numbers of the job simulator. */
#include "support/sim_random.h"

static uint64_t splitmix64(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = *state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

void sim_random_seed(struct sim_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		random->state[i] = splitmix64(&seed);
	}
}

uint64_t sim_random_next(struct sim_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double sim_random_uniform(struct sim_random *random)
{
	return (double)(sim_random_next(random) >> 11) * 0x1.0p-53;
}

double sim_random_normal(struct sim_random *random)
{
	double sum = -6.0;
	for (int i = 0; i < 12; i++) {
		sum += sim_random_uniform(random);
	}
	return sum;
}
