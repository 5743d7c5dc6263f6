/* Feeds every file of a corpus folder to a fuzz target, so that found crashes stay found. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"

enum { INPUT_BYTES_MAX = 1024 * 1024 };

/* Plain bytes: fsl_file_read_text would unpack compressed inputs. */
static enum fsl_status replay(const char *path, struct fsl_error *err)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = fsl_calloc(INPUT_BYTES_MAX, 1);
	enum fsl_status status = FSL_OK;
	if (file == NULL || bytes == NULL) {
		status = FSL_FAIL(err, FSL_ERR_IO, "cannot open the input: path=\"%s\"", path);
		goto out;
	}
	size_t n_bytes = fread(bytes, 1, INPUT_BYTES_MAX, file);
	/* An exact block, so that a sanitizer sees reads behind the input. */
	uint8_t *exact = fsl_calloc(n_bytes, 1);
	if (exact == NULL) {
		status = FSL_FAIL(err, FSL_ERR_MEMORY, "out of memory: path=\"%s\"", path);
		goto out;
	}
	for (size_t i = 0; i < n_bytes; i++) {
		exact[i] = bytes[i];
	}
	(void)LLVMFuzzerTestOneInput(exact, n_bytes);
	fsl_free(exact);
out:
	fsl_free(bytes);
	if (file != NULL) {
		(void)fclose(file);
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : FSL_CORPUS_DIR;
	struct fsl_error err = {0};
	char **names = NULL;
	size_t n_names = 0;
	enum fsl_status status = fsl_dir_list(folder, &names, &n_names, &err);
	for (size_t i = 0; i < n_names && status == FSL_OK; i++) {
		char *path = fsl_path_join(folder, names[i]);
		status = path != NULL ? replay(path, &err) : FSL_ERR_MEMORY;
		fsl_free(path);
	}
	if (status == FSL_OK && n_names == 0) {
		status = FSL_FAIL(&err, FSL_ERR_INPUT, "no inputs: folder=\"%s\"", folder);
	}
	fsl_free(names);
	if (status != FSL_OK) {
		fsl_error_print(stderr, &err);
		return 1;
	}
	(void)printf("replayed: inputs=%zu\n", n_names);
	return 0;
}
