/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → probes: of a policy, and the control of a target.
 */
#pragma once

#include "field.h"
#include "reconciled/core/policy.h"

extern const struct table probe_table, control_table;
extern const struct shape shape_probes, shape_control;

/* Decoder of the field `probes`; at is a struct policy. */
void probes_decode(struct loading *loading, const struct node *node, void *at,
		   const struct field *field);

/* Decoder of the field `control`; at is a const struct probe *. */
void control_decode(struct loading *loading, const struct node *node, void *at,
		    const struct field *field);
