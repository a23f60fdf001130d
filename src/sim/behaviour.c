/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding and matching of behaviours.
 */
#include "behaviour.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "postings.h"
#include "reconciled/base/err.h"
#include "reconciled/base/xalloc.h"

struct behaviour {
	struct behaviour *next;
	char *name;
	/* for which requests */
	char *collection, *id, *operation;
	json_t *methods, *where;
	int on;
	int64_t from_us, for_us; /* since it was switched on; for 0: without end */
	int skip, times;	 /* lets `skip` pass, takes part `times` times; 0: always */
	/* state */
	int64_t start_us;
	int64_t seen, matched;
	/* what happens; -1 or 0 where an aspect is not set */
	int64_t latency_us, visible_after_us, listed_after_us, retry_after_us;
	int lose, outage, status, body_bytes, copies, not_found;
	bool other_tenant, ignore_filter, forget_key;
	char *body, *type;
	json_t *store, *drop, *progression;
};

static const char *const on_words[] = { "any", "probe", "effect", NULL };
static const char *const lose_words[] = { "no", "close", "hang", "truncate", NULL };
static const char *const outage_words[] = { "no", "503", "close", "hang", NULL };
static const char *const not_found_words[] = { "default", "json", "html", "empty", "bare", NULL };

#define AT(member) .offset = offsetof(struct behaviour, member)

static const struct decode_field behaviour_fields[] = {
	{ "name", DECODE_TEXT, AT(name) },
	{ "collection", DECODE_TEXT, AT(collection) },
	{ "id", DECODE_TEXT, AT(id) },
	{ "operation", DECODE_TEXT, AT(operation) },
	{ "methods", DECODE_TEXTS, AT(methods) },
	{ "on", DECODE_WORD, AT(on), .words = on_words },
	{ "where", DECODE_OBJECT, AT(where) },
	{ "from", DECODE_DURATION, AT(from_us) },
	{ "for", DECODE_DURATION, AT(for_us) },
	{ "skip", DECODE_COUNT, AT(skip) },
	{ "times", DECODE_COUNT, AT(times) },
	{ "latency", DECODE_DURATION, AT(latency_us) },
	{ "lose", DECODE_WORD, AT(lose), .words = lose_words },
	{ "outage", DECODE_WORD, AT(outage), .words = outage_words },
	{ "status", DECODE_COUNT, AT(status) },
	{ "retry_after", DECODE_DURATION, AT(retry_after_us) },
	{ "body", DECODE_TEXT, AT(body) },
	{ "type", DECODE_TEXT, AT(type) },
	{ "body_bytes", DECODE_COUNT, AT(body_bytes) },
	{ "copies", DECODE_COUNT, AT(copies) },
	{ "not_found", DECODE_WORD, AT(not_found), .words = not_found_words },
	{ "other_tenant", DECODE_BOOL, AT(other_tenant) },
	{ "ignore_filter", DECODE_BOOL, AT(ignore_filter) },
	{ "forget_key", DECODE_BOOL, AT(forget_key) },
	{ "visible_after", DECODE_DURATION, AT(visible_after_us) },
	{ "listed_after", DECODE_DURATION, AT(listed_after_us) },
	{ "store", DECODE_OBJECT, AT(store) },
	{ "drop", DECODE_TEXTS, AT(drop) },
	{ "progression", DECODE_LIST, AT(progression) },
	{ 0 },
};

enum { COPIES_MAX = 10, BODY_BYTES_MAX = 64 << 20 };

static void
behaviour_destroy(struct behaviour *b)
{
	decode_release(behaviour_fields, b);
	free(b);
}

static bool
check(const struct behaviour *b, struct err *err)
{
	if (b->status && (b->status < 200 || b->status > 599))
		return err_set(err, ERR_INVALID, "status: %d is none from 200 to 599", b->status);
	if (b->copies > COPIES_MAX)
		return err_set(err, ERR_INVALID, "copies: at most %d", COPIES_MAX);
	if (b->body_bytes > BODY_BYTES_MAX)
		return err_set(err, ERR_INVALID, "body_bytes: at most %d", BODY_BYTES_MAX);
	return true;
}

static void
append(struct behaviours *all, struct behaviour *b)
{
	if (all->last)
		all->last->next = b;
	else
		all->first = b;
	all->last = b;
}

static bool
add_one(struct behaviours *all, const json_t *from, int64_t now_us, struct err *err)
{
	struct behaviour *b = xcalloc(1, sizeof(*b));
	all->count++;
	if (!decode_object(from, behaviour_fields, b, err) || !check(b, err)) {
		err_context(err, "behaviour \"%s\"", b->name ? b->name : "without a name");
		behaviour_destroy(b);
		return false;
	}
	if (!b->name) {
		char name[32];
		snprintf(name, sizeof(name), "behaviour-%" PRIu64, all->count);
		b->name = xstrdup(name);
	}
	b->start_us = now_us;
	behaviours_remove(all, b->name);
	append(all, b);
	return true;
}

