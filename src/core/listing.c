/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks the list of a page. The target filters, and we check again: only what passes where is kept.
 */
#include "listing.h"

#include "reconciled/base/arena.h"

/* More than these of ours are several all the same, and none of them is compared with others. */
enum { OURS_MAX = 64 };

/* On the way through one page. */
struct walk {
	const struct scene *scene;
	const struct probe *probe;
	struct listing *listing; /* NULL: elements are only counted, or visited */
	listing_item_fn *visit;
	void *owner;
	size_t elements;
};

static void
push(struct arena *arena, struct listed *listed, struct item item)
{
	if (listed->count == listed->size) {
		size_t size = listed->size ? listed->size * 2 : 4;
		struct item *items = arena_array(arena, struct item, size);

		for (size_t i = 0; i < listed->count; i++)
			items[i] = listed->items[i];
		listed->items = items;
		listed->size = size;
	}
	listed->items[listed->count++] = item;
}

/* On another page: lists may move on between two questions. */
static bool
was_listed(const struct listed *listed, const struct item *item)
{
	for (size_t i = 0; i < listed->count && i < OURS_MAX; i++)
		if (listed->items[i].response != item->response &&
		    value_equal(listed->items[i].value, item->value))
			return true;
	return false;
}

static bool
passes(const struct scene *scene, const struct probe *probe)
{
	struct arena_mark mark = arena_mark(scene->arena);
	bool holds = !probe->has_where || condition_holds(scene, &probe->where);

	arena_release(scene->arena, mark);
	return holds;
}

static void
take_item(const struct walk *walk, const struct value *value)
{
	struct listing *listing = walk->listing;
	struct scene scene = *walk->scene;
	const struct item item = { value, scene.response };
	struct listed *to;

	if (walk->visit != NULL) {
		walk->visit(walk->owner, value);
		return;
	}
	scene.item = value;
	if (!passes(&scene, walk->probe))
		return;
	to = conditions_hold(&scene, &walk->probe->skip) ? &listing->skipped : &listing->ours;
	if (to == &listing->ours && to->count == OURS_MAX)
		return;
	if (!was_listed(to, &item))
		push(scene.arena, to, item);
}

static void
take_parts(const struct walk *walk, const struct value *element)
{
	struct located parts = pointer_find(walk->scene, element, &walk->probe->each);

	if (walk->listing != NULL)
		walk->listing->unreadable |= parts.several;
	for (size_t i = 0; i < parts.count; i++) {
		const struct value *part = parts.values[i];

		if (part->kind == VALUE_LIST)
			for (const struct value *item = part->first; item; item = item->next)
				take_item(walk, item);
		else if (part->kind != VALUE_NULL)
			take_item(walk, part);
	}
}

static size_t
count_kept(const struct listing *listing)
{
	return listing->ours.count + listing->skipped.count;
}

/* One element of the list: itself, or what `each` finds in it. */
static void
take_element(struct walk *walk, const struct value *element)
{
	struct arena_mark mark = arena_mark(walk->scene->arena);
	size_t kept;

	walk->elements++;
	if (walk->listing == NULL && walk->visit == NULL)
		return;
	if (!walk->probe->has_each) {
		take_item(walk, element);
		return;
	}
	if (walk->listing == NULL) {
		take_parts(walk, element);
		return;
	}
	kept = count_kept(walk->listing);
	take_parts(walk, element);
	if (count_kept(walk->listing) == kept)
		arena_release(walk->scene->arena, mark);
}

/* Nothing at the path lists nothing; what is there and no list stands for itself. */
static bool
walk_items(struct walk *walk)
{
	struct located found =
		pointer_find(walk->scene, walk->scene->response->parsed, &walk->probe->items);

	for (size_t i = 0; i < found.count; i++) {
		const struct value *value = found.values[i];

		if (value->kind == VALUE_LIST)
			for (const struct value *item = value->first; item; item = item->next)
				take_element(walk, item);
		else if (value->kind != VALUE_NULL)
			take_element(walk, value);
	}
	return !found.several;
}

/* False when it is not clear where the list is. */
static bool
walk_page(struct walk *walk)
{
	const struct value *body = walk->scene->response->parsed;

	if (walk->probe->method != METHOD_HEAD && walk->probe->has_items)
		return walk_items(walk);
	if (walk->probe->method == METHOD_HEAD) /* its locators read headers */
		body = value_create(walk->scene->arena, VALUE_OBJECT, NULL, 0);
	walk->elements = 1;
	if (walk->listing != NULL || walk->visit != NULL)
		take_item(walk, body);
	return true;
}

size_t
listing_elements(const struct scene *scene, const struct probe *probe)
{
	struct walk walk = { .scene = scene, .probe = probe };
	struct arena_mark mark = arena_mark(scene->arena);

	(void)walk_page(&walk);
	arena_release(scene->arena, mark);
	return walk.elements;
}

void
listing_add_page(struct listing *listing, const struct scene *scene, const struct probe *probe)
{
	struct walk walk = { .scene = scene, .probe = probe, .listing = listing };

	listing->unreadable |= !walk_page(&walk);
	listing->has_elements |= walk.elements > 0;
	listing->full |= probe->full > 0 && walk.elements >= (size_t)probe->full;
}

void
listing_visit(const struct scene *scene, const struct probe *probe, listing_item_fn *item,
	      void *owner)
{
	struct walk walk = { .scene = scene, .probe = probe, .visit = item, .owner = owner };

	(void)walk_page(&walk);
}
