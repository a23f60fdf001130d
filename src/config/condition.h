/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → conditions, operands, locators and templates of the policy language.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/core/policy.h"

struct loading;
struct node;

/* False after a complaint (or an unsupported part that was named). */
bool condition_decode(struct loading *loading, const struct node *node,
		      struct condition *ret_condition);
bool conditions_decode(struct loading *loading, const struct node *node,
		       struct conditions *ret_conditions);

/* A scalar: literal text, or "op.…". Null, empty, lists and mappings are refused. */
bool operand_decode(struct loading *loading, const struct node *node, struct operand *ret_operand);

bool locator_decode(struct loading *loading, const struct node *node, struct locator *ret_locator);
bool pointer_decode(struct loading *loading, const struct node *node, struct pointer *ret_pointer);

/* Any scalar but null, "" included; without and with {batch|join SEPARATOR}. */
bool template_decode(struct loading *loading, const struct node *node,
		     struct template *ret_template);
bool template_decode_joining(struct loading *loading, const struct node *node,
			     struct template *ret_template);

/* A field that is a text of the operation: no time, not what is expected. */
bool operation_field_is_text(enum operation_field field);

/* A word of fold, or a list of them, as bits. */
bool fold_decode(struct loading *loading, const struct node *node, unsigned *ret_fold);

/* Every row looks at the operation only; complains about the first that does not. */
bool condition_is_about_operation(struct loading *loading, const struct node *node,
				  const struct condition *condition);

/* Some row looks at the operation. */
bool condition_tests_operation(const struct condition *condition);

/* Some row of some condition looks into the body of an answer. */
bool conditions_read_body(const struct conditions *conditions);
