/* SPDX-License-Identifier: Apache-2.0
 *
 * Slots are counted, the rate is a token bucket in whole numbers.
 */
#include "limits.h"

#include <assert.h>

#include "reconciled/base/clock.h"

#define BACKOFF_FIRST SECOND
#define BACKOFF_MAX MINUTE

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t
level_at(const struct limits *limits, int64_t now_us)
{
	int64_t room = limits->full - limits->level, elapsed = now_us - limits->filled_us;

	if (elapsed > room / limits->options.rate_count)
		return limits->full;
	return limits->level + most(elapsed, 0) * limits->options.rate_count;
}

static bool
has_rate(const struct limits *limits)
{
	return limits->options.rate_count > 0 && limits->options.rate_period_us > 0;
}

void
limits_init(struct limits *limits, const struct limits_options *options, int64_t now_us)
{
	*limits = (struct limits){ .options = *options };
	limits_set_part(limits, 0, 1, now_us);
	limits->level = limits->full;
}

bool
limits_is_ours(const struct limits *limits)
{
	return limits->concurrent > 0;
}

/* Tokens are kept when the price changes. What was somebody else's until now begins empty. */
static void
resize_bucket(struct limits *limits, int parts, int64_t now_us)
{
	int64_t tokens = limits_is_ours(limits) ? level_at(limits, now_us) / limits->cost : 0;

	limits->cost = limits->options.rate_period_us * parts;
	limits->full = limits->cost * most(limits->options.rate_burst / parts, 1);
	limits->level = least(tokens * limits->cost, limits->full);
	limits->filled_us = now_us;
}

void
limits_set_part(struct limits *limits, int part, int parts, int64_t now_us)
{
	int whole = limits->options.concurrent;

	assert(parts == 0 || (part >= 0 && part < parts));
	if (part == limits->part && parts == limits->parts)
		return;
	if (parts > 0 && has_rate(limits))
		resize_bucket(limits, parts, now_us);
	limits->part = part;
	limits->parts = parts;
	limits->concurrent = parts == 0 ? 0 : whole / parts + (part < whole % parts);
}

bool
limits_is_timed(const struct limits *limits)
{
	return has_rate(limits) || limits->paused_until_us != 0;
}

bool
limits_is_paused(const struct limits *limits, int64_t now_us)
{
	return limits->paused_until_us > now_us;
}

static int64_t
tokens_at(const struct limits *limits, int64_t now_us)
{
	return has_rate(limits) ? level_at(limits, now_us) / limits->cost : limits->concurrent;
}

int
limits_free(const struct limits *limits, int64_t now_us)
{
	int slots = limits->concurrent - limits->taken; /* below 0: the part became smaller */

	if (slots <= 0 || limits_is_paused(limits, now_us))
		return 0;
	return (int)least(slots, tokens_at(limits, now_us));
}

bool
limits_take(struct limits *limits, int64_t now_us)
{
	if (limits_free(limits, now_us) == 0)
		return false;
	limits->taken++;
	if (limits->paused_until_us != 0)
		limits->paused_until_us = 0; /* it is over */
	if (has_rate(limits)) {
		limits->level = level_at(limits, now_us) - limits->cost;
		limits->filled_us = now_us;
	}
	return true;
}

void
limits_give(struct limits *limits)
{
	assert(limits->taken > 0);
	limits->taken--;
}

int64_t
limits_open_at_us(const struct limits *limits, int64_t now_us)
{
	int64_t count = limits->options.rate_count, at = limits->paused_until_us, missing;

	if (!has_rate(limits))
		return at;
	missing = limits->cost - level_at(limits, now_us);
	return missing <= 0 ? at : most(at, now_us + (missing + count - 1) / count);
}

void
limits_pause(struct limits *limits, int64_t wait_us, int64_t now_us)
{
	if (wait_us > 0)
		limits->paused_until_us = most(limits->paused_until_us, now_us + wait_us);
}

int64_t
limits_refuse(struct limits *limits, int64_t wait_us, int64_t began_us, int64_t now_us)
{
	bool again = limits->refused_us != 0 && began_us < limits->refused_us;

	if (wait_us <= 0 && !again)
		limits->backoff_us =
			least(most(limits->backoff_us * 2, BACKOFF_FIRST), BACKOFF_MAX);
	if (!again)
		limits->refused_us = now_us;
	limits_pause(limits, wait_us > 0 ? wait_us : again ? 0 : limits->backoff_us, now_us);
	return most(limits->paused_until_us - now_us, 0);
}

void
limits_accept(struct limits *limits, int64_t began_us)
{
	if (began_us >= limits->refused_us)
		limits->backoff_us = 0;
}

void
limits_inherit(struct limits *limits, const struct limits *before, int64_t now_us)
{
	limits_set_part(limits, before->part, before->parts, now_us);
	limits->paused_until_us = before->paused_until_us;
	limits->backoff_us = before->backoff_us;
	limits->refused_us = before->refused_us;
	if (!has_rate(limits) || !has_rate(before) || !limits_is_ours(limits))
		return;
	limits->level = least(limits->full, level_at(before, now_us) / before->cost * limits->cost);
	limits->filled_us = now_us;
}
