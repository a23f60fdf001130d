/* SPDX-License-Identifier: Apache-2.0
 *
 * The object API: creating, replacing, reading, listing, deleting, as the plan of the behaviours
 * allows. Effects are booked when they happen, requests with the status that was meant.
 */
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/hash.h"
#include "sim.h"

enum { BODY_BYTES_MAX = 1 << 20, LIMIT_DEFAULT = 20, LIMIT_MAX = 1000 };

/* What the handlers share: the call, what it is about, what is to happen. */
struct task {
	struct call *call;
	struct collection *collection;
	const char *id, *operation, *key;
	const struct plan *plan;
	struct answer *answer;
};

static const char *
header(const struct call *call, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(call->request), name);
}

static void
answer_not_found(const struct task *task)
{
	struct answer *answer = task->answer;
	int how = task->plan->not_found ? task->plan->not_found - 1 : task->collection->not_found;
	answer->status = 404;
	switch ((enum not_found)how) {
	case NOT_FOUND_JSON:
		if (task->collection->not_found_body)
			deliver_json(answer, 404, json_incref(task->collection->not_found_body));
		else
			deliver_error(answer, 404, "not_found", NULL);
		break;
	case NOT_FOUND_HTML:
		answer->type = "text/html";
		strbuf_puts(&answer->body, "<html><head><title>404 Not Found</title></head>"
					   "<body><h1>Not Found</h1></body></html>");
		break;
	case NOT_FOUND_EMPTY:
		answer->type = "application/json";
		break;
	case NOT_FOUND_BARE:
		answer->type = "text/plain";
		strbuf_puts(&answer->body, "Not Found");
		break;
	}
}

static void
answer_body(struct answer *answer, int status, const char *body)
{
	answer->status = status;
	answer->type = "application/json";
	strbuf_puts(&answer->body, body);
}

static void
serve_read(const struct task *task)
{
	struct object *object = world_object(task->collection, task->id);
	if (task->plan->other_tenant || !object) {
		answer_not_found(task);
		return;
	}
	const char *body = world_see(object, task->call->now_us);
	if (body)
		answer_body(task->answer, 200, body);
	else if (object->deleted && task->collection->deleted == DELETED_410)
		deliver_error(task->answer, 410, "gone", NULL);
	else
		answer_not_found(task);
}

static size_t
limit_of(const json_t *value)
{
	long limit = json_is_string(value) ? strtol(json_string_value(value), NULL, 10)
					   : (long)json_integer_value(value);
	if (limit < 1)
		return LIMIT_DEFAULT;
	return limit > LIMIT_MAX ? LIMIT_MAX : (size_t)limit;
}

/* Takes limit and starting_after out of the question; what remains is the filter. */
static void
answer_list(const struct task *task, json_t *question)
{
	struct collection *collection = task->collection;
	CLEANUP(strbuf_finish) struct strbuf items = { 0 };
	struct err err = { 0 };
	bool more = false;
	json_t *after = json_incref(json_object_get(question, "starting_after"));
	struct world_query query = { .after = json_string_value(after),
				     .limit = limit_of(json_object_get(question, "limit")) };
	json_object_del(question, "limit");
	json_object_del(question, "starting_after");
	query.filter = task->plan->ignore_filter ? NULL : question;
	bool ok = task->plan->other_tenant ||
		  world_search(collection, &query, task->call->now_us, &items, &more, &err);
	json_decref(after);
	if (!ok) {
		deliver_error(task->answer, 400, "unknown_filter", err.text);
		return;
	}
	task->answer->status = 200;
	task->answer->type = "application/json";
	bool bare = collection->list_shape && strcmp(collection->list_shape, "bare") == 0;
	if (bare)
		strbuf_printf(&task->answer->body, "[%s]", strbuf_text(&items));
	else
		strbuf_printf(&task->answer->body, "{\"data\":[%s],\"has_more\":%s}",
			      strbuf_text(&items), more ? "true" : "false");
}

static void
serve_list(const struct task *task)
{
	answer_list(task, task->call->query);
}

static void
serve_search(const struct task *task)
{
	answer_list(task, task->call->body);
}

static struct write_faults
faults_of(const struct task *task)
{
	const struct plan *plan = task->plan;
	int64_t now_us = task->call->now_us;
	int64_t listed_us = plan->listed_after_us > plan->visible_after_us ? plan->listed_after_us
									   : plan->visible_after_us;
	return (struct write_faults){
		.visible_us = plan->visible_after_us ? now_us + plan->visible_after_us : 0,
		.listed_us = listed_us ? now_us + listed_us : 0,
		.overwrite = plan->store,
		.drop = plan->drop,
		.progression = plan->progression,
	};
}

