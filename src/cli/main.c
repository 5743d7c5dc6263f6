/* Entry of the program; everything is in command.c, where tests reach it. */
#include "base/mem.h"
#include "cli/command.h"

int main(int argc, char **argv)
{
	fsl_mem_keep_freed();
	return fsl_command_line(argc, argv);
}
