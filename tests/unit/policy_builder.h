/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies and operations for unit tests of the judgement, written as JSON with ' for ": the keys of
 * the policy language without its files. A mistake in such a text ends the test program.
 */
#pragma once

#include "reconciled/core/decide.h"

struct arena;

/* 2026-03-01T12:00:00Z: the last send of every operation, unless it says otherwise. */
#define SENT_US ((int64_t)1772366400 * 1000000)

/* Any text with ' for ". */
const struct value *build_json(struct arena *arena, const char *text);

/* mode is enforce unless the text says observe. */
struct policy *build_policy(struct arena *arena, const char *text);

/* throttled, broken. */
const struct target_rules *build_target(struct arena *arena, const char *text);

/*
 * Text fields and expected by name; "sent": null for one that was never started; "attempt_until",
 * "sent_at" and "first_sent_at" as seconds after SENT_US.
 */
struct operation build_operation(struct arena *arena, const char *text);
