/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares what was found with what was expected, by the type that the policy gives.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/condition.h"

enum compare_type {
	COMPARE_TEXT,
	COMPARE_NUMBER,
	COMPARE_MONEY,
	COMPARE_TIME,
	COMPARE_SET,
	COMPARE_LIST,
	COMPARE_BOOL,
	COMPARE_DIGEST,
	COMPARE_VERSION,
};
enum compare_relation { COMPARE_IS, COMPARE_ONE_OF, COMPARE_AT_LEAST, COMPARE_NOT_BEFORE };
enum version_order { VERSION_INTEGER, VERSION_TIME, VERSION_DOTTED, VERSION_OPAQUE };
enum money_unit { MONEY_MAJOR, MONEY_MINOR, MONEY_HUNDREDTHS, MONEY_SCALE };
enum digest_algorithm {
	DIGEST_ANY, /* whatever length both sides have */
	DIGEST_MD5,
	DIGEST_SHA1,
	DIGEST_SHA256,
	DIGEST_SHA384,
	DIGEST_SHA512,
	DIGEST_CRC32C,
};
enum digest_encoding { DIGEST_HEX, DIGEST_BASE64, DIGEST_BASE64URL };
enum compare_result {
	COMPARED_EQUAL,
	COMPARED_DIFFERENT,
	COMPARED_OLDER,
	COMPARED_NEWER,
	COMPARED_UNREADABLE
};

/* Where the direction of an amount stands: the text at `by` is one of both. */
struct money_sign {
	const struct locator *by; /* NULL: the amount has its own sign */
	const char *plus, *minus;
};

struct time_zone; /* core/time_zone.h */

struct comparison {
	const char *name;
	struct locator found;
	enum compare_type type;
	enum compare_relation relation;
	const struct operand *values; /* one; several for ONE_OF and where listed */
	size_t count;
	bool listed;	       /* SET, LIST: the values are the elements, not where they are */
	unsigned fold;	       /* text */
	const char *tolerance; /* number, money; NULL: exact */
	enum version_order order;
	enum money_unit unit;
	int scale;			/* MONEY_SCALE: the found number counts 10^-scale */
	const struct locator *currency; /* MONEY_MINOR */
	struct money_sign sign;
	int64_t skew_us;	      /* time, version by time */
	const struct time_zone *zone; /* of times without one; NULL: unreadable */
	enum digest_algorithm algorithm;
	enum digest_encoding encoding;
};

/*
 * One compared field of a verdict. Texts are as they were read; NULL when absent or of another
 * shape. Sets and lists are shown as "[a, b]", several expected texts as "a, b".
 */
struct compared {
	const struct comparison *by;
	enum compare_result result;
	const char *expected, *found;
};

const char *compare_type_name(enum compare_type type);
const char *compare_result_name(enum compare_result result);

/* Whether a text that the policy expects is a value of the type at all. */
bool compare_reads(const struct comparison *comparison, const char *expected);

struct compared compare_field(const struct scene *scene, const struct comparison *comparison);
