/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON Schemas: every key that loads is in its schema, every key there says what it may be, and
 * each kind of field is told as the decoder has it. What validates is tested with a validator in
 * tests/e2e.
 */
#include <stdlib.h>

#include <jansson.h>

#include "reconciled/config/config.h"
#include "reconciled/config/schema.h"
#include "tap.h"

static json_t *
load(const char *name)
{
	char *text = schema_text(name);
	json_t *schema = json_loads(text ? text : "", 0, NULL);

	free(text);
	return schema;
}

static const json_t *
resolved(const json_t *root, const json_t *schema)
{
	static const char prefix[] = "#/definitions/";
	const char *reference = json_string_value(json_object_get(schema, "$ref"));

	if (!reference)
		return schema;
	return json_object_get(json_object_get(root, "definitions"),
			       reference + sizeof(prefix) - 1);
}

/* The mapping of keys in a schema: its own, of its elements or values, or of an alternative. */
static const json_t *
properties_of(const json_t *root, const json_t *schema)
{
	static const char *const ways[] = { "items", "additionalProperties" };
	static const char *const lists[] = { "anyOf", "allOf" };
	const json_t *found, *alternative;
	size_t j;

	schema = resolved(root, schema);
	found = json_object_get(schema, "properties");
	for (size_t i = 0; i < 2 && !found && schema; i++)
		found = properties_of(root, json_object_get(schema, ways[i]));
	for (size_t i = 0; i < 2 && !found && schema; i++)
		json_array_foreach(json_object_get(schema, lists[i]), j, alternative) if (!found)
			found = properties_of(root, alternative);
	return found;
}

static const json_t *
find_path(const json_t *root, const char *path)
{
	const json_t *schema = root;
	char name[100];

	while (schema && *path != '\0') {
		size_t len = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		schema = json_object_get(properties_of(root, schema), name);
		path += len + (path[len] == '.');
	}
	return schema;
}

static bool
says_something(const json_t *schema)
{
	static const char *const keywords[] = { "type", "enum", "anyOf", "allOf", "$ref" };

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (json_object_get(schema, keywords[i]))
			return true;
	return false;
}

/* line: "FILE PATH" */
static void
test_key(json_t *const schemas[4], const char *line)
{
	static const char *const files[] = { "reconciled.yaml ", "target ", "policy ", "test " };

	for (size_t i = 0; i < 4; i++) {
		const json_t *found;

		if (strncmp(line, files[i], strlen(files[i])) != 0)
			continue;
		found = find_path(schemas[i], line + strlen(files[i]));
		tap_ok(found != NULL, "%s is in the schema", line);
		tap_ok(says_something(found),
		       "%s: the schema says what it may be (.shape of the field)", line);
		tap_ok(json_object_get(found, "description") != NULL, "%s has a description", line);
		return;
	}
	tap_ok(false, "%s is of no file that has a schema", line);
}

static void
test_keys(json_t *const schemas[4])
{
	char *text = NULL, *rest;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	config_print_keys(out);
	fclose(out);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		test_key(schemas, line);
	free(text);
}

/* SCALAR: what a text may be in an editor. */
#define SCALAR "\"type\":[\"string\",\"number\",\"boolean\"]"

