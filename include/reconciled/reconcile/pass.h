/* SPDX-License-Identifier: Apache-2.0
 *
 * A pass over due operations: select, ask, judge, record; once, or again and again for each type.
 * Memory depends on the limits below, never on how much is due. Nothing of the database is held
 * while a target is asked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/evidence.h"

struct db;
struct err;
struct event_base;
struct pass;
struct probe_target;

/* A type that takes part: its policy and where to ask. */
struct pass_type {
	const struct policy *policy;
	struct probe_target *target;
};

/* The operations whose hash falls into one of count equal parts; count 0: none at all. */
struct pass_share {
	int index, count;
};

/* What became of one operation; texts are valid during the call. */
struct pass_outcome {
	const struct policy *policy;
	const char *operation_id;
	enum verdict_class class;
	const char *reason, *rule;
	const char *scope, *remote_id, *correlation_id; /* NULL: none */
	enum action action;
	enum status before; /* as selected */
	enum status status; /* after */
	int64_t revision;   /* after */
	bool observed;	    /* the action was not carried out */
	bool stale;	  /* dropped: somebody changed the operation meanwhile, or holds its row */
	bool refused;	  /* the database refused even the reduced row; it stays due */
	bool unavailable; /* the target could not be asked */
	bool held;	  /* a guard kept the action back */
	int64_t since_first_send_us; /* TIME_NONE: never sent; for the time to confirmation */
};

enum pass_skip {
	PASS_UNKNOWN,	/* there is no such operation */
	PASS_NO_POLICY, /* of a type that takes no part */
	PASS_PAUSED,	/* of a paused type */
};

/* Any of the callbacks may be NULL but done. */
struct pass_observer {
	void (*outcome)(void *owner, const struct pass_outcome *outcome);
	/* An id of options.ids that is not looked at. */
	void (*skipped)(void *owner, const char *operation_id, const char *operation_type,
			enum pass_skip why);
	/* Exactly once, from the loop. err NULL: everything was looked at. */
	void (*done)(void *owner, const struct err *err);
	void *owner;
};

/* Borrowed until done. */
struct pass_options {
	struct event_base *base;
	struct db *read, *write;
	const struct pass_type *types;
	size_t types_count;
	const char *const *ids; /* look at these, due or not, instead of what is due */
	size_t ids_count;
	int64_t limit; /* operations over all types; 0: none */
	int batch;     /* rows in one statement */
	int max_in_flight;
	bool observe;
	int64_t max_verdict_age_us; /* older answers start no correction */
	/*
	 * 0: one pass, which leaves what a target does not let ask within a few seconds (see
	 * pass_left_unasked). Else without end: each type is selected again at once while there is
	 * more, else after this pause or when woken.
	 */
	int64_t interval_us;
	/* What is in flight is noted in this row of instances, batch by batch, and suspects are
	 * asked alone. NULL: neither. */
	const char *note_instance_id;
	struct hmac *evidence_key; /* for values that evidence does not show */
	const char *actor, *instance_id;
};

struct pass *pass_create(const struct pass_options *options, const struct pass_observer *observer);
void pass_start(struct pass *pass);
void pass_ready(struct pass *pass); /* a target may have free slots again */
/* Of types[type]; at first everything. What was selected for another share and not yet asked is
 * dropped. */
void pass_set_share(struct pass *pass, size_t type, struct pass_share share);
/* A guard of types[type] is known to be tripped (or not any more): decides without asking the
 * database for it first. */
void pass_set_guarded(struct pass *pass, size_t type, bool guarded);
void pass_wake(struct pass *pass, const char *operation_type); /* NULL: every type */
/* A single pass ended although a breaker, a control or a rate kept operations unasked, or because
 * their target is for others (share of 0 parts): any at all, or of types[type]. */
bool pass_left_unasked(const struct pass *pass);
bool pass_left_type(const struct pass *pass, size_t type);
/* When everything due of types[type] was last selected to the end: wall clock, 0: not yet. */
int64_t pass_ended_us(const struct pass *pass, size_t type);
/* Takes nothing new; what targets answer within five seconds is recorded, then done is called. */
void pass_stop(struct pass *pass);
void pass_destroy(struct pass *pass); /* drops what is in flight */
