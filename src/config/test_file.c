/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → policy tests: the file as a whole, and what needs its policy.
 */
#include "test_file.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "loading.h"
#include "pair.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/xalloc.h"
#include "suggest.h"
#include "tree.h"

enum { CASE_NAME_BYTES = 200 };

/* The public part stands first. */
struct loaded {
	struct test_file tests;
	struct arena *arena;
	struct keeper *keepers;
	struct pair pair;
	const char *policy, *target; /* paths as written */
	struct test_case *cases;
	const struct node **nodes; /* of the cases */
	size_t count;
};

static void
decode_cases(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct loaded *loaded = at;

	if (node->kind != NODE_LIST || node->count == 0) {
		complain_found(loading, node, "a list of cases");
		return;
	}
	loaded->cases = arena_array(loading->arena, struct test_case, node->count);
	loaded->nodes = arena_array(loading->arena, const struct node *, node->count);
	for (const struct node *child = node->first; child; child = child->next) {
		loaded->nodes[loaded->count] = child;
		test_case_decode(loading, child, &loaded->cases[loaded->count++]);
	}
}

/* For readings whose signature needs a key; none of them is read yet. */
static void
decode_secrets(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	if (node->kind != NODE_MAP) {
		complain_found(loading, node, "a mapping of references to files");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		if (!secret_is_reference(child->key))
			complain_at_key(loading, child,
					"is no secret, allowed: credential:NAME, file:PATH, "
					"env:NAME");
		(void)text_decode(loading, child, "the path of a file");
	}
}

static const struct shape cases_shape = {
	.kind = SHAPE_LIST,
	.min = 1,
	.of = &(const struct shape){ .kind = SHAPE_TABLE, .table = &test_case_table },
};
static const struct shape secrets_shape = {
	.kind = SHAPE_MAP,
	.pattern = "^(credential|file|env):.+$",
	.of = &(const struct shape){ .kind = SHAPE_SCALAR },
};

static const struct field file_fields[] = {
	{ "policy", offsetof(struct loaded, policy), TEXT(NULL), .required = true,
	  .help = "path of the policy, seen from this file" },
	{ "target", offsetof(struct loaded, target), TEXT(NULL), .required = true,
	  .help = "path of its target, seen from this file" },
	{ "cases", 0, OWN(decode_cases), .required = true, .table = &test_case_table,
	  .shape = &cases_shape, .help = "what is tried" },
	{ "secrets", 0, OWN(decode_secrets), .shape = &secrets_shape,
	  .help = "Files that stand for secrets." },
};
const struct table test_file_table = { file_fields, ARRAY_LEN(file_fields) };

static void
check_name(struct loading *loading, const struct loaded *loaded, size_t i)
{
	const char *text = loaded->cases[i].name;
	const struct node *name = node_member(loaded->nodes[i], "name");

	if (!text)
		return;
	if (strlen(text) > CASE_NAME_BYTES)
		complain_found(loading, name,
			       arena_printf(loading->arena, "at most %d bytes", CASE_NAME_BYTES));
	for (size_t j = 0; j < i; j++) {
		if (!loaded->cases[j].name || strcmp(text, loaded->cases[j].name) != 0)
			continue;
		complain(loading, name, "%s names a case already, at line %d",
			 found_words(loading, name), node_member(loaded->nodes[j], "name")->line);
		return;
	}
}

static const char *
probe_name_at(const void *probes, size_t i)
{
	const char *name = ((const struct probe *)probes)[i].name;

	return name ? name : "";
}

static bool
has_probe(const struct policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->probes_count; i++)
		if (strcmp(probe_name_at(policy->probes, i), name) == 0)
			return true;
	return false;
}

static void
check_probe(struct loading *loading, const struct policy *policy, const struct node *name)
{
	const char *nearest;

	if (!name || name->kind != NODE_TEXT || has_probe(policy, name->text))
		return;
	nearest = suggest_nearest(name->text, probe_name_at, policy->probes, policy->probes_count);
	complain(loading, name, "the policy has no probe %s%s%s", found_words(loading, name),
		 nearest ? "; nearest: " : "", nearest ? nearest : "");
}

static void
check_type(struct loading *loading, const struct loaded *loaded, size_t i)
{
	const char *type = loaded->pair.policy.operation_type;
	const char *text = loaded->cases[i].op.operation_type;
	const struct node *operation = node_member(loaded->nodes[i], "operation");

	if (type && text && text[0] != '\0' && strcmp(text, type) != 0)
		complain_found(
			loading, node_member(operation, "operation_type"),
			arena_printf(loading->arena, "\"%s\", the type of the policy", type));
}

static void
settle_case(struct loading *loading, struct loaded *loaded, size_t i)
{
	const struct policy *policy = &loaded->pair.policy;
	const struct node *readings = node_member(loaded->nodes[i], "readings");
	struct test_case *test = &loaded->cases[i];

	check_name(loading, loaded, i);
	if (!test->op.operation_type)
		return; /* no operation, which was said */
	check_type(loading, loaded, i);
	for (const struct node *node = readings ? readings->first : NULL; node; node = node->next)
		check_probe(loading, policy, node_member(node, "probe"));
	test_operation_settle(&test->op, policy->operation_type, test->sent_us);
	if (!loaded->pair.target.rules.control)
		test->control = CONTROL_NONE;
}

/* One complaint in place of one for each key. */
static bool
is_test_file(struct loading *loading, const struct node *root)
{
	bool policy = node_member(root, "operation_type") || node_member(root, "probes");

	if (node_member(root, "cases") || (!policy && !node_member(root, "base")))
		return true;
	complain(loading, root, "holds a %s, which policy check checks; allowed: policy tests",
		 policy ? "policy" : "target");
	return false;
}

static void
load(struct loading *loading, struct loaded *loaded)
{
	const struct node *root = NULL;
	const char *bytes;
	size_t len;

	if (file_read(loading, &bytes, &len))
		root = tree_read(loading, bytes, len);
	if (!root || !is_test_file(loading, root))
		return;
	fields_decode(loading, root, &test_file_table, loaded);
	if (!loaded->policy || !loaded->target)
		return;
	pair_load(loading, path_beside(loading, loaded->policy),
		  path_beside(loading, loaded->target), &loaded->pair);
	for (size_t i = 0; i < loaded->count; i++)
		settle_case(loading, loaded, i);
}

static void
destroy(struct loaded *loaded)
{
	struct arena *arena = loaded->arena;

	keepers_release(loaded->keepers);
	arena_destroy(arena);
	free(loaded);
}

struct test_file *
test_file_load(const char *file, struct problems *problems)
{
	struct loaded *loaded = xcalloc(1, sizeof(*loaded));
	size_t before = problems_count_errors(problems);

	loaded->arena = arena_create();

	struct loading loading = {
		.arena = loaded->arena,
		.problems = problems,
		.file = arena_strdup(loaded->arena, file),
		.any_file_name = true,
		.keepers = &loaded->keepers,
	};

	load(&loading, loaded);
	if (problems_count_errors(problems) != before) {
		destroy(loaded);
		return NULL;
	}
	loaded->tests = (struct test_file){
		.file = loading.file,
		.policy = &loaded->pair.policy,
		.target = &loaded->pair.target,
		.cases = loaded->cases,
		.cases_count = loaded->count,
	};
	return &loaded->tests;
}

void
test_file_destroy(struct test_file *tests)
{
	if (tests)
		destroy((struct loaded *)tests);
}
