/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds every file of a folder to a fuzz target, so that a corpus is an ordinary test: TAP, one
 * line per file. A target that finds something wrong aborts.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "tap.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static void
replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(FILE_BYTES_MAX);
	size_t len = 0;

	if (file != NULL) {
		len = fread(data, 1, FILE_BYTES_MAX, file);
		fclose(file);
	}
	LLVMFuzzerTestOneInput(data, len);
	tap_ok(file != NULL, "%s", strrchr(path, '/') + 1);
	free(data);
}

int
main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	int count = argc == 2 ? scandir(argv[1], &entries, NULL, alphasort) : -1;

	for (int i = 0; i < count; i++) {
		char path[4096];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
			replay(path);
		free(entries[i]);
	}
	free(entries);
	tap_ok(tap_count > 0, "the corpus is not empty");
	return tap_done();
}
