/* The bounded reader over plain, gzip and zstd files, and whole-file reading. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "fuzz/memory_reader.h"
#include "fuzz/packing.h"

static struct blob blob_make(size_t n_bytes)
{
	struct blob blob = {malloc(n_bytes + 1), n_bytes};
	assert_non_null(blob.data);
	for (size_t i = 0; i < n_bytes; i++) {
		blob.data[i] = (char)('a' + (i * 7 + i / 251) % 26);
	}
	return blob;
}

static struct blob joined(struct blob a, struct blob b)
{
	struct blob both = {malloc(a.n_bytes + b.n_bytes), a.n_bytes + b.n_bytes};
	assert_non_null(both.data);
	memcpy(both.data, a.data, a.n_bytes);
	memcpy(both.data + a.n_bytes, b.data, b.n_bytes);
	return both;
}

/* Reads to the end in steps of @want; returns the bytes, *status how it ended. */
static struct blob read_all(struct fsl_reader *reader, size_t want, enum fsl_status *status,
			    struct fsl_error *err)
{
	struct blob blob = {NULL, 0};
	size_t capacity = 0;
	assert_non_null(reader);
	for (;;) {
		const char *data = NULL;
		size_t n = 0;
		*status = fsl_reader_peek(reader, want, &data, &n, err);
		if (*status != FSL_OK || n == 0) {
			break;
		}
		assert_true(n <= FSL_LINE_BYTES_MAX);
		assert_int_equal(fsl_reader_offset(reader), blob.n_bytes);
		n = n > want ? want : n;
		assert_int_equal(FSL_GROW(blob.data, capacity, blob.n_bytes + n, NULL), FSL_OK);
		memcpy(blob.data + blob.n_bytes, data, n);
		blob.n_bytes += n;
		fsl_reader_skip(reader, n);
	}
	fsl_reader_close(reader);
	return blob;
}

static void check_content(struct blob file, struct blob wanted, size_t want)
{
	struct fsl_error err = {0};
	enum fsl_status status = FSL_OK;
	struct blob got = read_all(memory_reader(file.data, file.n_bytes), want, &status, &err);
	assert_string_equal(fsl_error_root(&err), "");
	assert_int_equal(status, FSL_OK);
	assert_int_equal(got.n_bytes, wanted.n_bytes);
	if (wanted.n_bytes > 0) {
		assert_memory_equal(got.data, wanted.data, wanted.n_bytes);
	}
	fsl_free(got.data);
}

static void all_packings_give_the_same_bytes(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 2, 3, 4, 100, 262143, 262144, 262145, 524288, 1500000};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct blob plain = blob_make(sizes[i]);
		struct blob gzip = gzip_of(plain.data, plain.n_bytes);
		struct blob zstd = zstd_of(plain.data, plain.n_bytes);
		static const size_t wants[] = {1, 77777, 262144, FSL_LINE_BYTES_MAX};
		for (size_t k = 0; k < sizeof(wants) / sizeof(wants[0]); k++) {
			/* Small steps over large files say nothing new. */
			if (wants[k] > 1 || sizes[i] < 1000) {
				check_content(plain, plain, wants[k]);
				check_content(gzip, plain, wants[k]);
				check_content(zstd, plain, wants[k]);
			}
		}
		free(plain.data);
		free(gzip.data);
		free(zstd.data);
	}
}

static void joined_members_and_frames_are_one_stream(void **state)
{
	(void)state;
	struct blob one = blob_make(300000), two = blob_make(5000);
	struct blob plain = joined(one, two);
	struct blob gzip_one = gzip_of(one.data, one.n_bytes);
	struct blob gzip_two = gzip_of(two.data, two.n_bytes);
	struct blob zstd_one = zstd_of(one.data, one.n_bytes);
	struct blob zstd_two = zstd_of(two.data, two.n_bytes);
	struct blob gzip = joined(gzip_one, gzip_two);
	struct blob zstd = joined(zstd_one, zstd_two);
	char zeros[512] = {0}; /* tape blocks */
	struct blob padded = joined(gzip, (struct blob){zeros, sizeof(zeros)});
	check_content(gzip, plain, 1000);
	check_content(padded, plain, 1000);
	check_content(zstd, plain, 1000);
	struct blob all[] = {one,      two,      plain, gzip_one, gzip_two,
			     zstd_one, zstd_two, gzip,  zstd,     padded};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		free(all[i].data);
	}
}

