/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of the IANA database → the compiled zones of the system, read once: whoever judges opens no
 * file, and a change of the files counts from the next reload.
 */
#include "zone.h"

#include <string.h>
#include <unistd.h>

#include "file.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/core/time_zone.h"
#include "tree.h"

#define FOLDER "/usr/share/zoneinfo"

enum { NAME_BYTES_MAX = 64 };

const struct shape shape_zone = {
	.kind = SHAPE_STRING,
	.pattern = "^[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*)*$",
	.help = "A time zone like Europe/Berlin.",
};

/* Words that begin with a capital letter, with slashes between them: no way out of the folder. */
static bool
is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_+-/";
	size_t len = strlen(text);

	if (len == 0 || len > NAME_BYTES_MAX || strspn(text, letters) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((i == 0 || text[i - 1] == '/') && !(text[i] >= 'A' && text[i] <= 'Z'))
			return false;
	return true;
}

/* The file of a zone, or NULL: what is wrong with it is said in other words. */
static const struct time_zone *
read_file(struct loading *loading, const char *name)
{
	struct problems *aside = problems_create();
	struct loading quiet = *loading;
	const struct time_zone *zone = NULL;
	struct err err = { 0 };
	const char *bytes;
	size_t len;

	quiet.problems = aside;
	quiet.file = arena_printf(loading->arena, FOLDER "/%s", name);
	if (file_read(&quiet, &bytes, &len) &&
	    !time_zone_read(loading->arena, name, bytes, len, &zone, &err))
		zone = NULL;
	problems_destroy(aside);
	return zone;
}

bool
zone_decode(struct loading *loading, const struct node *node, const struct time_zone **ret_zone)
{
	static const struct zone_span always = { INT64_MIN, 0 };
	static const struct time_zone utc = { "UTC", &always, 1, INT64_MAX };
	const struct time_zone *zone = NULL;

	if (node->kind == NODE_TEXT && strcmp(node->text, utc.name) == 0)
		zone = &utc;
	else if (node->kind == NODE_TEXT && is_name(node->text))
		zone = read_file(loading, node->text);
	if (zone == NULL) {
		complain_found(loading, node,
			       access(FOLDER, X_OK) == 0
				       ? "UTC, or a zone of " FOLDER ", like Europe/Berlin"
				       : "UTC (for zones like Europe/Berlin " FOLDER
					 " is missing)");
		return false;
	}
	*ret_zone = zone;
	return true;
}
