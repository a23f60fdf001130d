/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the reader of policy tests share.
 */
#pragma once

#include "field.h"
#include "reconciled/config/test_file.h"

extern const struct table test_file_table, test_case_table, test_reading_table,
	test_operation_table;
extern const struct shape shape_test_reading;

/* A time that was not given; TIME_NONE is one that is known to be none. */
#define TIME_UNSET (TIME_NONE + 1)

/* at is an int64_t: RFC 3339; null becomes TIME_NONE. */
void moment_decode(struct loading *loading, const struct node *node, void *at,
		   const struct field *field);

/* at is a struct test_case: its readings. */
void test_readings_decode(struct loading *loading, const struct node *node, void *at,
			  const struct field *field);

/* Everything but what needs the policy. */
void test_case_decode(struct loading *loading, const struct node *node, struct test_case *ret_case);

/* An operation that says nothing; times that are not given are TIME_UNSET. */
void test_operation_init(struct loading *loading, struct operation *op);

/* at is a struct operation that was initialised: what the mapping gives. */
void test_operation_decode(struct loading *loading, const struct node *node, void *at,
			   const struct field *field);

/* The rest, as a request and a send at sent_us would have set it; the type is the policy's. */
void test_operation_settle(struct operation *op, const char *operation_type, int64_t sent_us);
