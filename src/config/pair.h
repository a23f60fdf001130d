/* SPDX-License-Identifier: Apache-2.0
 *
 * One policy and its target, each from a file of its own, without the rest of a configuration.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"
#include "reconciled/config/target.h"

struct loading;

struct pair {
	struct policy policy;
	struct target target;
};

/* What is wrong with either is said at its place; the file of loading stays. */
void pair_load(struct loading *loading, const char *policy_file, const char *target_file,
	       struct pair *ret_pair);
