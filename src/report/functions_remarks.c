/* Remarks on the traces, and time in system calls. */
#include <math.h>

#include <string.h>

#include "report/document.h"
#include "report/functions.h"
#include "text/phrase.h"

/* Remark @i on the set, behind them those on files that were not read as a whole; NULL: there are
 * no more. Borrowed, or in @room. */
static const char *remark_at(const struct fsl_profile *profile, size_t i, struct fsl_phrase *room)
{
	if (profile == NULL || i < profile->n_remarks) {
		return profile != NULL ? profile->remarks[i] : NULL;
	}
	i -= profile->n_remarks;
	for (size_t r = 0; r < profile->n_ranks; r++) {
		const struct fsl_profile_rank *rank = &profile->ranks[r];
		for (size_t f = 0; f < rank->n_files; f++) {
			const struct fsl_file *file = &rank->files[f];
			if (file->state == FSL_FILE_READ || i-- > 0) {
				continue;
			}
			size_t length = strlen(profile->root);
			bool is_below = strncmp(file->path, profile->root, length) == 0 &&
					file->path[length] == '/';
			*room = (struct fsl_phrase){0};
			fsl_phrase_add(room, "%s: %s", file->path + (is_below ? length + 1 : 0),
				       *file->message != '\0' ? file->message
							      : fsl_file_state_text(file->state));
			return room->text;
		}
	}
	return NULL;
}

void fsl_functions_add_remarks(cJSON *document, const struct fsl_functions_choice *choice)
{
	struct fsl_document added = {document == NULL};
	cJSON *list = fsl_document_array(&added, document, "remarks");
	struct fsl_phrase room = {0};
	const char *text = remark_at(choice->profile, 0, &room);
	for (size_t i = 1; text != NULL; text = remark_at(choice->profile, i++, &room)) {
		fsl_document_text(&added, list, NULL, text);
	}
}

void fsl_functions_print_remarks(const struct fsl_functions_choice *choice,
				 const struct fsl_screen *screen)
{
	struct fsl_phrase room = {0};
	const char *text = remark_at(choice->profile, 0, &room);
	for (size_t i = 1; text != NULL; text = remark_at(choice->profile, i++, &room)) {
		(void)fsl_screen_extra(screen, i == 1 ? "remarks" : "", text);
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
