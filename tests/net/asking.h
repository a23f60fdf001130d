/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of the probe engine share: the server, a loop, an engine that is new for each test,
 * and asking.
 */
#pragma once

#include <signal.h>

#include <event2/event.h>

#include "fault_server.h"
#include "policy_builder.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/clock.h"
#include "reconciled/net/curl_loop.h"
#include "reconciled/probe/engine.h"
#include "tap.h"
#include "turn.h"

static struct fault_server server;
static struct event_base *base;
static struct curl_loop *curl;
static struct probe_engine *engine;
static struct arena *arena;
static struct operation op;

struct seen {
	int calls;
	const struct reading *reading;
	enum control_state control;
	int64_t answered_us;
};

static inline void
on_done(void *owner, const struct probe_answer *answer)
{
	struct seen *seen = owner;

	seen->calls++;
	seen->reading = answer->reading;
	seen->control = answer->control;
	seen->answered_us = answer->answered_us;
}

static int ready_calls;

static inline void
on_ready(void *owner, struct probe_target *target)
{
	ready_calls++;
}

/* A new engine and arena for each test. */
static inline void
begin(void)
{
	probe_engine_destroy(engine);
	arena_destroy(arena);
	arena = arena_create();
	op = build_operation(arena, "{'operation_id':'op_1'}");
	engine = probe_engine_create(base, curl);
	probe_engine_on_ready(engine, on_ready, NULL);
	ready_calls = 0;
}

static inline struct probe_target_options
options(const char *scheme, int port, const char *folder)
{
	return (struct probe_target_options){
		.rules = build_target(arena, "{}"),
		.base = arena_printf(arena, "%s://127.0.0.1:%d%s", scheme, port, folder),
		.connect_timeout_us = 20 * SECOND,
		.total_timeout_us = 30 * SECOND,
		.max_body_bytes = 1024 * 1024,
		.concurrent = 8,
		.control_every_us = 5 * MINUTE,
	};
}

/* extra: further keys of the policy, each with a comma after it. */
static inline const struct policy *
policy_asking(const char *path, const char *extra)
{
	return build_policy(arena, arena_printf(arena,
						"{%s'existence_only':true,'probes':[{"
						"'get':'%s','found':{'status':200},"
						"'absent':{'status':404,'/error':'not_found'}}]}",
						extra, path));
}

static inline const struct probe *
asks(const char *path)
{
	return policy_asking(path, "")->probes;
}

static inline struct probe_run *
start(struct probe_target *target, const struct probe *probe, struct seen *seen)
{
	struct probe_question question = { .arena = arena, .probe = probe, .op = &op };

	return probe_start(target, &question, on_done, seen);
}

static inline struct seen
ask(struct probe_target *target, const char *path)
{
	struct seen seen = { 0 };

	start(target, asks(path), &seen);
	tap_ok(seen.calls == 0, "%s: nothing is reported from inside probe_start", path);
	turn(base, &seen.calls, 1);
	return seen;
}

static inline struct seen
ask_with(const struct probe_target_options *with, const char *path)
{
	return ask(probe_engine_add(engine, with), path);
}

static inline void
expect(const struct seen *seen, enum reading_kind kind, enum reason reason, const char *name)
{
	tap_str(reading_kind_name(seen->reading->kind), reading_kind_name(kind), name);
	if (reason != REASON_COUNT)
		tap_str(reason_name(seen->reading->reason), reason_name(reason), name);
}

static inline const char *
member_text(const struct seen *seen, const char *name)
{
	const struct value *value =
		value_member(seen->reading->response->parsed, name, strlen(name));

	return value ? value->text : NULL;
}

static inline struct target_rules *
rules_with_control(const char *path)
{
	struct target_rules *rules = arena_new(arena, struct target_rules);

	rules->target = "test_target";
	rules->control = asks(path);
	return rules;
}

/* Asks the server past the engine of the test; the text of this member of the answer. */
static inline const char *
server_says(const char *path, const char *name)
{
	struct probe_engine *side = probe_engine_create(base, curl);
	struct probe_target_options plain = options("http", server.plain, "");
	struct seen seen = { 0 };

	start(probe_engine_add(side, &plain), asks(path), &seen);
	turn(base, &seen.calls, 1);
	probe_engine_destroy(side);
	return member_text(&seen, name);
}

static inline void
setup(void)
{
	signal(SIGPIPE, SIG_IGN);
	fault_server_start(&server);
	base = event_base_new();
	curl = curl_loop_create(base);
}

/* Ends main. */
static inline int
teardown(void)
{
	probe_engine_destroy(engine);
	arena_destroy(arena);
	curl_loop_destroy(curl);
	event_base_free(base);
	fault_server_stop(&server);
	return tap_done();
}
