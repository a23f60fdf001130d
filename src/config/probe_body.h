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
struct shape;

extern const struct shape shape_templates, shape_header_templates, shape_json;

/* {name: text}: headers, form. NULL and count 0 after a complaint. */
const struct named_template *named_templates_decode(struct loading *loading,
						    const struct node *node, size_t *ret_count);

/* The same for the query, which may hold {batch|join SEPARATOR}. */
const struct named_template *query_templates_decode(struct loading *loading,
						    const struct node *node, size_t *ret_count);

/*
 * A JSON body. Quoted scalars are texts; plain null, true, false and JSON numbers are what they
 * look like, every other plain scalar is a text; "{batch|each NAME=FIELD}" is a list of objects.
 * NULL after a complaint.
 */
const struct json_template *json_template_decode(struct loading *loading, const struct node *node);

/* True as soon as one placeholder of the question satisfies the test. {batch|each …} is none. */
typedef bool placeholder_test_fn(const struct template_part *placeholder, const void *context);
bool probe_any_placeholder(const struct probe *probe, placeholder_test_fn *test,
			   const void *context);

/* A placeholder of the question stands for this field. */
bool probe_sends(const struct probe *probe, enum operation_field field);

/* The question names several operations: {batch|each …} or {batch|join …} is in it. */
bool probe_asks_batch(const struct probe *probe);

/* The first {batch|each …} of the body, or NULL. */
const struct json_template *json_template_batch(const struct json_template *json);
