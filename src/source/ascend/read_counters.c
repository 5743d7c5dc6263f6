/*
 * Counters of a device over the capture.
 * l2_cache.csv: a row per kernel, hits of its accesses to memory in the L2 cache (0 to 1).
 * nic.csv, roce.csv: a row per sample of a port, with rates of both directions in percent.
 * hccs.csv, pcie.csv: a row per quantity, with its least, mean and greatest value.
 * Reference of profile data files, docs/en/user_guide of github.com/Ascend/msprof.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/try.h"
#include "source/ascend/table.h"

enum {
	SCALE = 1000000,
	PERCENT = SCALE / 100,    /* percent to shares */
	MB_PER_GB = SCALE / 1000, /* MB/s to GB/s */
	US_PER_MS = SCALE / 1000, /* us to ms */
};

enum port_column {
	PORT_DEVICE,
	RX_ERRORS,
	TX_ERRORS,
	RX_DROPS,
	TX_DROPS,
	RX_USED,
	TX_USED,
	PORT_COLUMNS_N
};

static const struct fsl_table_column port_columns[PORT_COLUMNS_N] = {
	[PORT_DEVICE] = {{"Device_id", "Device Id"}, false},
	[RX_ERRORS] = {{"rxError rate(%)"}, true},
	[TX_ERRORS] = {{"txError rate(%)"}, true},
	[RX_DROPS] = {{"rxDropped rate(%)"}, true},
	[TX_DROPS] = {{"txDropped rate(%)"}, true},
	[RX_USED] = {{"Rx Bandwidth efficiency(%)"}, false},
	[TX_USED] = {{"Tx Bandwidth efficiency(%)"}, false},
};

enum line_column { LINE_DEVICE, LINE_MODE, LINE_MAX, LINE_MEAN, LINE_COLUMNS_N };

static const struct fsl_table_column line_columns[LINE_COLUMNS_N] = {
	[LINE_DEVICE] = {{"Device_id", "Device Id"}, false},
	[LINE_MODE] = {{"Mode"}, true},
	[LINE_MAX] = {{"Max"}, true},
	[LINE_MEAN] = {{"Average", "Avg"}, true},
};

enum cache_column { CACHE_DEVICE, CACHE_HITS, CACHE_NAME, CACHE_COLUMNS_N };

static const struct fsl_table_column cache_columns[CACHE_COLUMNS_N] = {
	[CACHE_DEVICE] = {{"Device_id", "Device Id"}, false},
	[CACHE_HITS] = {{"Hit Rate"}, true},
	[CACHE_NAME] = {{"Op Name"}, true},
};

/* One pass over a file. */
struct pass {
	struct fsl_profile_reading *readings; /* of the rank */
	enum fsl_profile_counter first;       /* of a port: its first counter */
	int64_t device;                       /* of the first row; -1: none told */
};

/* Drops rows of other devices than the first. Each of the files has the device in column 0. */
static bool is_own(struct fsl_table *table, struct pass *pass)
{
	int64_t device = fsl_table_amount(table, 0, 1, -1);
	pass->device = pass->device < 0 ? device : pass->device;
	if (device >= 0 && device != pass->device) {
		fsl_table_drop(table, fsl_profile_other_device);
		return false;
	}
	return true;
}

/* The field times @scale / SCALE; NaN if missing or negative. */
static double number(const struct fsl_table *table, size_t column, int64_t scale)
{
	int64_t value = fsl_table_amount(table, column, scale, -1);
	return value >= 0 ? (double)value / SCALE : (double)NAN;
}

static void add(struct fsl_profile_reading *reading, double value)
{
	if (!isnan(value)) {
		reading->sum += value;
		reading->n++;
	}
}

static enum fsl_status add_sample(struct fsl_table *table, void *context, struct fsl_error *err)
{
	struct pass *pass = context;
	(void)err;
	if (!is_own(table, pass)) {
		return FSL_OK;
	}
	struct fsl_profile_reading *of_port = &pass->readings[pass->first];
	add(&of_port[0],
	    fmax(number(table, RX_ERRORS, PERCENT), number(table, TX_ERRORS, PERCENT)));
	add(&of_port[1], fmax(number(table, RX_DROPS, PERCENT), number(table, TX_DROPS, PERCENT)));
	double used = fmax(number(table, RX_USED, PERCENT), number(table, TX_USED, PERCENT));
	if (used > 0.0) { /* idle samples tell how long the capture is */
		add(&of_port[2], used);
	}
	return FSL_OK;
}

