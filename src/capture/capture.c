/* A set of captured ranks: looks ranks up and adds remarks. */
#include "capture/capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/sort.h"

static const char *const transport_texts[] = {
	[FSL_TRANSPORT_RDMA] = "RDMA",       [FSL_TRANSPORT_HCCS] = "HCCS",
	[FSL_TRANSPORT_PCIE] = "PCIE",       [FSL_TRANSPORT_SDMA] = "SDMA",
	[FSL_TRANSPORT_SIO] = "SIO",         [FSL_TRANSPORT_LOCAL] = "LOCAL",
	[FSL_TRANSPORT_HCCS_SW] = "HCCS_SW", [FSL_TRANSPORT_OTHER] = "OTHER",
};

const char *fsl_profile_transport_text(enum fsl_profile_transport transport)
{
	return transport_texts[transport];
}

enum fsl_profile_transport fsl_profile_transport_from_text(const char *text, size_t length)
{
	for (size_t t = 0; t < FSL_TRANSPORTS_N; t++) {
		if (strlen(transport_texts[t]) == length &&
		    memcmp(transport_texts[t], text, length) == 0) {
			return (enum fsl_profile_transport)t;
		}
	}
	return FSL_TRANSPORT_OTHER;
}

const char *fsl_profile_name_mark(const char *name)
{
	const char *found = NULL;
	for (const char *at = strstr(name, "__"); at != NULL; at = strstr(at + 2, "__")) {
		found = at;
	}
	return found;
}

size_t fsl_profile_type_length(const char *name)
{
	const char *mark = fsl_profile_name_mark(name);
	return mark != NULL ? (size_t)(mark - name) : strlen(name);
}

/* Replaces control characters and broken UTF-8: names of files may hold any bytes. */
static void make_printable(char *text)
{
	size_t n_left = strlen(text);
	while (n_left > 0) {
		int n = fsl_utf8_length((const unsigned char *)text, n_left);
		bool is_control = (unsigned char)*text < ' ' || *text == 0x7f;
		if (n <= 0 || is_control) {
			*text = '?';
			n = 1;
		}
		text += n;
		n_left -= (size_t)n;
	}
}

enum fsl_status fsl_profile_remark(struct fsl_profile *profile, struct fsl_error *err,
				   const char *format, ...)
{
	enum fsl_status status =
		FSL_GROW(profile->remarks, profile->remarks_capacity, profile->n_remarks + 1, err);
	if (status != FSL_OK) {
		return status;
	}
	char text[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	make_printable(text);
	const char *kept = fsl_arena_strdup(&profile->arena, text);
	if (kept == NULL) {
		return FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: remarks=%zu",
				profile->n_remarks);
	}
	profile->remarks[profile->n_remarks++] = kept;
	return FSL_OK;
}

const struct fsl_profile_rank *fsl_profile_rank_of(const struct fsl_profile *profile, int32_t rank)
{
	size_t low = 0, high = profile->n_ranks;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (profile->ranks[middle].rank < rank) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < profile->n_ranks && profile->ranks[low].rank == rank ? &profile->ranks[low]
									  : NULL;
}

const char *fsl_profile_setting_of(const struct fsl_profile_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_settings; i++) {
		if (strcmp(info->settings[i].name, name) == 0) {
			return info->settings[i].value;
		}
	}
	return NULL;
}

bool fsl_profile_comm_is_timed(const struct fsl_profile_comm *comm)
{
	/* A file may hold any number; sums and ends of these do not overflow. */
	const int64_t begin_max_ns = INT64_C(1) << 62, elapse_max_ns = INT64_C(1) << 50;
	return comm->begin_ns >= 0 && comm->begin_ns <= begin_max_ns && comm->elapse_ns >= 0 &&
	       comm->elapse_ns <= elapse_max_ns;
}

/* @context: the pool of names, passed by qsort_r. */
static int compare_comms(const void *left, const void *right, void *context)
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
		qsort_r(rank->comms, rank->n_comms, sizeof(*rank->comms), compare_comms,
			rank->names);
	}
}
