/* Symbols of one ELF file, by libdw, which is loaded with the first of them. */
#ifndef FSL_SOURCE_SYSTRACE_ELF_LIBRARY_H
#define FSL_SOURCE_SYSTRACE_ELF_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fsl_elf_library; /* opaque */

enum fsl_elf_state {
	FSL_ELF_OPEN,
	FSL_ELF_ABSENT,
	FSL_ELF_TOO_LARGE,
	FSL_ELF_UNREADABLE, /* no ELF file */
	FSL_ELF_NO_MEMORY,
	FSL_ELF_STATES_N
};

/* True if libdw is there. */
bool fsl_elf_is_supported(void);
/* Opens @path; *out is set for FSL_ELF_OPEN alone. Needs libdw. */
enum fsl_elf_state fsl_elf_open(struct fsl_elf_library **out, const char *path);
void fsl_elf_close(struct fsl_elf_library *library);

/* True if both were built at once: their build-ids are equal. Without build-ids: unknown, false. */
bool fsl_elf_is_same_build(const struct fsl_elf_library *left, const struct fsl_elf_library *right);
/* True if the library has bytes at @offset from its begin in memory. */
bool fsl_elf_has(const struct fsl_elf_library *library, uint64_t offset);
/* Name of the function there, not demangled; NULL: no symbol tells it. As long as the library. */
const char *fsl_elf_function(const struct fsl_elf_library *library, uint64_t offset);

/* Version of libdw; "no": it is not there. */
const char *fsl_elf_version(void);

#endif
