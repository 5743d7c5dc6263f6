/* Sorts many series side by side, so that the compiler uses vector instructions. */
#include <failslow/stats.h>

/* Moves the lesser values to @low and the greater to @high. */
static void exchange(double *restrict low, double *restrict high)
{
	for (size_t lane = 0; lane < FSL_LANES; lane++) {
		double a = low[lane], b = high[lane];
		low[lane] = b < a ? b : a; /* two comparisons, so that neither becomes a branch */
		high[lane] = a < b ? b : a;
	}
}

void fsl_sort_lanes(double (*rows)[FSL_LANES], size_t n)
{
	for (size_t run = 1; run < n; run *= 2) { /* merges pairs of sorted runs of this length */
		for (size_t apart = run; apart > 0; apart /= 2) {
			for (size_t begin = apart % run; begin + apart < n; begin += 2 * apart) {
				for (size_t i = begin; i < begin + apart && i + apart < n; i++) {
					if (i / (2 * run) == (i + apart) / (2 * run)) {
						exchange(rows[i], rows[i + apart]);
					}
				}
			}
		}
	}
}
