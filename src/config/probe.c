/* SPDX-License-Identifier: Apache-2.0
 *
 * A probe is a question, so what could be more than a question is refused: a POST that does not say
 * that it reads, a query smuggled into a path, credentials among the headers.
 */
#include "probe.h"

#include <string.h>

#include "condition.h"
#include "condition_shape.h"
#include "header.h"
#include "loading.h"
#include "probe_body.h"
#include "probe_check.h"
#include "probe_list.h"
#include "reach.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "tree.h"

enum { PROBES_MAX = 16 };

/* What the table writes into, before it becomes a struct probe. */
struct draft {
	struct probe probe;
	bool reads;
	int methods, bodies;
};

static const struct shape needed = { .kind = SHAPE_FIELD };
static const struct shape needs_shape = { .kind = SHAPE_LIST, .of = &needed };

static void
decode_needs(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;
	enum operation_field *needs =
		arena_array(loading->arena, enum operation_field, node->count + 1);
	size_t count = 0;

	if (node->kind != NODE_LIST) {
		complain_found(loading, node,
			       "a list of fields of the operation, like [remote_id]");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		const char *name = text_decode(loading, child, "a field of the operation");

		if (!name)
			continue;
		if (operation_field_from_name(name, strlen(name), &needs[count]))
			count++;
		else
			complain(loading, child, "the operation has no field %s",
				 found_words(loading, child));
	}
	draft->probe.needs = needs;
	draft->probe.needs_count = count;
}

/* {expected./…} may hold whatever a pointer may. */
static const struct shape path_shape = {
	.kind = SHAPE_STRING,
	.pattern = "^/([\\s\\S]*\\{expected\\.|([^?\\s{}]|\\{<field>([|+-][^{}]*)?\\})*$)",
	.help = "A path that begins with /, with placeholders of known fields; parameters belong "
		"to query.",
};

/* Literals of a path go out as they are written; only placeholders are encoded. */
static bool
path_is_plain(struct loading *loading, const struct node *node, const struct template *path)
{
	static const char refused[] = "\"<>\\^`{|} #";

	if (node->text[0] != '/')
		return complain_found(loading, node, "a path that begins with /"), false;
	for (size_t i = 0; i < path->count; i++) {
		const char *literal = path->parts[i].literal;

		if (literal && strchr(literal, '?'))
			return complain(loading, node,
					"no \"?\" in a path, allowed: query: {name: value}"),
			       false;
		for (const char *c = literal; c && *c != '\0'; c++)
			if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7F ||
			    strchr(refused, *c))
				return complain(loading, node,
						"a character that must be percent-encoded in a "
						"path"),
				       false;
	}
	if (strstr(node->text, "/../") || strstr(node->text, "/./"))
		return complain(loading, node, "no \".\" or \"..\" in a path"), false;
	return true;
}

static bool
ends_in_dots(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && (strcmp(slash, "/.") == 0 || strcmp(slash, "/..") == 0);
}

static void
decode_path(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	draft->probe.method = (enum http_method)field->min;
	if (draft->methods++ > 0)
		complain_at_key(loading, node, "a probe has one of get, head, post");
	if (!template_decode(loading, node, &draft->probe.path))
		return;
	if (path_is_plain(loading, node, &draft->probe.path) && ends_in_dots(node->text))
		complain(loading, node, "no \".\" or \"..\" in a path");
}

static void
decode_query(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	draft->probe.query = query_templates_decode(loading, node, &draft->probe.query_count);
}

static void
decode_headers(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct draft *draft = at;

	draft->probe.headers = named_templates_decode(loading, node, &draft->probe.headers_count);
	for (const struct node *child = node->kind == NODE_MAP ? node->first : NULL; child;
	     child = child->next)
		(void)header_check(loading, child);
}

static void
take_body(struct loading *loading, const struct node *node, struct draft *draft,
	  enum body_kind kind)
{
	draft->probe.body = kind;
	if (draft->bodies++ > 0)
		complain_at_key(loading, node, "a probe has one of json, form, text");
}

static void
decode_json(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	take_body(loading, node, draft, BODY_JSON);
	draft->probe.json = json_template_decode(loading, node);
}

static void
decode_form(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	take_body(loading, node, draft, BODY_FORM);
	draft->probe.form = named_templates_decode(loading, node, &draft->probe.form_count);
}

static void
decode_text(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	take_body(loading, node, draft, BODY_TEXT);
	(void)template_decode(loading, node, &draft->probe.text);
}

static void
decode_conditions(struct loading *loading, const struct node *node, void *at,
		  const struct field *field)
{
	(void)conditions_decode(loading, node, at);
}

static void
decode_items(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	draft->probe.has_items = pointer_decode(loading, node, &draft->probe.items);
}

static void
decode_each(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	draft->probe.has_each = pointer_decode(loading, node, &draft->probe.each);
}

static void
decode_where(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct draft *draft = at;

	if (!condition_decode(loading, node, &draft->probe.where))
		return;
	draft->probe.has_where = true;
	if (draft->probe.where.count == 0)
		complain(loading, node, "an empty condition would take every item for ours");
}

