/* Entry of the program; everything is in command.c, where tests reach it. */
#include "cli/command.h"

int main(int argc, char **argv)
{
	return fsl_command_line(argc, argv);
}
