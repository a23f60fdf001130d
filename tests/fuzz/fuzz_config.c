/* SPDX-License-Identifier: Apache-2.0
 *
 * The same bytes as settings, as a target and as a policy: loading ends, in a configuration or in
 * problems that have places in the file. What loads keeps the promises that the loader is there
 * for.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "reconciled/config/config.h"
#include "reconciled/config/problems.h"

static char folder[100];

static void
write_file(const char *name, const void *bytes, size_t len)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, len, file) != len || fclose(file) != 0)
		abort();
}

static void
write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void
remove_folder(void)
{
	static const char *const names[] = { "/settings.yaml", "/reconciled.yaml",
					     "/targets.d/crm.yaml", "/targets.d/t.yaml",
					     "/policies.d/t.yaml" };
	char path[200];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", folder, names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/targets.d", folder);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/policies.d", folder);
	rmdir(path);
	rmdir(folder);
}

static void
make_folder(void)
{
	char path[200];

	strcpy(folder, "/tmp/fuzz-config-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/targets.d", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/policies.d", folder);
	mkdir(path, 0700);
	write_text("reconciled.yaml", "evidence_hash_key: env:HASH_KEY\n");
	write_text("targets.d/crm.yaml", "target: crm\nbase: https://crm.example.com\n"
					 "control: {get: /control, found: {status: 200}}\n");
	atexit(remove_folder);
}

/* Sorted, inside the file, and printable: a message must not carry what a terminal would obey. */
static void
check_problems(const struct problems *problems, const uint8_t *data, size_t size)
{
	int lines = 1, last = 0;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n' || data[i] == '\r' || data[i] >= 0x80;
	for (size_t i = 0; i < problems_count(problems); i++) {
		const struct problem *problem = problems_at(problems, i);

		assert(problem->line >= last && problem->line <= lines + 1);
		assert((problem->line == 0) == (problem->column == 0));
		for (const char *c = problem->text; *c != '\0'; c++)
			assert((unsigned char)*c >= 0x20 && *c != 0x7F);
		last = problem->line;
	}
}

static bool
does(const struct action_rule *rule, enum action action)
{
	for (size_t i = 0; i < rule->count; i++)
		if (rule->rows[i].action == action)
			return true;
	return false;
}

static void
check_actions(const struct policy *policy)
{
	const struct action_rule *ambiguous = &policy->actions[CLASS_AMBIGUOUS];
	bool requeues = does(&policy->actions[CLASS_MISSING], ACTION_REQUEUE);

	for (size_t i = 0; i < ambiguous->count; i++)
		assert(ambiguous->rows[i].action == ACTION_REVIEW ||
		       ambiguous->rows[i].action == ACTION_WAIT);
	for (int class = CLASS_MISSING; class <= CLASS_NOT_APPLICABLE; class ++) {
		const struct action_rule *rule = &policy->actions[class];

		assert(rule->count > 0 && rule->rows[rule->count - 1].when.count == 0);
		assert(class == CLASS_MISSING || !does(rule, ACTION_REQUEUE));
	}
	assert(!requeues || policy->idempotent != IDEMPOTENT_NO);
	assert(!requeues || policy->idempotent != IDEMPOTENT_KEY ||
	       policy->key_valid_us > policy->absence_after_us + policy->requeue.first_us);
}

static void
check_policy(const struct policy *policy)
{
	check_actions(policy);
	assert(policy->guard.window_us > 0 && policy->guard.max >= 0 && policy->guard.sample > 0);
	assert(policy->guard.share_percent >= 0 && policy->guard.share_percent <= 100);
	assert(policy->compare_count > 0 || policy->existence_only);
	assert(policy->latency_window_us > 0 && policy->pickup_window_us > 0);
	assert(policy->absence_after_us >= 0 && policy->absence_over_us >= 0);
	assert(policy->waiting_until_us > 0 && policy->approvals >= 1);
	assert(policy->probes_count >= 1);
	for (size_t i = 0; i < policy->probes_count; i++) {
		assert(policy->probes[i].found.count > 0);
		assert(policy->probes[i].path.text[0] == '/');
	}
}

static void
load_as_policy(const uint8_t *data, size_t size)
{
	struct problems *problems = problems_create();
	struct config *config;
	char path[200];

	write_file("policies.d/t.yaml", data, size);
	snprintf(path, sizeof(path), "%s/reconciled.yaml", folder);
	config = config_load(path, CONFIG_ALL, problems);
	assert((config == NULL) == (problems_count_errors(problems) > 0));
	check_problems(problems, data, size);
	if (config && config->policies_count > 0)
		check_policy(&config->policies[0]);
	config_unref(config);
	problems_destroy(problems);
}

static void
load_as_target(const uint8_t *data, size_t size)
{
	struct problems *problems = problems_create();
	char path[200];
	bool good;

	write_file("targets.d/t.yaml", data, size);
	snprintf(path, sizeof(path), "%s/targets.d/t.yaml", folder);
	good = config_check_file(path, problems);
	assert(good == (problems_count_errors(problems) == 0));
	check_problems(problems, data, size);
	problems_destroy(problems);
	unlink(path);
}

/* Nobody logs in, so nobody but this machine gets there. */
static void
check_listen(const struct config *config)
{
	const char *host = config->http_host, *socket = config->http_socket;

	assert(!host || !socket);
	assert(!host || (config->http_port >= 1 && config->http_port <= 65535));
	assert(!host || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
	       strcmp(host, "localhost") == 0);
	assert(!socket || (socket[0] == '/' && strlen(socket) <= 107));
}

static void
load_as_settings(const uint8_t *data, size_t size)
{
	struct problems *problems = problems_create();
	struct config *config;
	char path[200];

	write_file("settings.yaml", data, size);
	snprintf(path, sizeof(path), "%s/settings.yaml", folder);
	config = config_load(path, CONFIG_SETTINGS, problems);
	assert((config == NULL) == (problems_count_errors(problems) > 0));
	check_problems(problems, data, size);
	if (config)
		check_listen(config);
	config_unref(config);
	problems_destroy(problems);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (folder[0] == '\0')
		make_folder();
	load_as_policy(data, size);
	load_as_target(data, size);
	load_as_settings(data, size);
	return 0;
}
