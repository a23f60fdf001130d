/* SPDX-License-Identifier: Apache-2.0
 *
 * The evidence of one look as JSON. Sections in a fixed order; what changes from look to look
 * without meaning anything comes last, so that the digest covers all before it.
 */
#include "reconciled/core/evidence.h"

#include <string.h>

#include "evidence_json.h"

#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/hash.h"
#include "reconciled/base/strbuf.h"

/* Tried in order until the whole fits. The last one cannot exceed it. */
static const struct evidence_limits limits[] = {
	{ .text = 256, .entries = 64 },
	{ .text = 64, .entries = 32 },
	{ .text = 16, .entries = 4 },
};

struct writing {
	struct evidence_json json;
	struct arena *arena;
	struct hmac *key;
	const struct evidence_of *of;
	/* The value hashed last: equal sides of a comparison follow each other. */
	const char *hashed;
	size_t hashed_len;
	char hash[EVIDENCE_HASH_SIZE];
};

bool
evidence_keeps(const struct policy *policy, const struct locator *locator)
{
	for (size_t i = 0; locator != NULL && i < policy->keep_count; i++)
		if (strcmp(policy->keep[i].text, locator->text) == 0)
			return true;
	return false;
}

void
evidence_hash(struct hmac *key, const char *text, size_t len, char ret[static EVIDENCE_HASH_SIZE])
{
	unsigned char mac[HASH_SHA256_BYTES];

	hmac_sha256(key, text, len, mac);
	memcpy(ret, "hmac:", 5);
	hash_hex(mac, 8, ret + 5);
}

/* A value that may be shown, cut where it is long; the hash tells two long ones apart. */
static void
add_shown(struct writing *w, const char *text, size_t len)
{
	char hash[EVIDENCE_HASH_SIZE];

	if (!evidence_json_begin_text(&w->json, text, len)) {
		evidence_hash(w->key, text, len, hash);
		evidence_json_mark(&w->json, hash);
	}
	evidence_json_end_text(&w->json);
}

static void
add_hashed(struct writing *w, const char *text, size_t len)
{
	if (w->hashed == NULL || len != w->hashed_len || memcmp(text, w->hashed, len) != 0)
		evidence_hash(w->key, text, len, w->hash);
	w->hashed = text;
	w->hashed_len = len;
	evidence_json_string(&w->json, w->hash);
}

static void
add_value(struct writing *w, const struct value *value, bool shown)
{
	if (value->kind == VALUE_NULL)
		evidence_json_null(&w->json);
	else if (!value_is_scalar(value))
		evidence_json_string(&w->json, value_kind_name(value->kind));
	else if (shown)
		add_shown(w, value->text, value->len);
	else
		add_hashed(w, value->text, value->len);
}

static void
add_located(struct writing *w, const struct located *found, bool shown)
{
	if (found->count == 1) {
		add_value(w, found->values[0], shown);
		return;
	}
	evidence_json_open_list(&w->json, NULL);
	for (size_t i = 0; i < found->count && evidence_json_has_room(&w->json, i); i++)
		add_value(w, found->values[i], shown);
	evidence_json_close_list(&w->json);
}

static struct scene
scene_of(const struct writing *w)
{
	const struct verdict *verdict = w->of->verdict;

	return (struct scene){
		.arena = w->arena,
		.op = w->of->op,
		.response = verdict->item      ? verdict->item_response
			    : verdict->reading ? verdict->reading->response
					       : NULL,
		.item = verdict->item,
	};
}

/* What is there at the locators; the answer of a target, so only with a reading. */
static void
add_locators(struct writing *w, const char *member, const struct locator *locators, size_t count,
	     bool shown)
{
	struct scene scene = scene_of(w);
	bool open = false;

	for (size_t i = 0; i < count && evidence_json_has_room(&w->json, i); i++) {
		struct located found = locator_find(&scene, &locators[i]);

		if (found.count == 0)
			continue;
		if (!open)
			evidence_json_open(&w->json, member);
		open = true;
		evidence_json_name(&w->json, locators[i].text);
		add_located(w, &found, shown);
	}
	if (open)
		evidence_json_close(&w->json);
}

