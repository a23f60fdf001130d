/* SPDX-License-Identifier: Apache-2.0
 *
 * Which characters an expression lets through is asked of its atoms, one after the other: brackets,
 * escapes and plain characters. One that is never reached counts too; that is on the safe side.
 */
#include "injection.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "tree.h"

enum { ATOM_BYTES_MAX = 520, SHOWN_BYTES = 80, CHARACTERS = 128 };

struct guarded {
	struct loading *loading;
	const struct probe *probe;
	bool allowed[CHARACTERS]; /* in references */
};

static const char quotes[] = "\"'`";
/* A text with such characters is more than a name with something before or behind it. */
static const char language[] = " :=<>()[]{},&|\"'`";
static const char in_quotes[] = "\\*%";
static const char in_language[] = "\"'`\\*%()<>&|;,?!^[]{}";

/* Behind the bracket expression that begins here. */
static const char *
bracket_end(const char *at)
{
	at++;
	at += *at == '^';
	at += *at == ']';
	while (*at != '\0' && *at != ']') {
		if (*at == '[' && at[1] != '\0' && strchr(":.=", at[1])) {
			const char closing[] = { at[1], ']', '\0' };
			const char *end = strstr(at + 2, closing);

			at = end ? end + 1 : at;
		}
		at++;
	}
	return *at == ']' ? at + 1 : at;
}

/* Behind the atom or operator that begins here; *ret_is_atom: it takes a character. */
static const char *
token_end(const char *at, bool *ret_is_atom)
{
	*ret_is_atom = true;
	if (*at == '[')
		return bracket_end(at);
	if (*at == '\\' && at[1] != '\0')
		return at + 2;
	*ret_is_atom = strchr("()|*+?^${", *at) == NULL;
	if (*at == '{')
		at += strcspn(at, "}");
	return *at == '\0' ? at : at + 1;
}

static void
allow_atom(const char *atom, size_t len, bool allowed[static CHARACTERS])
{
	char pattern[ATOM_BYTES_MAX];
	regex_t regex;

	snprintf(pattern, sizeof(pattern), "^%.*s$", (int)len, atom);
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return;
	for (int c = 1; c < CHARACTERS; c++) {
		const char text[] = { (char)c, '\0' };

		if (!allowed[c])
			allowed[c] = regexec(&regex, text, 0, NULL, 0) == 0;
	}
	regfree(&regex);
}

/* Without an expression, and for everything that is no reference, this is what may be sent. */
static bool
is_standard(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c != '\0' && strchr("._:@+=~-", c) != NULL);
}

static void
allow(const char *reference, bool allowed[static CHARACTERS])
{
	bool is_atom;

	for (int c = 0; !reference && c < CHARACTERS; c++)
		allowed[c] = is_standard(c);
	for (const char *at = reference; at && *at != '\0';) {
		const char *end = token_end(at, &is_atom);

		if (is_atom)
			allow_atom(at, (size_t)(end - at), allowed);
		at = end;
	}
}

static bool
is_reference(enum operation_field field)
{
	return field == OP_OPERATION_ID || field == OP_IDEMPOTENCY_KEY || field == OP_BUSINESS_KEY;
}

static enum operation_field
field_of(const struct guarded *of, const struct template_part *part)
{
	return part->batch_join ? of->probe->batch_field : part->field;
}

static bool
lets_through(const struct guarded *of, enum operation_field field, char c)
{
	unsigned char index = (unsigned char)c;

	if (!is_reference(field))
		return is_standard(index);
	return index < CHARACTERS && of->allowed[index];
}

/* The quotation in which part `index` stands, or 0. */
static char
quote_around(const struct template *template, size_t index)
{
	char open = '\0';

	for (size_t i = 0; i < index; i++)
		for (const char *c = template->parts[i].literal; c && *c != '\0'; c++) {
			if (*c == '\\' && c[1] != '\0')
				c++;
			else if (open == '\0' && strchr(quotes, *c))
				open = *c;
			else if (*c == open)
				open = '\0';
		}
	for (size_t i = index + 1; open != '\0' && i < template->count; i++)
		if (template->parts[i].literal && strchr(template->parts[i].literal, open))
			return open;
	return '\0';
}

static bool
is_language(const struct template *template)
{
	for (size_t i = 0; i < template->count; i++)
		if (template->parts[i].literal && strpbrk(template->parts[i].literal, language))
			return true;
	return false;
}

/* True: said. */
static bool
check_part(const struct guarded *of, const struct node *node, enum operation_field field,
	   const char *refused)
{
	char shown[SHOWN_BYTES] = "";
	size_t len = 0;

	for (const char *c = refused; *c != '\0' && len + 2 < sizeof(shown); c++) {
		if (!lets_through(of, field, *c))
			continue;
		shown[len++] = ' ';
		shown[len++] = *c;
	}
	if (shown[0] != '\0')
		complain(of->loading, node,
			 "reference lets%s through, which can change the question around {%s}",
			 shown, operation_field_name(field));
	return shown[0] != '\0';
}

/* Values of a list are told apart by what stands between them. */
static void
check_separator(const struct guarded *of, const struct node *node, const struct template_part *part)
{
	enum operation_field field = field_of(of, part);
	const char *c = part->batch_join;

	while (c && *c != '\0' && lets_through(of, field, *c))
		c++;
	if (c && *c == '\0')
		complain(of->loading, node,
			 "\"%s\" between the values can be part of one, a %s may hold it",
			 part->batch_join, operation_field_name(field));
}

static void
check_placeholder(const struct guarded *of, const struct node *node,
		  const struct template *template, size_t index)
{
	const struct template_part *part = &template->parts[index];
	enum operation_field field = field_of(of, part);
	char quote = quote_around(template, index);

	if (part->batch_join)
		check_separator(of, node, part);
	if (quote != '\0')
		(void)check_part(of, node, field,
				 arena_printf(of->loading->arena, "%c%s", quote, in_quotes));
	else if (is_language(template) && !check_part(of, node, field, in_language) &&
		 lets_through(of, field, ' '))
		warn_about(
			of->loading, node,
			"reference lets spaces through, which may change the question around {%s}",
			operation_field_name(field));
}

static void
check_text(const struct guarded *of, const struct node *node)
{
	struct template template = { 0 };
	struct err err = { 0 };

	if (node->kind != NODE_TEXT ||
	    !template_parse(of->loading->arena, node->text, &template, &err))
		return; /* said before */
	for (size_t i = 0; i < template.count; i++)
		if (!template.parts[i].literal)
			check_placeholder(of, node, &template, i);
}

static void
check_texts(const struct guarded *of, const struct node *node)
{
	if (!node)
		return;
	if (node->kind == NODE_TEXT)
		check_text(of, node);
	for (const struct node *child = node->first; child; child = child->next)
		check_texts(of, child);
}

void
injection_check(struct loading *loading, const struct node *node, const struct probe *probe,
		const char *reference)
{
	static const char *const places[] = { "query", "form", "json", "text" };
	struct guarded of = { .loading = loading, .probe = probe };

	allow(reference, of.allowed);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		check_texts(&of, node_member(node, places[i]));
}
