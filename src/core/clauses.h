/* SPDX-License-Identifier: Apache-2.0
 *
 * What sending again needs, clause by clause. Private to core.
 */
#pragma once

#include "reconciled/core/decide.h"

/* Every clause, in the order of the enum, for workers that may take it next_attempt_in_us from now. */
void clauses_evaluate(const struct policy *policy, const struct operation *op,
		      const struct decide_context *context, int64_t next_attempt_in_us,
		      struct clause_result ret[static CLAUSE_COUNT]);
