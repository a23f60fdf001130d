/* SPDX-License-Identifier: Apache-2.0
 *
 * What an answer is evidence of. Default deny: unless a rule of the probe recognises the answer,
 * the reading says why it is none. Which items are ours is found here; what they mean is not.
 */
#include <stddef.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/hash.h"
#include "reconciled/core/reading.h"

/* Order of the rules: an answer that says "gone" may also look like "absent" or "found". */
static const struct {
	size_t offset;
	enum reading_kind kind;
} rules_in_order[] = {
	{ offsetof(struct probe, gone), READING_GONE },
	{ offsetof(struct probe, several), READING_SEVERAL },
	{ offsetof(struct probe, unfinished), READING_UNFINISHED },
	{ offsetof(struct probe, absent), READING_ABSENT },
	{ offsetof(struct probe, found), READING_FOUND },
};

/* What the answer listed, in order. */
struct listing {
	struct item *items;
	size_t count, size;
	size_t elements; /* of the list itself, before `each` */
	bool readable;
};

const char *
reading_kind_name(enum reading_kind kind)
{
	switch (kind) {
	case READING_FOUND:
		return "found";
	case READING_ABSENT:
		return "absent";
	case READING_GONE:
		return "gone";
	case READING_SEVERAL:
		return "several";
	case READING_UNFINISHED:
		return "unfinished";
	case READING_UNAVAILABLE:
		return "unavailable";
	case READING_INCOMPLETE:
		return "incomplete";
	}
	return "";
}

static void
set_no_evidence(struct reading *reading, enum reason reason)
{
	reading->kind = reason_is_unavailable(reason) ? READING_UNAVAILABLE : READING_INCOMPLETE;
	reading->reason = reason;
	reading->items_count = 0;
}

/* Codes that say nothing about the effect, whatever the body claims. */
static enum reason
reason_of_status(int status)
{
	if (status == 429 || status == 503)
		return REASON_THROTTLED;
	if (status == 408 || status == 425)
		return REASON_HTTP_4XX;
	if (status >= 500)
		return REASON_HTTP_5XX;
	return REASON_COUNT;
}

static enum reason
reason_of_fault(enum value_fault fault)
{
	switch (fault) {
	case VALUE_OK:
		return REASON_COUNT;
	case VALUE_EMPTY:
		return REASON_EMPTY_BODY;
	case VALUE_NOT_JSON:
		return REASON_NOT_JSON;
	case VALUE_TOO_DEEP:
		return REASON_TOO_DEEP;
	case VALUE_TOO_LARGE:
		return REASON_TOO_LARGE;
	}
	return REASON_NOT_JSON;
}

/* Why an answer that no rule recognised is no evidence. */
static enum reason
reason_of_unrecognised(int status, enum reason body)
{
	if (status >= 300 && status < 400)
		return REASON_REDIRECT;
	if (status >= 400)
		return REASON_HTTP_4XX;
	return body != REASON_COUNT ? body : REASON_UNRECOGNISED;
}

static bool
looks_into_body(const struct condition *condition)
{
	for (size_t i = 0; i < condition->count; i++) {
		enum locator_root root = condition->rows[i].locator.root;

		if (root == LOCATE_ITEM || root == LOCATE_BODY)
			return true;
	}
	return false;
}

/*
 * A test like {not: x} holds for what is not there. In a body that cannot be read nothing is there,
 * and an error page must not pass for an answer: such a condition needs a body.
 */
static bool
rule_holds(const struct scene *scene, const struct conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++) {
		const struct condition *condition = &conditions->any[i];

		if (scene->response->parsed == NULL && looks_into_body(condition))
			continue;
		if (condition_holds(scene, condition))
			return true;
	}
	return false;
}

/* Returns false when no rule recognises the answer. */
static bool
recognise(const struct scene *scene, const struct probe *probe, enum reading_kind *ret_kind)
{
	for (size_t i = 0; i < ARRAY_LEN(rules_in_order); i++) {
		const void *at = (const char *)probe + rules_in_order[i].offset;

		if (rule_holds(scene, at)) {
			*ret_kind = rules_in_order[i].kind;
			return true;
		}
	}
	return false;
}

static void
listing_add(const struct scene *scene, struct listing *listing, const struct value *value)
{
	if (listing->count == listing->size) {
		size_t size = listing->size ? listing->size * 2 : 4;
		struct item *items = arena_array(scene->arena, struct item, size);

		for (size_t i = 0; i < listing->count; i++)
			items[i] = listing->items[i];
		listing->items = items;
		listing->size = size;
	}
	listing->items[listing->count++] = (struct item){ value, scene->response };
}

/* One element of the list: itself, or what `each` finds in it. */
static void
list_element(const struct scene *scene, const struct probe *probe, const struct value *element,
	     struct listing *listing)
{
	struct located parts;

	listing->elements++;
	if (!probe->has_each) {
		listing_add(scene, listing, element);
		return;
	}
	parts = pointer_find(scene, element, &probe->each);
	listing->readable = listing->readable && !parts.several;
	for (size_t i = 0; i < parts.count; i++) {
		const struct value *part = parts.values[i];

		if (part->kind == VALUE_LIST)
			for (const struct value *item = part->first; item; item = item->next)
				listing_add(scene, listing, item);
		else if (part->kind != VALUE_NULL)
			listing_add(scene, listing, part);
	}
}

