/* One walk over the words of a text. */
#include "base/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/columns.h"

void fsl_wrap(FILE *stream, const char *text, int cursor, int indent, int width)
{
	bool is_first = true;
	int gap = 0; /* blanks in front of the next word */
	while (*text != '\0' && *text != '\n') {
		int length = (int)fsl_unbroken(text), n = fsl_columns(text, (size_t)length);
		if (!is_first && cursor + gap + n > width) {
			(void)fprintf(stream, "\n%*s", indent, "");
			cursor = indent;
			gap = 0;
		}
		(void)fprintf(stream, "%*s%.*s", gap, "", length, text);
		cursor += gap + n;
		is_first = false;
		text += length;
		gap = *text == ' ';
		text += strspn(text, " ");
	}
	(void)fputc('\n', stream);
}
