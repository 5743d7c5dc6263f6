/* Golden: the ranks of a pipeline that the vote takes. */
#include "detect/classical_parts.h"
#include "golden/golden.h"

enum { RANKS_MAX = 64 };

static bool holds(const cJSON *array, int rank)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, array)
	{
		if (item->valueint == rank) {
			return true;
		}
	}
	return false;
}

/* Slow groups are texts of rank lists: "[6, 7]". */
static bool is_in_slow_group(const cJSON *groups, int rank)
{
	const cJSON *item = NULL;
	cJSON_ArrayForEach(item, groups)
	{
		cJSON *list = cJSON_Parse(item->valuestring);
		bool is_member = holds(list, rank);
		cJSON_Delete(list);
		if (is_member) {
			return true;
		}
	}
	return false;
}

static bool check_case(const cJSON *golden)
{
	const cJSON *ranks = golden_item(golden, "group_ranks");
	const cJSON *per_func = golden_item(golden, "anomaly_devices_per_func");
	const cJSON *expected = golden_item(golden, "most_anomaly_ranks");
	double scores[RANKS_MAX] = {0};
	bool in_slow_group[RANKS_MAX], taken[RANKS_MAX];
	size_t n = (size_t)cJSON_GetArraySize(ranks);
	bool ok = n <= RANKS_MAX;
	for (size_t i = 0; ok && i < n; i++) {
		int rank = cJSON_GetArrayItem(ranks, (int)i)->valueint;
		const cJSON *devices = NULL;
		char key[16];
		cJSON_ArrayForEach(devices, per_func)
		{
			scores[i] += holds(devices, rank) ? 1.0 : 0.0;
		}
		scores[i] /= cJSON_GetArraySize(per_func);
		snprintf(key, sizeof(key), "%d", rank);
		ok = golden_same_real(key, golden_number(golden_item(golden, "scores"), key),
				      scores[i]);
		in_slow_group[i] = is_in_slow_group(golden_item(golden, "slow_groups"), rank);
	}
	if (ok) {
		fsl_vote(scores, in_slow_group, n, taken);
	}
	for (size_t i = 0; ok && i < n; i++) {
		int rank = cJSON_GetArrayItem(ranks, (int)i)->valueint;
		if (taken[i] != holds(expected, rank)) {
			printf("rank %d: expected %d, got %d\n", rank, holds(expected, rank),
			       taken[i]);
			ok = false;
		}
	}
	return ok;
}

int main(int argc, char **argv)
{
	return golden_main("comm_vote.json", check_case, argc, argv);
}
