/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that were in flight when a process died may have killed it. They are asked one at a
 * time, each recorded before the next, while nothing else is in flight: so it is known which one
 * it was. In phases of about a second, with at least an interval between them.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/reconcile/pass.h"

struct due_rows;
struct err;
struct solo;
struct source;

struct solo_callbacks {
	/* There are suspects, or no more: solo_is_on has changed. Or err. Never from inside a call
	 * of solo. */
	void (*changed)(void *owner, const struct err *err);
	/* One row, valid during the call. False: it cannot be asked now. */
	bool (*suspect)(void *owner, const struct due_rows *rows);
	void *owner;
};

/* All borrowed. Without options.note_instance_id never on. */
struct solo *solo_create(const struct pass_options *options, const struct source *source,
			 const struct solo_callbacks *callbacks);
void solo_destroy(struct solo *solo);
void solo_start(struct solo *solo);

bool solo_is_on(const struct solo *solo); /* nothing else may start */
bool solo_is_fetching(const struct solo *solo);
/* While on, each time that nothing is in flight or unwritten: goes on, or ends the phase. */
void solo_quiet(struct solo *solo);
void solo_stop(struct solo *solo); /* for good */
