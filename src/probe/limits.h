/* SPDX-License-Identifier: Apache-2.0
 *
 * How much may be asked of a target at the moment: the slots, the rate, and the pause that the
 * target asked for. Of slots and rate only a part is ours when instances share the target. Pure;
 * now_us is CLOCK_MONOTONIC and may be 0 while limits_is_timed is false.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct limits_options {
	int concurrent;
	int rate_count; /* in rate_period_us; 0: no limit */
	int64_t rate_period_us;
	int rate_burst; /* below 1: 1 */
};

struct limits {
	struct limits_options options; /* of the whole target */
	int part, parts;	       /* ours */
	int concurrent, taken;
	/* The bucket: a microsecond brings rate_count units, a question costs cost of them. So any
	 * rate divides without a rest. */
	int64_t cost, full, level, filled_us;
	int64_t paused_until_us; /* 0: no pause */
	/* Of a target that refuses and does not say for how long. */
	int64_t backoff_us, refused_us;
};

void limits_init(struct limits *limits, const struct limits_options *options, int64_t now_us);

/*
 * Part of parts: concurrent / parts slots, the first parts have the remainder; the rate in parts
 * times the period; burst / parts, at least 1. With fewer slots than parts some would have none:
 * the caller then gives one instance 0 of 1 and the others parts 0, which is nothing at all.
 */
void limits_set_part(struct limits *limits, int part, int parts, int64_t now_us);
bool limits_is_ours(const struct limits *limits);

/* Time plays a part: a rate or a pause. */
bool limits_is_timed(const struct limits *limits);

int limits_free(const struct limits *limits, int64_t now_us);
bool limits_take(struct limits *limits, int64_t now_us); /* false: none free */
void limits_give(struct limits *limits);		 /* the slot; what was asked was asked */

/* When pause and rate let the next question out; not later than now: they do. Slots aside. */
int64_t limits_open_at_us(const struct limits *limits, int64_t now_us);
bool limits_is_paused(const struct limits *limits, int64_t now_us);

/* Nothing before: pauses only grow. */
void limits_pause(struct limits *limits, int64_t wait_us, int64_t now_us);

/*
 * The target refused a question that began at began_us. wait_us above 0: as long as it asked for;
 * else a pause of our own, 1 s and twice as long each time up to 60 s. Answers to what was asked
 * before the last refusal are one refusal with it. The length of the pause is returned.
 */
int64_t limits_refuse(struct limits *limits, int64_t wait_us, int64_t began_us, int64_t now_us);
/* It answered in earnest: the pauses of our own begin small again. */
void limits_accept(struct limits *limits, int64_t began_us);

/* What was learnt goes over to the limits of the same target in another configuration. */
void limits_inherit(struct limits *limits, const struct limits *before, int64_t now_us);
