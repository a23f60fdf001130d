/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting of negative evidence. Knows times and counters only, not what was seen.
 */
#include "earned.h"

struct earned
earned_nothing(void)
{
	return (struct earned){ .class = CLASS_NONE, .since_us = TIME_NONE };
}

int64_t
earned_basis_us(const struct operation *op)
{
	int64_t last = operation_last_send(op);

	return last == TIME_NONE ? op->first_sent_at_us : last;
}

int64_t
earned_after_us(const struct policy *policy, const struct operation *op)
{
	return earned_basis_us(op) + policy->absence_after_us;
}

struct earned
earned_with(const struct policy *policy, const struct operation *op, enum verdict_class class,
	    int64_t at_us)
{
	struct earned run = op->earned;

	run.inconclusive = 0;
	if (run.class != class || run.looks <= 0 || run.since_us == TIME_NONE ||
	    run.since_us < earned_after_us(policy, op) || run.since_us > at_us)
		run = (struct earned){ .class = class, .since_us = at_us };
	run.looks++;
	return run;
}

bool
earned_enough(const struct policy *policy, const struct earned *earned, int64_t at_us)
{
	return earned->looks >= policy->absence_confirm &&
	       at_us - earned->since_us >= policy->absence_over_us;
}

int64_t
earned_over_us(const struct policy *policy, const struct earned *earned)
{
	if (earned->since_us == TIME_NONE)
		return TIME_NONE;
	return earned->since_us + policy->absence_over_us;
}
