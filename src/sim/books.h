/* SPDX-License-Identifier: Apache-2.0
 *
 * The books: every effect and every request, one JSON line each in an append-only file, and the
 * counts that tests ask for. Credentials of requests are never written.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "behaviour.h"
#include "reconciled/base/attributes.h"

struct books;
struct err;

struct effect_note {
	const char *collection, *id, *action; /* action: create, update, delete */
	const char *operation, *key;	      /* or NULL */
	const json_t *body;		      /* or NULL */
};

struct request_note {
	const char *method, *path; /* as a template: /customers/{id} */
	const char *collection, *id, *operation;
	enum purpose purpose;
	int status; /* 0: no answer */
	const struct plan *plan;
};

/* file NULL: counts only. */
bool books_open(const char *file, struct books **ret_books, struct err *err) MUST_CHECK;
void books_close(struct books *books); /* writes what is buffered; accepts NULL */
void books_flush(struct books *books);

void books_effect(struct books *books, const struct effect_note *note);
void books_request(struct books *books, const struct request_note *note);

/* All new references. operation NULL: every effect that is still remembered (the last 100,000). */
json_t *books_counts(const struct books *books);
json_t *books_effects(const struct books *books, const char *operation, const char *collection,
		      const char *id);
