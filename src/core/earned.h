/* SPDX-License-Identifier: Apache-2.0
 *
 * Negative evidence is earned: after a waiting time since the last send, a number of looks, spread
 * over a time. Private to core.
 */
#pragma once

#include "reconciled/core/policy.h"

/* Nothing earned, nothing counted. */
struct earned earned_nothing(void);

/* What windows count from: the last send, or the end of a living attempt; TIME_NONE: no worker ever started it. */
int64_t earned_basis_us(const struct operation *op);

/* From this moment on an absence may count. The operation was started. */
int64_t earned_after_us(const struct policy *policy, const struct operation *op);

/*
 * The run of `class` with a look at at_us added. A run of another class, or one that began before
 * the last send could have taken effect, starts anew.
 */
struct earned earned_with(const struct policy *policy, const struct operation *op,
			  enum verdict_class class, int64_t at_us);

/* Enough looks over enough time, the last of them at at_us. */
bool earned_enough(const struct policy *policy, const struct earned *earned, int64_t at_us);

/* When the time that the looks must span is over; TIME_NONE when no run is counted. */
int64_t earned_over_us(const struct policy *policy, const struct earned *earned);
