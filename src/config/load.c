/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads settings, targets and policies into one object, or into nothing at all.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"
#include "policy.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/xalloc.h"
#include "settings.h"
#include "target.h"
#include "test_file.h"
#include "tree.h"

/* A file and its tree; root NULL when it could not be read. */
struct source {
	const char *file;
	const char *bytes;
	size_t len;
	const struct node *root;
};

/* All files of a folder. */
struct sources {
	const struct source *list;
	size_t count;
	bool known; /* the folder could be read */
};

static struct source
source_read(struct loading *loading, const char *file)
{
	struct source source = { .file = file };

	loading->file = file;
	if (file_read(loading, &source.bytes, &source.len))
		source.root = tree_read(loading, source.bytes, source.len);
	return source;
}

static struct sources
sources_read(struct loading *loading, const char *folder)
{
	struct sources sources = { 0 };
	const char **paths;
	struct source *list;

	if (!folder_list(loading, folder, &paths, &sources.count))
		return sources;
	list = arena_array(loading->arena, struct source, sources.count + 1);
	for (size_t i = 0; i < sources.count; i++)
		list[i] = source_read(loading, paths[i]);
	sources.list = list;
	sources.known = true;
	return sources;
}

/* The text of a key at the root, or NULL. */
static const struct node *
source_name(const struct source *source, const char *key)
{
	const struct node *node = node_member(source->root, key);

	return node && node->kind == NODE_TEXT ? node : NULL;
}

/* The same name in two files: said at the later one, naming the place of the first. */
static void
check_names(struct loading *loading, const struct sources *sources, const char *key)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct node *name = source_name(&sources->list[i], key);

		for (size_t j = 0; name && j < i; j++) {
			const struct node *first = source_name(&sources->list[j], key);

			if (!first || strcmp(first->text, name->text) != 0)
				continue;
			loading->file = sources->list[i].file;
			complain(loading, name, "%s has a file already, %s:%d:%d",
				 found_words(loading, name), sources->list[j].file, first->line,
				 first->column);
			break;
		}
	}
}

static bool
is_wanted(const struct loading *loading, const struct source *source)
{
	const struct node *name = source_name(source, "target");

	return !loading->secrets_of || (name && strcmp(name->text, loading->secrets_of) == 0);
}

static void
targets_load(struct loading *loading, struct config *config, const struct sources *sources)
{
	struct target *targets = arena_array(loading->arena, struct target, sources->count + 1);
	bool secrets = loading->secrets;
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++) {
		loading->file = sources->list[i].file;
		loading->secrets = secrets && is_wanted(loading, &sources->list[i]);
		if (sources->list[i].root)
			target_decode(loading, sources->list[i].root, &targets[count++]);
	}
	loading->secrets = secrets;
	check_names(loading, sources, "target");
	config->targets = targets;
	config->targets_count = count;
}

/* A file that cannot be read is known by its name. */
static bool
file_is_named(const char *file, const char *name)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	size_t len = strlen(name);

	return strncmp(base, name, len) == 0 && strcmp(base + len, ".yaml") == 0;
}

static struct target_facts
facts_of(const struct sources *targets, const struct node *policy_root)
{
	const struct node *name = node_member(policy_root, "target");
	struct target_facts facts = { .known = targets->known };

	for (size_t i = 0; name && name->kind == NODE_TEXT && i < targets->count; i++) {
		const struct source *source = &targets->list[i];
		const struct node *target = source_name(source, "target");

		if (target ? strcmp(target->text, name->text) != 0
			   : !file_is_named(source->file, name->text))
			continue;
		facts.exists = true;
		facts.readable = source->root != NULL;
		facts.has_control = target_has_control(source->root);
		break;
	}
	return facts;
}

static void
policy_load(struct loading *loading, const struct source *source, const struct sources *targets,
	    struct policy *ret_policy)
{
	struct target_facts facts = facts_of(targets, source->root);
	unsigned char digest[HASH_SHA256_BYTES];

	loading->file = source->file;
	policy_decode(loading, source->root, ret_policy);
	policy_check(loading, source->root, ret_policy, &facts);
	ret_policy->file = source->file;
	ret_policy->text = source->bytes;
	hash_sha256(source->bytes, source->len, digest);
	hash_hex(digest, sizeof(digest), ret_policy->digest);
}

static int
by_operation_type(const void *a, const void *b)
{
	const struct policy *left = a, *right = b;

	return strcmp(left->operation_type ? left->operation_type : "",
		      right->operation_type ? right->operation_type : "");
}

static void
policies_load(struct loading *loading, struct config *config, const struct sources *sources,
	      const struct sources *targets)
{
	struct policy *policies = arena_array(loading->arena, struct policy, sources->count + 1);
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++)
		if (sources->list[i].root)
			policy_load(loading, &sources->list[i], targets, &policies[count++]);
	check_names(loading, sources, "operation_type");
	qsort(policies, count, sizeof(*policies), by_operation_type);
	config->policies = policies;
	config->policies_count = count;
}

