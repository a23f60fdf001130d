/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks a target about one operation, as the daemon would, and keeps what came. Writes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "reconciled/core/decide.h"

struct explain_ask;
struct check;
struct config;
struct ctl;
struct err;
struct policy;

/* config has the secrets of the policy's target; both are borrowed. guarded: a guard is tripped. */
struct explain_ask *explain_ask_create(struct ctl *ctl, const struct config *config,
				       const struct policy *policy, bool guarded);
void explain_ask_destroy(struct explain_ask *asking); /* accepts NULL */

/* Reads the operation and asks until the look is over; turns the loop of ctl. */
bool explain_ask_run(struct explain_ask *asking, const char *operation_id,
		     struct err *err) MUST_CHECK;

/* After explain_ask_run: with its verdict and decision, and everything in its arena. */
struct check *explain_ask_check(const struct explain_ask *asking);
const struct operation *explain_ask_operation(const struct explain_ask *asking);
int64_t explain_ask_now_us(const struct explain_ask *asking); /* by the clock of the database */