static struct object *
write_object(const struct task *task, const char *id, const char *action)
{
	struct write_faults faults = faults_of(task);
	struct object *object =
		world_write(task->collection, id, task->call->body, &faults, task->call->now_us);
	books_effect(task->call->sim->books,
		     &(struct effect_note){ .collection = task->collection->name,
					    .id = object->id,
					    .action = action,
					    .operation = task->operation,
					    .key = task->key,
					    .body = task->call->body });
	return object;
}

static uint64_t
body_hash(const json_t *body)
{
	char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
	uint64_t hash = hash_fnv1a(text, strlen(text));
	free(text);
	return hash;
}

/* True if the key was used before: then this is the answer. */
static bool
replayed(const struct task *task)
{
	uint64_t hash;
	if (!task->key || !task->collection->idempotency || task->plan->forget_key)
		return false;
	const struct object *object = world_by_key(task->collection, task->key, &hash);
	if (!object)
		return false;
	if (hash != body_hash(task->call->body)) {
		deliver_error(task->answer, 422, "key_reused", "the key came with another body");
		return true;
	}
	answer_body(task->answer, 200, object->body);
	task->answer->replayed = true;
	return true;
}

static void
serve_create(const struct task *task)
{
	const char *given =
		json_string_value(json_object_get(task->call->body, task->collection->id_member));
	if (replayed(task))
		return;
	if (given && world_object(task->collection, given)) {
		deliver_error(task->answer, 409, "exists", NULL);
		return;
	}
	int copies = task->plan->copies ? task->plan->copies : 1;
	struct object *first = NULL;
	for (int i = 0; i < copies; i++) {
		char *made = given && i == 0 ? NULL : world_make_id(task->collection);
		struct object *object = write_object(task, made ? made : given, "create");
		first = first ? first : object;
		free(made);
	}
	if (task->key && !world_by_key(task->collection, task->key, &(uint64_t){ 0 }))
		world_remember_key(task->collection, task->key, first, body_hash(task->call->body));
	answer_body(task->answer, 201, first->body);
}

static long long
version_of(const json_t *body)
{
	const json_t *version = json_object_get(body, "version");
	return json_is_string(version) ? strtoll(json_string_value(version), NULL, 10)
				       : json_integer_value(version);
}

static bool
not_newer(const struct task *task, const struct object *object)
{
	json_t *stored = json_loads(object->body, 0, NULL);
	bool refused = task->collection->conditional && !object->deleted &&
		       version_of(task->call->body) <= version_of(stored);
	json_decref(stored);
	return refused;
}

static void
serve_replace(const struct task *task)
{
	struct object *object = world_object(task->collection, task->id);
	bool fresh = !object || object->deleted;
	if (object && not_newer(task, object)) {
		deliver_error(task->answer, 409, "version_conflict", NULL);
		return;
	}
	int copies = task->plan->copies ? task->plan->copies : 1;
	for (int i = 0; i < copies; i++)
		object = write_object(task, task->id, fresh && i == 0 ? "create" : "update");
	answer_body(task->answer, fresh ? 201 : 200, object->body);
}

static void
serve_delete(const struct task *task)
{
	struct object *object = world_object(task->collection, task->id);
	if (!object || object->deleted) {
		answer_not_found(task);
		return;
	}
	world_delete(task->collection, object);
	books_effect(task->call->sim->books,
		     &(struct effect_note){ .collection = task->collection->name,
					    .id = object->id,
					    .action = "delete",
					    .operation = task->operation,
					    .key = task->key });
	task->answer->status = 204;
}

enum shape { SHAPE_COLLECTION, SHAPE_OBJECT, SHAPE_SEARCH };

static const struct route {
	const char *method;
	enum shape shape;
	enum purpose purpose;
	bool needs_body;
	const char *path;
	void (*serve)(const struct task *task);
} routes[] = {
	{ "GET", SHAPE_OBJECT, PURPOSE_PROBE, false, "/{id}", serve_read },
	{ "HEAD", SHAPE_OBJECT, PURPOSE_PROBE, false, "/{id}", serve_read },
	{ "GET", SHAPE_COLLECTION, PURPOSE_PROBE, false, "", serve_list },
	{ "POST", SHAPE_SEARCH, PURPOSE_PROBE, true, "/search", serve_search },
	{ "POST", SHAPE_COLLECTION, PURPOSE_EFFECT, true, "", serve_create },
	{ "PUT", SHAPE_OBJECT, PURPOSE_EFFECT, true, "/{id}", serve_replace },
	{ "DELETE", SHAPE_OBJECT, PURPOSE_EFFECT, false, "/{id}", serve_delete },
};

static enum shape
shape_of(const struct call *call)
{
	if (call->segments_count == 1)
		return SHAPE_COLLECTION;
	bool search = strcmp(call->segments[1], "search") == 0 && strcmp(call->method, "POST") == 0;
	return search ? SHAPE_SEARCH : SHAPE_OBJECT;
}

