/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a question that hold templates: parameters, headers, bodies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/policy.h"

struct loading;
struct node;

/* {name: text}: query, headers, form. NULL and count 0 after a complaint. */
const struct named_template *named_templates_decode(struct loading *loading,
						    const struct node *node, size_t *ret_count);

/*
 * A JSON body. Quoted scalars are texts; plain null, true, false and JSON numbers are what they
 * look like, every other plain scalar is a text. NULL after a complaint.
 */
const struct json_template *json_template_decode(struct loading *loading, const struct node *node);

/* True as soon as one placeholder of the question satisfies the test. */
bool probe_any_placeholder(const struct probe *probe,
			   bool (*test)(const struct template_part *placeholder));
