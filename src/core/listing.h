/* SPDX-License-Identifier: Apache-2.0
 *
 * The list in an answer: its elements, and which of the items in it are ours. Private to core.
 */
#pragma once

#include "reconciled/core/reading.h"

struct listed {
	struct item *items;
	size_t count, size;
};

/* Zeroed is a list without pages. */
struct listing {
	struct listed ours;    /* pass where */
	struct listed skipped; /* pass where, but not beside others */
	bool has_elements;     /* on any page */
	bool unreadable;       /* what the list is, was not clear on a page */
	bool full;	       /* a page is as long as one that may be cut off */
};

/* Every item on one page, ours or not, in order. */
typedef void listing_item_fn(void *owner, const struct value *item);
void listing_visit(const struct scene *scene, const struct probe *probe, listing_item_fn *item,
		   void *owner);

/* Elements of the list on one page, before `each`. */
size_t listing_elements(const struct scene *scene, const struct probe *probe);

/*
 * Adds one page. What is not ours is looked at and not kept, not even in memory. An item that
 * another page had too is added once.
 */
void listing_add_page(struct listing *listing, const struct scene *scene,
		      const struct probe *probe);
