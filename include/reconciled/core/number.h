/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact decimals: the text of a number, compared digit by digit. No double anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_TEXT_MAX = 1200, NUMBER_EXPONENT_MAX = 1000, NUMBER_SCALE_MAX = 30 };

/* [+-]?digits[.digits][e±digits], within the limits above. */
bool number_is_valid(const char *text, size_t len);

/* A number at another scale, as money is written: text / 10^scale. */
struct number {
	const char *text; /* valid */
	int scale;	  /* 0 to NUMBER_SCALE_MAX */
	bool negated;	  /* the sign stands elsewhere */
};

/* Negative, zero, positive. */
int number_order(const struct number *a, const struct number *b);

/* |a - b| <= tolerance, exactly; tolerance is valid and not negative, or NULL: 0. */
bool number_within(const struct number *a, const struct number *b, const char *tolerance);

/* The same for numbers as they are written. All texts must be valid. */
int number_compare(const char *a, const char *b);
bool number_is_near(const char *a, const char *b, const char *tolerance);

bool number_is_integer(const char *text); /* 7, 7.0, 70e-1 */
