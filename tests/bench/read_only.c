/* What reading alone costs: reads a folder of markers on one thread, pairs and merges them, and
 * ends. Timed by scripts/benchmark.sh. */
#include <stdint.h>
#include <stdio.h>

#include "ingest/ingest.h"

int main(int argc, char **argv)
{
	struct fsl_error err = {0};
	struct fsl_run run = {0};
	if (argc != 2) {
		(void)fputs("usage: read_only FOLDER\n", stderr);
		return 2;
	}
	const struct fsl_ingest_options options = {
		.root_path = argv[1], .from_ns = INT64_MIN, .to_ns = INT64_MAX, .n_threads = 1};
	enum fsl_status status = fsl_run_init(&run, &err);
	if (status == FSL_OK) {
		status = fsl_ingest_run(&run, &options, &err);
	}
	size_t n_ops = 0;
	for (size_t i = 0; i < run.n_ranks; i++) {
		n_ops += run.ranks[i].n_ops;
	}
	if (status == FSL_OK) {
		(void)printf("%zu operators of %zu ranks\n", n_ops, run.n_ranks);
	} else {
		(void)fprintf(stderr, "%s\n", fsl_error_root(&err));
	}
	fsl_run_fini(&run);
	return status == FSL_OK ? 0 : 1;
}
