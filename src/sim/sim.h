/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulator as one object, and the contracts between its server, its object API and its admin
 * API.
 */
#pragma once

#include <event2/event.h>
#include <event2/http.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "behaviour.h"
#include "books.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "world.h"

struct err;
struct pending;

struct sim {
	struct event_base *base;
	struct evhttp *http;
	struct evhttp_bound_socket *bound;
	struct event *tick, *reopen, *stop[2];
	char *listen;	     /* as it was asked for; after binding with the real port */
	char *token;	     /* NULL: no login */
	int64_t refusing_us; /* until then connections are closed unanswered; 0: no */
	bool stopping;
	struct world world;
	struct behaviours behaviours;
	struct books *books;
	struct pending *pending; /* answers not yet delivered */
	int owed, most_owed;	 /* how many: now, and at most at one moment */
};

enum { SEGMENTS_MAX = 4 };

/* One request, taken apart. Texts live until it is answered. */
struct call {
	struct sim *sim;
	struct evhttp_request *request;
	const char *method;
	char *segments[SEGMENTS_MAX]; /* of the path, decoded */
	size_t segments_count;
	json_t *query; /* name → text */
	json_t *body;  /* or NULL */
	int64_t now_us;
};

struct answer {
	int status;	  /* 0: none */
	const char *type; /* borrowed until deliver() returns */
	struct strbuf body;
	int64_t retry_after_us;
	bool replayed;
};

/* server.c */

/* Listens, loads nothing. The address that was bound is in sim->listen. */
bool server_start(struct sim *sim, struct err *err) MUST_CHECK;
bool server_refuse(struct sim *sim, int64_t for_us, struct err *err) MUST_CHECK;
void server_stop(struct sim *sim);
void server_finish(struct sim *sim);

/* deliver.c: sends what the plan says, when it says; takes the answer's body. */
void deliver(struct sim *sim, struct evhttp_request *request, struct answer *answer,
	     const struct plan *plan);
void deliver_error(struct answer *answer, int status, const char *word, const char *message);
void deliver_json(struct answer *answer, int status, json_t *body); /* takes the reference */
/* Closes what would never be answered: all of it, or where the client has left. */
void deliver_drop_hanging(struct sim *sim, bool all);
void deliver_all_now(struct sim *sim);

/* api.c and admin.c: fill the answer. */
void api_serve(struct call *call, struct answer *answer, struct plan *ret_plan);
void admin_serve(struct call *call, struct answer *answer);
