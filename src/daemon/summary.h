/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pass came to, by type: for a person as a table, for programs as one JSON object. The JSON
 * is written while the pass runs, so that memory does not grow with the operations it lists.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reconciled/reconcile/pass.h"

struct summary;

/* json: stream one object to out, else print a table at the end. Types are shown in this order. */
struct summary *summary_create(FILE *out, bool json, const struct pass_type *types, size_t count);
void summary_destroy(struct summary *summary);
void summary_add(struct summary *summary, const struct pass_outcome *outcome);
void summary_print(struct summary *summary, int64_t without_policy);

int64_t summary_checked(const struct summary *summary);
bool summary_unavailable(const struct summary *summary); /* a target could not be asked */
bool summary_refused(const struct summary *summary);	 /* a verdict could not be stored */
