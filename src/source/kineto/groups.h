/* Facts about the job around the events of a trace: rank, world, process groups, times' base. */
#ifndef FSL_SOURCE_KINETO_GROUPS_H
#define FSL_SOURCE_KINETO_GROUPS_H

#include "source/kineto/events.h"

/*
 * Reads the member @key of the trace's object, the tokenizer behind the key: distributedInfo to
 * rank->info, baseTimeNanoseconds and host_name; all others are skipped. Fails as the tokenizer
 * does.
 */
enum fsl_status fsl_kineto_read_member(struct fsl_kineto_events *events, struct fsl_json *json,
				       const struct fsl_json_value *key, struct fsl_error *err);

/*
 * Takes process groups from the kernels of collectives (Process Group Ranks) if the trace's object
 * lists none. Call it behind the last event. FSL_ERR_MEMORY only.
 */
enum fsl_status fsl_kineto_list_groups(struct fsl_kineto_events *events, struct fsl_error *err);

/*
 * Text that is the same for one process group on all of its ranks and for no other group:
 * "tp1 [4, 5, 6, 7]"; in the names of the rank. FSL_STR_NONE if the group is not known: neither
 * @facts nor the list of groups tells it.
 */
enum fsl_status fsl_kineto_group_of(struct fsl_profile_rank *rank,
				    const struct fsl_kineto_facts *facts, uint32_t *id,
				    struct fsl_error *err);

#endif
