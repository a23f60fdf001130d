/* SPDX-License-Identifier: Apache-2.0
 *
 * What `reconcilectl explain` shows, and the two ways of showing it.
 */
#pragma once

#include <jansson.h>

#include "command.h"
#include "reconciled/config/target.h"
#include "reconciled/core/explain.h"

struct view;

struct explained {
	const struct policy *policy;
	const struct target *target;
	const struct view *row; /* of the operation */
	const struct operation *op;
	int64_t now_us; /* by the clock of the database */
	const struct look *look;
	const struct verdict *verdict;
	const struct decision *decision;
	struct explanation explanation;
	json_t *evidence; /* as it would be recorded */
};

void explain_print(const struct screen *screen, const struct explained *of);
void explain_print_json(const struct explained *of);
