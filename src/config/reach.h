/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows and rules that can never fire, because of those before them or of themselves.
 */
#pragma once

#include <stddef.h>

#include "reconciled/core/probe.h"

struct loading;
struct node;

/*
 * Rows of {when, …} that are tried in order. whens[i] is the condition of the i-th row of node, empty
 * where it always holds, NULL where it could not be read.
 */
void reach_check_rows(struct loading *loading, const struct node *node,
		      const struct condition *const *whens, size_t count);

/* The rules of a probe by which an answer is recognised. */
void reach_check_probe(struct loading *loading, const struct node *node, const struct probe *probe);

/* Conditions of which any is enough: those that contradict themselves. */
void reach_check_conditions(struct loading *loading, const struct node *node,
			    const struct conditions *conditions);
