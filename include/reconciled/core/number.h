/* SPDX-License-Identifier: Apache-2.0
 *
 * Exact decimals: the text of a number, compared digit by digit. No double anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { NUMBER_TEXT_MAX = 1200, NUMBER_EXPONENT_MAX = 1000 };

/* [+-]?digits[.digits][e±digits], within the limits above. */
bool number_is_valid(const char *text, size_t len);

/* Negative, zero, positive. Both texts must be valid. */
int number_compare(const char *a, const char *b);

/* |a - b| <= tolerance, exactly; tolerance is valid and not negative. */
bool number_is_near(const char *a, const char *b, const char *tolerance);

bool number_is_integer(const char *text); /* 7, 7.0, 70e-1 */
