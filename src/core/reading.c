/* SPDX-License-Identifier: Apache-2.0
 *
 * What an answer is evidence of. Default deny: unless a rule of the probe recognises the answer,
 * the reading says why it is none. Which items are ours is found here; what they mean is not.
 */
#include "reconciled/core/reading.h"

#include <stddef.h>

#include "earned.h"
#include "listing.h"
#include "paging.h"
#include "reading_rules.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/hash.h"
#include "reconciled/core/time.h"

const struct reading_rule reading_rules[READING_RULES] = {
	{ offsetof(struct probe, gone), READING_GONE },
	{ offsetof(struct probe, several), READING_SEVERAL },
	{ offsetof(struct probe, unfinished), READING_UNFINISHED },
	{ offsetof(struct probe, absent), READING_ABSENT },
	{ offsetof(struct probe, found), READING_FOUND },
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
	reading->skipped_count = 0;
}

enum reason
reading_barred(int status)
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

bool
condition_reads_body(const struct condition *condition)
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

		if (scene->response->parsed == NULL && condition_reads_body(condition))
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
	for (size_t i = 0; i < ARRAY_LEN(reading_rules); i++) {
		const void *at = (const char *)probe + reading_rules[i].offset;

		if (rule_holds(scene, at)) {
			*ret_kind = reading_rules[i].kind;
			return true;
		}
	}
	return false;
}

/* What is not a list of pages is whole; further pages are asked for before the list is read. */
struct found {
	const struct answer *answer;
	struct scene scene; /* of the last page */
	struct listing listing;
	bool cut; /* the list is not whole */
};

static struct scene
scene_of(const struct found *found, size_t page)
{
	struct scene scene = found->scene;

	scene.response = found->answer->pages[page].response;
	return scene;
}

static void
list_pages(struct found *found)
{
	const struct probe *probe = found->answer->probe;

	for (size_t i = 0; i < found->answer->count; i++) {
		const struct scene scene = scene_of(found, i);

		listing_add_page(&found->listing, &scene, probe);
	}
	found->cut |= found->listing.full;
	found->cut |=
		probe->complete.count > 0 && !conditions_hold(&found->scene, &probe->complete);
}

/* Something in the policy says when the list is whole. */
static bool
declares_whole(const struct probe *probe)
{
	return probe->complete.count > 0 || probe->full > 0 || probe->pages.kind != PAGING_NONE ||
	       probe->batch_max > 0 || probe->has_covers;
}

/* Up to which time a page has the data; false when it does not say so. */
static bool
page_reaches(const struct scene *scene, const struct locator *until, int64_t *ret_us)
{
	struct located found = locator_find(scene, until);
	struct moment moment;

	if (found.several || found.count != 1 || !value_is_scalar(found.values[0]) ||
	    !time_read(found.values[0]->text, found.values[0]->len, NULL, &moment))
		return false;
	*ret_us = moment_us(&moment);
	return true;
}

/* All pages have data from after the last send. A control was never sent. */
static bool
is_covered(const struct found *found)
{
	const struct answer *answer = found->answer;

	if (!answer->probe->has_covers || answer->op == NULL)
		return true;
	for (size_t i = 0; i < answer->count; i++) {
		const struct scene scene = scene_of(found, i);
		int64_t us;

		if (!page_reaches(&scene, &answer->probe->covers_until, &us) ||
		    us < earned_basis_us(answer->op))
			return false;
	}
	return true;
}

/* Nothing in the list is ours. Where nothing declares wholeness, only an empty one counts as whole. */
static void
judge_nothing(const struct found *found, struct reading *reading)
{
	bool declared = declares_whole(found->answer->probe);

	if (found->cut || (!declared && found->listing.has_elements))
		set_no_evidence(reading, REASON_INCOMPLETE);
	else if (!is_covered(found))
		set_no_evidence(reading, REASON_NOT_COVERED);
	else
		reading->kind = READING_ABSENT;
}

/*
 * A part of a list tells neither that ours is missing nor that it is the only one; two that match are
 * several in any list. In a batch the target answers for each on its own.
 */
static void
judge_list(struct found *found, struct reading *reading)
{
	const struct listing *listing = &found->listing;
	bool alone;

	list_pages(found);
	reading->items = listing->ours.items;
	reading->items_count = listing->ours.count;
	reading->skipped = listing->skipped.items;
	reading->skipped_count = listing->skipped.count;
	alone = listing->ours.count < 2;
	if (listing->unreadable)
		set_no_evidence(reading, REASON_INCOMPLETE);
	else if (listing->ours.count + listing->skipped.count == 0)
		judge_nothing(found, reading);
	else if (found->cut && alone && found->answer->probe->batch_max == 0)
		set_no_evidence(reading, REASON_INCOMPLETE);
}

static void
judge_found(const struct answer *answer, const struct scene *scene, struct reading *reading)
{
	struct found found = { .answer = answer, .scene = *scene };

	found.cut = !paging_next(scene->arena, answer, &reading->next);
	if (reading->next != NULL)
		set_no_evidence(reading, REASON_INCOMPLETE); /* not before that page came */
	else
		judge_list(&found, reading);
}

/*
 * Applies the target's and the probe's rules to the last page. Those before it were found, or it
 * would not have been asked for; what is no such page leaves the list unfinished.
 */
static void
judge_page(const struct answer *answer, const struct scene *scene, struct reading *reading)
{
	const struct target_rules *rules = answer->rules;
	const struct probe *probe = answer->probe;
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
		judge_found(answer, scene, reading);
	else if (answer->count > 1)
		set_no_evidence(reading, REASON_INCOMPLETE);
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
	size_t before = arena_bytes(arena);

	response->parsed = NULL;
	response->unparsed = VALUE_EMPTY;
	set_body_digest(response);
	if (response->fault == REASON_COUNT && probe->method != METHOD_HEAD)
		response->unparsed = value_read_json(arena, response->body, response->body_len,
						     &response->parsed);
	response->parsed_bytes = arena_bytes(arena) - before;
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
	else if (reading_barred(last->response->status) != REASON_COUNT)
		set_no_evidence(reading, reading_barred(last->response->status));
	else
		judge_page(answer, &scene, reading);
	return reading;
}