static void
loaded_destroy(struct loaded *loaded)
{
	struct arena *arena = loaded->arena;

	keepers_release(loaded->keepers);
	arena_destroy(arena);
	free(loaded);
}

static void
load_all(struct loading *loading, struct loaded *loaded, unsigned parts)
{
	const char *file = loading->file;
	struct source settings = source_read(loading, file);

	loaded->config.file = file;
	if (settings.root)
		settings_decode(loading, settings.root, loaded);
	if ((parts & CONFIG_ALL) != CONFIG_ALL || !settings.root)
		return;

	struct sources targets = sources_read(loading, loaded->targets);
	struct sources policies = sources_read(loading, loaded->policies);

	targets_load(loading, &loaded->config, &targets);
	policies_load(loading, &loaded->config, &policies, &targets);
}

static struct config *
load(const char *file, unsigned parts, const char *secrets_of, struct problems *problems)
{
	struct loaded *loaded = xcalloc(1, sizeof(*loaded));
	size_t before = problems_count_errors(problems);

	loaded->arena = arena_create();
	loaded->references = 1;

	struct loading loading = {
		.arena = loaded->arena,
		.problems = problems,
		.file = arena_strdup(loaded->arena, file),
		.secrets = (parts & CONFIG_SECRETS) != 0,
		.secrets_of = secrets_of,
		.keepers = &loaded->keepers,
	};

	load_all(&loading, loaded, parts);
	if (problems_count_errors(problems) == before)
		return &loaded->config;
	loaded_destroy(loaded);
	return NULL;
}

struct config *
config_load(const char *file, unsigned parts, struct problems *problems)
{
	return load(file, parts, NULL, problems);
}

struct config *
config_load_for(const char *file, const char *target, struct problems *problems)
{
	return load(file, CONFIG_ALL | CONFIG_SECRETS, target, problems);
}

/* The public part stands first. */
static struct loaded *
loaded_of(struct config *config)
{
	return (struct loaded *)config;
}

struct config *
config_ref(struct config *config)
{
	loaded_of(config)->references++;
	return config;
}

void
config_unref(struct config *config)
{
	if (config && --loaded_of(config)->references == 0)
		loaded_destroy(loaded_of(config));
}

const struct policy *
config_policy(const struct config *config, const char *operation_type)
{
	const struct policy key = { .operation_type = operation_type };

	return bsearch(&key, config->policies, config->policies_count, sizeof(key),
		       by_operation_type);
}

const struct target *
config_target(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->targets_count; i++)
		if (strcmp(config->targets[i].rules.target, name) == 0)
			return &config->targets[i];
	return NULL;
}

void
config_dump(const struct config *config, FILE *out)
{
	fields_dump(&settings_table, config, 0, out);
}

void
config_print_keys(FILE *out)
{
	fields_print_keys(&settings_table, "reconciled.yaml ", out);
	fields_print_keys(&target_table, "target ", out);
	fields_print_keys(&policy_table, "policy ", out);
	fields_print_keys(&test_file_table, "test ", out);
}

/* The target of a policy stands in the folder beside the policy's, if there is one. */
static struct sources
target_beside(struct loading *loading, const char *file, const struct node *root)
{
	const struct node *name = node_member(root, "target");
	struct sources sources = { 0 };
	struct problems *aside = problems_create();
	struct loading quiet = *loading;
	const char *folder = path_beside(loading, "../targets.d");
	struct source *source = arena_new(loading->arena, struct source);
	struct stat status;

	quiet.problems = aside;
	if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && name &&
	    name->kind == NODE_TEXT && name_is_valid(name->text)) {
		const char *path = arena_printf(loading->arena, "%s/%s.yaml", folder, name->text);

		sources.known = true;
		sources.count = stat(path, &status) == 0;
		if (sources.count > 0)
			*source = source_read(&quiet, path);
	}
	sources.list = source;
	loading->file = file;
	problems_destroy(aside);
	return sources;
}

static void
check_root(struct loading *loading, const struct source *source)
{
	struct policy policy = { 0 };
	struct target target = { 0 };

	if (node_member(source->root, "operation_type") || node_member(source->root, "probes")) {
		struct sources targets = target_beside(loading, source->file, source->root);

		policy_load(loading, source, &targets, &policy);
	} else if (node_member(source->root, "cases")) {
		complain(
			loading, source->root,
			"holds policy tests, which policy test tries; allowed: a policy, a target");
	} else if (node_member(source->root, "target") || node_member(source->root, "base")) {
		target_decode(loading, source->root, &target);
	} else {
		complain(loading, source->root,
			 "is neither a policy (operation_type) nor a target (target, base)");
	}
}

bool
config_check_file(const char *file, struct problems *problems)
{
	struct arena *arena = arena_create();
	struct keeper *keepers = NULL;
	size_t before = problems_count_errors(problems);
	struct loading loading = {
		.arena = arena,
		.problems = problems,
		.file = file,
		.keepers = &keepers,
	};
	struct source source = source_read(&loading, file);

	if (source.root)
		check_root(&loading, &source);
	keepers_release(keepers);
	arena_destroy(arena);
	return problems_count_errors(problems) == before;
}
