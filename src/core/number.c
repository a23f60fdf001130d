/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact decimals on their text: normalised to significant digits and the place of the point.
 */
#include "reconciled/core/number.h"

#include <assert.h>
#include <string.h>

/* 0.DIGITS times ten to the power of point. Zero has no digits and is not negative. */
struct decimal {
	bool negative;
	int point;
	size_t count;
	char digits[NUMBER_TEXT_MAX];
};

static size_t
span_digits(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return (size_t)(at - text);
}

static bool
is_sign(const char *at, const char *end)
{
	return at < end && (*at == '+' || *at == '-');
}

/* Reads digits up to end as an exponent; -1 when it is beyond the limit or there are none. */
static int
read_exponent(const char *at, const char *end)
{
	int n = 0;

	if (at == end || span_digits(at, end) != (size_t)(end - at))
		return -1;
	for (; at < end; at++) {
		n = n * 10 + (*at - '0');
		if (n > NUMBER_EXPONENT_MAX)
			return -1;
	}
	return n;
}

/* Where the parts of a number are. */
struct layout {
	bool negative;
	const char *whole, *fraction;
	size_t whole_len, fraction_len;
	int exponent;
};

static bool
split(const char *text, size_t len, struct layout *ret)
{
	const char *at = text, *end = text + len;

	*ret = (struct layout){ 0 };
	if (len > NUMBER_TEXT_MAX)
		return false;
	if (is_sign(at, end))
		ret->negative = *at++ == '-';
	ret->whole = at;
	ret->whole_len = span_digits(at, end);
	at += ret->whole_len;
	if (ret->whole_len == 0)
		return false;
	if (at < end && *at == '.') {
		ret->fraction = ++at;
		ret->fraction_len = span_digits(at, end);
		at += ret->fraction_len;
		if (ret->fraction_len == 0)
			return false;
	}
	if (at == end)
		return true;
	if (*at != 'e' && *at != 'E')
		return false;
	at++;

	bool minus = at < end && *at == '-';
	int exponent = read_exponent(is_sign(at, end) ? at + 1 : at, end);

	ret->exponent = minus ? -exponent : exponent;
	return exponent >= 0;
}

bool
number_is_valid(const char *text, size_t len)
{
	struct layout layout;

	return split(text, len, &layout);
}

static void
add_digits(struct decimal *decimal, const char *digits, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (decimal->count == 0 && digits[i] == '0')
			decimal->point--; /* leading zero */
		else
			decimal->digits[decimal->count++] = digits[i];
	}
}

static void
normalise(const struct layout *layout, struct decimal *ret)
{
	ret->count = 0;
	ret->point = (int)layout->whole_len + layout->exponent;
	add_digits(ret, layout->whole, layout->whole_len);
	add_digits(ret, layout->fraction, layout->fraction_len);
	while (ret->count > 0 && ret->digits[ret->count - 1] == '0')
		ret->count--;
	if (ret->count == 0)
		ret->point = 0;
	ret->negative = layout->negative && ret->count > 0;
}

static void
read_number(const struct number *number, struct decimal *ret)
{
	struct layout layout;
	bool valid = split(number->text, strlen(number->text), &layout);

	assert(valid && number->scale >= 0 && number->scale <= NUMBER_SCALE_MAX);
	layout.exponent -= number->scale;
	layout.negative ^= number->negated;
	normalise(&layout, ret);
}

static int
compare_magnitude(const struct decimal *a, const struct decimal *b)
{
	size_t common = a->count < b->count ? a->count : b->count;
	int order;

	if (a->count == 0 || b->count == 0)
		return (a->count > 0) - (b->count > 0);
	if (a->point != b->point)
		return a->point < b->point ? -1 : 1;
	order = memcmp(a->digits, b->digits, common);
	return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

static int
compare_decimals(const struct decimal *a, const struct decimal *b)
{
	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	return a->negative ? compare_magnitude(b, a) : compare_magnitude(a, b);
}

int
number_order(const struct number *a, const struct number *b)
{
	struct decimal x, y;

	read_number(a, &x);
	read_number(b, &y);
	return compare_decimals(&x, &y);
}

/* Digits before and after the point of the widest number; one more in front for the carry of a sum.
 */
enum {
	PLACES = NUMBER_TEXT_MAX + NUMBER_EXPONENT_MAX + NUMBER_SCALE_MAX,
	WIDTH = 1 + 2 * PLACES,
};

/* Numbers spread over the same places, so that they can be added and subtracted. */
struct places {
	int point; /* of the first place: it is worth 10^(point - 1) */
	int count;
};

static void
cover(struct places *places, const struct decimal *decimal)
{
	int end = places->point - places->count, last = decimal->point - (int)decimal->count;

	if (decimal->count == 0)
		return;
	if (places->count == 0 || decimal->point + 1 > places->point)
		places->point = decimal->point + 1;
	if (places->count == 0 || last < end)
		end = last;
	places->count = places->point - end;
}

static void
spread(const struct decimal *decimal, const struct places *places, unsigned char *ret)
{
	memset(ret, 0, (size_t)places->count);
	for (size_t i = 0; i < decimal->count; i++)
		ret[places->point - decimal->point + (int)i] =
			(unsigned char)(decimal->digits[i] - '0');
}

static void
sum(unsigned char *a, const unsigned char *b, int count)
{
	int carry = 0;

	for (int i = count - 1; i >= 0; i--) {
		int digit = a[i] + b[i] + carry;

		carry = digit > 9;
		a[i] = (unsigned char)(carry ? digit - 10 : digit);
	}
}

/* a is not less than b. */
static void
subtract(unsigned char *a, const unsigned char *b, int count)
{
	int borrow = 0;

	for (int i = count - 1; i >= 0; i--) {
		int digit = a[i] - b[i] - borrow;

		borrow = digit < 0;
		a[i] = (unsigned char)(borrow ? digit + 10 : digit);
	}
}

/* The distance of two numbers is at most the limit. */
static bool
is_within(const struct decimal *x, const struct decimal *y, const struct decimal *limit)
{
	const struct decimal *large = compare_magnitude(x, y) >= 0 ? x : y;
	const struct decimal *small = large == x ? y : x;
	struct places places = { 0 };
	unsigned char distance[WIDTH], other[WIDTH];

	cover(&places, x);
	cover(&places, y);
	cover(&places, limit);
	spread(large, &places, distance);
	spread(small, &places, other);
	if (x->negative != y->negative)
		sum(distance, other, places.count);
	else
		subtract(distance, other, places.count);
	spread(limit, &places, other);
	return memcmp(distance, other, (size_t)places.count) <= 0;
}

bool
number_within(const struct number *a, const struct number *b, const char *tolerance)
{
	struct decimal x, y, limit;

	read_number(a, &x);
	read_number(b, &y);
	if (tolerance == NULL || compare_decimals(&x, &y) == 0)
		return compare_decimals(&x, &y) == 0;
	read_number(&(struct number){ .text = tolerance }, &limit);
	return is_within(&x, &y, &limit);
}

int
number_compare(const char *a, const char *b)
{
	return number_order(&(struct number){ .text = a }, &(struct number){ .text = b });
}

bool
number_is_near(const char *a, const char *b, const char *tolerance)
{
	return number_within(&(struct number){ .text = a }, &(struct number){ .text = b },
			     tolerance);
}

bool
number_is_integer(const char *text)
{
	struct layout layout;
	struct decimal decimal;

	if (!split(text, strlen(text), &layout))
		return false;
	normalise(&layout, &decimal);
	return decimal.count == 0 || (int)decimal.count <= decimal.point;
}
