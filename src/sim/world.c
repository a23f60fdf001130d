/* SPDX-License-Identifier: Apache-2.0
 *
 * Collections and objects. Bodies are kept as text: most reads hand them out as they are, and a
 * million objects stay small.
 */
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "postings.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"

struct key_note {
	struct object *object;
	uint64_t body_hash;
	char key[];
};

static const char *const not_found_words[] = { "json", "html", "empty", "bare", NULL };
static const char *const deleted_words[] = { "404", "410", NULL };

#define AT(member) .offset = offsetof(struct collection, member)

static const struct decode_field collection_fields[] = {
	{ "id", DECODE_TEXT, AT(id_member) },
	{ "id_prefix", DECODE_TEXT, AT(id_prefix) },
	{ "list", DECODE_TEXT, AT(list_shape) },
	{ "indexes", DECODE_TEXTS, AT(indexes) },
	{ "idempotency", DECODE_BOOL, AT(idempotency) },
	{ "conditional", DECODE_BOOL, AT(conditional) },
	{ "not_found", DECODE_WORD, AT(not_found), .words = not_found_words },
	{ "not_found_body", DECODE_OBJECT, AT(not_found_body) },
	{ "deleted", DECODE_WORD, AT(deleted), .words = deleted_words },
	{ "progression", DECODE_LIST, AT(progression) },
	{ "seed", DECODE_LIST, AT(seed) },
	{ 0 },
};

static void
object_destroy(struct object *object)
{
	free(object->id);
	free(object->body);
	free(object->old_body);
	json_decref(object->progression);
	free(object);
}

static void
collection_destroy(struct collection *collection)
{
	size_t cursor = 0;
	void *value;
	for (struct object *o = collection->first, *next; o; o = next) {
		next = o->next;
		object_destroy(o);
	}
	while ((value = table_next(&collection->by_key, &cursor)))
		free(value);
	for (size_t i = 0; i < json_array_size(collection->indexes); i++)
		postings_finish(&collection->by_member[i]);
	free(collection->by_member);
	table_finish(&collection->by_id);
	table_finish(&collection->by_key);
	decode_release(collection_fields, collection);
	free(collection->name);
	free(collection);
}

void
world_finish(struct world *world)
{
	size_t cursor = 0;
	struct collection *collection;
	while ((collection = table_next(&world->collections, &cursor)))
		collection_destroy(collection);
	table_finish(&world->collections);
}

static bool
seed(struct collection *collection, struct err *err)
{
	size_t i;
	json_t *item;
	json_array_foreach(collection->seed, i, item) {
		const char *id = json_string_value(json_object_get(item, collection->id_member));
		if (!id)
			return err_set(err, ERR_INVALID, "seed: object %zu has no text \"%s\"", i,
				       collection->id_member);
		world_write(collection, id, item, &(struct write_faults){ 0 }, 0);
	}
	return true;
}

static bool
progression_valid(const json_t *steps, struct err *err)
{
	size_t i;
	json_t *step;
	int64_t after_us;
	json_array_foreach(steps, i, step) {
		const char *after = json_string_value(json_object_get(step, "after"));
		if (!after || !json_is_object(json_object_get(step, "set")))
			return err_set(err, ERR_INVALID, "progression: needs after and set");
		if (!decode_duration(after, &after_us, err))
			return err_wrap(err, "progression");
	}
	return true;
}

bool
world_add_collection(struct world *world, const char *name, const json_t *settings, struct err *err)
{
	struct collection *collection = xcalloc(1, sizeof(*collection));
	collection->name = xstrdup(name);
	if (!decode_object(settings, collection_fields, collection, err) ||
	    !progression_valid(collection->progression, err)) {
		collection_destroy(collection);
		return err_wrap(err, "collection \"%s\"", name);
	}
	if (!collection->id_member)
		collection->id_member = xstrdup("id");
	size_t indexes = json_array_size(collection->indexes);
	collection->by_member = xcalloc(indexes + 1, sizeof(*collection->by_member));
	if (!seed(collection, err)) {
		collection_destroy(collection);
		return err_wrap(err, "collection \"%s\"", name);
	}
	struct collection *old = world_collection(world, name);
	table_put(&world->collections, collection->name, collection);
	if (old)
		collection_destroy(old);
	return true;
}

struct collection *
world_collection(const struct world *world, const char *name)
{
	return table_get(&world->collections, name);
}

char *
world_make_id(struct collection *collection)
{
	struct strbuf id = { 0 };
	if (collection->id_prefix)
		strbuf_puts(&id, collection->id_prefix);
	else
		strbuf_printf(&id, "%s_", collection->name);
	strbuf_printf(&id, "%06" PRIu64, ++collection->made);
	return strbuf_take(&id);
}

struct object *
world_object(const struct collection *collection, const char *id)
{
	return table_get(&collection->by_id, id);
}

