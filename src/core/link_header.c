/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads <address>; name=value; name="value", … from left to right.
 */
#include "link_header.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "reconciled/base/arena.h"
#include "reconciled/core/exchange.h"

/* One link of a header. */
struct link {
	const char *address;
	bool has_rel, has_anchor;
	bool is_next;
};

static const char *
skip_space(const char *at)
{
	return at + strspn(at, " \t");
}

/* The quote that closes the one at text; NULL without one. */
static const char *
closing_quote(const char *text)
{
	for (const char *at = text + 1; *at != '\0'; at++) {
		if (*at == '"')
			return at;
		if (*at == '\\' && at[1] != '\0')
			at++;
	}
	return NULL;
}

/* What stands between two quotes, without the backslashes that protect others. */
static const char *
unquote(struct arena *arena, const char *from, const char *end)
{
	char *text = arena_strndup(arena, from, (size_t)(end - from)), *to = text;

	for (const char *at = text; *at != '\0'; at++) {
		if (*at == '\\' && at[1] != '\0')
			at++;
		*to++ = *at;
	}
	*to = '\0';
	return text;
}

/* Returns the place behind the value, or NULL when a quote is not closed. */
static const char *
read_value(struct arena *arena, const char *at, const char **ret_text)
{
	const char *end;

	if (*at != '"') {
		end = at + strcspn(at, ";, \t");
		*ret_text = arena_strndup(arena, at, (size_t)(end - at));
		return end;
	}
	end = closing_quote(at);
	if (end == NULL)
		return NULL;
	*ret_text = unquote(arena, at + 1, end);
	return end + 1;
}

/* A relation is one of several words. */
static bool
names_next(const char *at)
{
	static const char word[] = "next";

	for (size_t len; *(at = skip_space(at)) != '\0'; at += len) {
		len = strcspn(at, " \t");
		if (len == strlen(word) && strncasecmp(at, word, len) == 0)
			return true;
	}
	return false;
}

static void
take_parameter(struct link *link, const char *name, size_t len, const char *value)
{
	if (len == 3 && strncasecmp(name, "rel", len) == 0) {
		link->is_next = link->has_rel ? link->is_next : names_next(value);
		link->has_rel = true; /* a second one counts nothing */
	} else if (len == 6 && strncasecmp(name, "anchor", len) == 0) {
		link->has_anchor = true; /* then it is about another page than this one */
	}
}

/* at is behind ";". Returns the place behind the parameter, or NULL. */
static const char *
read_parameter(struct arena *arena, const char *at, struct link *link)
{
	const char *name = skip_space(at), *value = NULL;
	size_t len = strcspn(name, "=;, \t");

	at = skip_space(name + len);
	if (*at != '=')
		return at;
	at = read_value(arena, skip_space(at + 1), &value);
	if (at != NULL)
		take_parameter(link, name, len, value);
	return at;
}

/* Returns the place behind the link, or NULL. */
static const char *
read_link(struct arena *arena, const char *at, struct link *link)
{
	const char *end = *at == '<' ? strchr(at, '>') : NULL;

	*link = (struct link){ 0 };
	if (end == NULL)
		return NULL;
	link->address = arena_strndup(arena, at + 1, (size_t)(end - at - 1));
	at = skip_space(end + 1);
	while (at != NULL && *at == ';') {
		at = read_parameter(arena, at + 1, link);
		at = at == NULL ? NULL : skip_space(at);
	}
	return at != NULL && (*at == ',' || *at == '\0') ? at : NULL;
}

static bool
read_header(struct arena *arena, const char *text, const char **next)
{
	struct link link;

	/* Empty elements of the list are allowed. */
	for (const char *at = text; *(at += strspn(at, ", \t")) != '\0';) {
		at = read_link(arena, at, &link);
		if (at == NULL)
			return false;
		if (*next == NULL && link.is_next && !link.has_anchor)
			*next = link.address;
	}
	return true;
}

bool
link_header_next(struct arena *arena, const struct response *response, const char **ret_next)
{
	const char *next = NULL;

	for (size_t i = 0; i < response->headers_count; i++)
		if (strcmp(response->headers[i].name, "link") == 0 &&
		    !read_header(arena, response->headers[i].value, &next))
			return false;
	*ret_next = next;
	return true;
}
