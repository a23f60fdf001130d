/* SPDX-License-Identifier: Apache-2.0
 *
 * What the simulated system holds: collections of objects, found by id and by indexed members, with
 * the moment from which readers see each state. Times are monotonic microseconds, given by callers.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "table.h"

struct err;
struct strbuf;

enum not_found { NOT_FOUND_JSON, NOT_FOUND_HTML, NOT_FOUND_EMPTY, NOT_FOUND_BARE };
enum deleted { DELETED_404, DELETED_410 };

/* What happens to one write, besides the write itself. */
struct write_faults {
	int64_t visible_us;	   /* reads by id see it only then; absolute, 0: at once */
	int64_t listed_us;	   /* lists and searches see it only then */
	const json_t *overwrite;   /* members stored differently, or NULL */
	const json_t *drop;	   /* members not stored, or NULL */
	const json_t *progression; /* instead of the collection's, or NULL */
};

/* One state of one object. */
struct object {
	struct object *next, *prev; /* in order of creation, within the collection */
	char *id;
	char *body;	/* JSON text without progression applied beyond step */
	char *old_body; /* what readers see until visible_us; NULL: nothing */
	int64_t created_us, visible_us, listed_us;
	json_t *progression;
	size_t step;
	bool deleted;
};

struct collection {
	char *name;
	char *id_member;  /* "id" */
	char *id_prefix;  /* of ids made here; default: name and "_" */
	char *list_shape; /* NULL: {"data":[…],"has_more":…}; "bare": […] */
	json_t *indexes;  /* member names */
	json_t *seed;	  /* objects of the configuration */
	json_t *not_found_body;
	json_t *progression; /* [{after, set}] since creation */
	int not_found, deleted;
	bool idempotency; /* honours Idempotency-Key */
	bool conditional; /* refuses a version that is not newer */
	struct object *first, *last;
	struct table by_id, by_key;
	struct table *by_member; /* one per index: value → struct postings */
	size_t objects;
	uint64_t made;
};

struct world {
	struct table collections;
};

void world_finish(struct world *world);
bool world_add_collection(struct world *world, const char *name, const json_t *settings,
			  struct err *err) MUST_CHECK;
struct collection *world_collection(const struct world *world, const char *name);

/* Creates, or replaces the object with that id. The body's id member becomes the id. */
struct object *world_write(struct collection *collection, const char *id, json_t *body,
			   const struct write_faults *faults, int64_t now_us);
/* A fresh id; the text is the caller's. */
char *world_make_id(struct collection *collection);
void world_delete(struct collection *collection, struct object *object);

/* The object whether visible or not; NULL if it never was. */
struct object *world_object(const struct collection *collection, const char *id);
/* What a reader by id sees now; NULL: nothing. The text lives until the object changes. */
const char *world_see(struct object *object, int64_t now_us);

/* Keys: remembers which object a key made, and what body came with it. */
void world_remember_key(struct collection *collection, const char *key, struct object *object,
			uint64_t body_hash);
struct object *world_by_key(const struct collection *collection, const char *key,
			    uint64_t *ret_body_hash);

struct world_query {
	const json_t *filter; /* member → text, or list of texts (any of them) */
	const char *after;    /* id after which to go on, or NULL */
	size_t limit;
};

/* Adds `body,body…` to out. False when a member of the filter is not indexed. */
bool world_search(struct collection *collection, const struct world_query *query, int64_t now_us,
		  struct strbuf *out, bool *ret_more, struct err *err) MUST_CHECK;
