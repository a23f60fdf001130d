/* SPDX-License-Identifier: Apache-2.0
 *
 * One operation being looked at: asks probe after probe, judges, decides, and hands the verdict
 * over. Drops itself when cancelled; never touches the database.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/core/decide.h"
#include "reconciled/reconcile/pass.h"

struct arena;
struct check;

struct check_subject {
	const struct pass_type *type;
	size_t type_number;
	struct operation op; /* in the check's arena */
	int64_t clock_offset_us;
};

/* The verdict is there. From check_start itself when nothing had to be asked. */
typedef void check_judged_fn(void *owner, struct check *check);

struct check *check_create(check_judged_fn *judged, void *owner);
void check_destroy(struct check *check);

/* Everything of the operation lives here, until check_reset. */
struct arena *check_arena(struct check *check);
struct check_subject *check_subject(struct check *check);

/* Arena, control and time of the context are filled in here. */
void check_start(struct check *check, const struct decide_context *context);
void check_reset(struct check *check); /* cancels, empties the arena; ready for another operation */

const struct look *check_look(const struct check *check);
const struct verdict *check_verdict(const struct check *check);
const struct decision *check_decision(const struct check *check);

/* Database clock when the last answer of the look came; without a probe, when it was judged. */
int64_t check_answered_us(const struct check *check);
/* What had been decided if a guard had been tripped, or if the answer had been too old. */
struct decision check_decide_if(const struct check *check, bool guarded, bool late);
