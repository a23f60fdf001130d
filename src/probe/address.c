/* SPDX-License-Identifier: Apache-2.0
 *
 * The address is the base with path and query after it: scheme, host and port are ours whatever an
 * answer says. A path that would climb out is refused, not repaired.
 */
#include "address.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "reconciled/base/arena.h"
#include "reconciled/net/url.h"

/* Without the port where the scheme has it anyway. */
static void
write_host(struct origin *origin, const char *host, size_t len)
{
	bool https = strncasecmp(origin->base, "https:", strlen("https:")) == 0;
	const char *usual = https ? ":443" : ":80";
	size_t usual_len = strlen(usual);

	if (len > usual_len && strncmp(host + len - usual_len, usual, usual_len) == 0)
		len -= usual_len;
	snprintf(origin->host, sizeof(origin->host), "%.*s", (int)len, host);
}

void
origin_init(struct origin *origin, const char *base)
{
	const char *host = strstr(base, "://");
	size_t len;

	host = host ? host + strlen("://") : base;
	len = strcspn(host, "/");
	origin->base = base;
	origin->path = host + len;
	write_host(origin, host, len);
}

/* Length of a "." at the text, plain or percent-encoded; 0: none. */
static size_t
dot(const char *text)
{
	if (*text == '.')
		return 1;
	return strncasecmp(text, "%2e", 3) == 0 ? 3 : 0;
}

static bool
is_dot_segment(const char *segment)
{
	size_t first = dot(segment), second;

	if (first == 0)
		return false;
	second = dot(segment + first);
	return strchr("/", segment[first + second]) != NULL;
}

static bool
stays_below(const char *path, const char *query)
{
	if (path[0] != '/' || strpbrk(path, "?#\\") != NULL || strchr(query, '#') != NULL)
		return false;
	for (const char *slash = path; slash != NULL; slash = strchr(slash + 1, '/'))
		if (is_dot_segment(slash + 1))
			return false;
	return true;
}

/* path: below the one of the base. */
static struct address
address_below(struct arena *arena, const struct origin *origin, const char *path, const char *query)
{
	size_t base_len = strlen(origin->base), path_len = strlen(path);
	size_t query_len = strlen(query), at_path = (size_t)(origin->path - origin->base);
	char *url = arena_alloc(arena, base_len + path_len + 1 + query_len + 1);
	char *at = url + base_len + path_len;

	memcpy(url, origin->base, base_len);
	memcpy(url + base_len, path, path_len);
	if (query_len > 0) {
		*at = '?';
		memcpy(at + 1, query, query_len);
	}
	return (struct address){
		.url = url,
		.path = arena_strndup(arena, url + at_path, base_len - at_path + path_len),
		.query = query,
	};
}

bool
address_of(struct arena *arena, const struct origin *origin, const struct request *request,
	   struct address *ret_address)
{
	const char *query = request->query != NULL ? request->query : "";

	if (!stays_below(request->path, query))
		return false;
	*ret_address = address_below(arena, origin, request->path, query);
	return true;
}

static bool
same_origin(const struct url_parts *a, const struct url_parts *b)
{
	return strcasecmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 &&
	       strcmp(a->port, b->port) == 0 && !a->has_user;
}

bool
address_follow(struct arena *arena, const struct origin *origin, const char *from, const char *link,
	       struct address *ret_address)
{
	size_t prefix = strlen(origin->path);
	struct url_parts base, there;

	if (!url_read(arena, "", origin->base, &base) || !url_read(arena, from, link, &there) ||
	    !same_origin(&there, &base) || strncmp(there.path, origin->path, prefix) != 0)
		return false;
	/* The base itself is not above itself. */
	if (!stays_below(there.path[prefix] == '\0' ? "/" : there.path + prefix, there.query))
		return false;
	*ret_address = address_below(arena, origin, there.path + prefix, there.query);
	return true;
}
