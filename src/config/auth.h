/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → how we log in at a target.
 */
#pragma once

#include "field.h"
#include "reconciled/config/target.h"

extern const struct table auth_table;
extern const struct shape shape_auth;

/* Decoder of the field `auth`; at is a struct auth. */
field_decode_fn auth_decode;

/* What needs the address of the target: makes a token_url whole. After the base was checked. */
void auth_check(struct loading *loading, const struct node *root, struct target *target);
