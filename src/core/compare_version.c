/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions, which have a direction: whole numbers, times, numbers with dots. Opaque ones have none.
 */
#include <string.h>

#include "compare_pair.h"
#include "reconciled/base/attributes.h"
#include "reconciled/core/number.h"
#include "reconciled/core/time.h"

/* Takes the number in front of the next dot; false if there is none. An ended text gives zeros. */
static bool
take_segment(struct slice *rest, struct slice *ret)
{
	const char *dot = memchr(rest->text, '.', rest->len);
	size_t len = dot != NULL ? (size_t)(dot - rest->text) : rest->len, zeros = 0;

	for (size_t i = 0; i < len; i++)
		if (rest->text[i] < '0' || rest->text[i] > '9')
			return false;
	while (zeros < len && rest->text[zeros] == '0')
		zeros++;
	*ret = (struct slice){ rest->text + zeros, len - zeros };
	rest->text += len;
	rest->len -= len;
	if (dot == NULL)
		return len > 0;
	rest->text++;
	rest->len--;
	return len > 0 && rest->len > 0;
}

static bool
is_integer(const struct comparison *by, struct slice text)
{
	return number_is_valid(text.text, text.len) && number_is_integer(text.text);
}

static bool
is_dotted(const struct comparison *by, struct slice text)
{
	struct slice segment;

	do {
		if (!take_segment(&text, &segment))
			return false;
	} while (text.len > 0);
	return true;
}

static int
order_integer(const struct pair *pair)
{
	return number_compare(pair->found.text, pair->expected.text);
}

static int
order_time(const struct pair *pair)
{
	struct moment found = { 0 }, expected = { 0 };

	(void)time_read(pair->found.text, pair->found.len, pair->by->zone, &found);
	(void)time_read(pair->expected.text, pair->expected.len, pair->by->zone, &expected);
	return moment_is_near(&found, &expected, pair->by->skew_us)
		       ? 0
		       : moment_compare(&found, &expected);
}

static int
order_dotted(const struct pair *pair)
{
	struct slice a = pair->found, b = pair->expected;

	while (a.len > 0 || b.len > 0) {
		struct slice x = { 0 }, y = { 0 };
		int order;

		if (a.len > 0)
			(void)take_segment(&a, &x);
		if (b.len > 0)
			(void)take_segment(&b, &y);
		if (x.len != y.len)
			return x.len < y.len ? -1 : 1;
		order = x.len == 0 ? 0 : memcmp(x.text, y.text, x.len);
		if (order != 0)
			return order;
	}
	return 0;
}

static const struct {
	bool (*reads)(const struct comparison *by, struct slice text);
	int (*order)(const struct pair *pair); /* of readable ones; NULL: there is none */
} orders[] = {
	[VERSION_INTEGER] = { is_integer, order_integer },
	[VERSION_TIME] = { time_is_readable, order_time },
	[VERSION_DOTTED] = { is_dotted, order_dotted },
	[VERSION_OPAQUE] = { text_is_readable, NULL },
};

bool
version_is_readable(const struct comparison *by, struct slice text)
{
	return orders[by->order].reads(by, text);
}

enum compare_result
compare_version(const struct pair *pair)
{
	int order;

	if (!version_is_readable(pair->by, pair->found) ||
	    !version_is_readable(pair->by, pair->expected))
		return COMPARED_UNREADABLE;
	if (orders[pair->by->order].order == NULL)
		return equal_if(slice_equals(pair->found, pair->expected));
	order = orders[pair->by->order].order(pair);
	if (order == 0 || (order > 0 && is_lower_bound(pair->by->relation)))
		return COMPARED_EQUAL;
	return order > 0 ? COMPARED_NEWER : COMPARED_OLDER;
}
