/* Columns of lscpu: fields stand between commas, those of caches between colons in some versions.
 */
#include "sched/topology.h"

#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "sched/event.h"

enum { COLUMNS_MAX = 32 };

enum column { COLUMN_OTHER, COLUMN_CPU, COLUMN_CORE, COLUMN_SOCKET, COLUMN_NODE, COLUMN_CACHE };

struct columns {
	enum column of[COLUMNS_MAX];
	size_t n;
};

/* The next field of the line; its end is at a comma, a colon or the line's end. */
static const char *field_end(const char *at, const char *end)
{
	while (at < end && *at != ',' && *at != ':' && *at != '\r') {
		at++;
	}
	return at;
}

static enum column column_named(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum column column;
	} names[] = {{"CPU", COLUMN_CPU},
		     {"Core", COLUMN_CORE},
		     {"Socket", COLUMN_SOCKET},
		     {"Node", COLUMN_NODE}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i].name) == length && memcmp(names[i].name, name, length) == 0) {
			return names[i].column;
		}
	}
	return length >= 2 && name[0] == 'L' && name[1] >= '1' && name[1] <= '9' ? COLUMN_CACHE
										 : COLUMN_OTHER;
}

/* "# CPU,Node,Socket,,L1d,L1i,L2,L3". False: it is another comment. Only the last cache counts. */
static bool read_titles(struct columns *columns, const char *at, const char *end)
{
	static const char begin[] = "# CPU,";
	size_t last = COLUMNS_MAX;
	if ((size_t)(end - at) < sizeof(begin) - 1 || memcmp(at, begin, sizeof(begin) - 1) != 0) {
		return false;
	}
	*columns = (struct columns){0};
	for (at += 2; at <= end && columns->n < COLUMNS_MAX; at++) {
		const char *stop = field_end(at, end);
		enum column column = column_named(at, (size_t)(stop - at));
		if (column == COLUMN_CACHE) {
			if (last < COLUMNS_MAX) {
				columns->of[last] = COLUMN_OTHER;
			}
			last = columns->n;
		}
		columns->of[columns->n++] = column;
		at = stop;
	}
	return true;
}

static enum fsl_status read_row(struct fsl_sched_topology *out, const struct columns *columns,
				const char *at, const char *end, struct fsl_error *err)
{
	int64_t values[COLUMN_CACHE + 1] = {-1, -1, -1, -1, -1, -1};
	for (size_t i = 0; at <= end && i < columns->n; i++, at++) {
		const char *stop = field_end(at, end);
		int64_t value = -1;
		if (stop > at && fsl_parse_i64(at, (size_t)(stop - at), &value) && value >= 0 &&
		    value <= INT32_MAX) {
			values[columns->of[i]] = value;
		}
		at = stop;
	}
	int64_t cpu = values[COLUMN_CPU];
	if (cpu < 0 || cpu >= FSL_SCHED_CPUS_MAX) {
		return FSL_OK;
	}
	FSL_TRY(FSL_GROW(out->cpus, out->cpus_capacity, (size_t)cpu + 1, err));
	while (out->n_cpus <= (size_t)cpu) {
		out->cpus[out->n_cpus++] = (struct fsl_sched_place){-1, -1, -1, -1};
	}
	out->cpus[cpu] = (struct fsl_sched_place){
		(int32_t)values[COLUMN_CORE], (int32_t)values[COLUMN_SOCKET],
		(int32_t)values[COLUMN_NODE], (int32_t)values[COLUMN_CACHE]};
	return FSL_OK;
}

enum fsl_status fsl_sched_topology_parse(struct fsl_sched_topology *out, const char *text,
					 size_t length, struct fsl_error *err)
{
	const char *at = text, *end = text + length;
	struct columns columns = {0};
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		if (*at == '#') {
			(void)read_titles(&columns, at, stop);
		} else if (columns.n > 0) {
			FSL_TRY(read_row(out, &columns, at, stop, err));
		}
		at = stop + 1;
	}
	return out->n_cpus > 0 ? FSL_OK
			       : FSL_FAIL(err, FSL_ERR_FORMAT,
					  "no topology of CPUs: wanted=\"output of lscpu "
					  "-p=cpu,core,node,socket,cache\"");
}

void fsl_sched_topology_fini(struct fsl_sched_topology *topology)
{
	fsl_free(topology->cpus);
	*topology = (struct fsl_sched_topology){0};
}

struct fsl_sched_place fsl_sched_place_of(const struct fsl_sched_topology *topology, int32_t cpu)
{
	bool is_told = topology != NULL && cpu >= 0 && (size_t)cpu < topology->n_cpus;
	return is_told ? topology->cpus[cpu] : (struct fsl_sched_place){-1, -1, -1, -1};
}

bool fsl_sched_is_far(const struct fsl_sched_topology *topology, enum fsl_sched_far far,
		      int32_t cpu, int32_t other)
{
	struct fsl_sched_place a = fsl_sched_place_of(topology, cpu);
	struct fsl_sched_place b = fsl_sched_place_of(topology, other);
	int32_t at = far == FSL_SCHED_FAR_NODE ? a.node : a.cache;
	int32_t to = far == FSL_SCHED_FAR_NODE ? b.node : b.cache;
	return at >= 0 && to >= 0 && at != to;
}
