/* SPDX-License-Identifier: Apache-2.0
 *
 * Behaviours: which requests they are for, and what happens to those. All matching behaviours add
 * up to one plan; for each aspect the first that sets it wins.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "world.h"

struct err;

enum purpose { PURPOSE_ANY, PURPOSE_PROBE, PURPOSE_EFFECT };

/* How the answer goes out, after whatever happened. */
enum delivery { DELIVERY_SEND, DELIVERY_CLOSE, DELIVERY_HANG, DELIVERY_TRUNCATE };

/* Instead of serving the request. */
enum outage { OUTAGE_NONE, OUTAGE_503, OUTAGE_CLOSE, OUTAGE_HANG };

/* What the request is known by, for matching. Texts may be NULL. */
struct request_facts {
	const char *collection, *method, *id, *operation;
	enum purpose purpose;
	const json_t *fields; /* body of a write or search, query of a list */
};

/* Zeroed is: serve honestly. Pointers are borrowed from the behaviours, which a switch may free. */
struct plan {
	int64_t latency_us;
	enum delivery lose;
	enum outage outage;
	int status; /* answered instead of serving; 0: serve */
	int64_t retry_after_us;
	const char *body, *type;
	int body_bytes; /* the canned body is padded with blanks to this size */
	int copies;	/* effects of one write; 0 is 1 */
	int not_found;	/* enum not_found + 1; 0: the collection's */
	bool other_tenant, ignore_filter, forget_key;
	int64_t visible_after_us, listed_after_us;
	const json_t *store, *drop, *progression;
	const char *names[4]; /* of the first behaviours that took part */
};

struct behaviours {
	struct behaviour *first, *last;
	uint64_t count;
};

/* One behaviour or a list; one with a name that is there replaces it. Errors name the behaviour. */
bool behaviours_add(struct behaviours *all, const json_t *from, int64_t now_us,
		    struct err *err) MUST_CHECK;
/* The number removed; NULL removes all. */
size_t behaviours_remove(struct behaviours *all, const char *name);
/* Counts against `times` of each behaviour that takes part. */
void behaviours_plan(struct behaviours *all, const struct request_facts *facts, int64_t now_us,
		     struct plan *ret_plan);
/* [{"name":…,"matched":N}], new reference. */
json_t *behaviours_list(const struct behaviours *all);
void behaviours_finish(struct behaviours *all);