static void
add_side(struct writing *w, const char *member, const char *text, bool shown)
{
	evidence_json_begin_member(&w->json, member);
	if (text == NULL)
		evidence_json_null(&w->json);
	else if (shown)
		add_shown(w, text, strlen(text));
	else
		add_hashed(w, text, strlen(text));
}

/*
 * What we expect may be shown where the policy itself says the value, keeps it, or keeps what it is
 * compared with; what was found only where it is kept.
 */
static bool
shows_expected(const struct policy *policy, const struct comparison *by)
{
	if (evidence_keeps(policy, &by->found))
		return true;
	for (size_t i = 0; i < by->count; i++)
		if (by->values[i].from != NULL && !evidence_keeps(policy, by->values[i].from))
			return false;
	return true;
}

static void
add_field(struct writing *w, const struct compared *compared)
{
	const struct policy *policy = w->of->policy;
	const struct comparison *by = compared->by;

	evidence_json_open(&w->json, NULL);
	evidence_json_member(&w->json, "field", by->name);
	evidence_json_member(&w->json, "result", compare_result_name(compared->result));
	add_side(w, "expected", compared->expected, shows_expected(policy, by));
	add_side(w, "found", compared->found, evidence_keeps(policy, &by->found));
	evidence_json_close(&w->json);
}

static void
add_compared(struct writing *w)
{
	const struct verdict *verdict = w->of->verdict;

	if (verdict->compared_count == 0)
		return;
	evidence_json_open_list(&w->json, "compared");
	for (size_t i = 0; i < verdict->compared_count && evidence_json_has_room(&w->json, i); i++)
		add_field(w, &verdict->compared[i]);
	evidence_json_close_list(&w->json);
}

static void
add_rules(struct writing *w)
{
	const struct verdict *verdict = w->of->verdict;

	evidence_json_open_list(&w->json, "rules");
	for (size_t i = 0; i < verdict->traces_count; i++) {
		evidence_json_open(&w->json, NULL);
		evidence_json_member(&w->json, "rule", verdict->traces[i].rule);
		evidence_json_member_bool(&w->json, "held", verdict->traces[i].held);
		evidence_json_close(&w->json);
	}
	evidence_json_close_list(&w->json);
}

/* Of a requeue that the policy asks for: what it needs, and what of that was there. */
static void
add_clauses(struct writing *w)
{
	const struct decision *decision = w->of->decision;

	if (decision->clauses_count == 0)
		return;
	evidence_json_open_list(&w->json, "clauses");
	for (size_t i = 0; i < decision->clauses_count; i++) {
		evidence_json_open(&w->json, NULL);
		evidence_json_member(&w->json, "name", clause_name(decision->clauses[i].clause));
		evidence_json_member_bool(&w->json, "ok", decision->clauses[i].ok);
		evidence_json_close(&w->json);
	}
	evidence_json_close_list(&w->json);
}

/* The probe that decided; with several, all that were asked. */
static void
add_question(struct writing *w)
{
	const struct reading *reading = w->of->verdict->reading;
	const struct look *look = w->of->look;

	if (reading == NULL)
		return;
	evidence_json_member(&w->json, "probe", reading->probe->name);
	if (look->count > 1) {
		evidence_json_open_list(&w->json, "asked");
		for (size_t i = 0; i < look->count; i++)
			evidence_json_string(&w->json, look->readings[i]->probe->name);
		evidence_json_close_list(&w->json);
	}
	if (look->reread)
		evidence_json_member_bool(&w->json, "reread", true);
	if (reading->request != NULL) {
		evidence_json_open(&w->json, "request");
		evidence_json_member(&w->json, "method",
				     http_method_name(reading->request->method));
		evidence_json_member(&w->json, "url", reading->request->url_template);
		evidence_json_close(&w->json);
	}
	evidence_json_member(&w->json, "reading", reading_kind_name(reading->kind));
	if (reading->reason != REASON_COUNT)
		evidence_json_member(&w->json, "error", reason_name(reading->reason));
}

