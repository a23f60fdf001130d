/* SPDX-License-Identifier: Apache-2.0
 *
 * Only regular files of bounded size are read, so that a pipe or a device cannot hang the start.
 */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "tree.h"

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static bool
fail(struct loading *loading, const char *what)
{
	problems_add(loading->problems, loading->file, 0, 0, "%s: %s", what, strerror(errno));
	return false;
}

static bool
read_all(int fd, char *bytes, size_t size, size_t *ret_len)
{
	size_t len = 0;

	while (len < size) {
		ssize_t got = read(fd, bytes + len, size - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	*ret_len = len;
	return true;
}

bool
file_read(struct loading *loading, const char **ret_bytes, size_t *ret_len)
{
	CLEANUP(close_fd) int fd = open(loading->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char *bytes;
	size_t len;

	if (fd < 0 || fstat(fd, &status) != 0)
		return fail(loading, "could not open the file");
	if (!S_ISREG(status.st_mode)) {
		problems_add(loading->problems, loading->file, 0, 0,
			     S_ISDIR(status.st_mode) ? "is a folder, allowed: a file"
						     : "is no regular file");
		return false;
	}
	if (status.st_size > TREE_BYTES_MAX) {
		problems_add(loading->problems, loading->file, 0, 0, "larger than %d bytes",
			     TREE_BYTES_MAX);
		return false;
	}
	/* One byte more, for NUL; a file that grows meanwhile is read up to the size it had. */
	bytes = arena_alloc(loading->arena, (size_t)status.st_size + 1);
	if (!read_all(fd, bytes, (size_t)status.st_size, &len))
		return fail(loading, "could not read the file");
	*ret_bytes = bytes;
	*ret_len = len;
	return true;
}

static int
is_yaml(const struct dirent *entry)
{
	static const char suffix[] = ".yaml";
	size_t len = strlen(entry->d_name), suffix_len = sizeof(suffix) - 1;

	return entry->d_name[0] != '.' && len > suffix_len &&
	       strcmp(entry->d_name + len - suffix_len, suffix) == 0;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

bool
folder_list(struct loading *loading, const char *folder, const char ***ret_paths, size_t *ret_count)
{
	struct dirent **entries;
	int found = scandir(folder, &entries, is_yaml, by_name);
	const char **paths;

	if (found < 0) {
		problems_add(loading->problems, folder, 0, 0, "could not open the folder: %s",
			     strerror(errno));
		return false;
	}
	paths = arena_array(loading->arena, const char *, found + 1);
	for (int i = 0; i < found; i++) {
		paths[i] = arena_printf(loading->arena, "%s/%s", folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	*ret_paths = paths;
	*ret_count = (size_t)found;
	return true;
}
