/* One walk over the words of a text. */
#include "base/wrap.h"

#include <stdbool.h>
#include <string.h>

void fsl_wrap(FILE *stream, const char *text, int cursor, int indent, int width)
{
	bool is_first = true;
	while (*text != '\0' && *text != '\n') {
		int length = (int)strcspn(text, " \n");
		if (!is_first && cursor + 1 + length > width) {
			(void)fprintf(stream, "\n%*s", indent, "");
			cursor = indent;
			is_first = true;
		}
		(void)fprintf(stream, "%s%.*s", is_first ? "" : " ", length, text);
		cursor += length + !is_first;
		is_first = false;
		text += length;
		text += strspn(text, " ");
	}
	(void)fputc('\n', stream);
}