/* Every prefix of a packed file: a prefix of the content, and then the error. */
static void check_cuts(struct blob packed, struct blob plain, size_t head)
{
	for (size_t n = head; n < packed.n_bytes; n++) {
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		struct blob got = read_all(memory_reader(packed.data, n), 7, &status, &err);
		assert_int_equal(status, FSL_ERR_FORMAT);
		assert_non_null(strstr(fsl_error_root(&err), "compressed data is cut: path="));
		assert_true(got.n_bytes <= plain.n_bytes);
		if (got.n_bytes > 0) {
			assert_memory_equal(got.data, plain.data, got.n_bytes);
		}
		fsl_free(got.data);
	}
}

static void a_cut_file_gives_its_content_and_then_the_error(void **state)
{
	(void)state;
	struct blob plain = blob_make(3000);
	struct blob gzip = gzip_of(plain.data, plain.n_bytes);
	struct blob zstd = zstd_of(plain.data, plain.n_bytes);
	check_cuts(gzip, plain, 2);
	check_cuts(zstd, plain, 4);
	free(gzip.data);
	/* Without its 8 byte trailer a gzip file still has all of its content. */
	gzip = gzip_of(plain.data, plain.n_bytes);
	struct fsl_error err = {0};
	enum fsl_status status = FSL_OK;
	struct blob got = read_all(memory_reader(gzip.data, gzip.n_bytes - 8), 100, &status, &err);
	assert_int_equal(got.n_bytes, plain.n_bytes);
	assert_int_equal(status, FSL_ERR_FORMAT);
	fsl_free(got.data);
	free(plain.data);
	free(gzip.data);
	free(zstd.data);
}

static void a_failure_is_reported_again_and_again(void **state)
{
	(void)state;
	struct blob plain = blob_make(100);
	struct blob gzip = gzip_of(plain.data, plain.n_bytes);
	struct fsl_reader *reader = memory_reader(gzip.data, gzip.n_bytes - 3);
	const char *data = NULL;
	size_t n = 0;
	assert_int_equal(fsl_reader_peek(reader, 1000, &data, &n, NULL), FSL_OK);
	assert_int_equal(n, 100);
	fsl_reader_skip(reader, n);
	assert_int_equal(fsl_reader_peek(reader, 1, &data, &n, NULL), FSL_ERR_FORMAT);
	assert_int_equal(fsl_reader_peek(reader, 1, &data, &n, NULL), FSL_ERR_FORMAT);
	assert_int_equal(n, 0);
	fsl_reader_close(reader);
	free(plain.data);
	free(gzip.data);
}

static void broken_compressed_data_is_a_format_error(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n_bytes;
	} files[] = {
		{"\x1f\x8b\x09rubbish", 10},
		{"\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff\xff", 14},
		{"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 17},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		struct blob got = read_all(memory_reader(files[i].bytes, files[i].n_bytes), 10,
					   &status, &err);
		assert_int_equal(status, FSL_ERR_FORMAT);
		assert_non_null(strstr(fsl_error_root(&err), "compressed data is "));
		fsl_free(got.data);
	}
	/* Rubbish behind a good member or frame. */
	struct blob plain = blob_make(100);
	struct blob packed[] = {gzip_of(plain.data, 100), zstd_of(plain.data, 100)};
	for (size_t i = 0; i < 2; i++) {
		struct fsl_error err = {0};
		enum fsl_status status = FSL_OK;
		char rubbish[] = "rubbish";
		struct blob file = joined(packed[i], (struct blob){rubbish, 7});
		struct blob got =
			read_all(memory_reader(file.data, file.n_bytes), 10, &status, &err);
		assert_int_equal(got.n_bytes, 100);
		assert_int_equal(status, FSL_ERR_FORMAT);
		assert_non_null(strstr(fsl_error_root(&err), "compressed data is broken"));
		fsl_free(got.data);
		free(file.data);
		free(packed[i].data);
	}
	free(plain.data);
}

