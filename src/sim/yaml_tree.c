/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks libyaml's events recursively; each event is freed where it was read.
 */
#include "yaml_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "reconciled/base/err.h"

enum { DEPTH_MAX = 32 };

struct walk {
	yaml_parser_t parser;
	const char *file;
	int depth;
};

#define fail_at(walk, mark, err, ...)                                                              \
	(err_fill((err), ERR_INVALID, __VA_ARGS__),                                                \
	 err_wrap((err), "%s:%zu:%zu", (walk)->file, (mark).line + 1, (mark).column + 1))

static bool
next(struct walk *walk, yaml_event_t *ret_event, struct err *err)
{
	if (yaml_parser_parse(&walk->parser, ret_event))
		return true;
	const char *problem = walk->parser.problem;
	return fail_at(walk, walk->parser.problem_mark, err, "%s", problem ? problem : "not YAML");
}

static json_t *
plain(const char *text)
{
	char *end;
	if (strcmp(text, "true") == 0)
		return json_true();
	if (strcmp(text, "false") == 0)
		return json_false();
	if (strcmp(text, "null") == 0 || strcmp(text, "~") == 0 || *text == '\0')
		return json_null();
	if (strspn(text, "-0123456789.") == strlen(text)) {
		errno = 0;
		long long n = strtoll(text, &end, 10);
		if (*end == '\0' && errno == 0)
			return json_integer(n);
		double d = strtod(text, &end);
		if (*end == '\0')
			return json_real(d);
	}
	return json_string(text);
}

static bool node(struct walk *walk, yaml_event_t *event, json_t **ret, struct err *err);

static bool
sequence(struct walk *walk, json_t *list, struct err *err)
{
	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t event = { 0 };
		json_t *item;
		if (!next(walk, &event, err))
			return false;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			return true;
		if (!node(walk, &event, &item, err))
			return false;
		json_array_append_new(list, item);
	}
}

static bool
mapping(struct walk *walk, json_t *object, struct err *err)
{
	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t key = { 0 }, event = { 0 };
		json_t *value;
		if (!next(walk, &key, err))
			return false;
		if (key.type == YAML_MAPPING_END_EVENT)
			return true;
		if (key.type != YAML_SCALAR_EVENT)
			return fail_at(walk, key.start_mark, err, "a key must be a scalar");
		const char *name = (const char *)key.data.scalar.value;
		if (json_object_get(object, name))
			return fail_at(walk, key.start_mark, err, "%s: repeated", name);
		if (!next(walk, &event, err) || !node(walk, &event, &value, err))
			return false;
		json_object_set_new(object, name, value);
	}
}

static bool
inside(struct walk *walk, yaml_event_t *event, json_t **ret, struct err *err)
{
	bool list = event->type == YAML_SEQUENCE_START_EVENT;
	if (++walk->depth > DEPTH_MAX)
		return fail_at(walk, event->start_mark, err, "nested deeper than %d", DEPTH_MAX);
	*ret = list ? json_array() : json_object();
	bool ok = list ? sequence(walk, *ret, err) : mapping(walk, *ret, err);
	walk->depth--;
	if (!ok)
		json_decref(*ret);
	return ok;
}

static bool
node(struct walk *walk, yaml_event_t *event, json_t **ret, struct err *err)
{
	if (event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT)
		return inside(walk, event, ret, err);
	if (event->type != YAML_SCALAR_EVENT)
		return fail_at(walk, event->start_mark, err, "neither scalar, list nor mapping");
	const char *text = (const char *)event->data.scalar.value;
	bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	*ret = is_plain ? plain(text) : json_string(text);
	return true;
}

static bool
document(struct walk *walk, json_t **ret, struct err *err)
{
	for (;;) {
		CLEANUP(yaml_event_delete) yaml_event_t event = { 0 };
		if (!next(walk, &event, err))
			return false;
		if (event.type == YAML_STREAM_END_EVENT) {
			*ret = json_object();
			return true;
		}
		if (event.type != YAML_STREAM_START_EVENT &&
		    event.type != YAML_DOCUMENT_START_EVENT)
			return node(walk, &event, ret, err);
	}
}

bool
yaml_tree_load(const char *file, json_t **ret_tree, struct err *err)
{
	FILE *in = fopen(file, "re");
	if (!in)
		return err_set(err, ERR_INVALID, "could not open \"%s\": %s", file,
			       strerror(errno));
	struct walk walk = { .file = file };
	if (!yaml_parser_initialize(&walk.parser))
		abort();
	yaml_parser_set_input_file(&walk.parser, in);
	bool ok = document(&walk, ret_tree, err);
	yaml_parser_delete(&walk.parser);
	fclose(in);
	return ok;
}
