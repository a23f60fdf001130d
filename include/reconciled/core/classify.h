/* SPDX-License-Identifier: Apache-2.0
 *
 * The judgement: one look at one operation → verdict, reason, rule. A pure function of its
 * arguments; everything that it allocates is in the arena.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/reading.h"

enum { LOOK_READINGS_MAX = 16 };

enum control_state {
	CONTROL_NONE, /* the target declares none */
	CONTROL_FOUND,
	CONTROL_LOST,
};

const char *control_state_name(enum control_state control); /* LOST: "absent" */

/* Everything that was asked about an operation in one go. */
struct look {
	const struct reading
		*readings[LOOK_READINGS_MAX]; /* in the order in which they were asked */
	size_t count;
	int64_t at_us; /* when asking began, by the database's clock */
	/* When it is judged, where that is later than asking; 0: at_us. Limits since the send count
	 * up to here, what is earned counts by at_us. */
	int64_t now_us;
	enum control_state control;
	bool reread; /* the last reading, by `then`, stands for the one before it */
};

static inline int64_t
look_now_us(const struct look *look)
{
	return look->now_us != 0 ? look->now_us : look->at_us;
}

/* What is asked next in a look. */
struct look_step {
	const struct probe *probe;  /* NULL: the look is over */
	const struct operation *op; /* with what `with` of a second read replaces */
	bool reread;
};

/* One rule that was tried, for the evidence: first false ones, then the one that held. */
struct rule_trace {
	const char *rule; /* "judge[0]" */
	bool held;
};

enum { VERDICT_TRACES_MAX = 64 };

struct verdict {
	enum verdict_class class;
	const char *reason; /* a stable token, or one lower-case word of a `why` */
	const char *why;    /* the text of the row, or NULL */
	const char *rule;   /* the one that fired */
	struct rule_trace traces[VERDICT_TRACES_MAX];
	size_t traces_count;
	const struct compared *compared;
	size_t compared_count;
	const struct reading *reading; /* the one that decided; NULL when nothing was asked */
	const struct value *item;      /* the one item, or NULL */
	const struct response *item_response; /* the page it was on */
	const char *remote_id;		      /* at the policy's locator in the item, or NULL */
	struct earned earned;		      /* to be stored */
	bool several;			      /* more than one effect was seen */
	bool unavailable; /* the target could not be asked, or did not answer usably */
};

struct look_step look_next(const struct policy *policy, const struct operation *op,
			   const struct look *look, struct arena *arena);

/* Judges a look that is over. */
void classify(struct arena *arena, const struct policy *policy, const struct operation *op,
	      const struct look *look, struct verdict *ret_verdict);
