/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of objects per value. An emptied list stays: its value usually comes again.
 */
#include "postings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/xalloc.h"

bool
postings_text(const json_t *value, struct postings_text *ret)
{
	if (json_is_string(value)) {
		ret->at = json_string_value(value);
		return true;
	}
	if (!json_is_integer(value) && !json_is_boolean(value))
		return false;
	if (json_is_integer(value))
		snprintf(ret->room, sizeof(ret->room), "%lld",
			 (long long)json_integer_value(value));
	else
		snprintf(ret->room, sizeof(ret->room), "%s",
			 json_is_true(value) ? "true" : "false");
	ret->at = ret->room;
	return true;
}

void
postings_add(struct table *index, const char *text, struct object *object)
{
	struct postings *list = table_get(index, text);
	if (!list) {
		size_t len = strlen(text) + 1;
		list = xcalloc(1, sizeof(*list) + len);
		memcpy(list->text, text, len);
		table_put(index, list->text, list);
	}
	if (list->count == list->size) {
		list->size = list->size ? list->size * 2 : 1;
		list->objects = xrealloc(list->objects, list->size, sizeof(struct object *));
	}
	list->objects[list->count++] = object;
}

void
postings_remove(struct table *index, const char *text, struct object *object)
{
	struct postings *list = table_get(index, text);
	for (size_t i = 0; list && i < list->count; i++) {
		if (list->objects[i] != object)
			continue;
		list->count--;
		memmove(&list->objects[i], &list->objects[i + 1],
			(list->count - i) * sizeof(struct object *));
		return;
	}
}

const struct postings *
postings_get(const struct table *index, const char *text)
{
	return table_get(index, text);
}

void
postings_finish(struct table *index)
{
	size_t cursor = 0;
	struct postings *list;
	while ((list = table_next(index, &cursor))) {
		free(list->objects);
		free(list);
	}
	table_finish(index);
}