static const struct route *
route_of(const struct call *call)
{
	if (call->segments_count < 1 || call->segments_count > 2)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		if (routes[i].shape == shape_of(call) &&
		    strcmp(routes[i].method, call->method) == 0)
			return &routes[i];
	}
	return NULL;
}

static void
book(const struct task *task, const struct route *route)
{
	const struct plan *plan = task->plan;
	CLEANUP(strbuf_finish) struct strbuf path = { 0 };
	bool lost = plan->lose == DELIVERY_CLOSE || plan->lose == DELIVERY_HANG;
	strbuf_printf(&path, "/%s%s", task->collection->name, route->path);
	books_request(task->call->sim->books,
		      &(struct request_note){ .method = task->call->method,
					      .path = strbuf_text(&path),
					      .collection = task->collection->name,
					      .id = task->id,
					      .operation = task->operation,
					      .purpose = route->purpose,
					      .status = lost ? 0 : task->answer->status,
					      .plan = plan });
}

static void
pad(struct strbuf *body, int bytes)
{
	static const char blanks[] =
		"                                                               ";
	while (bytes > 0 && body->len < (size_t)bytes) {
		size_t missing = (size_t)bytes - body->len;
		strbuf_add(body, blanks,
			   missing < sizeof(blanks) - 1 ? missing : sizeof(blanks) - 1);
	}
}

/* True if the request is not served at all; the plan's delivery follows from the outage. */
static bool
served_otherwise(struct task *task, struct plan *plan)
{
	struct answer *answer = task->answer;
	answer->retry_after_us = plan->retry_after_us;
	if (plan->outage == OUTAGE_CLOSE || plan->outage == OUTAGE_HANG) {
		plan->lose = plan->outage == OUTAGE_CLOSE ? DELIVERY_CLOSE : DELIVERY_HANG;
		return true;
	}
	int status = plan->outage == OUTAGE_503 ? 503 : plan->status;
	if (!status)
		return false;
	if (plan->body || plan->type) {
		answer_body(answer, status, plan->body ? plan->body : "");
		answer->type = plan->type ? plan->type : "application/json";
	} else {
		deliver_error(answer, status, status == 429 ? "throttled" : "unavailable", NULL);
	}
	pad(&answer->body, plan->body_bytes);
	return true;
}

static bool
logged_in(const struct call *call)
{
	const char *token = call->sim->token, *sent = header(call, "Authorization");
	if (!token)
		return true;
	return sent && strncmp(sent, "Bearer ", 7) == 0 && strcmp(sent + 7, token) == 0;
}

static bool
body_fits(const struct call *call, const struct route *route, struct answer *answer)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(call->request);
	if (!route->needs_body)
		return true;
	if (evbuffer_get_length(in) > BODY_BYTES_MAX) {
		deliver_error(answer, 413, "too_large", NULL);
		return false;
	}
	if (!json_is_object(call->body)) {
		deliver_error(answer, 400, "bad_body", "the body is no JSON object");
		return false;
	}
	return true;
}

static const char *
operation_of(const struct call *call)
{
	const char *operation = header(call, "Operation-Id");
	if (!operation)
		operation = json_string_value(json_object_get(call->body, "operation_id"));
	return operation ? operation : header(call, "Idempotency-Key");
}

static bool
acceptable(const struct call *call, const struct route *route, const struct collection *collection,
	   struct answer *answer)
{
	if (!logged_in(call))
		deliver_error(answer, 401, "unauthorized", NULL);
	else if (!collection)
		deliver_error(answer, 404, "unknown_collection", NULL);
	else if (!route)
		deliver_error(answer, 405, "method_not_allowed", NULL);
	else
		return body_fits(call, route, answer);
	return false;
}

void
api_serve(struct call *call, struct answer *answer, struct plan *ret_plan)
{
	const struct route *route = route_of(call);
	struct task task = { .call = call, .plan = ret_plan, .answer = answer };
	if (call->segments_count)
		task.collection = world_collection(&call->sim->world, call->segments[0]);
	*ret_plan = (struct plan){ 0 };
	if (!acceptable(call, route, task.collection, answer))
		return;
	task.id = route->shape == SHAPE_OBJECT ? call->segments[1] : NULL;
	task.operation = operation_of(call);
	task.key = header(call, "Idempotency-Key");
	struct request_facts facts = {
		.collection = task.collection->name,
		.method = call->method,
		.id = task.id,
		.operation = task.operation,
		.purpose = route->purpose,
		.fields = call->body ? call->body : call->query,
	};
	behaviours_plan(&call->sim->behaviours, &facts, call->now_us, ret_plan);
	if (!served_otherwise(&task, ret_plan))
		route->serve(&task);
	book(&task, route);
}