static enum fsl_status read_port(struct fsl_profile_rank *rank,
				 const struct fsl_profile_input *input,
				 enum fsl_profile_counter first, struct fsl_error *err)
{
	struct pass pass = {rank->counters, first, -1};
	return fsl_table_read(rank, input, port_columns, PORT_COLUMNS_N, add_sample, &pass, err);
}

enum fsl_status fsl_profile_read_nic(struct fsl_profile_rank *rank,
				     const struct fsl_profile_input *input, struct fsl_error *err)
{
	return read_port(rank, input, FSL_COUNTER_NIC_ERRORS, err);
}

enum fsl_status fsl_profile_read_roce(struct fsl_profile_rank *rank,
				      const struct fsl_profile_input *input, struct fsl_error *err)
{
	return read_port(rank, input, FSL_COUNTER_ROCE_ERRORS, err);
}

/* The greatest speed in either direction is that of the links; the mean depends on the work. */
static enum fsl_status add_hccs(struct fsl_table *table, void *context, struct fsl_error *err)
{
	struct pass *pass = context;
	(void)err;
	if (is_own(table, pass)) {
		struct fsl_profile_reading *peak = &pass->readings[FSL_COUNTER_HCCS_PEAK];
		double most =
			fmax(peak->n > 0 ? peak->sum : 0.0, number(table, LINE_MAX, MB_PER_GB));
		*peak = (struct fsl_profile_reading){most, most > 0.0};
	}
	return FSL_OK;
}

static enum fsl_status add_pcie(struct fsl_table *table, void *context, struct fsl_error *err)
{
	static const char latency[] = "Tx_latency";
	struct pass *pass = context;
	struct fsl_csv_field mode = fsl_table_field(table, LINE_MODE);
	(void)err;
	if (is_own(table, pass) && mode.length >= sizeof(latency) - 1 &&
	    memcmp(mode.text, latency, sizeof(latency) - 1) == 0) {
		add(&pass->readings[FSL_COUNTER_PCIE_LATENCY], number(table, LINE_MEAN, US_PER_MS));
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_read_hccs(struct fsl_profile_rank *rank,
				      const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct pass pass = {rank->counters, FSL_COUNTER_HCCS_PEAK, -1};
	return fsl_table_read(rank, input, line_columns, LINE_COLUMNS_N, add_hccs, &pass, err);
}

enum fsl_status fsl_profile_read_pcie(struct fsl_profile_rank *rank,
				      const struct fsl_profile_input *input, struct fsl_error *err)
{
	struct pass pass = {rank->counters, FSL_COUNTER_PCIE_LATENCY, -1};
	return fsl_table_read(rank, input, line_columns, LINE_COLUMNS_N, add_pcie, &pass, err);
}

static enum fsl_status add_kernel(struct fsl_table *table, void *context, struct fsl_error *err)
{
	struct pass *pass = context;
	struct fsl_csv_field name = fsl_table_field(table, CACHE_NAME);
	double hits = number(table, CACHE_HITS, SCALE);
	(void)err;
	if (is_own(table, pass) && hits <= 1.0) {
		add(&pass->readings[FSL_COUNTER_CACHE_HITS], hits);
		table->rank->cached_kernels +=
			fsl_hash_bytes(FSL_HASH_START, name.text, name.length);
	}
	return FSL_OK;
}

enum fsl_status fsl_profile_read_l2_cache(struct fsl_profile_rank *rank,
					  const struct fsl_profile_input *input,
					  struct fsl_error *err)
{
	struct pass pass = {rank->counters, FSL_COUNTER_CACHE_HITS, -1};
	return fsl_table_read(rank, input, cache_columns, CACHE_COLUMNS_N, add_kernel, &pass, err);
}