static void
decode_remote_id(struct loading *loading, const struct node *node, void *at,
		 const struct field *field)
{
	struct draft *draft = at;

	draft->probe.has_remote_id = locator_decode(loading, node, &draft->probe.remote_id);
}

#define IN_PROBE(member) offsetof(struct draft, probe.member)

#define REQUEST_FIELDS                                                                             \
	{ "get",                                                                                   \
	  0,                                                                                       \
	  OWN(decode_path),                                                                        \
	  .shape = &path_shape,                                                                    \
	  .min = METHOD_GET,                                                                       \
	  .help = "Path that is asked." },                                                         \
		{ "head",                                                                          \
		  0,                                                                               \
		  OWN(decode_path),                                                                \
		  .shape = &path_shape,                                                            \
		  .min = METHOD_HEAD,                                                              \
		  .help = "Path whose headers are asked." },                                       \
		{ "post",                                                                          \
		  0,                                                                               \
		  OWN(decode_path),                                                                \
		  .shape = &path_shape,                                                            \
		  .min = METHOD_POST,                                                              \
		  .help = "Path of a reading POST." },                                             \
		{ "query", 0, OWN(decode_query), .shape = &shape_templates,                        \
		  .help = "Parameters behind the path." },                                         \
		{ "headers", 0, OWN(decode_headers), .shape = &shape_header_templates,             \
		  .help = "Headers of this question." },                                           \
		{ "json", 0, OWN(decode_json), .shape = &shape_json, .help = "Body of a POST." },  \
		{ "form", 0, OWN(decode_form), .shape = &shape_templates,                          \
		  .help = "Body of a POST." },                                                     \
		{ "text", 0, OWN(decode_text), .shape = &shape_template,                           \
		  .help = "Body of a POST." },                                                     \
		{ "reads", offsetof(struct draft, reads), BOOL(false),                             \
		  .help = "This POST only reads." },                                               \
	{                                                                                          \
		"found", IN_PROBE(found), OWN(decode_conditions), .shape = &shape_conditions,      \
								  .help = "The answer is usable."  \
	}

static const struct field probe_fields[] = {
	{ "name", IN_PROBE(name), TEXT(NULL), .help = "Name of the probe, probe-1 without." },
	{ "needs", 0, OWN(decode_needs), .shape = &needs_shape,
	  .help = "Fields that the operation must have." },
	REQUEST_FIELDS,
	{ "gone", IN_PROBE(gone), OWN(decode_conditions), .shape = &shape_conditions,
	  .help = "It was there once." },
	{ "several", IN_PROBE(several), OWN(decode_conditions), .shape = &shape_conditions,
	  .help = "More than one is there." },
	{ "unfinished", IN_PROBE(unfinished), OWN(decode_conditions), .shape = &shape_conditions,
	  .help = "Still under way." },
	{ "absent", IN_PROBE(absent), OWN(decode_conditions), .shape = &shape_conditions,
	  .help = "It is not there." },
	{ "items", 0, OWN(decode_items), .shape = &shape_pointer,
	  .help = "Where the list is in the body." },
	{ "each", 0, OWN(decode_each), .shape = &shape_pointer,
	  .help = "Where the item is in an element of the list." },
	{ "where", 0, OWN(decode_where), .shape = &shape_some_condition,
	  .help = "Which items are ours." },
	{ "complete", IN_PROBE(complete), OWN(decode_conditions), .shape = &shape_conditions,
	  .help = "The list is whole." },
	{ "full", IN_PROBE(full), COUNT(1, PAGE_ITEMS_MAX, 0),
	  .help = "A list this long may be cut off." },
	{ "remote_id", 0, OWN(decode_remote_id), .shape = &shape_locator,
	  .help = "Where the item has its id." },
	{ "skip", IN_PROBE(skip), OWN(decode_conditions), .shape = &shape_conditions,
	  .help = "Items that do not count beside others." },
	{ "pages", IN_PROBE(pages), OWN(pages_decode), .shape = &shape_pages, .table = &pages_table,
	  .help = "How the list goes on." },
	{ "batch", offsetof(struct draft, probe), OWN(batch_decode), .table = &batch_table,
	  .help = "One question about several operations." },
	{ "covers", offsetof(struct draft, probe), OWN(covers_decode), .table = &covers_table,
	  .help = "How far the data reach." },
	{ "stale", IN_PROBE(stale), BOOL(false), .help = "An index or a copy: it may be behind." },
	{ "then", IN_PROBE(reread), OWN(reread_decode), .table = &reread_table,
	  .help = "The authoritative second read." },
	{ "file", 0, LATER },
	{ "receipt", 0, LATER },
	{ "blind", 0, LATER },
};
const struct table probe_table = { probe_fields, ARRAY_LEN(probe_fields) };

static const struct field control_fields[] = { REQUEST_FIELDS };
const struct table control_table = { control_fields, ARRAY_LEN(control_fields) };

