/* Names, steps and order of communication operators. */
#include "source/ascend/comms.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/sort.h"
#include "base/try.h"

bool fsl_profile_is_p2p(const char *name, size_t length)
{
	static const char *const heads[] = {"hcom_send", "hcom_receive", "hcom_batchsendrecv"};
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		size_t n_head = strlen(heads[i]);
		if (length >= n_head && strncasecmp(name, heads[i], n_head) == 0) {
			return true;
		}
	}
	return false;
}

int64_t fsl_profile_step_from_text(const char *text, size_t length)
{
	int64_t step = 0;
	if (length >= 4 && strncasecmp(text, "step", 4) == 0) {
		text += 4;
		length -= 4;
	}
	bool is_number = length > 0 && text[0] >= '0' && text[0] <= '9' &&
			 fsl_parse_i64(text, length, &step);
	return is_number ? step : FSL_STEP_ABSENT;
}

enum fsl_status fsl_profile_split_op(struct fsl_profile_rank *rank, const char *text, size_t length,
				     struct fsl_profile_op_name *out, struct fsl_error *err)
{
	const char *at = memrchr(text, '@', length);
	size_t n_name = at != NULL ? (size_t)(at - text) : length;
	size_t n_group = at != NULL ? length - n_name - 1 : 0;
	bool is_good =
		n_name > 0 && (at == NULL || n_group > 0) && memchr(text, '\0', length) == NULL;
	*out = (struct fsl_profile_op_name){FSL_STR_NONE, FSL_STR_NONE, is_good};
	if (!is_good) {
		return FSL_OK;
	}
	FSL_TRY(fsl_strpool_intern(rank->names, text, n_name, &out->name_id, err));
	return at != NULL ? fsl_strpool_intern(rank->names, at + 1, n_group, &out->group_id, err)
			  : FSL_OK;
}

/* @context: the pool of names, passed by qsort_r. */
static int compare(const void *left, const void *right, void *context)
{
	const struct fsl_profile_comm *a = left, *b = right;
	const struct fsl_strpool *names = context;
	int order = FSL_ORDER(a->step, b->step);
	if (order == 0) {
		order = FSL_ORDER(a->begin_ns, b->begin_ns);
	}
	if (order == 0 && a->name_id != b->name_id) {
		order = strcmp(fsl_strpool_text(names, a->name_id),
			       fsl_strpool_text(names, b->name_id));
	}
	if (order == 0 && a->group_id != b->group_id) {
		order = strcmp(fsl_strpool_text(names, a->group_id),
			       fsl_strpool_text(names, b->group_id));
	}
	return order != 0 ? order : FSL_ORDER(a->traffic_begin, b->traffic_begin);
}

void fsl_profile_sort_comms(struct fsl_profile_rank *rank)
{
	if (rank->n_comms > 1) {
		qsort_r(rank->comms, rank->n_comms, sizeof(*rank->comms), compare, rank->names);
	}
}