/* What @n_bytes unpack to before the reader stops. */
static uint64_t unpacked_bytes(struct blob packed, enum fsl_status *status, struct fsl_error *err)
{
	struct fsl_reader *reader = memory_reader(packed.data, packed.n_bytes);
	const char *data = NULL;
	size_t n = 0;
	assert_non_null(reader);
	while ((*status = fsl_reader_peek(reader, FSL_FILE_BLOCK_BYTES, &data, &n, err)) ==
		       FSL_OK &&
	       n > 0) {
		fsl_reader_skip(reader, n);
	}
	uint64_t n_unpacked = fsl_reader_offset(reader);
	fsl_reader_close(reader);
	return n_unpacked;
}

static void a_bomb_is_left_where_no_job_gets_to(void **state)
{
	(void)state;
	size_t n_bytes = 2 * (size_t)FSL_UNPACKED_BYTES_FREE;
	struct blob zeros = {calloc(n_bytes, 1), n_bytes};
	assert_non_null(zeros.data);
	struct blob packed[] = {gzip_of(zeros.data, n_bytes), zstd_of(zeros.data, n_bytes)};
	for (size_t i = 0; i < 2; i++) {
		enum fsl_status status = FSL_OK;
		struct fsl_error err = {0};
		uint64_t n_unpacked = unpacked_bytes(packed[i], &status, &err);
		assert_int_equal(status, FSL_ERR_FORMAT);
		assert_non_null(strstr(fsl_error_root(&err), "grows to more than 200 times"));
		assert_in_range(n_unpacked, FSL_UNPACKED_BYTES_FREE, n_bytes - 1);
		free(packed[i].data);
	}
	/* So little is never one, however well it was packed. */
	struct blob small = zstd_of(zeros.data, FSL_UNPACKED_BYTES_FREE);
	enum fsl_status status = FSL_OK;
	assert_int_equal(unpacked_bytes(small, &status, NULL), FSL_UNPACKED_BYTES_FREE);
	assert_int_equal(status, FSL_OK);
	free(small.data);
	free(zeros.data);
}

static void pieces_of_a_pipe_add_up(void **state)
{
	(void)state;
	struct blob plain = blob_make(190);
	struct blob gzip = gzip_of(plain.data, plain.n_bytes);
	for (size_t chunk = 1; chunk < 9; chunk++) {
		enum fsl_status status = FSL_OK;
		struct blob got = read_all(chunked_reader(plain.data, plain.n_bytes, chunk), 13,
					   &status, NULL);
		assert_int_equal(status, FSL_OK);
		assert_int_equal(got.n_bytes, 190);
		assert_memory_equal(got.data, plain.data, 190);
		fsl_free(got.data);
		got = read_all(chunked_reader(gzip.data, gzip.n_bytes, chunk), 13, &status, NULL);
		assert_int_equal(status, FSL_OK);
		assert_int_equal(got.n_bytes, 190);
		assert_memory_equal(got.data, plain.data, 190);
		fsl_free(got.data);
	}
	free(plain.data);
	free(gzip.data);
}

