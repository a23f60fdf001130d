/* SPDX-License-Identifier: Apache-2.0
 *
 * How the slots of the process are divided among targets, so that one that answers slowly does not
 * take them all. Counts; knows no slot.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/reconcile/pass.h"

struct quota;

struct quota *quota_create(const struct pass_type *types, size_t count, size_t slots);
void quota_destroy(struct quota *quota);

/* The target of types[type] may have one more. */
bool quota_allows(const struct quota *quota, size_t type);
void quota_take(struct quota *quota, size_t type);
void quota_give(struct quota *quota, size_t type);
