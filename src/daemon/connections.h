/* SPDX-License-Identifier: Apache-2.0
 *
 * The daemon's connections to PostgreSQL, which are made and given up together: one that reads, one
 * that writes, one that beats and listens. Each time they are new objects, so that nothing that was
 * asked before can be answered after.
 */
#pragma once

struct db;
struct err;
struct event_base;
struct secret;

struct connections;

/* From the loop. */
struct connections_callbacks {
	void (*opened)(void *owner, const struct err *err); /* once for each connections_open */
	void (*lost)(void *owner, const struct err *err);   /* at most once after opened */
	void (*notified)(void *owner, const char *operation_type); /* "": some */
	void *owner;
};

struct connections *connections_create(struct event_base *base,
				       const struct connections_callbacks *callbacks);
void connections_destroy(struct connections *connections); /* accepts NULL */

/* Both are copied. */
void connections_open(struct connections *connections, const char *conninfo,
		      const struct secret *password);
/* Not from inside a callback of theirs; without effect when there are none. */
void connections_close(struct connections *connections);
/* The same for those that read and write: what they were asked is not answered any more. */
void connections_keep_watch(struct connections *connections);

/* NULL unless opened. */
struct db *connections_read(const struct connections *connections);
struct db *connections_write(const struct connections *connections);
struct db *connections_watch(const struct connections *connections);
