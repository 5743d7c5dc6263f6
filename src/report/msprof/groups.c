/* communication_group.json: the ranks that used each group. */
#include "report/msprof/parts.h"
#include "text/json_write.h"

static void put_ranks(struct fsl_json_writer *json, const char *key, const int32_t *ranks,
		      size_t n_ranks)
{
	fsl_json_write_open(json, key, '[');
	for (size_t i = 0; i < n_ranks; i++) {
		fsl_json_write_integer(json, NULL, ranks[i]);
	}
	fsl_json_write_close(json, ']');
}

/* Writes the lists of the file's older form, which has nothing else. */
static void put_seen(struct fsl_json_writer *json, const struct fsl_profile_cluster *cluster,
		     bool is_p2p)
{
	fsl_json_write_open(json, is_p2p ? "p2p" : "collective", '[');
	for (size_t g = 0; g < cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &cluster->groups[g];
		if (group->is_p2p == is_p2p) {
			put_ranks(json, NULL, group->seen, group->n_seen);
		}
	}
	fsl_json_write_close(json, ']');
}

enum fsl_status fsl_peer_write_groups(FILE *stream, const struct fsl_peer_index *index,
				      struct fsl_error *err)
{
	(void)err;
	struct fsl_json_writer json = {.stream = stream};
	fsl_json_write_open(&json, NULL, '{');
	put_seen(&json, index->cluster, false);
	put_seen(&json, index->cluster, true);
	fsl_json_write_open(&json, "comm_group_parallel_info", '[');
	for (size_t g = 0; g < index->cluster->n_groups; g++) {
		const struct fsl_profile_group *group = &index->cluster->groups[g];
		fsl_json_write_open(&json, NULL, '{');
		fsl_json_write_text(&json, "type", group->is_p2p ? "p2p" : "collective");
		put_ranks(&json, "rank_set", group->ranks, group->n_ranks);
		fsl_json_write_text(&json, "group_name", group->hash);
		fsl_json_write_text(&json, "group_id", group->id);
		fsl_json_write_text(&json, "pg_name", group->name);
		fsl_json_write_close(&json, '}');
	}
	fsl_json_write_close(&json, ']');
	fsl_json_write_close(&json, '}');
	return FSL_OK;
}
