/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of each operation, for the log and for the counters.
 */
#pragma once

struct metrics;
struct pass_outcome;

void outcome_log(const struct pass_outcome *outcome);
void outcome_count(const struct pass_outcome *outcome, struct metrics *metrics);
