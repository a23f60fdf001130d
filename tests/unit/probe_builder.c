/* SPDX-License-Identifier: Apache-2.0
 *
 * From JSON to the probes of a policy. Believes what it reads.
 */
#include <string.h>

#include "build_parts.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"

static void
add_method(struct arena *arena, const struct value *json, struct probe *probe)
{
	static const char *const names[] = { "get", "head", "post" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (member(json, names[i])) {
			probe->method = (enum http_method)i;
			probe->path = template_of(arena, text_of(json, names[i], NULL));
		}
}

static void
add_needs(struct arena *arena, const struct value *list, struct probe *probe)
{
	enum operation_field *needs =
		arena_array(arena, enum operation_field, list ? list->count + 1 : 1);

	for (const struct value *v = list ? list->first : NULL; v; v = v->next)
		if (!operation_field_from_name(v->text, v->len, &needs[probe->needs_count++]))
			bail("field", v->text);
	probe->needs = needs;
}

static const struct named_template *
named_of(struct arena *arena, const struct value *object, size_t *ret_count)
{
	struct named_template *list =
		arena_array(arena, struct named_template, object ? object->count + 1 : 1);
	size_t n = 0;

	for (const struct value *v = object ? object->first : NULL; v; v = v->next)
		list[n++] = (struct named_template){ v->name, template_of(arena, v->text) };
	*ret_count = n;
	return list;
}

static enum operation_field
field_of(const char *name, size_t len)
{
	enum operation_field field = OP_OPERATION_ID;

	if (!operation_field_from_name(name, len, &field))
		bail("field", name);
	return field;
}

/* "{batch|each NAME=FIELD}" */
static struct json_template
each_of(struct arena *arena, const char *text)
{
	const char *name = text + strlen("{batch|each "), *equals = strchr(name, '=');

	return (struct json_template){
		.kind = VALUE_LIST,
		.batch_name = arena_strndup(arena, name, (size_t)(equals - name)),
		.batch_field = field_of(equals + 1, strlen(equals + 1) - 1),
	};
}

static struct json_template
json_of(struct arena *arena, const struct value *value)
{
	struct json_template json = { .kind = value->kind };
	struct json_template *children;

	if (value->kind == VALUE_TEXT && strncmp(value->text, "{batch|each", 11) == 0)
		return each_of(arena, value->text);
	if (value_is_scalar(value))
		json.text = template_of(arena, value->text);
	children = arena_array(arena, struct json_template, value->count + 1);
	for (const struct value *v = value->first; v; v = v->next) {
		children[json.count] = json_of(arena, v);
		children[json.count++].name = v->name;
	}
	json.children = children;
	return json;
}

static void
add_body(struct arena *arena, const struct value *json, struct probe *probe)
{
	struct json_template *root = arena_new(arena, struct json_template);

	if (member(json, "json")) {
		*root = json_of(arena, member(json, "json"));
		probe->json = root;
		probe->body = BODY_JSON;
	} else if (member(json, "form")) {
		probe->body = BODY_FORM;
	} else if (member(json, "text")) {
		probe->body = BODY_TEXT;
		probe->text = template_of(arena, text_of(json, "text", NULL));
	}
	probe->query = named_of(arena, member(json, "query"), &probe->query_count);
	probe->headers = named_of(arena, member(json, "headers"), &probe->headers_count);
	probe->form = named_of(arena, member(json, "form"), &probe->form_count);
}

static void
add_pages(struct arena *arena, const struct value *json, struct probe *probe)
{
	static const struct {
		const char *key, *from;
		enum paging kind;
	} kinds[] = {
		{ "next", "next", PAGING_NEXT },
		{ "link", NULL, PAGING_LINK },
		{ "number", "total", PAGING_NUMBER },
		{ "offset", NULL, PAGING_OFFSET },
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (member(json, kinds[i].key)) {
			probe->pages.kind = kinds[i].kind;
			probe->pages.into = text_of(json, kinds[i].key, NULL);
			if (kinds[i].from)
				probe->pages.from =
					locator_of(arena, text_of(json, kinds[i].from, NULL));
		}
	probe->pages.into = text_of(json, "into", probe->pages.into);
	probe->pages.size = int_of(json, "size", 0);
	probe->pages.max = int_of(json, "max", 10);
}

static void
add_batch(struct arena *arena, const struct value *json, struct probe *probe)
{
	probe->batch_max = int_of(json, "max", 0);
	if (probe->batch_max == 0)
		return;
	probe->batch_match = pointer_of(arena, text_of(json, "match", ""));
	for (size_t i = 0; i < probe->where.count; i++)
		if (strcmp(probe->where.rows[i].locator.text, text_of(json, "match", "")) == 0)
			probe->batch_field =
				probe->where.rows[i].test.children->operand.from->field;
}

static void
add_reread(struct arena *arena, const struct value *json, struct probe *probe)
{
	const struct value *with = member(json, "with");
	struct reread_with *list =
		arena_array(arena, struct reread_with, with ? with->count + 1 : 1);

	for (const struct value *v = with ? with->first : NULL; v; v = v->next)
		list[probe->reread.with_count++] =
			(struct reread_with){ field_of(v->name, v->name_len),
					      locator_of(arena, v->text) };
	probe->reread.with = list;
}

static struct probe
probe_of(struct arena *arena, const struct value *json)
{
	struct probe probe = {
		.name = text_of(json, "name", "probe-1"),
		.found = conditions_of(arena, member(json, "found")),
		.gone = conditions_of(arena, member(json, "gone")),
		.several = conditions_of(arena, member(json, "several")),
		.unfinished = conditions_of(arena, member(json, "unfinished")),
		.absent = conditions_of(arena, member(json, "absent")),
		.complete = conditions_of(arena, member(json, "complete")),
		.full = int_of(json, "full", 0),
		.has_items = member(json, "items") != NULL,
		.has_each = member(json, "each") != NULL,
		.has_where = member(json, "where") != NULL,
		.where = condition_of(arena, member(json, "where")),
		.skip = conditions_of(arena, member(json, "skip")),
		.stale = strcmp(text_of(json, "stale", "false"), "true") == 0,
		.has_covers = member(json, "covers") != NULL,
		.has_remote_id = member(json, "remote_id") != NULL,
	};

	add_method(arena, json, &probe);
	add_needs(arena, member(json, "needs"), &probe);
	probe.items = pointer_of(arena, text_of(json, "items", ""));
	probe.each = pointer_of(arena, text_of(json, "each", ""));
	add_body(arena, json, &probe);
	add_pages(arena, member(json, "pages"), &probe);
	add_batch(arena, member(json, "batch"), &probe);
	add_reread(arena, member(json, "then"), &probe);
	if (probe.has_covers)
		probe.covers_until =
			locator_of(arena, text_of(member(json, "covers"), "until", ""));
	if (probe.has_remote_id)
		probe.remote_id = locator_of(arena, text_of(json, "remote_id", NULL));
	return probe;
}

static const struct probe *
probe_named(const struct probe *probes, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(probes[i].name, name) == 0)
			return &probes[i];
	bail("probe", name);
	return NULL;
}

const struct probe *
probes_of(struct arena *arena, const struct value *list, size_t *ret_count)
{
	struct probe *probes = arena_array(arena, struct probe, list ? list->count + 1 : 1);
	size_t n = 0, i = 0;

	for (const struct value *v = list ? list->first : NULL; v; v = v->next)
		probes[n++] = probe_of(arena, v);
	for (const struct value *v = list ? list->first : NULL; v; v = v->next, i++)
		if (member(v, "then"))
			probes[i].reread.probe =
				probe_named(probes, n, text_of(member(v, "then"), "probe", ""));
	*ret_count = n;
	return probes;
}