/* A folder for one test; returned with its "/". */
static void make_folder(char folder[64])
{
	(void)snprintf(folder, 64, "/tmp/failslow-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	(void)strcat(folder, "/");
}

static void only_regular_files_are_opened(void **state)
{
	(void)state;
	char folder[64], path[128];
	struct fsl_reader *reader = NULL;
	struct fsl_error err = {0};
	make_folder(folder);
	assert_int_equal(fsl_reader_open(&reader, folder, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "not a regular file"));
	(void)snprintf(path, sizeof(path), "%sfifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	fsl_error_clear(&err);
	assert_int_equal(fsl_reader_open(&reader, path, &err), FSL_ERR_IO); /* does not block */
	assert_non_null(strstr(fsl_error_root(&err), path));
	assert_int_equal(unlink(path), 0);
	fsl_error_clear(&err);
	assert_int_equal(fsl_reader_open(&reader, path, &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "No such file"));
	assert_int_equal(fsl_reader_open(&reader, "/dev/zero", NULL), FSL_ERR_IO);
	assert_null(reader);
	fsl_reader_close(NULL);
	assert_int_equal(rmdir(folder), 0);
}

static void a_file_that_shrinks_while_read_ends_early(void **state)
{
	(void)state;
	char folder[64], path[128];
	struct fsl_reader *reader = NULL;
	struct blob plain = blob_make(600000);
	const char *data = NULL;
	size_t n = 0;
	make_folder(folder);
	(void)snprintf(path, sizeof(path), "%sdata", folder);
	assert_int_equal(fsl_file_write_atomic(path, plain.data, plain.n_bytes, NULL), FSL_OK);
	assert_int_equal(fsl_reader_open(&reader, path, NULL), FSL_OK);
	assert_int_equal(fsl_reader_disk_bytes(reader), 600000);
	assert_string_equal(fsl_reader_path(reader), path);
	assert_int_equal(fsl_reader_peek(reader, 10, &data, &n, NULL), FSL_OK);
	assert_int_equal(truncate(path, 300000), 0);
	assert_int_equal(fsl_reader_peek(reader, 500000, &data, &n, NULL), FSL_OK);
	assert_int_equal(n, 300000);
	assert_memory_equal(data, plain.data, n);
	fsl_reader_close(reader);
	free(plain.data);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void an_unreadable_descriptor_is_an_io_error(void **state)
{
	(void)state;
	struct fsl_reader *reader = NULL;
	struct fsl_error err = {0};
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fsl_reader_open_fd(&reader, fd, "the name", &err), FSL_ERR_IO);
	assert_non_null(strstr(fsl_error_root(&err), "path=\"the name\""));
	assert_int_equal(fcntl(fd, F_GETFD), -1); /* closed, as promised */
	assert_int_equal(fsl_reader_open_fd(&reader, -1, "x", NULL), FSL_ERR_IO);
	assert_null(reader);
}

/* Expects the next line to be @wanted. */
static void check_line(struct fsl_reader *reader, const char *wanted, uint64_t wanted_number)
{
	const char *line = NULL;
	size_t length = 0;
	uint64_t number = 0;
	bool too_long = true;
	assert_int_equal(fsl_reader_line(reader, &line, &length, &number, &too_long, NULL), FSL_OK);
	assert_false(too_long);
	if (wanted == NULL) {
		assert_null(line);
		return;
	}
	assert_int_equal(length, strlen(wanted));
	assert_memory_equal(line, wanted, length);
	assert_int_equal(number, wanted_number);
}

static void lines_lose_their_ends_and_nothing_else(void **state)
{
	(void)state;
	static const char text[] = "one\n\ntwo\r\n\r\r\n three \rx\nlast";
	for (size_t chunk = 1; chunk < 8; chunk++) {
		struct fsl_reader *reader = chunked_reader(text, sizeof(text) - 1, chunk);
		check_line(reader, "one", 1);
		check_line(reader, "", 2);
		check_line(reader, "two", 3);
		check_line(reader, "\r", 4);
		check_line(reader, " three \rx", 5);
		check_line(reader, "last", 6);
		check_line(reader, NULL, 0);
		check_line(reader, NULL, 0);
		fsl_reader_close(reader);
	}
}

static void a_line_over_the_limit_is_skipped_and_counted(void **state)
{
	(void)state;
	static const struct {
		size_t n_first;
		bool wanted;
	} cases[] = {
		{FSL_LINE_BYTES_MAX - 1, false}, /* with its newline just the limit */
		{FSL_LINE_BYTES_MAX, true},
		{2 * FSL_LINE_BYTES_MAX + 5, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* A line in front, so that the long one begins nowhere special. */
		struct blob blob = blob_make(2 + cases[i].n_first + 6);
		memcpy(blob.data, "a\n", 2);
		memcpy(blob.data + blob.n_bytes - 6, "\nnext\n", 6);
		struct fsl_reader *reader = memory_reader(blob.data, blob.n_bytes);
		const char *line = NULL;
		size_t length = 0;
		uint64_t number = 0;
		bool too_long = false;
		check_line(reader, "a", 1);
		assert_int_equal(fsl_reader_line(reader, &line, &length, &number, &too_long, NULL),
				 FSL_OK);
		assert_int_equal(too_long, cases[i].wanted);
		assert_int_equal(number, 2);
		assert_int_equal(length, cases[i].wanted ? 0 : cases[i].n_first);
		check_line(reader, "next", 3);
		check_line(reader, NULL, 0);
		fsl_reader_close(reader);
		free(blob.data);
	}
}

static void read_text_is_whole_and_terminated(void **state)
{
	(void)state;
	char folder[64], path[128];
	char *text = NULL;
	size_t length = 0;
	make_folder(folder);
	(void)snprintf(path, sizeof(path), "%sdata", folder);
	struct blob plain = blob_make(700000);
	struct blob gzip = gzip_of(plain.data, plain.n_bytes);
	assert_int_equal(fsl_file_write_atomic(path, gzip.data, gzip.n_bytes, NULL), FSL_OK);
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	assert_int_equal(length, plain.n_bytes);
	assert_memory_equal(text, plain.data, length);
	assert_int_equal(text[length], 0);
	fsl_free(text);
	assert_int_equal(fsl_file_write_atomic(path, "", 0, NULL), FSL_OK);
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_OK);
	assert_int_equal(length, 0);
	assert_string_equal(text, "");
	fsl_free(text);
	/* A sparse file one byte over the limit. */
	struct fsl_error err = {0};
	assert_int_equal(truncate(path, FSL_TEXT_BYTES_MAX + 1), 0);
	assert_int_equal(fsl_file_read_text(path, &text, &length, &err), FSL_ERR_LIMIT);
	assert_non_null(strstr(fsl_error_root(&err), "max_bytes=67108864"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fsl_file_read_text(path, &text, &length, NULL), FSL_ERR_IO);
	free(plain.data);
	free(gzip.data);
	assert_int_equal(rmdir(folder), 0);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	char folder[64], path[128];
	make_folder(folder);
	(void)snprintf(path, sizeof(path), "%sdata", folder);
	struct blob plain = blob_make(700000);
	struct blob packed[] = {gzip_of(plain.data, plain.n_bytes),
				zstd_of(plain.data, plain.n_bytes), plain};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(
			fsl_file_write_atomic(path, packed[i].data, packed[i].n_bytes, NULL),
			FSL_OK);
		enum fsl_status status = FSL_ERR_MEMORY;
		uint64_t nth = 0;
		while (status != FSL_OK && nth < 100) {
			char *text = NULL;
			size_t length = 0;
			struct fsl_error err = {0};
			fsl_mem_fail_at(++nth);
			status = fsl_file_read_text(path, &text, &length, &err);
			fsl_mem_fail_at(0);
			assert_true(status == FSL_OK || status == FSL_ERR_MEMORY);
			assert_true(status == FSL_OK || err.n_causes > 0);
			fsl_free(text);
		}
		assert_int_equal(status, FSL_OK);
		assert_true(nth > 4);
		free(packed[i].data);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_packings_give_the_same_bytes),
		cmocka_unit_test(joined_members_and_frames_are_one_stream),
		cmocka_unit_test(a_cut_file_gives_its_content_and_then_the_error),
		cmocka_unit_test(a_failure_is_reported_again_and_again),
		cmocka_unit_test(broken_compressed_data_is_a_format_error),
		cmocka_unit_test(a_bomb_is_left_where_no_job_gets_to),
		cmocka_unit_test(pieces_of_a_pipe_add_up),
		cmocka_unit_test(only_regular_files_are_opened),
		cmocka_unit_test(a_file_that_shrinks_while_read_ends_early),
		cmocka_unit_test(an_unreadable_descriptor_is_an_io_error),
		cmocka_unit_test(lines_lose_their_ends_and_nothing_else),
		cmocka_unit_test(a_line_over_the_limit_is_skipped_and_counted),
		cmocka_unit_test(read_text_is_whole_and_terminated),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
