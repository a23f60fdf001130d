/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards the three standard descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reconciled/base/standard_files.h"

/* open() gives the lowest free number, so going upwards each gets its own. */
void
standard_files_reserve(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", mode) != fd)
			abort();
	}
}

bool
standard_output_is_complete(const char *program)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return true;
	fprintf(stderr, "%s: could not write to standard output%s%s\n", program,
		errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
	return false;
}
