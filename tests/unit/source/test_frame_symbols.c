/* Functions in the place of addresses, from small libraries that are built for this. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "source/systrace/elf_library.h"
#include "source/systrace/frame_symbols.h"

#define FIRST FSL_BUILD_DIR "/tests/libraries/first"
#define OTHER FSL_BUILD_DIR "/tests/libraries/other"

/* An address inside of the function, from the begin of its library. */
static uint64_t address_in(const char *function)
{
	Dl_info info;
	void *library = dlopen(FIRST "/libsample.so", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(library);
	char *at = dlsym(library, function);
	assert_non_null(at);
	assert_true(dladdr(at, &info) != 0);
	uint64_t offset = (uint64_t)(at - (char *)info.dli_fbase) + 4;
	assert_int_equal(dlclose(library), 0);
	return offset;
}

/* Records with these call paths; a free behind them. */
static void fill(struct fsl_memory *memory, const char *const *paths, size_t n)
{
	const struct fsl_memory_process process = {0};
	assert_int_equal(fsl_memory_init(memory, NULL), FSL_OK);
	assert_int_equal(FSL_APPEND(memory, items, &process, NULL), FSL_OK);
	for (size_t i = 0; i <= n; i++) {
		struct fsl_memory_record record = {.path_id = FSL_STR_NONE};
		if (i < n) {
			assert_int_equal(fsl_strpool_intern(memory->paths, paths[i],
							    strlen(paths[i]), &record.path_id,
							    NULL),
					 FSL_OK);
		}
		assert_int_equal(FSL_APPEND(&memory->items[0], records, &record, NULL), FSL_OK);
	}
	memory->n_records = n + 1;
}

/* Names @paths by @folders; each must become what @wanted says. Returns the reason of the first
 * note, "" if there is none. */
static const char *names(const char *folders, const char *const *paths, const char *const *wanted,
			 size_t n)
{
	struct fsl_memory memory;
	struct fsl_frame_symbols *symbols = NULL;
	struct fsl_frame_note note = {"", ""};
	fill(&memory, paths, n);
	assert_int_equal(fsl_frame_symbols_create(&symbols, folders, NULL), FSL_OK);
	assert_int_equal(fsl_frame_symbols_apply(symbols, &memory, NULL), FSL_OK);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(
			fsl_strpool_text(memory.paths, memory.items[0].records[i].path_id),
			wanted[i]);
	}
	assert_int_equal(memory.items[0].records[n].path_id, FSL_STR_NONE);
	if (!fsl_frame_symbols_note(symbols, 0, &note)) {
		note.reason = "";
	}
	assert_false(fsl_frame_symbols_note(symbols, 1, &(struct fsl_frame_note){0}));
	fsl_frame_symbols_destroy(symbols);
	fsl_memory_fini(&memory);
	return note.reason;
}

static void need_libdw(void)
{
	if (!fsl_elf_is_supported()) {
		skip();
	}
}

static void functions_stand_in_the_place_of_addresses(void **state)
{
	(void)state;
	char path[128], leaf[64];
	need_libdw();
	(void)snprintf(path, sizeof(path), "libsample.so+0x%" PRIx64 ";libsample.so+0x%" PRIx64,
		       address_in("fsl_sample_train"), address_in("fsl_sample_leaf"));
	(void)snprintf(leaf, sizeof(leaf), "libsample.so+0x%" PRIx64,
		       address_in("fsl_sample_leaf"));
	const char *const paths[] = {path, "(no call path)", leaf};
	const char *const wanted[] = {
		"fsl_sample_train (libsample.so);fsl_sample_leaf (libsample.so)", "(no call path)",
		"fsl_sample_leaf (libsample.so)"};
	assert_string_equal(names("/absent::" FIRST, paths, wanted, 3), "");
}

static void a_library_that_is_absent_is_told_once(void **state)
{
	(void)state;
	need_libdw();
	const char *const paths[] = {"libnone.so+0x10;libnone.so+0x20", "libnone.so+0x30", "?+0x0"};
	assert_non_null(strstr(names(FIRST, paths, paths, 3), "in none of the folders"));
}

