/* SPDX-License-Identifier: Apache-2.0
 *
 * References that become part of a longer text: a query language, JSON, markup. What `reference` lets
 * through must not end a quotation there, nor add to the question.
 */
#pragma once

#include "reconciled/core/probe.h"

struct loading;
struct node;

/* reference: the expression as written, or NULL where there is none (or no usable one). */
void injection_check(struct loading *loading, const struct node *node, const struct probe *probe,
		     const char *reference);
