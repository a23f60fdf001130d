/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of the policy language share: an operation, and parsing that cannot fail.
 */
#pragma once

#include <stdlib.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"
#include "reconciled/core/locator.h"
#include "reconciled/core/template.h"
#include "reconciled/core/value.h"
#include "tap.h"

static inline void
must(bool done, const struct err *err)
{
	if (!done) {
		printf("Bail out! %s\n", err->text);
		exit(1);
	}
}

static inline const struct value *
json(struct arena *arena, const char *text)
{
	const struct value *value = NULL;
	struct err err = { .text = "no JSON" };

	must(value_read_json(arena, text, strlen(text), &value) == VALUE_OK, &err);
	return value;
}

static inline struct locator *
locator(struct arena *arena, const char *text)
{
	struct locator *parsed = arena_new(arena, struct locator);
	struct err err = { 0 };

	must(locator_parse(arena, text, parsed, &err), &err);
	return parsed;
}

static inline struct template template(struct arena *arena, const char *text)
{
	struct template parsed = { 0 };
	struct err err = { 0 };

	must(template_parse(arena, text, &parsed, &err), &err);
	return parsed;
}

/* 2026-03-01T12:00:00Z */
#define SENT_US INT64_C(1772366400000000)

static inline struct operation
operation(struct arena *arena, const char *expected)
{
	return (struct operation){
		.operation_id = "op_00000001",
		.operation_type = "sync_customer",
		.scope = "",
		.entity_type = "customer",
		.entity_id = "42",
		.entity_state = "active",
		.version = "7",
		.idempotency_key = "key-1",
		.business_key = "c-42",
		.remote_id = "",
		.correlation_id = "",
		.superseded_by = "",
		.compensates = "",
		.expected = expected == NULL ? NULL : json(arena, expected),
		.status = STATUS_AWAITING_CONFIRMATION,
		.created_at_us = SENT_US - 1500000,
		.first_sent_at_us = SENT_US,
		.sent_at_us = SENT_US + 250000,
		.attempt_until_us = TIME_NONE,
		.next_attempt_at_us = TIME_NONE,
		.announced_at_us = TIME_NONE,
	};
}
