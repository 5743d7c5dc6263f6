/* Remarks on the traces, and time in system calls. */
#include <math.h>

#include "report/document.h"
#include "report/functions.h"

void fsl_functions_add_remarks(cJSON *document, const struct fsl_functions_choice *choice)
{
	struct fsl_document added = {document == NULL};
	cJSON *list = fsl_document_array(&added, document, "remarks");
	for (size_t i = 0; choice->profile != NULL && i < choice->profile->n_remarks; i++) {
		fsl_document_text(&added, list, NULL, choice->profile->remarks[i]);
	}
}

void fsl_functions_print_remarks(const struct fsl_functions_choice *choice,
				 const struct fsl_screen *screen)
{
	for (size_t i = 0; choice->profile != NULL && i < choice->profile->n_remarks; i++) {
		(void)fsl_screen_extra(screen, i == 0 ? "Remarks" : "",
				       choice->profile->remarks[i]);
	}
}

double fsl_functions_syscall_share(const struct fsl_functions_view *view,
				   const struct fsl_function_row *row)
{
	double syscall_ns = 0.0, total_ns = 0.0;
	bool has_syscalls = false;
	for (size_t w = 0; w < view->n_workers && row->class == FSL_FUNCTION_PYTHON; w++) {
		const struct fsl_function *function = row->cells[w].function;
		if (function != NULL && view->workers[w].functions->n_syscalls > 0) {
			has_syscalls = true;
			syscall_ns += (double)function->syscall_ns;
			total_ns += (double)function->total_ns;
		}
	}
	return has_syscalls && total_ns > 0.0 ? syscall_ns / total_ns : (double)NAN;
}