static void a_name_with_a_folder_in_it_is_not_opened(void **state)
{
	(void)state;
	need_libdw();
	const char *const paths[] = {"../first/libsample.so+0x1000"};
	assert_non_null(strstr(names(FIRST, paths, paths, 1), "in none of the folders"));
}

static void different_builds_name_nothing(void **state)
{
	(void)state;
	char leaf[64];
	need_libdw();
	(void)snprintf(leaf, sizeof(leaf), "libsample.so+0x%" PRIx64,
		       address_in("fsl_sample_leaf"));
	const char *const paths[] = {leaf};
	const char *const wanted[] = {"fsl_sample_leaf (libsample.so)"};
	assert_non_null(strstr(names(FIRST ":" OTHER, paths, paths, 1), "different builds"));
	assert_string_equal(names(FIRST ":" FIRST, paths, wanted, 1), "");
}

static void a_library_without_one_of_the_addresses_names_nothing(void **state)
{
	(void)state;
	char leaf[64];
	need_libdw();
	(void)snprintf(leaf, sizeof(leaf), "libsample.so+0x%" PRIx64,
		       address_in("fsl_sample_leaf"));
	const char *const paths[] = {leaf, "libsample.so+0x7fffffff"};
	assert_non_null(strstr(names(FIRST, paths, paths, 2), "another build"));
}

static void a_file_that_is_no_library_is_told(void **state)
{
	(void)state;
	char folder[] = "/tmp/frame-symbols-XXXXXX", path[64];
	need_libdw();
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/libtext.so", folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs("no ELF file", file) >= 0);
	assert_int_equal(fclose(file), 0);
	const char *const paths[] = {"libtext.so+0x10"};
	assert_non_null(strstr(names(folder, paths, paths, 1), "no ELF file"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void failing_allocations_leave_the_paths_as_they_are(void **state)
{
	(void)state;
	need_libdw();
	const char *const paths[] = {"libsample.so+0x1001", "libnone.so+0x10;libnone.so+0x20"};
	enum fsl_status status = FSL_ERR_MEMORY;
	for (uint64_t nth = 1; status != FSL_OK; nth++) {
		struct fsl_memory memory;
		struct fsl_error err = {0};
		struct fsl_frame_symbols *symbols = NULL;
		fill(&memory, paths, 2);
		fsl_mem_fail_at(nth);
		status = fsl_frame_symbols_create(&symbols, FIRST, &err);
		if (status == FSL_OK) {
			status = fsl_frame_symbols_apply(symbols, &memory, &err);
		}
		fsl_mem_fail_at(0);
		assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
		assert_string_equal(
			fsl_strpool_text(memory.paths, memory.items[0].records[1].path_id),
			paths[1]);
		fsl_frame_symbols_destroy(symbols);
		fsl_memory_fini(&memory);
	}
}

static void without_libdw_the_lack_is_told(void **state)
{
	(void)state;
	if (fsl_elf_is_supported()) {
		skip();
	}
	const char *const paths[] = {"libsample.so+0x10"};
	assert_non_null(strstr(names(FIRST, paths, paths, 1), "libdw"));
}

static void lists_of_folders_have_holes_and_limits(void **state)
{
	(void)state;
	const char *list = ":/a::/longer:/b:";
	char out[4];
	assert_true(fsl_folder_list_next(&list, out, sizeof(out)));
	assert_string_equal(out, "/a");
	assert_true(fsl_folder_list_next(&list, out, sizeof(out)));
	assert_string_equal(out, "/b");
	assert_false(fsl_folder_list_next(&list, out, sizeof(out)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_stand_in_the_place_of_addresses),
		cmocka_unit_test(a_library_that_is_absent_is_told_once),
		cmocka_unit_test(a_name_with_a_folder_in_it_is_not_opened),
		cmocka_unit_test(different_builds_name_nothing),
		cmocka_unit_test(a_library_without_one_of_the_addresses_names_nothing),
		cmocka_unit_test(a_file_that_is_no_library_is_told),
		cmocka_unit_test(failing_allocations_leave_the_paths_as_they_are),
		cmocka_unit_test(without_libdw_the_lack_is_told),
		cmocka_unit_test(lists_of_folders_have_holes_and_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
