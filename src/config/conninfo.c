/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads just enough of libpq's two spellings to find a password.
 */
#include "conninfo.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"

static const char password_refused[] = "a password is not written in the file, allowed: "
				       "password=credential:NAME, password=file:PATH, "
				       "password=env:NAME, or a passfile";

static bool
take_password(struct arena *arena, const char *value, const char **ret_reference, struct err *err)
{
	if (!secret_is_reference(value))
		return err_set(err, ERR_INVALID, "%s", password_refused);
	*ret_reference = arena_strdup(arena, value);
	return true;
}

/* One value, quoted or not, unescaped into out; text moves behind it. */
static bool
read_value(const char **text, struct strbuf *out)
{
	const char *p = *text;
	bool quoted = *p == '\'';

	strbuf_reset(out);
	strbuf_puts(out, "");
	for (p += quoted; *p != '\0' && (quoted ? *p != '\'' : !isspace((unsigned char)*p)); p++) {
		if (*p == '\\' && p[1] != '\0')
			p++;
		strbuf_putc(out, *p);
	}
	if (quoted && *p != '\'')
		return false;
	*text = p + quoted;
	return true;
}

static const char *
skip_space(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Copies "name=value" pairs from text to rest, all but the password. */
static bool
split_pairs(struct arena *arena, const char *text, struct strbuf *rest, const char **ret_reference,
	    struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf value = { 0 };

	for (text = skip_space(text); *text != '\0'; text = skip_space(text)) {
		const char *name = text, *equals;
		size_t name_len = strcspn(text, "= \t\r\n\f\v");

		equals = skip_space(text + name_len);
		if (name_len == 0 || *equals != '=')
			return err_set(err, ERR_INVALID,
				       "is neither \"name=value …\" nor a postgresql:// URI");
		text = skip_space(equals + 1);
		if (!read_value(&text, &value))
			return err_set(err, ERR_INVALID, "a quoted value has no end");
		if (name_len == 11 && strncmp(name, "sslpassword", name_len) == 0)
			return err_set(err, ERR_INVALID, "sslpassword is not supported");
		if (name_len != 8 || strncmp(name, "password", name_len) != 0)
			strbuf_printf(rest, "%s%.*s", rest->len ? " " : "", (int)(text - name),
				      name);
		else if (!take_password(arena, strbuf_text(&value), ret_reference, err))
			return false;
	}
	return true;
}

static void
decode_percent(const char *text, size_t len, struct strbuf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned int code;

		if (text[i] == '%' && i + 2 < len && sscanf(text + i + 1, "%2x", &code) == 1 &&
		    code) {
			strbuf_putc(out, (char)code);
			i += 2;
		} else {
			strbuf_putc(out, text[i]);
		}
	}
}

/* Copies the parameters behind "?" to rest, all but the password. */
static bool
split_parameters(struct arena *arena, const char *text, struct strbuf *rest,
		 const char **ret_reference, struct err *err)
{
	bool first = true;

	while (*text != '\0') {
		size_t len = strcspn(text, "&"), name_len = strcspn(text, "=&");
		CLEANUP(strbuf_finish) struct strbuf name = { 0 };
		CLEANUP(strbuf_finish) struct strbuf value = { 0 };

		decode_percent(text, name_len, &name);
		if (name_len < len)
			decode_percent(text + name_len + 1, len - name_len - 1, &value);
		if (strcmp(strbuf_text(&name), "sslpassword") == 0)
			return err_set(err, ERR_INVALID, "sslpassword is not supported");
		if (strcmp(strbuf_text(&name), "password") != 0) {
			strbuf_printf(rest, "%c%.*s", first ? '?' : '&', (int)len, text);
			first = false;
		} else if (!take_password(arena, strbuf_text(&value), ret_reference, err)) {
			return false;
		}
		text += len + (text[len] == '&');
	}
	return true;
}

/* Hosts with ports and nothing else. A password with "/" in it would look like a port. */
static bool
hosts_are_plain(const char *hosts, size_t len)
{
	bool bracket = false, port = false;

	for (size_t i = 0; i < len; i++) {
		bracket = hosts[i] == '[' || (bracket && hosts[i] != ']');
		if (port && hosts[i] != ',' && !isdigit((unsigned char)hosts[i]))
			return false;
		port = (port || (hosts[i] == ':' && !bracket)) && hosts[i] != ',';
	}
	return true;
}

static bool
split_uri(struct arena *arena, const char *text, struct strbuf *rest, const char **ret_reference,
	  struct err *err)
{
	const char *authority = strstr(text, "://") + 3;
	size_t len = strcspn(authority, "/?");
	const char *at = memchr(authority, '@', len);
	const char *hosts = at ? at + 1 : authority;
	const char *question = strchr(authority, '?');

	if ((at && memchr(authority, ':', (size_t)(at - authority))) ||
	    !hosts_are_plain(hosts, len - (size_t)(hosts - authority)))
		return err_set(err, ERR_INVALID, "%s", password_refused);
	if (!question) {
		strbuf_puts(rest, text);
		return true;
	}
	strbuf_add(rest, text, (size_t)(question - text));
	return split_parameters(arena, question + 1, rest, ret_reference, err);
}

bool
conninfo_split(struct arena *arena, const char *text, const char **ret_rest,
	       const char **ret_reference, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf rest = { 0 };
	bool uri = strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0;
	const char *reference = NULL;
	bool good = uri ? split_uri(arena, text, &rest, &reference, err)
			: split_pairs(arena, text, &rest, &reference, err);

	if (!good)
		return false;
	*ret_rest = arena_strdup(arena, strbuf_text(&rest));
	*ret_reference = reference;
	return true;
}
