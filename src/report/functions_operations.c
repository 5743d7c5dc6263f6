/* Operations and bytes of kernels in the document, for a roofline. */
#include <math.h>

#include "report/functions.h"

void fsl_functions_add_operations(struct fsl_document *document, cJSON *object,
				  const struct fsl_functions_view *view,
				  const struct fsl_function_row *row)
{
	double flops = 0.0, bytes = 0.0;
	size_t n = 0;
	for (size_t w = 0; w < view->n_workers; w++) {
		const struct fsl_function *function = row->cells[w].function;
		if (function != NULL && function->bytes > 0.0) {
			flops += function->flops;
			bytes += function->bytes;
			n++;
		}
	}
	fsl_document_number(document, object, "flops", n > 0 ? flops / (double)n : (double)NAN, 0);
	fsl_document_number(document, object, "bytes", n > 0 ? bytes / (double)n : (double)NAN, 0);
}
