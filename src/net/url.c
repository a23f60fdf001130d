/* SPDX-License-Identifier: Apache-2.0
 *
 * libcurl's URL interface. Dot segments of a whole address stay where they are: whoever checks wants
 * to see them.
 */
#include "reconciled/net/url.h"

#include <curl/curl.h>

#include "reconciled/base/arena.h"

static const char *
part(struct arena *arena, CURLU *url, CURLUPart what, unsigned flags)
{
	char *text = NULL;
	const char *copy;

	if (curl_url_get(url, what, &text, flags) != CURLUE_OK)
		return NULL;
	copy = arena_strdup(arena, text);
	curl_free(text);
	return copy;
}

static bool
read_into(CURLU *url, const char *from, const char *link)
{
	unsigned flags = CURLU_PATH_AS_IS;

	if (*from != '\0' && curl_url_set(url, CURLUPART_URL, from, flags) != CURLUE_OK)
		return false;
	return curl_url_set(url, CURLUPART_URL, link, flags) == CURLUE_OK;
}

bool
url_read(struct arena *arena, const char *from, const char *link, struct url_parts *ret_parts)
{
	CURLU *url = curl_url();
	bool read = url && read_into(url, from, link);
	struct url_parts parts;

	if (read) {
		parts.scheme = part(arena, url, CURLUPART_SCHEME, 0);
		parts.host = part(arena, url, CURLUPART_HOST, 0);
		parts.port = part(arena, url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
		parts.path = part(arena, url, CURLUPART_PATH, 0);
		parts.query = part(arena, url, CURLUPART_QUERY, 0);
		parts.has_user = part(arena, url, CURLUPART_USER, 0) ||
				 part(arena, url, CURLUPART_PASSWORD, 0);
	}
	curl_url_cleanup(url);
	if (!read || !parts.scheme || !parts.host || !parts.port || !parts.path)
		return false;
	if (!parts.query)
		parts.query = "";
	*ret_parts = parts;
	return true;
}
