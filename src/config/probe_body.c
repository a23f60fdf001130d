/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes named templates and JSON bodies, and walks over all placeholders of a probe.
 */
#include "probe_body.h"

#include <string.h>

#include "condition.h"
#include "condition_shape.h"
#include "header.h"
#include "json_scalar.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "tree.h"

const struct shape shape_templates = {
	.name = "templates",
	.kind = SHAPE_MAP,
	.pattern = "[\\s\\S]",
	.of = &shape_template,
};
const struct shape shape_header_templates = {
	.kind = SHAPE_MAP,
	.pattern = HEADER_NAME_PATTERN,
	.of = &shape_template,
};

typedef bool decode_text_fn(struct loading *loading, const struct node *node,
			    struct template *ret_template);

static const struct named_template *
decode_named(struct loading *loading, const struct node *node, decode_text_fn *decode,
	     size_t *ret_count)
{
	struct named_template *list;
	size_t count = 0;

	if (node->kind != NODE_MAP)
		return complain_found(loading, node, "a mapping of names to texts"), NULL;
	list = arena_array(loading->arena, struct named_template, node->count + 1);
	for (const struct node *child = node->first; child; child = child->next) {
		if (child->key[0] == '\0')
			complain_at_key(loading, child, "an empty name");
		list[count].name = child->key;
		(void)decode(loading, child, &list[count++].value);
	}
	*ret_count = count;
	return list;
}

const struct named_template *
named_templates_decode(struct loading *loading, const struct node *node, size_t *ret_count)
{
	return decode_named(loading, node, template_decode, ret_count);
}

const struct named_template *
query_templates_decode(struct loading *loading, const struct node *node, size_t *ret_count)
{
	return decode_named(loading, node, template_decode_joining, ret_count);
}

static const struct shape json_null = { .kind = SHAPE_NULL };
static const struct shape json_list = { .kind = SHAPE_LIST, .of = &shape_json };
static const struct shape json_map = { .kind = SHAPE_MAP, .of = &shape_json };
static const struct shape *const json_either[] = { &shape_template, &json_null, &json_list,
						   &json_map, NULL };
const struct shape shape_json = {
	.name = "json",
	.kind = SHAPE_EITHER,
	.either = json_either,
	.help = "A JSON body; its texts may hold placeholders.",
};

static bool json_decode(struct loading *loading, const struct node *node,
			struct json_template *ret);

static bool
json_children(struct loading *loading, const struct node *node, struct json_template *ret)
{
	struct json_template *children =
		arena_array(loading->arena, struct json_template, node->count + 1);
	size_t count = 0;
	bool good = true;

	for (const struct node *child = node->first; child; child = child->next) {
		good = json_decode(loading, child, &children[count]) && good;
		children[count++].name = node->kind == NODE_MAP ? child->key : NULL;
	}
	ret->kind = node->kind == NODE_MAP ? VALUE_OBJECT : VALUE_LIST;
	ret->children = children;
	ret->count = count;
	return good;
}

static const char each_prefix[] = "{batch|each ";

static bool
is_each(const struct node *node)
{
	return node->kind == NODE_TEXT && strstr(node->text, "{batch|each") != NULL;
}

/* "{batch|each NAME=FIELD}", and nothing else in the text. */
static bool
each_decode(struct loading *loading, const struct node *node, struct json_template *ret)
{
	size_t prefix = sizeof(each_prefix) - 1, len = strlen(node->text);
	const char *name = node->text + prefix, *equals;

	if (strncmp(node->text, each_prefix, prefix) != 0 || strchr(name, '}') == NULL ||
	    strchr(name, '}') != node->text + len - 1)
		return complain_found(loading, node,
				      "\"{batch|each NAME=FIELD}\" as the whole text"),
		       false;
	equals = strrchr(name, '=');
	if (!equals || equals == name ||
	    !operation_field_from_name(equals + 1, len - prefix - (size_t)(equals - name) - 2,
				       &ret->batch_field) ||
	    !operation_field_is_text(ret->batch_field))
		return complain_found(loading, node,
				      "{batch|each NAME=FIELD} with a text of the operation as "
				      "FIELD, like {batch|each id=business_key}"),
		       false;
	ret->kind = VALUE_LIST;
	ret->batch_name = arena_strndup(loading->arena, name, (size_t)(equals - name));
	return true;
}

static bool
json_decode(struct loading *loading, const struct node *node, struct json_template *ret)
{
	if (node->kind == NODE_LIST || node->kind == NODE_MAP)
		return json_children(loading, node, ret);
	if (is_each(node))
		return each_decode(loading, node, ret);
	ret->kind = json_scalar_kind(node);
	if (ret->kind == VALUE_TEXT)
		return template_decode(loading, node, &ret->text);
	if (ret->kind != VALUE_NULL)
		ret->text.text = node->text;
	return true;
}

const struct json_template *
json_template_decode(struct loading *loading, const struct node *node)
{
	struct json_template *json = arena_new(loading->arena, struct json_template);

	return json_decode(loading, node, json) ? json : NULL;
}

struct search {
	placeholder_test_fn *test;
	const void *context;
};

static bool
any_in_template(const struct search *search, const struct template *template)
{
	for (size_t i = 0; i < template->count; i++)
		if (!template->parts[i].literal &&
		    search->test(&template->parts[i], search->context))
			return true;
	return false;
}

static bool
any_in_named(const struct search *search, const struct named_template *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (any_in_template(search, &list[i].value))
			return true;
	return false;
}

static bool
any_in_json(const struct search *search, const struct json_template *json)
{
	if (!json)
		return false;
	for (size_t i = 0; i < json->count; i++)
		if (any_in_json(search, &json->children[i]))
			return true;
	return any_in_template(search, &json->text);
}

bool
probe_any_placeholder(const struct probe *probe, placeholder_test_fn *test, const void *context)
{
	struct search search = { test, context };

	return any_in_template(&search, &probe->path) || any_in_template(&search, &probe->text) ||
	       any_in_named(&search, probe->query, probe->query_count) ||
	       any_in_named(&search, probe->headers, probe->headers_count) ||
	       any_in_named(&search, probe->form, probe->form_count) ||
	       any_in_json(&search, probe->json);
}

static bool
stands_for(const struct template_part *placeholder, const void *field)
{
	return !placeholder->batch_join &&
	       placeholder->field == *(const enum operation_field *)field;
}

bool
probe_sends(const struct probe *probe, enum operation_field field)
{
	const struct json_template *each = json_template_batch(probe->json);

	return probe_any_placeholder(probe, stands_for, &field) ||
	       (each && each->batch_field == field) ||
	       (probe->batch_max > 0 && probe->batch_field == field);
}

const struct json_template *
json_template_batch(const struct json_template *json)
{
	const struct json_template *found = NULL;

	if (!json || json->batch_name)
		return json;
	for (size_t i = 0; i < json->count && !found; i++)
		found = json_template_batch(&json->children[i]);
	return found;
}

static bool
joins_batch(const struct template_part *placeholder, const void *context)
{
	return placeholder->batch_join != NULL;
}

bool
probe_asks_batch(const struct probe *probe)
{
	return json_template_batch(probe->json) || probe_any_placeholder(probe, joins_batch, NULL);
}
