/* SPDX-License-Identifier: Apache-2.0
 *
 * One loaded configuration in use: its targets in an engine of their own, its types, and the pass
 * over them while there is a connection. A reload makes the next one beside it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_view;
struct config;
struct curl_loop;
struct daemon_options;
struct db;
struct err;
struct event_base;
struct metrics;
struct policy;
struct serving;
struct strbuf;

/* What outlives a configuration. Borrowed. */
struct serving_context {
	struct event_base *base;
	struct curl_loop *curl;
	const struct daemon_options *options;
	const char *instance_id, *actor;
	struct metrics *metrics; /* counted into */
	/* The pass ended: stopped, or err says why. From the loop; not for serving_drop. */
	void (*over)(void *owner, const struct err *err);
	void *owner;
};

/* Takes over the reference. */
struct serving *serving_create(const struct serving_context *context, struct config *config);
void serving_destroy(struct serving *serving); /* drops the pass; accepts NULL */
/* What the one before has learnt of its targets. */
void serving_inherit(struct serving *serving, const struct serving *before);

const struct config *serving_config(const struct serving *serving);
/* The types it looks after; all of the configuration, or those that were asked for. */
const struct policy *serving_policies(const struct serving *serving, size_t *ret_count);
/* Its policies are in the database; whoever wrote them there notes it. */
bool serving_is_published(const struct serving *serving);
void serving_note_published(struct serving *serving);
/* The database does not know a type of it; it went back in time to other policies. */
bool serving_is_unknown_to(const struct serving *serving, const struct cluster_view *view);
bool serving_is_foreign_to(const struct serving *serving, const struct cluster_view *view);
/* Nothing that it asks takes longer. */
int64_t serving_longest_us(const struct serving *serving);

/* How many types, and how many of them are held back by what: words for the status. */
void serving_tell(const struct serving *serving, struct strbuf *out);
/* What its targets, types and pass are like now; and the names of those that it counts. */
void serving_show(const struct serving *serving);
void serving_label(const struct serving *serving);

/* The pass, with a share of nothing until a view is applied. */
void serving_start(struct serving *serving, struct db *read, struct db *write);
bool serving_is_running(const struct serving *serving); /* started and not over */
void serving_apply(struct serving *serving, const struct cluster_view *view);
void serving_wake(struct serving *serving, const char *operation_type); /* NULL: every type */
void serving_stop(struct serving *serving); /* over is called when all is recorded */
void serving_drop(struct serving *serving); /* not from inside a callback of its pass */
