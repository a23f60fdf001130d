/* SPDX-License-Identifier: Apache-2.0
 *
 * The heartbeat of this instance: sent every three seconds while there is a connection, noted in
 * the state file, and a deadline that says when others must think us dead.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct cluster_view;
struct db;
struct err;
struct event_base;
struct policy;
struct pulse;
struct state_file;

/* From the loop. */
struct pulse_callbacks {
	/* sent_us: when it left, monotonic. view is valid during the call. */
	void (*answered)(void *owner, int64_t sent_us, const struct cluster_view *view);
	void (*silent)(void *owner); /* too long without an answer; told once for each start */
	void *owner;
};

/* name: of the instance, for people. Everything is borrowed. */
struct pulse *pulse_create(struct event_base *base, struct state_file *state_file, const char *name,
			   const struct pulse_callbacks *callbacks);
void pulse_destroy(struct pulse *pulse); /* accepts NULL */

/* Of which types the next heartbeats say that we take part; borrowed until the next call. */
void pulse_announce(struct pulse *pulse, const struct policy *policies, size_t count);

/* On this connection from now on, the first one at once. */
void pulse_start(struct pulse *pulse, struct db *db);
void pulse_now(struct pulse *pulse); /* one more, after the one under way; nothing when stopped */
/* The connection is given up next: an answer that is outstanding does not come. */
void pulse_stop(struct pulse *pulse);
