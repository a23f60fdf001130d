/* SPDX-License-Identifier: Apache-2.0
 *
 * All targets at once: when none of them can be reached, the fault is on our side. Then only one is
 * tried at a time, and the first answer of any of them lets all be tried.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct gate;

TAILQ_HEAD(gate_list, gate);

/* Gates that were held back may be open now; from the loop. */
typedef void isolation_wake_fn(void *owner);

struct isolation {
	struct gate_list gates;
	isolation_wake_fn *wake;
	void *owner;
	bool on;
};

void isolation_init(struct isolation *isolation, isolation_wake_fn *wake, void *owner);

/* Another target is on trial. */
bool isolation_holds_back(const struct isolation *isolation, const struct gate *gate);

/* A breaker opened, or one that is open was inherited. */
void isolation_consider(struct isolation *isolation);

/* A target answered, whatever it said. */
void isolation_end(struct isolation *isolation, int64_t now_us);
