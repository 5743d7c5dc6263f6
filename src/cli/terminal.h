#ifndef FSL_CLI_TERMINAL_H
#define FSL_CLI_TERMINAL_H

#include <stdbool.h>

/* Columns of the terminal behind stdout; 80 if stdout is no terminal or tells fewer than 40. */
int fsl_terminal_width(void);
/* Whether stdout is a terminal and NO_COLOR (https://no-color.org) is not set. */
bool fsl_terminal_has_colours(void);

#endif
