/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → one policy: decoding by tables, then the checks that look at more than one key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "field.h"
#include "reconciled/core/policy.h"

extern const struct table policy_table;

/* What is known of the target of a policy while it is checked. */
struct target_facts {
	bool known;	  /* a file of that name was looked for where it must be */
	bool exists;	  /* and is there */
	bool readable;	  /* and its tree could be read */
	bool has_control; /* it says how to see that it can be asked at all */
};

/* Fills what can be filled, sets the defaults that depend on other keys; complains about the rest.
 */
void policy_decode(struct loading *loading, const struct node *root, struct policy *ret_policy);

/* Everything that needs more than one key, or the target. */
void policy_check(struct loading *loading, const struct node *root, const struct policy *policy,
		  const struct target_facts *facts);

/* What loads although it is doubtful: warnings. */
void policy_warn(struct loading *loading, const struct node *root, const struct policy *policy);
