/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks a target about one operation, as the daemon would, and keeps what came. Writes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "reconciled/core/decide.h"

struct asking;
struct check;
struct config;
struct ctl;
struct err;
struct policy;

/* config has the secrets of the policy's target; both are borrowed. guarded: a guard is tripped. */
struct asking *asking_create(struct ctl *ctl, const struct config *config,
			     const struct policy *policy, bool guarded);
void asking_destroy(struct asking *asking); /* accepts NULL */

/* Reads the operation and asks until the look is over; turns the loop of ctl. */
bool asking_run(struct asking *asking, const char *operation_id, struct err *err) MUST_CHECK;

/* After asking_run: with its verdict and decision, and everything in its arena. */
struct check *asking_check(const struct asking *asking);
const struct operation *asking_operation(const struct asking *asking);
int64_t asking_now_us(const struct asking *asking); /* by the clock of the database */
