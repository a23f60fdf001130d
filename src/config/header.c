/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that the HTTP client sets itself, and names that carry credentials, are refused: the former
 * would break the framing, the latter would put a secret into the file and reach other origins.
 */
#include "header.h"

#include <string.h>
#include <strings.h>

#include "loading.h"
#include "reconciled/base/attributes.h"
#include "shape.h"
#include "tree.h"

static const struct {
	const char *name, *why;
} refused[] = {
	{ "authorization", "credentials belong to auth of the target" },
	{ "proxy-authorization", "credentials belong to auth of the target" },
	{ "cookie", "credentials belong to auth of the target" },
	{ "x-api-key", "credentials belong to auth of the target: auth: {header: {name, value}}" },
	{ "host", "is set from base of the target" },
	{ "content-length", "is set from the body" },
	{ "transfer-encoding", "is set from the body" },
	{ "connection", "is set by the client" },
	{ "expect", "is set by the client" },
	{ "te", "is set by the client" },
	{ "trailer", "is set by the client" },
	{ "upgrade", "is set by the client" },
};

bool
header_name_is_valid(const char *name)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = strlen(name);

	return len > 0 && len <= 100 && strspn(name, token) == len;
}

const struct shape shape_header_name = { .kind = SHAPE_SCALAR,
					 .pattern = HEADER_NAME_PATTERN,
					 .help = "The name of a header." };

static bool
value_is_printable(const char *value)
{
	for (; *value != '\0'; value++)
		if (((unsigned char)*value < 0x20 && *value != '\t') || *value == 0x7F)
			return false;
	return true;
}

bool
header_check(struct loading *loading, const struct node *node)
{
	if (!header_name_is_valid(node->key))
		return complain_at_key(loading, node, "is no name of a header"), false;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (strcasecmp(node->key, refused[i].name) == 0)
			return complain_at_key(loading, node, "%s", refused[i].why), false;
	if (node->kind == NODE_TEXT && !value_is_printable(node->text))
		return complain(loading, node, "a control character in a header"), false;
	return true;
}
