/* Finds the build id in a note segment of the program in memory. */
#include "base/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

struct found {
	const void *bytes;
	size_t n_bytes;
};

/* Parts of a note begin at multiples of four bytes. */
static size_t padded(size_t n)
{
	return (n + 3) / 4 * 4;
}

/* Looks through the notes of one segment. */
static void search_notes(struct found *found, const unsigned char *at, size_t n_left)
{
	ElfW(Nhdr) note;
	while (n_left >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		size_t n_name = padded(note.n_namesz), n_desc = padded(note.n_descsz);
		if (n_name > n_left - sizeof(note) || n_desc > n_left - sizeof(note) - n_name) {
			return;
		}
		const unsigned char *name = at + sizeof(note);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			*found = (struct found){name + n_name, note.n_descsz};
			return;
		}
		at = name + n_name + n_desc;
		n_left -= sizeof(note) + n_name + n_desc;
	}
}

/* The first object in the list is the program itself. */
static int search_object(struct dl_phdr_info *object, size_t n_object_bytes, void *found)
{
	(void)n_object_bytes;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		if (header->p_type == PT_NOTE) {
			uintptr_t address = object->dlpi_addr + header->p_vaddr;
			search_notes(found, (const unsigned char *)address, header->p_memsz);
		}
	}
	return 1; /* stops: no other object is of interest */
}

const void *fsl_build_id(size_t *n_bytes)
{
	struct found found = {0};
	(void)dl_iterate_phdr(search_object, &found);
	*n_bytes = found.n_bytes;
	return found.bytes;
}
