/* SPDX-License-Identifier: Apache-2.0
 *
 * The log: one line per event on stderr (logfmt or JSON), or one native record in the journal.
 * sd_journal_send reports success and loses the message where no journald runs, so the journal is
 * used only if $JOURNAL_STREAM says that stderr leads there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/log.h"
#include "reconciled/base/strbuf.h"

enum { JOURNAL_FIELDS_MAX = 32 };

typedef void sink_fn(enum log_level level, const char *message, const struct log_field *fields);

static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LOG_LEVEL_ERR] = { "error", LOG_ERR },
	[LOG_LEVEL_WARNING] = { "warning", LOG_WARNING },
	[LOG_LEVEL_INFO] = { "info", LOG_INFO },
	[LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
};

const char *
log_level_name(enum log_level level)
{
	return levels[level].name;
}

/* Quoted, with control characters, quotes and backslashes escaped the JSON way. */
static void
add_quoted(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c == '"' || *c == '\\')
			strbuf_printf(out, "\\%c", *c);
		else if (*c < 0x20 || *c == 0x7f)
			strbuf_printf(out, "\\u%04x", *c);
		else
			strbuf_putc(out, (char)*c);
	strbuf_putc(out, '"');
}

static bool
is_plain(const char *text)
{
	return *text && text[strcspn(text, " \"\\=")] == '\0' &&
	       text[strspn(text, "!#$%&'()*+,-./"
				 "0123456789:;<>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`"
				 "abcdefghijklmnopqrstuvwxyz{|}~")] == '\0';
}

static bool
is_given(const struct log_field *field)
{
	return field->type == LOG_FIELD_INT || field->text;
}

static void
write_line(struct strbuf *line)
{
	strbuf_putc(line, '\n');
	fwrite(line->data, 1, line->len, stderr);
	strbuf_finish(line);
}

/* Nobody else notes when a line came that goes to a terminal or a file. */
static void
put_time(struct strbuf *line)
{
	int64_t now_us = clock_wall_us();
	time_t seconds = (time_t)(now_us / SECOND);
	struct tm tm;
	char text[32];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	strbuf_printf(line, "time=%s.%03dZ ", text, (int)(now_us % SECOND / MILLISECOND));
}

static void
write_logfmt(enum log_level level, const char *message, const struct log_field *fields)
{
	struct strbuf line = { 0 };

	put_time(&line);
	strbuf_printf(&line, "level=%s msg=", levels[level].name);
	add_quoted(&line, message);
	for (; fields->type != LOG_FIELD_END; fields++) {
		if (!is_given(fields))
			continue;
		strbuf_printf(&line, " %s=", fields->name);
		if (fields->type == LOG_FIELD_INT)
			strbuf_printf(&line, "%" PRId64, fields->number);
		else if (is_plain(fields->text))
			strbuf_puts(&line, fields->text);
		else
			add_quoted(&line, fields->text);
	}
	write_line(&line);
}

static void
write_json(enum log_level level, const char *message, const struct log_field *fields)
{
	int64_t now = clock_wall_us();
	struct strbuf line = { 0 };

	strbuf_printf(&line, "{\"time\":%" PRId64 ".%06d,\"level\":\"%s\",\"msg\":", now / SECOND,
		      (int)(now % SECOND), levels[level].name);
	add_quoted(&line, message);
	for (; fields->type != LOG_FIELD_END; fields++) {
		if (!is_given(fields))
			continue;
		strbuf_printf(&line, ",\"%s\":", fields->name);
		if (fields->type == LOG_FIELD_INT)
			strbuf_printf(&line, "%" PRId64, fields->number);
		else
			add_quoted(&line, fields->text);
	}
	strbuf_putc(&line, '}');
	write_line(&line);
}

/* "NAME=value", the name in upper case. */
static void
journal_field(struct strbuf *out, const struct log_field *field)
{
	for (const char *c = field->name; *c; c++)
		strbuf_putc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
	if (field->type == LOG_FIELD_INT)
		strbuf_printf(out, "=%" PRId64, field->number);
	else
		strbuf_printf(out, "=%s", field->text);
}

static void
write_journal(enum log_level level, const char *message, const struct log_field *fields)
{
	struct strbuf texts[JOURNAL_FIELDS_MAX] = { 0 };
	struct iovec parts[JOURNAL_FIELDS_MAX];
	int n = 2;

	strbuf_printf(&texts[0], "MESSAGE=%s", message);
	strbuf_printf(&texts[1], "PRIORITY=%d", levels[level].priority);
	for (; fields->type != LOG_FIELD_END && n < JOURNAL_FIELDS_MAX; fields++)
		if (is_given(fields))
			journal_field(&texts[n++], fields);
	for (int i = 0; i < n; i++)
		parts[i] = (struct iovec){ texts[i].data, texts[i].len };
	sd_journal_sendv(parts, n);
	for (int i = 0; i < n; i++)
		strbuf_finish(&texts[i]);
}

static sink_fn *const sinks[] = {
	[LOG_FORMAT_LOGFMT] = write_logfmt,
	[LOG_FORMAT_JSON] = write_json,
	[LOG_FORMAT_JOURNAL] = write_journal,
};

static enum log_level threshold = LOG_LEVEL_INFO;
static sink_fn *sink = write_logfmt;

/* $JOURNAL_STREAM names device and inode of the stream that systemd connected to stderr. */
static bool
stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void
log_setup(enum log_level level, enum log_format format)
{
	if (format == LOG_FORMAT_AUTO)
		format = stderr_is_journal() ? LOG_FORMAT_JOURNAL : LOG_FORMAT_LOGFMT;
	threshold = level;
	sink = sinks[format];
}

void
log_write(enum log_level level, const char *message, const struct log_field *fields)
{
	if (level <= threshold)
		sink(level, message, fields);
}
