/* Parts of the document and of the screen that stand in files of their own. */
#ifndef FSL_REPORT_FUNCTIONS_PARTS_H
#define FSL_REPORT_FUNCTIONS_PARTS_H

#include "report/document.h"
#include "report/functions.h"

/* How the host of the worker feeds its device. */
void fsl_functions_worker_json(struct fsl_document *document, cJSON *object,
			       const struct fsl_function_worker *worker);
/* The same of one worker in words. */
void fsl_functions_worker_print(const struct fsl_function_worker *worker,
				const struct fsl_screen *screen);
/* A table of the workers that are told, those with unusual figures first. */
void fsl_functions_workers_print(const struct fsl_functions_view *view,
				 const struct fsl_functions_choice *choice,
				 const struct fsl_screen *screen);
/* One line on workers with unusual figures; nothing if there are none. */
void fsl_functions_unusual_print(const struct fsl_functions_view *view,
				 const struct fsl_screen *screen);

#endif
