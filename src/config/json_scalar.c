/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers by the grammar of RFC 8259, of any size.
 */
#include "json_scalar.h"

#include <string.h>

#include "tree.h"

static size_t
span_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool
is_json_number(const char *text)
{
	size_t digits;

	text += *text == '-';
	digits = span_digits(text);
	if (digits == 0 || (digits > 1 && *text == '0'))
		return false;
	text += digits;
	if (*text == '.') {
		digits = span_digits(++text);
		if (digits == 0)
			return false;
		text += digits;
	}
	if (*text == 'e' || *text == 'E') {
		text++;
		text += *text == '+' || *text == '-';
		digits = span_digits(text);
		if (digits == 0)
			return false;
		text += digits;
	}
	return *text == '\0';
}

enum value_kind
json_scalar_kind(const struct node *node)
{
	if (node->kind == NODE_NULL)
		return VALUE_NULL;
	if (node->quoted)
		return VALUE_TEXT;
	if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)
		return VALUE_BOOL;
	return is_json_number(node->text) ? VALUE_NUMBER : VALUE_TEXT;
}
