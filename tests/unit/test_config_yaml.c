/* SPDX-License-Identifier: Apache-2.0
 *
 * What YAML brings and what we refuse of it: each refusal with its place.
 */
#include "config_case.h"

#define KEY "evidence_hash_key: env:HASH_KEY\n"

static const struct {
	const char *name, *text, *want;
} cases[] = {
	{ "the least", KEY, "" },
	{ "a byte order mark", "\xEF\xBB\xBF" KEY, "" },
	{ "comments and a document start", "# one\n---\n" KEY "...\n", "" },
	{ "nothing", "", "reconciled.yaml: the file is empty\n" },
	{ "only a comment", "# nothing\n", "reconciled.yaml: the file is empty\n" },
	{ "only null", "~\n", "reconciled.yaml: the file is empty\n" },
	{ "a list", "- a\n- b\n",
	  "reconciled.yaml:1:1: found a list, allowed: a mapping of keys and values\n" },
	{ "a text", "hello\n",
	  "reconciled.yaml:1:1: found \"hello\", allowed: a mapping of keys and values\n" },
	{ "a repeated key", KEY "batch: 5\ninterval: 60s\nbatch: 6\n",
	  "reconciled.yaml:4:1: batch: key appears a second time, first at line 2, column 1\n" },
	{ "a repeated key with a mapping, and what follows is still read",
	  KEY "log: {level: info, level: debug}\nlog: {level: x}\nbatch: 0\n",
	  "reconciled.yaml:2:20: level: key appears a second time, first at line 2, column 7\n"
	  "reconciled.yaml:3:1: log: key appears a second time, first at line 2, column 1\n"
	  "reconciled.yaml:4:8: batch: found \"0\", allowed: 1 to 5000\n" },
	{ "an anchor", KEY "batch: &a 5\n",
	  "reconciled.yaml:2:8: anchors and aliases are not allowed\n" },
	{ "an alias", KEY "batch: &a 5\nmax_in_flight: *a\n",
	  "reconciled.yaml:2:8: anchors and aliases are not allowed\n"
	  "reconciled.yaml:3:16: anchors and aliases are not allowed\n"
	  "reconciled.yaml:3:16: max_in_flight: found nothing, allowed: 1 to 10000\n" },
	{ "an alias as key", KEY "*a : 1\n",
	  "reconciled.yaml:2:1: anchors and aliases are not allowed\n" },
	{ "a tag", KEY "batch: !!int 5\n", "reconciled.yaml:2:8: tags are not allowed\n" },
	{ "a tag on a mapping", KEY "log: !x {level: info}\n",
	  "reconciled.yaml:2:6: tags are not allowed\n" },
	{ "two documents", KEY "---\nbatch: 5\n",
	  "reconciled.yaml:2:1: a second document begins, allowed: one\n" },
	{ "a list as key", KEY "? [a, b]\n: 1\n", "reconciled.yaml:2:3: a key must be a text\n" },
	{ "a tab as indentation", KEY "log:\n\tlevel: info\n",
	  "reconciled.yaml:3:1: a tab where YAML expects spaces\n" },
	{ "a tab behind a letter that is no ASCII", "# \xC3\xA4\n" KEY "log:\n\tlevel: \xC3\xA4\n",
	  "reconciled.yaml:4:1: a tab where YAML expects spaces\n" },
	{ "an open bracket", KEY "log: {level: info\n",
	  "reconciled.yaml:3:1: not valid YAML: while parsing a flow mapping, did not find "
	  "expected ',' or '}'\n" },
	{ "bytes that are not UTF-8", KEY "database: \"\xFF\"\n",
	  "reconciled.yaml:2:12: not valid UTF-8\n" },
	{ "an overlong spelling", KEY "database: \xC0\xAF\n",
	  "reconciled.yaml:2:11: not valid UTF-8\n" },
	{ "half a surrogate pair", KEY "database: \xED\xA0\x80\n",
	  "reconciled.yaml:2:11: not valid UTF-8\n" },
	{ "a control character",
	  KEY "database: a\x01"
	      "b\n",
	  "reconciled.yaml:2:12: a control character\n" },
	{ "a NUL escape", KEY "database: \"a\\0b\"\n",
	  "reconciled.yaml:2:11: a NUL character in a text\n" },
	/* nothing is converted */
	{ "no, on, y are texts", KEY "instance_name: no\nobserve: y\n",
	  "reconciled.yaml:3:10: observe: found \"y\", allowed: true, false\n" },
	{ "yes, off, True, 1 are no booleans", KEY "observe: yes\n",
	  "reconciled.yaml:2:10: observe: found \"yes\", allowed: true, false\n" },
	{ "True", KEY "observe: True\n",
	  "reconciled.yaml:2:10: observe: found \"True\", allowed: true, false; nearest: true\n" },
	{ "a quoted true", KEY "observe: \"true\"\n",
	  "reconciled.yaml:2:10: observe: found a quoted text, allowed: true, false\n" },
	{ "a quoted null is a text", KEY "instance_name: 'null'\n", "" },
	{ "a plain null is none", KEY "instance_name: null\nbatch: ~\ninterval:\n",
	  "reconciled.yaml:2:16: instance_name: found nothing, allowed: a text\n"
	  "reconciled.yaml:3:8: batch: found nothing, allowed: 1 to 5000\n"
	  "reconciled.yaml:4:10: interval: found nothing, allowed: a duration like 90s, 15m, 24h, "
	  "30d, from 1s to 1h\n" },
	{ "octal, hexadecimal, base 60", KEY "batch: 0x10\nmax_in_flight: 1:30\n",
	  "reconciled.yaml:2:8: batch: found \"0x10\", allowed: 1 to 5000\n"
	  "reconciled.yaml:3:16: max_in_flight: found \"1:30\", allowed: 1 to 10000\n" },
};

