/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → rows of judge, on_absent, on_gone, and the actions of a policy.
 */
#pragma once

#include "field.h"
#include "reconciled/core/policy.h"

extern const struct table judge_row_table, actions_table;
extern const struct shape shape_judge_rows;

/* Decoders of fields; at is a struct judge_rows. min 1: only the operation can be tested. */
void judge_rows_decode(struct loading *loading, const struct node *node, void *at,
		       const struct field *field);

/* The action of each class when a policy says nothing. */
void actions_preset(struct loading *loading, struct policy *policy);
