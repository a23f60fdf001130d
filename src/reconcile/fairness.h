/* SPDX-License-Identifier: Apache-2.0
 *
 * How the slots of the process are divided among targets, so that one that answers slowly does not
 * take them all. Counts; knows no slot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/reconcile/pass.h"

struct fairness;

struct fairness *fairness_create(const struct pass_type *types, size_t count, size_t slots);
void fairness_destroy(struct fairness *fairness);

/* The target of types[type] may have one more. */
bool fairness_allows(const struct fairness *fairness, size_t type);
void fairness_take(struct fairness *fairness, size_t type);
void fairness_give(struct fairness *fairness, size_t type);
