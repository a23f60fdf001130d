/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists: by an indexed member, or everything in order of creation. Never a scan for a value: a
 * filter on a member without index is refused.
 */
#include <string.h>

#include "postings.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "world.h"

struct page {
	struct strbuf *out;
	int64_t now_us;
	size_t limit, taken;
	const char *after; /* skips until this id has passed */
	bool more;
};

/* False when the page is full. */
static bool
offer(struct page *page, struct object *object)
{
	const char *body =
		object->listed_us > page->now_us ? NULL : world_see(object, page->now_us);
	if (page->after) {
		if (strcmp(object->id, page->after) == 0)
			page->after = NULL;
		return true;
	}
	if (!body)
		return true;
	if (page->taken == page->limit) {
		page->more = true;
		return false;
	}
	strbuf_printf(page->out, "%s", page->taken++ ? "," : "");
	strbuf_puts(page->out, body);
	return true;
}

static int
index_of(const struct collection *collection, const char *member)
{
	size_t i;
	json_t *name;
	json_array_foreach(collection->indexes, i, name) {
		if (strcmp(json_string_value(name), member) == 0)
			return (int)i;
	}
	return -1;
}

/* The rest of the filter, on an object that the first member's index led to. */
static bool
passes(const struct collection *collection, const json_t *filter, struct object *object)
{
	const char *member;
	json_t *wanted;
	json_object_foreach((json_t *)(uintptr_t)filter, member, wanted) {
		struct postings_text text;
		bool held = false;
		const json_t *values = wanted;
		size_t count = json_is_array(values) ? json_array_size(values) : 1;
		int at = index_of(collection, member);
		for (size_t i = 0; i < count && !held; i++) {
			const json_t *v =
				json_is_array(values) ? json_array_get(values, i) : values;
			const struct postings *list = NULL;
			if (postings_text(v, &text))
				list = postings_get(&collection->by_member[at], text.at);
			for (size_t k = 0; list && k < list->count && !held; k++)
				held = list->objects[k] == object;
		}
		if (!held)
			return false;
	}
	return true;
}

static bool
take_value(struct collection *collection, const struct world_query *query, const json_t *value,
	   struct page *page)
{
	struct postings_text text;
	void *first = json_object_iter((json_t *)(uintptr_t)query->filter);
	int at = index_of(collection, json_object_iter_key(first));
	const struct postings *list = NULL;
	if (postings_text(value, &text))
		list = postings_get(&collection->by_member[at], text.at);
	for (size_t i = 0; list && i < list->count; i++) {
		struct object *object = list->objects[i];
		if (passes(collection, query->filter, object) && !offer(page, object))
			return false;
	}
	return true;
}

static void
take_filtered(struct collection *collection, const struct world_query *query, struct page *page)
{
	const json_t *wanted =
		json_object_iter_value(json_object_iter((json_t *)(uintptr_t)query->filter));
	size_t i;
	json_t *value;
	if (!json_is_array(wanted)) {
		take_value(collection, query, wanted, page);
		return;
	}
	json_array_foreach((json_t *)(uintptr_t)wanted, i, value) {
		if (!take_value(collection, query, value, page))
			return;
	}
}

static void
take_all(struct collection *collection, struct page *page)
{
	struct object *from = collection->first;
	if (page->after) {
		from = world_object(collection, page->after);
		from = from ? from->next : NULL;
		page->after = NULL;
	}
	while (from && offer(page, from))
		from = from->next;
}

bool
world_search(struct collection *collection, const struct world_query *query, int64_t now_us,
	     struct strbuf *out, bool *ret_more, struct err *err)
{
	struct page page = {
		.out = out, .now_us = now_us, .limit = query->limit, .after = query->after
	};
	const char *member;
	json_t *wanted;
	json_object_foreach((json_t *)(uintptr_t)query->filter, member, wanted) {
		if (index_of(collection, member) < 0)
			return err_set(err, ERR_INVALID, "\"%s\" cannot be filtered by", member);
	}
	if (json_object_size(query->filter))
		take_filtered(collection, query, &page);
	else
		take_all(collection, &page);
	*ret_more = page.more;
	return true;
}