static void
test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		case_write("reconciled.yaml", cases[i].text);
		case_load(CONFIG_SETTINGS, cases[i].want, cases[i].name);
	}
}

/* Many of one thing, then the end; the expectation is the place at which reading stops. */
static void
test_many(const char *name, const char *unit, size_t times, const char *want)
{
	size_t len = strlen(unit);
	char *text = malloc(len * times + 1);

	for (size_t i = 0; i < times; i++)
		memcpy(text + i * len, unit, len);
	case_write_bytes("reconciled.yaml", text, len * times);
	case_load(CONFIG_SETTINGS, want, name);
	free(text);
}

static void
test_bombs(void)
{
	test_many("5,000 brackets", "[", 5000,
		  "reconciled.yaml:1:33: nested deeper than 32 levels\n");
	test_many("as many braces as fit", "{", 1024 * 1024,
		  "reconciled.yaml:1:2: a key must be a text\n");
	test_many("as many dashes as fit", "- ", 512 * 1024,
		  "reconciled.yaml:1:65: nested deeper than 32 levels\n");
	test_many("one byte too much", "#", 1024 * 1024 + 1,
		  "reconciled.yaml: larger than 1048576 bytes\n");
	test_many("as many question marks as fit", "? ", 512 * 1024,
		  "reconciled.yaml:1:3: a key must be a text\n");
}

static void
test_aliases_in_levels(void)
{
	char text[4096] = "a: &a [x, x, x, x, x, x, x, x, x]\n";

	for (char level = 'b'; level <= 'h'; level++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len,
			 "%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", level, level,
			 level - 1, level - 1, level - 1, level - 1, level - 1, level - 1,
			 level - 1, level - 1, level - 1);
	}
	case_write("reconciled.yaml", text);

	struct problems *problems = problems_create();
	struct config *config =
		config_load(case_path("reconciled.yaml"), CONFIG_SETTINGS, problems);

	tap_ok(config == NULL, "aliases of aliases do not load");
	/* 8 anchors, 7 lists of 9 aliases, 8 unknown keys, one missing key */
	tap_int((long long)problems_count(problems), 8 + 63 + 8 + 1, "and are refused one by one");
	problems_destroy(problems);
}

static void
test_files(void)
{
	struct problems *problems = problems_create();

	unlink(case_path("reconciled.yaml"));
	case_load(CONFIG_SETTINGS,
		  "reconciled.yaml: could not open the file: No such file or directory\n",
		  "a file that is not there");
	tap_ok(config_load(case_folder, CONFIG_SETTINGS, problems) == NULL, "a folder");
	tap_str(problems_at(problems, 0)->text, "is a folder, allowed: a file", "is no file");
	problems_destroy(problems);
	if (mkfifo(case_path("reconciled.yaml"), 0600) != 0)
		abort();
	case_load(CONFIG_SETTINGS, "reconciled.yaml: is no regular file\n",
		  "a pipe is not waited for");
	unlink(case_path("reconciled.yaml"));
}

int
main(void)
{
	case_begin();
	test_cases();
	test_bombs();
	test_aliases_in_levels();
	test_files();
	return case_end();
}
