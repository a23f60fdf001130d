/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest pieces of the policy language, out of JSON; for the builders of policies only.
 */
#pragma once

#include "reconciled/core/policy.h"

struct arena;

void bail(const char *what, const char *text);

const struct value *member(const struct value *object, const char *name);
const char *text_of(const struct value *object, const char *name, const char *standard);
int int_of(const struct value *object, const char *name, int standard);
int64_t duration_of(const struct value *object, const char *name, int64_t standard);

struct locator locator_of(struct arena *arena, const char *text);
struct template template_of(struct arena *arena, const char *text);
struct pointer pointer_of(struct arena *arena, const char *text);
struct operand operand_of(struct arena *arena, const struct value *value);
unsigned fold_of(const struct value *object);
struct condition condition_of(struct arena *arena, const struct value *object);
struct conditions conditions_of(struct arena *arena, const struct value *value);

/* All probes of a policy, linked with each other. */
const struct probe *probes_of(struct arena *arena, const struct value *list, size_t *ret_count);