static void
add_status(struct writing *w, const struct response *response)
{
	if (response->fault == REASON_COUNT)
		evidence_json_member_int(&w->json, "status", response->status);
}

static void
add_body(struct writing *w, const struct response *response)
{
	evidence_json_member_int(&w->json, "bytes", (long long)response->body_len);
	if (response->body_sha256[0] != '\0')
		evidence_json_member(&w->json, "sha256", response->body_sha256);
}

/* All of them, first to last, as many as there is room for. */
static void
add_pages(struct writing *w, const struct reading *reading)
{
	if (reading->pages_count < 2)
		return;
	evidence_json_member_int(&w->json, "count", (long long)reading->pages_count);
	evidence_json_open_list(&w->json, "pages");
	for (size_t i = 0; i < reading->pages_count && evidence_json_has_room(&w->json, i); i++) {
		evidence_json_open(&w->json, NULL);
		add_status(w, reading->pages[i].response);
		add_body(w, reading->pages[i].response);
		evidence_json_close(&w->json);
	}
	evidence_json_close_list(&w->json);
}

static int64_t
elapsed_us(const struct reading *reading)
{
	int64_t us = 0;

	for (size_t i = 0; i < reading->pages_count; i++)
		us += reading->pages[i].response->elapsed_us;
	return us;
}

/* The last page, then all of them. Returns the place up to which the look is compared with others. */
static size_t
add_response(struct writing *w)
{
	const struct reading *reading = w->of->verdict->reading;
	size_t mark = w->json.out->len;

	if (reading == NULL)
		return mark;
	evidence_json_open(&w->json, "response");
	add_status(w, reading->response);
	mark = w->json.out->len;
	add_body(w, reading->response);
	add_pages(w, reading);
	evidence_json_member_int(&w->json, "ms", elapsed_us(reading) / MILLISECOND);
	evidence_json_close(&w->json);
	return mark;
}

static void
add_looks(struct writing *w)
{
	const struct earned *earned = &w->of->verdict->earned;

	evidence_json_open(&w->json, "looks");
	evidence_json_member_int(&w->json, "absences", earned->looks);
	if (earned->class != CLASS_NONE && earned->class != CLASS_MISSING)
		evidence_json_member(&w->json, "earning", class_name(earned->class));
	evidence_json_begin_member(&w->json, "since");
	evidence_json_time(&w->json, earned->since_us);
	evidence_json_member(&w->json, "control", control_state_name(w->of->look->control));
	evidence_json_close(&w->json);
}

static size_t
write_all(struct writing *w)
{
	const struct evidence_of *of = w->of;
	size_t mark;

	evidence_json_open(&w->json, NULL);
	evidence_json_member(&w->json, "target", of->policy->target);
	add_question(w);
	evidence_json_member(&w->json, "decided", of->decision->row);
	if (of->verdict->why != NULL)
		evidence_json_member(&w->json, "why", of->verdict->why);
	add_rules(w);
	add_compared(w);
	add_locators(w, "kept", of->policy->keep, of->policy->keep_count, true);
	add_locators(w, "hashed", of->policy->hash, of->policy->hash_count, false);
	add_clauses(w);
	mark = add_response(w);
	add_looks(w);
	evidence_json_close(&w->json);
	return mark;
}

void
evidence_write(struct strbuf *out, struct arena *arena, struct hmac *key,
	       const struct evidence_of *of, char ret_digest[static HASH_SHA256_HEX])
{
	struct writing w = { .arena = arena, .key = key, .of = of };
	unsigned char digest[HASH_SHA256_BYTES];
	size_t start = out->len, mark = 0;

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		out->len = start;
		w.json = (struct evidence_json){ .out = out, .limits = &limits[i] };
		mark = write_all(&w);
		if (out->len - start <= EVIDENCE_BYTES_MAX)
			break;
	}
	hash_sha256(out->data + start, mark - start, digest);
	hash_hex(digest, sizeof(digest), ret_digest);
}