static const char *const methods[] = { "get", "head", "post", NULL };
static const struct shape_option request_options[] = {
	NEEDS("get", "found"),
	NEEDS("head", "found"),
	NEEDS("post", "found"),
	NEEDS_VALUE("post", "reads", "true"),
	NEEDS("json", "post"),
	NEEDS("form", "post"),
	NEEDS("text", "post"),
	/* from here on not of a control */
	NEEDS("each", "items"),
	NEEDS("skip", "items"),
	NEEDS("complete", "items"),
	NEEDS("full", "items"),
	NEEDS("pages", "items"),
	NEEDS("batch", "items"),
	NEEDS("then", "stale"),
};
static const struct shape probe_shape = {
	.name = "probe",
	.kind = SHAPE_TABLE,
	.table = &probe_table,
	.one_of = methods,
	.options = request_options,
	.options_count = ARRAY_LEN(request_options),
	.help = "A question to the target. It changes nothing there.",
};
const struct shape shape_probes = {
	.kind = SHAPE_LIST,
	.of = &probe_shape,
	.min = 1,
	.max = PROBES_MAX,
};

static const struct word no_control_list[] = { { "none", .value = 0 } };
WORDS(no_control_words, no_control_list);
static const struct shape no_control = { .kind = SHAPE_WORDS, .words = &no_control_words };
static const struct shape control_probe = {
	.kind = SHAPE_TABLE,
	.table = &control_table,
	.one_of = methods,
	.options = request_options,
	.options_count = 7,
};
static const struct shape *const control_either[] = { &no_control, &control_probe, NULL };
const struct shape shape_control = { .kind = SHAPE_EITHER, .either = control_either };

static bool
is_http(const struct node *node)
{
	return !node_member(node, "file") && !node_member(node, "receipt");
}

static void
check_request(struct loading *loading, const struct node *node, const struct draft *draft)
{
	const struct node *post = node_member(node, "post");
	const struct node *reads = node_member(node, "reads");

	if (draft->methods == 0)
		complain(loading, node, "asks nothing, allowed: one of get, head, post");
	if (post && !reads)
		complain_at_key(loading, post, "a POST must say reads: true");
	else if (post && !draft->reads)
		complain(loading, reads, "a POST that does not read cannot be a probe");
	if (draft->methods == 1 && node_member(node, "head"))
		probe_check_head(loading, node, &draft->probe);
	if (draft->bodies > 0 && draft->methods > 0 && !post)
		complain(loading, node, "json, form and text belong to post");
	if (!node_member(node, "found"))
		complain(loading, node, "found is missing: which answer is usable");
}

static void
probe_decode(struct loading *loading, const struct node *node, size_t index,
	     struct probe *ret_probe)
{
	struct draft draft = { 0 };

	fields_decode(loading, node, &probe_table, &draft);
	if (!draft.probe.name)
		draft.probe.name = arena_printf(loading->arena, "probe-%zu", index + 1);
	if (!node_member(node, "remote_id")) {
		struct err err = { 0 }; /* "/id" parses */

		draft.probe.has_remote_id =
			locator_parse(loading->arena, "/id", &draft.probe.remote_id, &err);
	}
	*ret_probe = draft.probe;
	if (node->kind != NODE_MAP || !is_http(node))
		return;
	check_request(loading, node, &draft);
	probe_check_list(loading, node, ret_probe);
	reach_check_probe(loading, node, ret_probe);
}

void
probes_decode(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct policy *policy = at;
	struct probe *probes;
	size_t count = 0;

	if (node->kind != NODE_LIST || node->count == 0) {
		complain_found(loading, node, "a list of probes");
		return;
	}
	if (node->count > PROBES_MAX) {
		complain(loading, node, "%zu probes, allowed: at most %d", node->count, PROBES_MAX);
		return;
	}
	probes = arena_array(loading->arena, struct probe, node->count);
	for (const struct node *child = node->first; child; child = child->next) {
		probe_decode(loading, child, count, &probes[count]);
		count++;
	}
	probes_link(loading, node, probes, count);
	policy->probes = probes;
	policy->probes_count = count;
}

static bool
any_part(const struct template_part *placeholder, const void *context)
{
	return true;
}

void
control_decode(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct draft draft = { 0 };
	struct probe *probe = arena_new(loading->arena, struct probe);

	if (node->kind == NODE_TEXT && strcmp(node->text, "none") == 0)
		return;
	if (node->kind == NODE_TEXT) {
		complain_found(loading, node, "none, or the probe of an object that exists");
		return;
	}
	fields_decode(loading, node, &control_table, &draft);
	draft.probe.name = "control";
	*probe = draft.probe;
	*(const struct probe **)at = probe;
	if (node->kind != NODE_MAP)
		return;
	check_request(loading, node, &draft);
	if (probe_any_placeholder(probe, any_part, NULL) || probe_asks_batch(probe))
		complain(loading, node, "a control has no operation, so no placeholders");
	reach_check_probe(loading, node, probe);
}
