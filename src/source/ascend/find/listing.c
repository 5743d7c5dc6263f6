/* Names of a folder. */
#include "source/ascend/find/listing.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

enum { STAMP_DIGITS = 17, OLD_STAMP_DIGITS = 14 };

enum fsl_status fsl_listing_read(struct fsl_listing *listing, const char *path,
				 struct fsl_error *err)
{
	*listing = (struct fsl_listing){.path = path};
	return fsl_dir_list(path, &listing->names, &listing->n_names, err);
}

size_t fsl_listing_first(const struct fsl_listing *listing, const char *begin)
{
	size_t low = 0, high = listing->n_names;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(listing->names[middle], begin) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

bool fsl_listing_has(const struct fsl_listing *listing, const char *name)
{
	size_t i = fsl_listing_first(listing, name);
	return i < listing->n_names && strcmp(listing->names[i], name) == 0;
}

void fsl_listing_keep(struct fsl_listing *listing, const char *name)
{
	if (name == NULL) {
		return;
	}
	bool is_there = fsl_listing_has(listing, name);
	if (is_there) {
		listing->names[0] = listing->names[fsl_listing_first(listing, name)];
	}
	listing->n_names = is_there ? 1 : 0;
}

bool fsl_listing_has_folder(const struct fsl_listing *listing, const char *name)
{
	if (!fsl_listing_has(listing, name)) {
		return false;
	}
	struct stat facts;
	char *path = fsl_path_join(listing->path, name);
	bool is_folder = path != NULL && stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
	fsl_free(path);
	return is_folder;
}

bool fsl_listing_has_any(const struct fsl_listing *listing, const char *begin, const char *end)
{
	size_t i = fsl_listing_first(listing, begin);
	while (i < listing->n_names && fsl_text_begins(listing->names[i], begin)) {
		if (fsl_text_ends(listing->names[i], end)) {
			return true;
		}
		i++;
	}
	return false;
}

bool fsl_text_begins(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

bool fsl_text_ends(const char *text, const char *end)
{
	size_t n_text = strlen(text), n_end = strlen(end);
	return n_text >= n_end && memcmp(text + n_text - n_end, end, n_end) == 0;
}

/* Number of @n digits; INT64_MAX if it is too large. */
static int64_t number_of(const char *digits, size_t n)
{
	int64_t number = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t digit = digits[i] - '0';
		if (number > (INT64_MAX - digit) / 10) {
			return INT64_MAX;
		}
		number = number * 10 + digit;
	}
	return number;
}

bool fsl_name_number(const char *name, const char *begin, const char *end, int64_t *out)
{
	if (!fsl_text_begins(name, begin)) {
		return false;
	}
	const char *digits = name + strlen(begin);
	size_t n = strspn(digits, "0123456789");
	if (n == 0 || strcmp(digits + n, end) != 0) {
		return false;
	}
	*out = number_of(digits, n);
	return true;
}

int64_t fsl_name_stamp(const char *name)
{
	int64_t stamp = 0;
	while (*name != '\0') {
		size_t n = strspn(name, "0123456789");
		if (n == STAMP_DIGITS) {
			stamp = number_of(name, n);
		} else if (n == OLD_STAMP_DIGITS) {
			stamp = number_of(name, n) * 1000;
		}
		name += n > 0 ? n : 1;
	}
	return stamp;
}
