/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of fixed length, written in place: "INSTANCE_ID BEATS\n". Not synced to disk: after a
 * power cut an older count is as good, it only notices less.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"

#include "state_file.h"

enum { ID_BYTES = 16, ID_HEX = 32, BEATS_DIGITS = 19, LINE_LEN = ID_HEX + 1 + BEATS_DIGITS + 1 };

struct state_file {
	int fd; /* -1: nothing is kept */
	char *path;
	char instance_id[ID_HEX + 1];
	int64_t beats;
	bool failed; /* told already */
};

static void
invent_id(struct state_file *file)
{
	unsigned char bytes[ID_BYTES];
	bool ok = getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes);

	assert(ok);
	hash_hex(bytes, sizeof(bytes), file->instance_id);
	file->beats = 0;
}

static bool
parse(struct state_file *file, const char *line)
{
	char *end;

	if (strspn(line, "0123456789abcdef") != ID_HEX || line[ID_HEX] != ' ' ||
	    strspn(line + ID_HEX + 1, "0123456789") != BEATS_DIGITS || line[LINE_LEN - 1] != '\n')
		return false;
	memcpy(file->instance_id, line, ID_HEX);
	errno = 0;
	file->beats = strtoll(line + ID_HEX + 1, &end, 10);
	return errno == 0;
}

static bool
write_line(const struct state_file *file)
{
	char line[LINE_LEN + 1];

	snprintf(line, sizeof(line), "%s %0*" PRId64 "\n", file->instance_id, BEATS_DIGITS,
		 file->beats);
	return pwrite(file->fd, line, LINE_LEN, 0) == LINE_LEN;
}

static bool
settle(struct state_file *file, struct err *err)
{
	const char *path = file->path;
	char line[LINE_LEN + 2] = "";
	ssize_t got = pread(file->fd, line, LINE_LEN + 1, 0);

	if (got < 0)
		return err_set(err, ERR_FATAL, "cannot read \"%s\": %s", path, strerror(errno));
	if (got == LINE_LEN && parse(file, line))
		return true;
	if (got > 0)
		return err_set(err, ERR_FATAL,
			       "\"%s\" is not the state of an instance; move it away to start anew",
			       path);
	invent_id(file);
	if (!write_line(file))
		return err_set(err, ERR_FATAL, "cannot write \"%s\": %s", path, strerror(errno));
	return true;
}

static bool
open_in(struct state_file *file, const char *directory, struct err *err)
{
	struct strbuf text = { 0 };

	strbuf_printf(&text, "%s/instance", directory);
	file->path = strbuf_take(&text);
	if (mkdir(directory, 0700) != 0 && errno != EEXIST)
		return err_set(err, ERR_FATAL, "cannot make the state directory \"%s\": %s",
			       directory, strerror(errno));
	file->fd = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->fd < 0)
		return err_set(err, ERR_FATAL, "cannot open \"%s\": %s", file->path,
			       strerror(errno));
	if (flock(file->fd, LOCK_EX | LOCK_NB) != 0)
		return err_set(err, ERR_FATAL,
			       "the state directory \"%s\" is in use by another reconciled",
			       directory);
	return settle(file, err);
}

struct state_file *
state_file_open(const char *directory, struct err *err)
{
	struct state_file *file = xcalloc(1, sizeof(*file));

	file->fd = -1;
	if (*directory == '\0') {
		invent_id(file);
		return file;
	}
	if (open_in(file, directory, err))
		return file;
	state_file_close(file);
	return NULL;
}

void
state_file_close(struct state_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

const char *
state_file_instance_id(const struct state_file *file)
{
	return file->instance_id;
}

bool
state_file_is_kept(const struct state_file *file)
{
	return file->fd >= 0;
}

int64_t
state_file_beats(const struct state_file *file)
{
	return file->beats;
}

void
state_file_note_beats(struct state_file *file, int64_t beats)
{
	file->beats = beats;
	if (file->fd < 0 || write_line(file) || file->failed)
		return;
	file->failed = true;
	log_warning("the state file cannot be written; a restored database may go unnoticed",
		    F_STR("file", file->path), F_STR("error", strerror(errno)));
}
