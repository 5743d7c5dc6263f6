/* Asks the terminal how wide it is and whether it shows colours. */
#include "cli/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

int fsl_terminal_width(void)
{
	struct winsize size;
	bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40;
	return is_known ? size.ws_col : 80;
}

bool fsl_terminal_has_colours(void)
{
	return isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
}