bool
behaviours_add(struct behaviours *all, const json_t *from, int64_t now_us, struct err *err)
{
	size_t i;
	json_t *item;
	if (!json_is_array(from))
		return add_one(all, from, now_us, err);
	json_array_foreach((json_t *)(uintptr_t)from, i, item) {
		if (!add_one(all, item, now_us, err))
			return false;
	}
	return true;
}

size_t
behaviours_remove(struct behaviours *all, const char *name)
{
	size_t removed = 0;
	struct behaviour **link = &all->first;
	all->last = NULL;
	while (*link) {
		struct behaviour *b = *link;
		if (name && strcmp(b->name, name) != 0) {
			all->last = b;
			link = &b->next;
			continue;
		}
		*link = b->next;
		behaviour_destroy(b);
		removed++;
	}
	return removed;
}

/* A pattern that is not set matches everything; one that is set matches no missing text. */
static bool
glob(const char *pattern, const char *text)
{
	return !pattern || (text && fnmatch(pattern, text, 0) == 0);
}

static bool
method_matches(const json_t *methods, const char *method)
{
	size_t i;
	json_t *name;
	json_array_foreach((json_t *)(uintptr_t)methods, i, name) {
		if (strcmp(json_string_value(name), method) == 0)
			return true;
	}
	return methods == NULL;
}

static bool
fields_match(const json_t *where, const json_t *fields)
{
	const char *name;
	json_t *wanted;
	json_object_foreach((json_t *)(uintptr_t)where, name, wanted) {
		struct postings_text have, pattern;
		if (!postings_text(json_object_get(fields, name), &have) ||
		    !postings_text(wanted, &pattern) || fnmatch(pattern.at, have.at, 0) != 0)
			return false;
	}
	return true;
}

static bool
matches(const struct behaviour *b, const struct request_facts *facts, int64_t now_us)
{
	int64_t age_us = now_us - b->start_us;
	if (age_us < b->from_us || (b->for_us && age_us >= b->from_us + b->for_us))
		return false;
	return (b->on == PURPOSE_ANY || b->on == (int)facts->purpose) &&
	       glob(b->collection, facts->collection) && glob(b->id, facts->id) &&
	       glob(b->operation, facts->operation) && method_matches(b->methods, facts->method) &&
	       fields_match(b->where, facts->fields);
}

static bool
takes_part(struct behaviour *b)
{
	if (b->seen++ < b->skip || (b->times && b->matched >= b->times))
		return false;
	b->matched++;
	return true;
}

#define FIRST(to, from)                                                                            \
	do {                                                                                       \
		if (!(to))                                                                         \
			(to) = (from);                                                             \
	} while (0)

static void
contribute(const struct behaviour *b, struct plan *plan)
{
	FIRST(plan->latency_us, b->latency_us);
	FIRST(plan->lose, (enum delivery)b->lose);
	FIRST(plan->outage, (enum outage)b->outage);
	FIRST(plan->status, b->status);
	FIRST(plan->retry_after_us, b->retry_after_us);
	FIRST(plan->body, b->body);
	FIRST(plan->type, b->type);
	FIRST(plan->body_bytes, b->body_bytes);
	FIRST(plan->copies, b->copies);
	FIRST(plan->not_found, b->not_found);
	FIRST(plan->other_tenant, b->other_tenant);
	FIRST(plan->ignore_filter, b->ignore_filter);
	FIRST(plan->forget_key, b->forget_key);
	FIRST(plan->visible_after_us, b->visible_after_us);
	FIRST(plan->listed_after_us, b->listed_after_us);
	FIRST(plan->store, b->store);
	FIRST(plan->drop, b->drop);
	FIRST(plan->progression, b->progression);
	for (size_t i = 0; i < ARRAY_LEN(plan->names); i++) {
		if (plan->names[i])
			continue;
		plan->names[i] = b->name;
		return;
	}
}

void
behaviours_plan(struct behaviours *all, const struct request_facts *facts, int64_t now_us,
		struct plan *ret_plan)
{
	*ret_plan = (struct plan){ 0 };
	for (struct behaviour *b = all->first; b; b = b->next) {
		if (matches(b, facts, now_us) && takes_part(b))
			contribute(b, ret_plan);
	}
}

json_t *
behaviours_list(const struct behaviours *all)
{
	json_t *list = json_array();
	for (const struct behaviour *b = all->first; b; b = b->next)
		json_array_append_new(list, json_pack("{s:s, s:I}", "name", b->name, "matched",
						      (json_int_t)b->matched));
	return list;
}

void
behaviours_finish(struct behaviours *all)
{
	behaviours_remove(all, NULL);
}
