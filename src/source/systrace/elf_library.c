/* The functions of libdwfl (elfutils) that are needed; a build without its header knows none. */
#include "source/systrace/elf_library.h"

#ifdef FSL_HAVE_DW

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/library.h"
#include "base/mem.h"

/* Bytes of a library: the largest of PyTorch with their debug information have 2 GB. */
static const int64_t FILE_BYTES_MAX = INT64_C(1) << 32;

/* Functions of libdw 0.150 and later, once they are loaded. */
static struct {
	__typeof__(dwfl_begin) *begin;
	__typeof__(dwfl_end) *end;
	__typeof__(dwfl_report_offline) *report;
	__typeof__(dwfl_report_end) *report_end;
	__typeof__(dwfl_offline_section_address) *section_address;
	__typeof__(dwfl_module_info) *info;
	__typeof__(dwfl_module_build_id) *build_id;
	__typeof__(dwfl_module_addrname) *name_at;
	__typeof__(dwfl_version) *version;
} dw;

struct fsl_elf_library {
	Dwfl_Callbacks callbacks; /* libdw keeps a pointer to them */
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t begin, end; /* addresses at which libdw places it */
};

bool fsl_elf_is_supported(void)
{
	const struct fsl_symbol symbols[] = {
		{"dwfl_begin", &dw.begin},
		{"dwfl_end", &dw.end},
		{"dwfl_report_offline", &dw.report},
		{"dwfl_report_end", &dw.report_end},
		{"dwfl_offline_section_address", &dw.section_address},
		{"dwfl_module_info", &dw.info},
		{"dwfl_module_build_id", &dw.build_id},
		{"dwfl_module_addrname", &dw.name_at},
		{"dwfl_version", &dw.version},
	};
	return dw.version != NULL ||
	       fsl_library_load("libdw.so.1", symbols, sizeof(symbols) / sizeof(symbols[0]));
}

/* The library's own symbols are enough; libdw would search the system, and ask servers. */
static int find_nothing(Dwfl_Module *module, void **user_data, const char *module_name,
			Dwarf_Addr base, const char *file_name, const char *link_name,
			GElf_Word link_crc, char **out)
{
	(void)module;
	(void)user_data;
	(void)module_name;
	(void)base;
	(void)file_name;
	(void)link_name;
	(void)link_crc;
	(void)out;
	return -1;
}

/* libdw owns @fd if it succeeds. */
static bool report(struct fsl_elf_library *library, const char *path, int fd)
{
	library->callbacks.find_debuginfo = find_nothing;
	library->callbacks.section_address = dw.section_address;
	library->dwfl = dw.begin(&library->callbacks);
	if (library->dwfl == NULL) {
		return false;
	}
	library->module = dw.report(library->dwfl, path, path, fd);
	if (library->module == NULL || dw.report_end(library->dwfl, NULL, NULL) != 0) {
		return false;
	}
	Dwarf_Addr begin = 0, end = 0;
	(void)dw.info(library->module, NULL, &begin, &end, NULL, NULL, NULL, NULL);
	library->begin = begin;
	library->end = end;
	return true;
}

enum fsl_elf_state fsl_elf_open(struct fsl_elf_library **out, const char *path)
{
	struct stat facts;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
		if (fd >= 0) {
			(void)close(fd);
		}
		return FSL_ELF_ABSENT;
	}
	if (facts.st_size > FILE_BYTES_MAX) {
		(void)close(fd);
		return FSL_ELF_TOO_LARGE;
	}
	struct fsl_elf_library *library = fsl_calloc(1, sizeof(*library));
	if (library == NULL || !report(library, path, fd)) {
		enum fsl_elf_state state = library == NULL || library->dwfl == NULL
						   ? FSL_ELF_NO_MEMORY
						   : FSL_ELF_UNREADABLE;
		if (library == NULL || library->module == NULL) {
			(void)close(fd);
		}
		fsl_elf_close(library);
		return state;
	}
	*out = library;
	return FSL_ELF_OPEN;
}

void fsl_elf_close(struct fsl_elf_library *library)
{
	if (library != NULL && library->dwfl != NULL) {
		dw.end(library->dwfl);
	}
	fsl_free(library);
}

bool fsl_elf_is_same_build(const struct fsl_elf_library *left, const struct fsl_elf_library *right)
{
	const unsigned char *a = NULL, *b = NULL;
	GElf_Addr ignored;
	int n_a = dw.build_id(left->module, &a, &ignored);
	int n_b = dw.build_id(right->module, &b, &ignored);
	return n_a > 0 && n_a == n_b && memcmp(a, b, (size_t)n_a) == 0;
}

bool fsl_elf_has(const struct fsl_elf_library *library, uint64_t offset)
{
	return offset < library->end - library->begin;
}

const char *fsl_elf_function(const struct fsl_elf_library *library, uint64_t offset)
{
	return dw.name_at(library->module, library->begin + offset);
}

const char *fsl_elf_version(void)
{
	return fsl_elf_is_supported() ? dw.version(NULL) : "no";
}

#else

bool fsl_elf_is_supported(void)
{
	return false;
}

enum fsl_elf_state fsl_elf_open(struct fsl_elf_library **out, const char *path)
{
	(void)out;
	(void)path;
	return FSL_ELF_UNREADABLE;
}

void fsl_elf_close(struct fsl_elf_library *library)
{
	(void)library;
}

bool fsl_elf_is_same_build(const struct fsl_elf_library *left, const struct fsl_elf_library *right)
{
	(void)left;
	(void)right;
	return false;
}

bool fsl_elf_has(const struct fsl_elf_library *library, uint64_t offset)
{
	(void)library;
	(void)offset;
	return false;
}

const char *fsl_elf_function(const struct fsl_elf_library *library, uint64_t offset)
{
	(void)library;
	(void)offset;
	return NULL;
}

const char *fsl_elf_version(void)
{
	return "no";
}

#endif
