/* SPDX-License-Identifier: Apache-2.0
 *
 * A single pass among the instances: it takes no share of the work, but counts where the limits of
 * targets are divided, from its first heartbeat until it leaves.
 */
#pragma once

#include "reconciled/store/instances.h"

struct db;
struct err;
struct event_base;
struct guest;

struct guest_callbacks {
	/* After each heartbeat; view is valid during the call. */
	void (*learnt)(void *owner, const struct cluster_view *view);
	/* The database does not answer. At most once. */
	void (*failed)(void *owner, const struct err *err);
	void *owner;
};

/* Beats as "once:NAME". db is borrowed. */
struct guest *guest_create(struct event_base *base, struct db *db, const char *name,
			   const struct guest_callbacks *callbacks);
void guest_destroy(struct guest *guest);
const char *guest_id(const struct guest *guest);

void guest_join(struct guest *guest); /* beats now, and again and again */
/* Beats no more. False: it never joined, or left already; done is not called then. */
bool guest_leave(struct guest *guest, store_left_fn *done, void *owner);
