/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells the log what became of each operation.
 */
#pragma once

struct pass_outcome;

void outcome_log(const struct pass_outcome *outcome);
