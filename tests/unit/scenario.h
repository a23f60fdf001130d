/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays answers of a target over time against an operation, through the same functions as the
 * daemon: next probe, render, judge the reading, classify, decide. Keeps what the database keeps.
 */
#pragma once

#include "policy_builder.h"

/* Tables of answers name what matters and leave the rest zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* One answer, or one page of it. Answers with the same time belong to one look. */
struct scripted {
	int at_s;	  /* after SENT_US */
	int status;	  /* 0 with fault */
	const char *body; /* with ' for " unless raw */
	const char *headers; /* "name: value\n…" */
	enum reason fault;   /* 0: none */
	enum control_state control;
	bool raw;
};

struct scenario {
	const struct policy *policy;
	const struct target_rules *rules;
	struct operation op;
	bool observe;
	/* of the last look */
	struct look look;
	struct verdict verdict;
	struct decision decision;
	int changes;   /* looks that would have written a revision */
	size_t unused; /* answers nobody asked for */
};

struct scenario scenario_start(struct arena *arena, const char *policy, const char *target,
			       const char *op);

/* Plays one look with the answers; returns how many were used. */
size_t scenario_look(struct arena *arena, struct scenario *scenario, const struct scripted *answers,
		     size_t count);

/* Plays looks until an answer without status and fault; count is the limit. */
void scenario_play(struct arena *arena, struct scenario *scenario, const struct scripted *answers,
		   size_t count);
