/* SPDX-License-Identifier: Apache-2.0
 *
 * The due operations of one type, page by page: the rows in hand, the place where the next page
 * begins, and when to begin again at the head. Waits for nothing and sends nothing; see source.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/operation.h"
#include "reconciled/reconcile/pass.h"

struct arena;
struct due_rows;
struct underway;

enum lane_state {
	LANE_ASLEEP,   /* until wake_at_us */
	LANE_WANTING,  /* the next page of its selection */
	LANE_FETCHING, /* that page */
	LANE_SERVING,  /* has rows */
	LANE_OVER,     /* of a single pass: nothing more, or left */
};

struct lane {
	const struct pass_type *type;
	enum lane_state state;
	struct pass_share share;
	int64_t interval_us; /* 0: one selection */
	int64_t began_us;    /* CLOCK_MONOTONIC, of the selection */
	int64_t wake_at_us;
	int64_t until_us; /* of the selection; TIME_NONE: the database's clock at its first page */
	int64_t place_due_us; /* the last row that was taken or passed over */
	char *place_id;
	bool last_page; /* nothing comes after the page in hand */
	bool again;	/* somebody wants the head looked at once more */
	bool outdated;	/* the page that is being fetched is for another share, or not wanted */
	bool left;	/* a single pass could not ask what was there */
	struct due_rows *rows;
	bool owns_rows;
	size_t *order; /* rows to take */
	size_t count, next;
	int64_t fetched_us, clock_offset_us;
	int64_t ended_us; /* wall clock, of the last whole selection; 0: none yet */
};

void lane_init(struct lane *lane, const struct pass_type *type, int64_t interval_us);
void lane_finish(struct lane *lane);

void lane_begin(struct lane *lane); /* a new selection from the head; drops the page */
void lane_wake(struct lane *lane);  /* as soon as the selection under way is done */
void lane_drop(struct lane *lane);  /* the page: it is selected again from where it was taken to */
void lane_abandon(struct lane *lane); /* of a single pass: what is there stays unasked */

/* A page that was wanted, from FETCHING. Rows that are under way are passed over. */
void lane_fill(struct lane *lane, struct due_rows *rows, size_t page_rows,
	       const struct underway *underway);
/* Row i of rows that several lanes share and that make the only page; lane_serve after the last. */
void lane_add(struct lane *lane, struct due_rows *rows, size_t i);
void lane_serve(struct lane *lane);

size_t lane_left(const struct lane *lane);			  /* rows in hand */
const char *lane_operation_id(const struct lane *lane, size_t i); /* of the rows in hand */
/* The next row, from SERVING. After the last row of the page the state is another. */
void lane_take(struct lane *lane, struct arena *arena, struct operation *ret_op);
