/* Processes of ranks in a kernel trace, from markers and captures of the trace's host. Those of
 * other hosts may tell the same numbers of processes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/sort.h"
#include "engine/hostbound_parts.h"

enum {
	PID_LINES_MAX = 64, /* of a marker file: host records come first or second */
	PID_COLUMN = 8,     /* msptiObjectId_Pt_ProcessId */
	SOURCE_COLUMN = 4,  /* SourceKind: 0 host */
	NAMES_MAX = 16,     /* of one host: addresses of its networks */
};

/* A name or an address of a host. */
struct name {
	const char *at;
	size_t length; /* 0: not told */
};

/* Who may tell processes. */
struct tellers {
	const struct fsl_rank_teller *items;
	size_t n_items;
};

/* Tellers of the trace's host are those in a folder, and those with its names. */
struct host {
	struct name names[NAMES_MAX];
	size_t n_names;
	const char *folder;
	size_t n_folder; /* 0: none */
	bool is_told;    /* false: all may be of this host */
};

struct claim {
	int32_t rank, pid;
};

/* Field @column of a line without quotes; its length in *length. */
static const char *field_of(const char *line, size_t n_bytes, size_t column, size_t *length)
{
	const char *end = line + n_bytes;
	for (size_t i = 0; i < column; i++) {
		line = line < end ? memchr(line, ',', (size_t)(end - line)) : NULL;
		if (line == NULL) {
			return NULL;
		}
		line++;
	}
	const char *comma = memchr(line, ',', (size_t)(end - line));
	*length = (size_t)((comma != NULL ? comma : end) - line);
	return line;
}

/* Process of the rank by the first host record of its marker file; -1: it does not tell. */
static int64_t pid_of_markers(const char *path)
{
	static const char header[] = "Flag,Id,Kind,Name,SourceKind,Timestamp,";
	struct fsl_reader *reader = NULL;
	int64_t pid = -1;
	enum fsl_status status = fsl_reader_open(&reader, path, NULL);
	for (size_t i = 0; status == FSL_OK && pid < 0 && i < PID_LINES_MAX; i++) {
		const char *line = NULL, *kind = NULL, *id = NULL;
		size_t length = 0, n = 0;
		uint64_t number = 0;
		bool is_too_long = false;
		status = fsl_reader_line(reader, &line, &length, &number, &is_too_long, NULL);
		if (status != FSL_OK || line == NULL ||
		    (i == 0 && (length < sizeof(header) - 1 ||
				memcmp(line, header, sizeof(header) - 1) != 0))) {
			break;
		}
		kind = i > 0 ? field_of(line, length, SOURCE_COLUMN, &n) : NULL;
		if (kind != NULL && n == 1 && *kind == '0' &&
		    (id = field_of(line, length, PID_COLUMN, &n)) != NULL &&
		    !fsl_parse_i64(id, n, &pid)) {
			pid = -1;
		}
	}
	fsl_reader_close(reader);
	return pid > 0 && pid <= INT32_MAX ? pid : -1;
}

static struct name host_of(const struct fsl_rank_teller *teller)
{
	return (struct name){teller->host, teller->n_host};
}

static bool has_name(const struct host *host, struct name name)
{
	for (size_t i = 0; i < host->n_names; i++) {
		if (host->names[i].length == name.length &&
		    memcmp(host->names[i].at, name.at, name.length) == 0) {
			return true;
		}
	}
	return false;
}

/* More names than one host has tell no host. */
static void add_name(struct host *host, struct name name)
{
	if (name.length == 0 || has_name(host, name)) {
		return;
	}
	host->is_told = host->n_names < NAMES_MAX;
	if (host->is_told) {
		host->names[host->n_names++] = name;
	}
}

static bool is_letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether @name stands in @path as a word: "10.0.0.1" does not stand in "10.0.0.12". */
static bool stands_in(const char *path, struct name name)
{
	const char *end = path + strlen(path), *at = path;
	while (name.length > 0 &&
	       (at = memmem(at, (size_t)(end - at), name.at, name.length)) != NULL) {
		const char *behind = at + name.length;
		bool is_begin = at == path || !is_letter(at[-1]);
		if (is_begin && (behind == end || !is_letter(*behind))) {
			return true;
		}
		at++;
	}
	return false;
}

static void tell_by_path(struct host *host, const char *path, const struct tellers *tellers)
{
	for (size_t i = 0; i < tellers->n_items; i++) {
		struct name name = host_of(&tellers->items[i]);
		if (!has_name(host, name) && stands_in(path, name)) {
			add_name(host, name);
		}
	}
}

/* True if ranks.json beside the trace tells the rank. */
static bool is_there(const struct fsl_ftrace_ranks *ranks, int32_t rank)
{
	size_t at = 0;
	FSL_LOWER_BOUND(at, ranks->n_items, ranks->items[at].rank < rank);
	return at < ranks->n_items && ranks->items[at].rank == rank;
}

static void tell_by_ranks(struct host *host, const struct fsl_ftrace_ranks *ranks,
			  const struct tellers *tellers)
{
	for (size_t i = 0; i < tellers->n_items && ranks->n_items > 0; i++) {
		if (is_there(ranks, tellers->items[i].rank)) {
			add_name(host, host_of(&tellers->items[i]));
		}
	}
}