static json_t *
stored_form(const struct collection *collection, const char *id, json_t *body,
	    const struct write_faults *faults)
{
	json_t *stored = json_copy(body);
	size_t i;
	json_t *name;
	json_object_set_new(stored, collection->id_member, json_string(id));
	if (faults->overwrite)
		json_object_update(stored, (json_t *)(uintptr_t)faults->overwrite);
	json_array_foreach(faults->drop, i, name)
		json_object_del(stored, json_string_value(name));
	return stored;
}

static struct object *
append(struct collection *collection, const char *id, int64_t now_us)
{
	struct object *object = xcalloc(1, sizeof(*object));
	object->id = xstrdup(id);
	object->created_us = now_us;
	object->prev = collection->last;
	if (collection->last)
		collection->last->next = object;
	else
		collection->first = object;
	collection->last = object;
	collection->objects++;
	table_put(&collection->by_id, object->id, object);
	return object;
}

/* Calls set for each index with the text of the object's member there. */
static void
each_index(struct collection *collection, struct object *object, const json_t *body,
	   void (*set)(struct table *index, const char *text, struct object *object))
{
	size_t i;
	json_t *name;
	struct postings_text text;
	json_array_foreach(collection->indexes, i, name) {
		const json_t *value = json_object_get(body, json_string_value(name));
		if (postings_text(value, &text))
			set(&collection->by_member[i], text.at, object);
	}
}

static void
unindex(struct collection *collection, struct object *object)
{
	json_t *body = json_loads(object->body, 0, NULL);
	each_index(collection, object, body, postings_remove);
	json_decref(body);
}

static bool
seen_before(const struct object *object, int64_t now_us)
{
	return object->body && object->visible_us <= now_us && !object->deleted;
}

static void
replace_body(struct object *object, char *body, const struct write_faults *faults, int64_t now_us)
{
	if (seen_before(object, now_us)) {
		free(object->old_body);
		object->old_body = object->body;
	} else {
		free(object->body);
	}
	object->body = body;
	object->visible_us = faults->visible_us;
	object->listed_us = faults->listed_us;
	object->deleted = false;
}

struct object *
world_write(struct collection *collection, const char *id, json_t *body,
	    const struct write_faults *faults, int64_t now_us)
{
	struct object *object = world_object(collection, id);
	json_t *stored = stored_form(collection, id, body, faults);
	const json_t *steps = faults->progression ? faults->progression : collection->progression;
	if (object)
		unindex(collection, object);
	else
		object = append(collection, id, now_us);
	replace_body(object, json_dumps(stored, JSON_COMPACT | JSON_REAL_PRECISION(15)), faults,
		     now_us);
	json_decref(object->progression);
	object->progression = json_incref((json_t *)(uintptr_t)steps);
	object->step = 0;
	each_index(collection, object, stored, postings_add);
	json_decref(stored);
	return object;
}

void
world_delete(struct collection *collection, struct object *object)
{
	unindex(collection, object);
	object->deleted = true;
}

static int64_t
step_due(const struct object *object, size_t step)
{
	const json_t *entry = json_array_get(object->progression, step);
	int64_t after_us = 0;
	struct err err = { 0 };
	if (!decode_duration(json_string_value(json_object_get(entry, "after")), &after_us, &err))
		return INT64_MAX; /* cannot be: checked when it was loaded */
	return object->created_us + after_us;
}

/* Brings the body to the step of its progression that the time has reached. */
static void
progress(struct object *object, int64_t now_us)
{
	size_t steps = json_array_size(object->progression);
	if (object->step >= steps || step_due(object, object->step) > now_us)
		return;
	json_t *body = json_loads(object->body, 0, NULL);
	for (; object->step < steps && step_due(object, object->step) <= now_us; object->step++) {
		json_t *entry = json_array_get(object->progression, object->step);
		json_object_update(body, json_object_get(entry, "set"));
	}
	free(object->body);
	object->body = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(body);
}

const char *
world_see(struct object *object, int64_t now_us)
{
	if (object->deleted)
		return NULL;
	if (object->visible_us > now_us)
		return object->old_body;
	progress(object, now_us);
	return object->body;
}

void
world_remember_key(struct collection *collection, const char *key, struct object *object,
		   uint64_t body_hash)
{
	size_t len = strlen(key) + 1;
	struct key_note *note = xcalloc(1, sizeof(*note) + len);
	*note = (struct key_note){ .object = object, .body_hash = body_hash };
	memcpy(note->key, key, len);
	table_put(&collection->by_key, note->key, note);
}

struct object *
world_by_key(const struct collection *collection, const char *key, uint64_t *ret_body_hash)
{
	const struct key_note *note = table_get(&collection->by_key, key);
	if (!note)
		return NULL;
	*ret_body_hash = note->body_hash;
	return note->object;
}
