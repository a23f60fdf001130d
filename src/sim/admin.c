/* SPDX-License-Identifier: Apache-2.0
 *
 * The admin API under /_sim/: reading the books, seeding objects, switching behaviours. It is never
 * subject to behaviours and leaves no entry in the books.
 */
#include <string.h>

#include "decode.h"
#include "reconciled/base/err.h"
#include "sim.h"

static const char *
segment(const struct call *call, size_t i)
{
	return i < call->segments_count ? call->segments[i] : NULL;
}

static const char *
query(const struct call *call, const char *name)
{
	return json_string_value(json_object_get(call->query, name));
}

static void
get_counts(struct call *call, struct answer *answer)
{
	json_t *counts = books_counts(call->sim->books), *objects = json_object();
	size_t cursor = 0;
	const struct collection *collection;
	while ((collection = table_next(&call->sim->world.collections, &cursor)))
		json_object_set_new(objects, collection->name,
				    json_integer((json_int_t)collection->objects));
	json_object_set_new(counts, "objects", objects);
	json_object_set_new(counts, "most_at_once", json_integer(call->sim->most_owed));
	deliver_json(answer, 200, counts);
}

static void
get_effects(struct call *call, struct answer *answer)
{
	json_t *effects = books_effects(call->sim->books, query(call, "operation_id"),
					query(call, "collection"), query(call, "id"));
	deliver_json(answer, 200, json_pack("{s:o}", "data", effects));
}

static struct object *
named_object(struct call *call, struct answer *answer)
{
	const char *name = segment(call, 2), *id = segment(call, 3);
	const struct collection *collection =
		name ? world_collection(&call->sim->world, name) : NULL;
	struct object *object = collection && id ? world_object(collection, id) : NULL;
	if (!object)
		deliver_error(answer, 404, "not_found", NULL);
	return object;
}

/* As it is stored, whether readers see it or not. */
static void
get_object(struct call *call, struct answer *answer)
{
	struct object *object = named_object(call, answer);
	if (!object)
		return;
	world_see(object, call->now_us); /* brings its progression up to date */
	json_t *body = json_loads(object->body, 0, NULL);
	deliver_json(answer, 200,
		     json_pack("{s:o, s:b, s:b}", "object", body, "deleted", object->deleted,
			       "visible", object->visible_us <= call->now_us));
}

static void
delete_object(struct call *call, struct answer *answer)
{
	struct object *object = named_object(call, answer);
	if (!object)
		return;
	if (!object->deleted)
		world_delete(world_collection(&call->sim->world, segment(call, 2)), object);
	answer->status = 204;
}

static bool
seed_one(struct collection *collection, json_t *item, int64_t now_us)
{
	const char *id = json_string_value(json_object_get(item, collection->id_member));
	if (!json_is_object(item))
		return false;
	char *made = id ? NULL : world_make_id(collection);
	world_write(collection, made ? made : id, item, &(struct write_faults){ 0 }, now_us);
	free(made);
	return true;
}

static void
post_objects(struct call *call, struct answer *answer)
{
	const char *name = segment(call, 2);
	struct collection *collection = name ? world_collection(&call->sim->world, name) : NULL;
	size_t i, written = 0, count = json_is_array(call->body) ? json_array_size(call->body) : 1;
	if (!collection) {
		deliver_error(answer, 404, "unknown_collection", NULL);
		return;
	}
	for (i = 0; i < count; i++) {
		json_t *item =
			json_is_array(call->body) ? json_array_get(call->body, i) : call->body;
		written += seed_one(collection, item, call->now_us);
	}
	if (written == count)
		deliver_json(answer, 200, json_pack("{s:I}", "written", (json_int_t)written));
	else
		deliver_error(answer, 400, "bad_body", "not every item is an object");
}

static void
put_collection(struct call *call, struct answer *answer)
{
	struct err err = { 0 };
	const char *name = segment(call, 2);
	if (name && world_add_collection(&call->sim->world, name, call->body, &err))
		deliver_json(answer, 200, json_pack("{s:s}", "collection", name));
	else
		deliver_error(answer, 400, "bad_collection", name ? err.text : "no name");
}

static void
get_behaviours(struct call *call, struct answer *answer)
{
	deliver_json(answer, 200,
		     json_pack("{s:o}", "data", behaviours_list(&call->sim->behaviours)));
}

static void
post_behaviours(struct call *call, struct answer *answer)
{
	struct err err = { 0 };
	if (behaviours_add(&call->sim->behaviours, call->body, call->now_us, &err))
		get_behaviours(call, answer);
	else
		deliver_error(answer, 400, "bad_behaviour", err.text);
}

static void
delete_behaviours(struct call *call, struct answer *answer)
{
	size_t removed = behaviours_remove(&call->sim->behaviours, segment(call, 2));
	deliver_json(answer, 200, json_pack("{s:I}", "removed", (json_int_t)removed));
}

static void
post_refuse(struct call *call, struct answer *answer)
{
	struct err err = { 0 };
	int64_t for_us = 0;
	const char *text = json_string_value(json_object_get(call->body, "for"));
	if (text && decode_duration(text, &for_us, &err) && server_refuse(call->sim, for_us, &err))
		deliver_json(answer, 200, json_pack("{s:s}", "refusing_for", text));
	else
		deliver_error(answer, 400, "bad_duration", text ? err.text : "for is missing");
}

static const struct {
	const char *method, *what;
	bool needs_body;
	void (*serve)(struct call *call, struct answer *answer);
} routes[] = {
	{ "GET", "counts", false, get_counts },
	{ "GET", "effects", false, get_effects },
	{ "GET", "objects", false, get_object },
	{ "POST", "objects", true, post_objects },
	{ "DELETE", "objects", false, delete_object },
	{ "PUT", "collections", true, put_collection },
	{ "GET", "behaviours", false, get_behaviours },
	{ "POST", "behaviours", true, post_behaviours },
	{ "DELETE", "behaviours", false, delete_behaviours },
	{ "POST", "refuse", true, post_refuse },
};

void
admin_serve(struct call *call, struct answer *answer)
{
	const char *what = segment(call, 1);
	books_flush(call->sim->books);
	for (size_t i = 0; what && i < ARRAY_LEN(routes); i++) {
		if (strcmp(routes[i].method, call->method) != 0 ||
		    strcmp(routes[i].what, what) != 0)
			continue;
		if (routes[i].needs_body && !call->body)
			deliver_error(answer, 400, "bad_body", "the body is no JSON");
		else
			routes[i].serve(call, answer);
		return;
	}
	deliver_error(answer, 404, "unknown_admin_call", NULL);
}
