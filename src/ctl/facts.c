/* SPDX-License-Identifier: Apache-2.0
 *
 * Small conversions from columns to words.
 */
#include "facts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/views.h"

const char *
facts_get(const struct view *view, size_t row, const char *column)
{
	for (size_t c = 0; c < view_columns(view); c++)
		if (strcmp(view_column_name(view, c), column) == 0)
			return view_text(view, row, c);
	return NULL;
}

const char *
facts_text(const struct view *view, size_t row, const char *column)
{
	const char *text = facts_get(view, row, column);

	return text ? text : "";
}

/* "5 days 03:12:00.5", "27:12:00" or "97920.5" */
static bool
parse_interval(const char *text, long long *ret_seconds)
{
	long long days = 0, hours, minutes, seconds;
	int used = 0;

	if (sscanf(text, "%lld day%n", &days, &used) == 1 && used > 0) {
		text += used;
		text += strspn(text, "s ");
		if (*text == '\0') {
			*ret_seconds = days * 86400;
			return true;
		}
	} else {
		days = 0;
	}
	if (sscanf(text, "%lld:%lld:%lld", &hours, &minutes, &seconds) == 3)
		*ret_seconds = days * 86400 + hours * 3600 + minutes * 60 + seconds;
	else if (strspn(text, "0123456789.") != strlen(text) ||
		 sscanf(text, "%lld", ret_seconds) != 1)
		return false;
	return *ret_seconds >= 0;
}

void
facts_age(struct strbuf *out, const char *interval)
{
	static const struct {
		long long seconds;
		const char *unit;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "m" }, { 1, "s" } };
	long long seconds;
	size_t i = 0;

	if (!parse_interval(interval, &seconds)) {
		strbuf_puts(out, interval);
		return;
	}
	while (i + 1 < ARRAY_LEN(units) && seconds < units[i].seconds)
		i++;
	strbuf_printf(out, "%lld%s", seconds / units[i].seconds, units[i].unit);
	seconds %= units[i].seconds;
	if (i + 1 < ARRAY_LEN(units) && seconds >= units[i + 1].seconds)
		strbuf_printf(out, " %lld%s", seconds / units[i + 1].seconds, units[i + 1].unit);
}

void
facts_time(struct strbuf *out, const char *time)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	size_t i = 0;

	if (time == NULL)
		return;
	for (; shape[i] != '\0'; i++)
		if (shape[i] == 'd' ? !isdigit((unsigned char)time[i]) : time[i] != shape[i])
			break;
	if (shape[i] != '\0' || time[strlen(time) - 1] != 'Z')
		strbuf_puts(out, time);
	else
		strbuf_printf(out, "%.10s %.8sZ", time, time + 11);
}

void
facts_entity(struct strbuf *out, const struct view *view, size_t row)
{
	const char *type = facts_text(view, row, "entity_type"),
		   *id = facts_text(view, row, "entity_id");
	const char *state = facts_text(view, row, "entity_state");

	if (*type == '\0' && *id == '\0')
		return;
	strbuf_printf(out, "%s%s%s", type, *type && *id ? " " : "", id);
	if (*state != '\0' && strcmp(state, "active") != 0)
		strbuf_printf(out, " (%s)", state);
}

void
facts_verdict(struct strbuf *out, const struct view *view, size_t row)
{
	const char *class = facts_text(view, row, "class"),
		   *reason = facts_text(view, row, "reason");

	strbuf_puts(out, *class ? class : reason);
	if (*class != '\0' && *reason != '\0')
		strbuf_printf(out, " (%s)", reason);
}

static void
put_quoted(struct strbuf *out, const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,";

	if (*text != '\0' && text[strspn(text, plain)] == '\0') {
		strbuf_puts(out, text);
		return;
	}
	strbuf_putc(out, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			strbuf_puts(out, "'\\''");
		else
			strbuf_putc(out, *text);
	}
	strbuf_putc(out, '\'');
}

void
facts_command(struct strbuf *out, const struct ctl *ctl, const char *command, const char *argument)
{
	put_quoted(out, program_invocation_name);
	strbuf_putc(out, ' ');
	if (strcmp(ctl->config_file, CTL_CONFIG_DEFAULT) != 0) {
		strbuf_puts(out, "--config ");
		put_quoted(out, ctl->config_file);
		strbuf_putc(out, ' ');
	}
	strbuf_printf(out, "%s ", command);
	put_quoted(out, argument);
}
