/* SPDX-License-Identifier: Apache-2.0
 *
 * What every question to a target passes, also its retries and the control: limits, breaker, and
 * the case that all targets fail. Every answer is noted here. Who asks need not know why it is shut.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "breaker.h"
#include "isolation.h"
#include "limits.h"

struct gate_options {
	const char *target;
	struct limits_options limits;
	struct breaker_options breaker;
};

struct gate {
	const char *target;
	struct isolation *isolation;
	TAILQ_ENTRY(gate) link; /* in it */
	struct limits limits;
	struct breaker breaker;
	uint64_t random;
	bool asked; /* there was an answer or a failure */
};

void gate_init(struct gate *gate, struct isolation *isolation, const struct gate_options *options);
void gate_finish(struct gate *gate);

/* CLOCK_MONOTONIC where it matters, else 0: asking for the time costs. */
int64_t gate_now_us(const struct gate *gate);

int gate_free(const struct gate *gate, int64_t now_us);
bool gate_take(struct gate *gate, unsigned *ret_ticket); /* false: shut */
void gate_give(struct gate *gate, unsigned ticket);	 /* cancelled */

/* The answer to a question that left at began_us. */
void gate_note(struct gate *gate, unsigned ticket, const struct reading *reading, int64_t began_us);

/* The breaker is open and its pause is over: the next question would be on trial. */
bool gate_is_due_for_trial(const struct gate *gate, int64_t now_us);

/* When it opens by itself; not later than now: it is open, or only an answer can open it. */
int64_t gate_open_at_us(const struct gate *gate, int64_t now_us);

uint64_t gate_random(struct gate *gate);

void gate_inherit(struct gate *gate, const struct gate *before);
