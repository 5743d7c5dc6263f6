/* Any bytes as a table of operations: refused with a reason, or figures that are numbers. */
#include <math.h>

#include "base/log.h"
#include "fuzz/fuzz.h"
#include "replay/what_if.h"
#include "source/optable/op_table_file.h"

static void check(const struct fsl_what_if *found)
{
	FSL_REQUIRE(found->step_s >= 0.0 && found->ideal_s >= 0.0);
	FSL_REQUIRE(found->n_workers == found->n_stages * found->n_replicas);
	FSL_REQUIRE(found->n_slowest > 0 && found->n_slowest <= found->n_workers);
	for (size_t i = 1; i < found->n_steps; i++) {
		FSL_REQUIRE(found->steps[i - 1] < found->steps[i]);
	}
	for (size_t i = 1; i < found->n_workers; i++) {
		FSL_REQUIRE(!(found->workers[i - 1].slowdown < found->workers[i].slowdown));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct fsl_op_table table = {0};
	struct fsl_reader *reader = fuzz_reader(data, n_bytes);
	if (reader != NULL && fsl_op_table_read_from(&table, reader, NULL) == FSL_OK) {
		struct fsl_what_if found;
		struct fsl_error err = {0};
		enum fsl_status status = fsl_what_if_ask(&found, &table, &err);
		FSL_REQUIRE(status == FSL_OK || fsl_error_root(&err)[0] != '\0');
		if (status == FSL_OK) {
			check(&found);
		}
		fsl_what_if_fini(&found);
	}
	fsl_op_table_fini(&table);
	fsl_reader_close(reader);
	return 0;
}
