/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts on their way into the database: collected into batches, one statement at a time, on a
 * connection of their own. A row that is refused is narrowed down by halves, so that the others are written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/store/work.h"

struct arena;
struct db;
struct err;
struct event_base;
struct writer;

enum written {
	WRITTEN_DONE,
	WRITTEN_STALE,	 /* the operation was changed meanwhile, or held without an alternative */
	WRITTEN_LOCKED,	 /* somebody holds the row; it is asked again later */
	WRITTEN_REFUSED, /* not even the reduced row was taken */
};

/* One verdict: what is stored, and what the owner wants to know about it again. */
struct writer_entry {
	struct record_row row;
	void *owner_data; /* must live in the writer's arena */
	bool observed;	  /* no status may change */
	int64_t review_recheck_us;
	int refusals;
	/* What is written instead when the database says HELD or LATE; in the writer's arena. NULL:
	 * the verdict is dropped, as a stale one. */
	const struct writer_entry *held, *late;
};

struct writer_callbacks {
	/* For every entry exactly once, unless the writer failed; it may be an alternative. */
	void (*written)(void *owner, const struct writer_entry *entry, enum written outcome,
			int64_t revision);
	/* There is room again, or nothing is left to write. */
	void (*progressed)(void *owner);
	/* Nothing more will be written: the outcome of what was under way is unknown. Once. */
	void (*failed)(void *owner, const struct err *err);
	void *owner;
};

struct writer_options {
	struct event_base *base;
	struct db *db;
	const char *actor, *instance_id;
	int batch; /* rows in one statement */
};

struct writer *writer_create(const struct writer_options *options,
			     const struct writer_callbacks *callbacks);
void writer_destroy(struct writer *writer);

bool writer_has_room(const struct writer *writer); /* fewer than three batches are unwritten */
bool writer_is_idle(const struct writer *writer);
bool writer_has_failed(const struct writer *writer); /* what is unwritten stays unwritten */

/* Texts of an entry must live in this arena, asked for right before writer_add. */
struct arena *writer_arena(struct writer *writer);
void writer_add(struct writer *writer, const struct writer_entry *entry);
void
writer_flush(struct writer *writer); /* nothing more comes soon: do not wait for a full batch */
