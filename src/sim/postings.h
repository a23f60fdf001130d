/* SPDX-License-Identifier: Apache-2.0
 *
 * An index over one member: from its text to the objects that carry it, in order of arrival.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "table.h"

struct object;

struct postings {
	size_t count, size;
	struct object **objects;
	char text[];
};

/* The text under which a scalar is indexed; holds its own room for numbers. */
struct postings_text {
	const char *at;
	char room[32];
};

/* False for what is no scalar. at is borrowed from the value or from ret. */
bool postings_text(const json_t *value, struct postings_text *ret);
void postings_add(struct table *index, const char *text, struct object *object);
void postings_remove(struct table *index, const char *text, struct object *object);
const struct postings *postings_get(const struct table *index, const char *text); /* or NULL */
void postings_finish(struct table *index);