static const struct {
	int file;
	const char *path, *want;
} told[] = {
	{ 0, "instance_name",
	  "{" SCALAR ",\"minLength\":1,\"description\":\"Name of this process in the journal.\"}" },
	{ 0, "observe",
	  "{\"type\":\"boolean\",\"default\":false,\"description\":\"Nothing is acted upon, "
	  "whatever "
	  "the policies say.\"}" },
	{ 0, "batch",
	  "{\"type\":[\"integer\",\"string\"],\"pattern\":\"^[0-9]+$\",\"patternErrorMessage\":\"A "
	  "whole number.\",\"minimum\":1,\"maximum\":"
	  "5000,"
	  "\"default\":500,\"description\":\"Most operations fetched and recorded at once.\"}" },
	{ 0, "max_verdict_age",
	  "{\"type\":\"string\",\"pattern\":\"^[0-9]+[smhd]$\",\"patternErrorMessage\":\"A "
	  "duration like 90s, 15m, 24h, 30d.\",\"default\":\"5s\",\"description\":"
	  "\"Older answers start no correction. From 1s to 5m.\"}" },
	{ 0, "evidence_hash_key",
	  "{\"allOf\":[{\"$ref\":\"#/definitions/secret\"}],\"description\":\"A secret of 32 bytes "
	  "or "
	  "more, for hashes in evidence.\"}" },
	{ 0, "log.level",
	  "{\"enum\":[\"error\",\"warning\",\"info\",\"debug\"],\"default\":\"info\","
	  "\"description\":"
	  "\"How much is logged.\"}" },
	{ 1, "timeout.connect",
	  "{\"type\":\"string\",\"pattern\":\"^[0-9]+(ms|s|m|h|d)$\",\"patternErrorMessage\":\"A "
	  "duration like 200ms, 3s, 5m.\",\"default\":\"3s\","
	  "\"description\":\"Longest wait for a connection. From 10ms to 5m.\"}" },
	{ 1, "max_body",
	  "{\"type\":[\"integer\",\"string\"],\"pattern\":\"^[0-9]+(KiB|MiB)?$\","
	  "\"patternErrorMessage\":\"Bytes like 4096, 64KiB, 1MiB.\",\"minimum\":1024,"
	  "\"maximum\":67108864,\"default\":1048576,\"description\":\"Most bytes of an answer, "
	  "decoded.\"}" },
	{ 1, "tls.min",
	  "{\"enum\":[1.2,\"1.2\",1.3,\"1.3\"],\"description\":\"Oldest version of TLS that is "
	  "spoken.\"}" },
	{ 2, "mode",
	  "{\"enum\":[\"observe\",\"enforce\"],\"enumDescriptions\":[\"Judges and records "
	  "only.\",\"Acts upon its verdicts; needs "
	  "describe.\"],\"default\":\"observe\",\"description\":\"Whether "
	  "its "
	  "verdicts are acted upon.\"}" },
	{ 2, "guard.share",
	  "{\"type\":\"string\",\"pattern\":\"^0*(100|[0-9]{1,2})%$\",\"patternErrorMessage\":"
	  "\"From 0% to 100%.\",\"default\":\"50%\","
	  "\"description\":\"Most missing and divergent ones among its verdicts.\"}" },
	{ 2, "recheck.factor",
	  "{\"type\":[\"number\",\"string\"],\"pattern\":\"^[0-9]+(\\\\.[0-9]{1,3})?$\","
	  "\"patternErrorMessage\":\"A factor from 1 to 100, like 2 or 1.5.\","
	  "\"minimum\":1,"
	  "\"maximum\":100,\"description\":\"How the pauses grow.\"}" },
	{ 2, "actions.correct",
	  "{\"anyOf\":[{\"enum\":[\"confirm\",\"review\",\"wait\"],\"enumDescriptions\":[\"It is "
	  "settled.\",\"A person decides.\",\"It is looked at "
	  "again.\"]},{\"type\":\"array\",\"items\":"
	  "{\"$ref\":\"#/definitions/action_row\"},\"minItems\":1}],\"default\":\"confirm\","
	  "\"description\":\"The effect is there as intended.\"}" },
};

static void
test_told(json_t *const schemas[4])
{
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		const json_t *found = find_path(schemas[told[i].file], told[i].path);
		char *text = json_dumps(found, JSON_COMPACT | JSON_REAL_PRECISION(15));

		tap_str(text, told[i].want, told[i].path);
		free(text);
	}
}

/* Each is one that its file cannot do without, or one that nobody may give. */
static void
test_objects(json_t *const schemas[4])
{
	static const char *const required[] = { "evidence_hash_key", "target", "probes", "cases" };
	const json_t *name;
	size_t j;

	for (size_t i = 0; i < 4; i++) {
		bool found = false;

		json_array_foreach(json_object_get(schemas[i], "required"), j, name) found =
			found || strcmp(json_string_value(name), required[i]) == 0;
		tap_ok(found, "%s is required", required[i]);
		tap_ok(json_is_false(json_object_get(schemas[i], "additionalProperties")),
		       "%s: unknown keys are refused", schema_name(i));
	}
	tap_ok(find_path(schemas[2], "compensate") == NULL, "a key for later is not offered");
	tap_ok(find_path(schemas[2], "probes.file") == NULL, "nor one of a probe");
}

int
main(void)
{
	static const char *const names[] = { "config", "target", "policy", "test" };
	json_t *schemas[4];

	for (size_t i = 0; i < 4; i++) {
		tap_str(schema_name(i), names[i], "name");
		schemas[i] = load(names[i]);
		tap_ok(json_is_object(schemas[i]), "%s is an object", names[i]);
	}
	tap_ok(schema_name(4) == NULL, "there are no more");
	tap_ok(schema_text("polici") == NULL, "no schema of another name");
	test_keys(schemas);
	test_told(schemas);
	test_objects(schemas);
	for (size_t i = 0; i < 4; i++)
		json_decref(schemas[i]);
	return tap_done();
}
