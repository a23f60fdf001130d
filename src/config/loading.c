/* SPDX-License-Identifier: Apache-2.0
 *
 * How problems are said, and the scalars that several decoders share: texts, secrets, paths.
 */
#include "loading.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/xalloc.h"
#include "shape.h"
#include "tree.h"

enum { MESSAGE_MAX = 900, SHOWN_MAX = 60 };

/* Cut at a character boundary: for texts of the file in messages. */
static const char *
shortened(struct loading *loading, const char *text)
{
	size_t len = strlen(text), keep = len;

	if (len > SHOWN_MAX)
		for (keep = SHOWN_MAX; keep > 0 && ((unsigned char)text[keep] & 0xC0) == 0x80;)
			keep--;
	return arena_printf(loading->arena, "%.*s%s", (int)keep, text, keep < len ? "…" : "");
}

typedef void add_problem_fn(struct problems *problems, const char *file, int line, int column,
			    const char *fmt, ...);

static void
say(struct loading *loading, const struct node *node, bool at_key, bool warning,
    const char *message)
{
	bool has_key = node->key[0] != '\0';
	int line = at_key ? node->key_line : node->line;
	int column = at_key ? node->key_column : node->column;
	add_problem_fn *add = warning ? problems_add_warning : problems_add;

	add(loading->problems, loading->file, line, column, "%s%s%s",
	    has_key ? shortened(loading, node->key) : "", has_key ? ": " : "", message);
}

void
complain(struct loading *loading, const struct node *node, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	say(loading, node, false, false, message);
}

void
complain_at_key(struct loading *loading, const struct node *node, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	say(loading, node, true, false, message);
}

void
warn_about(struct loading *loading, const struct node *node, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	say(loading, node, false, true, message);
}

void
warn_at_key(struct loading *loading, const struct node *node, const char *fmt, ...)
{
	char message[MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(message, sizeof(message), fmt, args);
	va_end(args);
	say(loading, node, true, true, message);
}

const char *
found_words(struct loading *loading, const struct node *node)
{
	switch (node->kind) {
	case NODE_NULL:
		return "nothing";
	case NODE_LIST:
		return "a list";
	case NODE_MAP:
		return "a mapping";
	case NODE_TEXT:
		break;
	}
	return arena_printf(loading->arena, "\"%s\"", shortened(loading, node->text));
}

void
complain_found(struct loading *loading, const struct node *node, const char *allowed)
{
	complain(loading, node, "found %s, allowed: %s", found_words(loading, node), allowed);
}

void
complain_later_key(struct loading *loading, const struct node *node)
{
	if (!loading->later_is_known)
		problems_add_unsupported(loading->problems, loading->file, node->key_line,
					 node->key_column, node->key);
}

void
complain_later_value(struct loading *loading, const struct node *node, const char *what)
{
	if (!loading->later_is_known)
		problems_add_unsupported(loading->problems, loading->file, node->line, node->column,
					 arena_printf(loading->arena, "%s: %s", node->key,
						      shortened(loading, what)));
}

static struct keeper *
keeper_add(struct loading *loading)
{
	struct keeper *keeper = arena_new(loading->arena, struct keeper);

	keeper->next = *loading->keepers;
	*loading->keepers = keeper;
	return keeper;
}

void
keep_secret(struct loading *loading, struct secret *secret)
{
	keeper_add(loading)->secret = secret;
}

regex_t *
keep_new_regex(struct loading *loading)
{
	regex_t *regex = xcalloc(1, sizeof(*regex));

	keeper_add(loading)->regex = regex;
	return regex;
}

void
keepers_release(struct keeper *keepers)
{
	for (struct keeper *keeper = keepers; keeper; keeper = keeper->next) {
		secret_destroy(keeper->secret);
		if (keeper->regex) {
			regfree(keeper->regex);
			free(keeper->regex);
		}
	}
}

const char *
path_beside(struct loading *loading, const char *path)
{
	const char *slash = strrchr(loading->file, '/');

	if (path[0] == '/' || !slash)
		return arena_strdup(loading->arena, path);
	return arena_printf(loading->arena, "%.*s%s", (int)(slash - loading->file) + 1,
			    loading->file, path);
}

/* A relative file: path counts from the folder of the file that names it, not from where we run. */
const char *
secret_settle(struct loading *loading, const char *reference)
{
	static const char prefix[] = "file:";
	size_t len = sizeof(prefix) - 1;

	if (strncmp(reference, prefix, len) != 0)
		return reference;
	return arena_printf(loading->arena, "%s%s", prefix, path_beside(loading, reference + len));
}

const struct shape shape_secret = {
	.name = "secret",
	.kind = SHAPE_STRING,
	.pattern = "^(credential|file|env):.",
	.help = "Where a secret is read from: credential:NAME, file:PATH or env:NAME.",
};

bool
secret_decode(struct loading *loading, const struct node *node, const char **ret_reference,
	      const struct secret **ret_secret)
{
	struct secret *secret = NULL;
	struct err err = { 0 };

	if (node->kind != NODE_TEXT || !secret_is_reference(node->text)) {
		complain(loading, node,
			 "secrets are not written in the file, allowed: credential:NAME, "
			 "file:PATH, env:NAME");
		return false;
	}
	*ret_reference = node->text;
	if (!loading->secrets)
		return true;
	if (!secret_load(secret_settle(loading, node->text), &secret, &err)) {
		complain(loading, node, "%s", err.text);
		return false;
	}
	keep_secret(loading, secret);
	*ret_secret = secret;
	return true;
}

const struct shape shape_text = { .kind = SHAPE_SCALAR, .min = 1 };

const char *
text_decode(struct loading *loading, const struct node *node, const char *allowed)
{
	if (node->kind == NODE_TEXT && node->text[0] != '\0')
		return node->text;
	complain_found(loading, node, allowed);
	return NULL;
}
