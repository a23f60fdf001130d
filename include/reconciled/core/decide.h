/* SPDX-License-Identifier: Apache-2.0
 *
 * From a verdict to what is written: action, next status, next due time. Pure. A table of rows,
 * first match wins; the row's name goes into the evidence as "decided".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/classify.h"

/* What the process is allowed to do, beside what the policy says. */
struct decide_context {
	struct arena *arena;	    /* for what the conditions of the policy's actions look up */
	bool observe;		    /* --observe or `observe: true`: whatever the policy's mode */
	bool guarded;		    /* a guard is tripped: nothing but confirm is carried out */
	bool late;		    /* the answer is older than max_verdict_age: no correction */
	enum control_state control; /* of the look: nothing is sent again unless it was found */
	int64_t now_us;		    /* database clock */
	uint64_t random;	    /* for the jitter of the next look */
};

/*
 * What must hold before an operation is sent again, one after the other; all are evaluated and
 * recorded. Names are public: overrides and evidence name them.
 */
enum clause {
	CLAUSE_IDEMPOTENT,   /* "idempotent": the type says a second send is harmless */
	CLAUSE_SAME_KEY,     /* "same_key": kind key, and there is a key to send again */
	CLAUSE_KEY_FRESH,    /* "key_fresh": the target still knows the key when it is sent again */
	CLAUSE_ATTEMPT_OVER, /* "attempt_over": no attempt is alive */
	CLAUSE_WANTED,	     /* "wanted": not superseded, the entity is active */
	CLAUSE_UNDISPUTED,   /* "undisputed": no other effect, nor several, was seen */
	CLAUSE_FRESH,	     /* "fresh": the answer is younger than max_verdict_age */
	CLAUSE_CONTROL,	     /* "control": the control object was found in this look */
	CLAUSE_LIMITS,	     /* "limits": requeue.max and attempts.max are not reached */
	CLAUSE_GUARD,	     /* "guard": closed */
	CLAUSE_COUNT,
};

const char *clause_name(enum clause clause);

struct clause_result {
	enum clause clause;
	bool ok;
};

struct decision {
	const char *row;	 /* name of the decision row, e.g. "missing-review" */
	enum action action;	 /* carried out, or what would be done when observing */
	enum action recommended; /* what the policy asks for; ACTION_WAIT when nothing */
	bool observed;		 /* action is not carried out */
	/* Class, reason, recommended action, status or disputed differ from the row. */
	bool changed;
	enum status status; /* after */
	/* Of the journal: "confirmed", "review", "closed", "requeued", "judged", "observed"; "announced":
	 * again, to the workers; "looked": no verdict, for another reason than before; NULL:
	 * nothing to tell. */
	const char *event;
	const char *outbox_type;   /* "operation.confirmed", or NULL: no event */
	const char *closed_reason; /* or NULL */
	/* Of a requeue that the policy asks for, carried out or not; 0: none was asked for. */
	struct clause_result clauses[CLAUSE_COUNT];
	size_t clauses_count;
	bool guarded; /* an action that draws on the guard: it changes the status and is no confirm */
	bool held;    /* by a guard: without it, recommended would have been carried out */
	bool corrects;		    /* requeue or compensate: not carried out on an old answer */
	int64_t next_attempt_in_us; /* REQUEUE: when workers may take it */
	int postponed;		    /* after */
	bool announces;		    /* again, an operation that no worker has taken */
	bool due;		    /* false: nothing left to check */
	int64_t due_in_us;	    /* from the moment of recording */
	bool disputed;		    /* after */
};

struct decide_case; /* what a row's test looks at */

struct decision_row {
	const char *name;
	enum verdict_class class;		       /* CLASS_NONE: every verdict */
	const char *when;			       /* in words, or NULL: unconditional */
	bool (*applies)(const struct decide_case *of); /* NULL with when */
	enum action action;
};

/* Prints itself in `reconcilectl rules`. */
const struct decision_row *decision_rows(size_t *ret_count);

/*
 * Waiting and inconclusive looks change nothing but counters and the due time. For a verdict the
 * caller writes a revision and a journal row if changed, or if the digest of the evidence differs.
 * An ambiguous operation is neither requeued nor compensated, nor is that ever recommended for it.
 */
void decide(const struct policy *policy, const struct operation *op, const struct verdict *verdict,
	    const struct decide_context *context, struct decision *ret_decision);