/* Length of what both paths have in common, up to a '/', at most @n. */
static size_t common_folder(const char *path, const char *other, size_t n)
{
	size_t common = 0;
	for (size_t i = 0; i < n && path[i] != '\0' && path[i] == other[i]; i++) {
		common = path[i] == '/' ? i + 1 : common;
	}
	return common;
}

/* If tellers lie in several folders, and the trace in one of them, this folder is that of the host,
 * unless its name is that of a rank. */
static void tell_by_folder(struct host *host, const char *path, const struct tellers *tellers)
{
	size_t common = strlen(path);
	for (size_t i = 0; i < tellers->n_items; i++) {
		common = common_folder(path, tellers->items[i].path, common);
	}
	const char *slash = strchr(path + common, '/');
	if (slash == NULL || strncasecmp(path + common, "rank", strlen("rank")) == 0) {
		return;
	}
	size_t n_folder = (size_t)(slash - path) + 1;
	for (size_t i = 0; i < tellers->n_items; i++) {
		if (strncmp(tellers->items[i].path, path, n_folder) == 0) {
			host->folder = path;
			host->n_folder = n_folder;
			host->is_told = true;
			add_name(host, host_of(&tellers->items[i]));
		}
	}
}

static struct host find_host(const struct fsl_host_trace *trace, const struct tellers *tellers)
{
	const char *path = trace->files->paths[0];
	struct host host = {0};
	tell_by_path(&host, path, tellers);
	if (!host.is_told) {
		host = (struct host){0};
		tell_by_ranks(&host, &trace->ranks, tellers);
	}
	if (!host.is_told) {
		host = (struct host){0};
		tell_by_folder(&host, path, tellers);
	}
	return host;
}

static bool is_of_host(const struct host *host, const struct fsl_rank_teller *teller)
{
	bool is_inside =
		host->n_folder > 0 && strncmp(teller->path, host->folder, host->n_folder) == 0;
	return !host->is_told || is_inside || has_name(host, host_of(teller));
}

static int compare_claims(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;
	FSL_ORDER_BY(a->pid, b->pid);
	return FSL_ORDER(a->rank, b->rank);
}

/* A rank beside the trace has the process already. */
static bool is_taken(const struct fsl_ftrace_ranks *ranks, int32_t pid)
{
	for (size_t i = 0; i < ranks->n_items; i++) {
		if (ranks->items[i].pid == pid) {
			return true;
		}
	}
	return false;
}

/* Keeps claims of processes that one rank alone claims, and that ranks.json gives to no other. */
static size_t drop_shared(struct claim *claims, size_t n, const struct fsl_host_trace *trace)
{
	struct claim shared = {0}, other = {0};
	size_t n_kept = 0, n_shared = 0;
	if (n > 1) {
		qsort(claims, n, sizeof(*claims), compare_claims);
	}
	for (size_t i = 0, end = 0; i < n; i = end) {
		for (end = i + 1; end < n && claims[end].pid == claims[i].pid;) {
			end++;
		}
		bool is_shared = end - i > 1 && claims[end - 1].rank != claims[i].rank;
		if (is_taken(&trace->ranks, claims[i].pid)) {
			continue;
		}
		if (is_shared && n_shared++ == 0) {
			shared = claims[i];
			other = claims[end - 1];
		} else if (!is_shared) {
			claims[n_kept++] = claims[i];
		}
	}
	if (n_shared > 0) {
		fsl_log(FSL_LOG_WARNING, "ftrace",
			"several ranks have processes of one number, which count as none of them: "
			"put the host's name or address into the trace's path, or write ranks.json "
			"beside it: file=\"%s\", pid=%d, rank=%d, other_rank=%d, pids=%zu",
			trace->files->paths[0], (int)shared.pid, (int)shared.rank, (int)other.rank,
			n_shared);
	}
	return n_kept;
}

enum fsl_status fsl_host_trace_add_pids(struct fsl_host_trace *trace,
					const struct fsl_rank_teller *tellers, size_t n_tellers,
					struct fsl_error *err)
{
	const struct tellers all = {tellers, n_tellers};
	struct claim *claims = NULL;
	size_t n = 0;
	FSL_TRY(FSL_NEW(claims, FSL_SCHED_RANKS_MAX, "ranks", err));
	const struct host host = find_host(trace, &all);
	for (size_t i = 0; i < n_tellers && n < FSL_SCHED_RANKS_MAX; i++) {
		const struct fsl_rank_teller *teller = &tellers[i];
		int64_t pid = -1;
		if (!is_there(&trace->ranks, teller->rank) && is_of_host(&host, teller)) {
			pid = teller->pid > 0 ? teller->pid : pid_of_markers(teller->path);
		}
		if (pid > 0) {
			claims[n++] = (struct claim){teller->rank, (int32_t)pid};
		}
	}
	n = drop_shared(claims, n, trace);
	enum fsl_status status = FSL_OK;
	for (size_t i = 0; i < n && status == FSL_OK && trace->ranks.n_items < FSL_SCHED_RANKS_MAX;
	     i++) {
		if (fsl_ftrace_ranks_get(&trace->ranks, claims[i].rank, claims[i].pid, err) ==
		    NULL) {
			status = FSL_ERR_MEMORY;
		}
	}
	fsl_free(claims);
	return status;
}
