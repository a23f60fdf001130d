/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of policy tests: loading one ends, in cases or in problems that have places in the file.
 * Cases that load can be played, and give the same again.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case_run.h"
#include "fuzz.h"
#include "reconciled/base/arena.h"
#include "reconciled/config/problems.h"

static const char target[] = "target: crm\nbase: https://crm.example.com\n"
			     "control: {get: /control, found: {status: 200}}\n";
static const char policy[] =
	"operation_type: t\ntarget: crm\n"
	"probes:\n"
	"  - name: by_id\n    needs: [remote_id]\n    get: /c/{remote_id}\n"
	"    found: {status: 200, /id: {present: true}}\n"
	"    absent: {status: 404, /error: none}\n"
	"  - name: search\n    get: /s\n    query: {q: \"{operation_id}\"}\n"
	"    found: {status: 200, /data: {present: true}}\n    items: /data\n"
	"    where: {/ref: {is: op.operation_id}}\n    pages: {next: /next, into: page}\n"
	"    stale: true\n    then: {probe: by_id, with: {remote_id: /id}}\n"
	"absence: {confirm: 2, over: 5m}\n"
	"compare:\n  version: {found: /version, type: version, is: op.version}\n"
	"  at: {found: /at, type: time, not_before: op.sent_at}\n"
	"evidence: {keep: [/version, /at]}\n";

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
remove_folder(void)
{
	static const char *const names[] = { "t.yaml", "crm.yaml", "tests.yaml" };
	char path[200];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
}

static void
make_folder(void)
{
	strcpy(folder, "/tmp/fuzz-tests-XXXXXX");
	if (!mkdtemp(folder))
		abort();
	write_file("crm.yaml", target, sizeof(target) - 1);
	write_file("t.yaml", policy, sizeof(policy) - 1);
	atexit(remove_folder);
}

static void
play(const struct test_file *tests)
{
	for (size_t i = 0; i < tests->cases_count; i++) {
		struct arena *arena = arena_create();
		struct case_result first, again;

		case_run(arena, tests, &tests->cases[i], &first);
		case_run(arena, tests, &tests->cases[i], &again);
		assert(first.verdict.class == again.verdict.class && first.ok == again.ok);
		assert(strcmp(first.verdict.reason, again.verdict.reason) == 0);
		assert(first.verdict.class != CLASS_NONE && first.verdict.rule != NULL);
		assert(first.verdict.class != CLASS_MISSING || tests->cases[i].readings_count >= 2);
		assert(first.verdict.class != CLASS_CORRECT || tests->cases[i].readings_count >= 1);
		arena_destroy(arena);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problems *problems = problems_create();
	struct test_file *tests;
	char path[200];

	if (folder[0] == '\0')
		make_folder();
	write_file("tests.yaml", data, size);
	snprintf(path, sizeof(path), "%s/tests.yaml", folder);
	tests = test_file_load(path, problems);
	assert((tests == NULL) == (problems_count_errors(problems) > 0));
	if (tests)
		play(tests);
	test_file_destroy(tests);
	problems_destroy(problems);
	return 0;
}