/* Nothing at the path lists nothing; what is there and no list stands for itself. */
static void
list_items(const struct scene *scene, const struct probe *probe, struct listing *listing)
{
	struct located found = pointer_find(scene, scene->response->parsed, &probe->items);

	listing->readable = !found.several;
	for (size_t i = 0; i < found.count; i++) {
		const struct value *value = found.values[i];

		if (value->kind == VALUE_LIST)
			for (const struct value *item = value->first; item; item = item->next)
				list_element(scene, probe, item, listing);
		else if (value->kind != VALUE_NULL)
			list_element(scene, probe, value, listing);
	}
}

static void
list_answer(const struct scene *scene, const struct probe *probe, struct listing *listing)
{
	const struct value *body = scene->response->parsed;

	if (probe->method != METHOD_HEAD && probe->has_items) {
		list_items(scene, probe, listing);
		return;
	}
	if (probe->method == METHOD_HEAD) /* its locators read headers */
		body = value_create(scene->arena, VALUE_OBJECT, NULL, 0);
	listing->readable = true;
	listing->elements = 1;
	listing_add(scene, listing, body);
}

/* Keeps the items that pass `where`: the target filters, we check again. */
static size_t
keep_ours(const struct scene *scene, const struct probe *probe, struct listing *listing)
{
	size_t kept = 0;

	for (size_t i = 0; i < listing->count; i++) {
		struct scene inner = *scene;

		inner.item = listing->items[i].value;
		if (!probe->has_where || condition_holds(&inner, &probe->where))
			listing->items[kept++] = listing->items[i];
	}
	return kept;
}

static bool
is_cut_off(const struct scene *scene, const struct probe *probe, const struct listing *listing)
{
	if (probe->full > 0 && listing->elements >= (size_t)probe->full)
		return true;
	return probe->complete.count > 0 && !conditions_hold(scene, &probe->complete);
}

/*
 * A part of a list tells neither that ours is missing nor that it is the only one; two matches are
 * several in any list. Where nothing declares wholeness, only an empty list is taken for a whole one.
 */
static void
judge_found(const struct scene *scene, const struct probe *probe, struct reading *reading)
{
	struct listing listing = { 0 };
	bool declared = probe->complete.count > 0 || probe->full > 0;
	bool cut, empty;

	list_answer(scene, probe, &listing);
	if (!listing.readable) {
		set_no_evidence(reading, REASON_INCOMPLETE);
		return;
	}
	cut = is_cut_off(scene, probe, &listing);
	empty = listing.elements == 0;
	reading->items_count = keep_ours(scene, probe, &listing);
	reading->items = listing.items;
	if (reading->items_count == 0 && !cut && (declared || empty))
		reading->kind = READING_ABSENT;
	else if (reading->items_count == 0 || (reading->items_count == 1 && cut))
		set_no_evidence(reading, REASON_INCOMPLETE);
}

/* Applies the target's and the probe's rules. */
static void
judge_answer(const struct scene *scene, const struct target_rules *rules, struct reading *reading)
{
	const struct probe *probe = reading->probe;
	const struct response *response = scene->response;
	enum reason body =
		probe->method == METHOD_HEAD ? REASON_COUNT : reason_of_fault(response->unparsed);

	if (conditions_hold(scene, &rules->throttled))
		set_no_evidence(reading, REASON_THROTTLED);
	else if (conditions_hold(scene, &rules->broken))
		set_no_evidence(reading, REASON_BROKEN);
	else if (!recognise(scene, probe, &reading->kind))
		set_no_evidence(reading, reason_of_unrecognised(response->status, body));
	else if (reading->kind == READING_FOUND && body != REASON_COUNT)
		set_no_evidence(reading, body);
	else if (reading->kind == READING_FOUND)
		judge_found(scene, probe, reading);
}

static void
set_body_digest(struct response *response)
{
	unsigned char digest[HASH_SHA256_BYTES];

	response->body_sha256[0] = '\0';
	if (response->body == NULL || response->body_len == 0)
		return;
	hash_sha256(response->body, response->body_len, digest);
	hash_hex(digest, sizeof(digest), response->body_sha256);
}

void
response_read(struct arena *arena, const struct probe *probe, struct response *response)
{
	response->parsed = NULL;
	response->unparsed = VALUE_EMPTY;
	set_body_digest(response);
	if (response->fault == REASON_COUNT && probe->method != METHOD_HEAD)
		response->unparsed = value_read_json(arena, response->body, response->body_len,
						     &response->parsed);
}

const struct reading *
reading_judge(struct arena *arena, const struct answer *answer)
{
	struct reading *reading = arena_new(arena, struct reading);
	const struct exchange *last = &answer->pages[answer->count - 1];
	struct scene scene = { .arena = arena, .op = answer->op, .response = last->response };

	*reading = (struct reading){
		.reason = REASON_COUNT,
		.probe = answer->probe,
		.pages = answer->pages,
		.pages_count = answer->count,
		.request = answer->pages[0].request,
		.response = last->response,
	};
	if (last->response->fault != REASON_COUNT)
		set_no_evidence(reading, last->response->fault);
	else if (reason_of_status(last->response->status) != REASON_COUNT)
		set_no_evidence(reading, reason_of_status(last->response->status));
	else
		judge_answer(&scene, answer->rules, reading);
	return reading;
}
