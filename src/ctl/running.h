/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in the way of the work, and who does it: paused types, guards, living instances.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct db;
struct err;
struct screen;
struct strbuf;
struct view;

struct running {
	struct view *guards, *paused, *instances;
};

bool running_read(struct db *db, struct running *ret_running, struct err *err) MUST_CHECK;
void running_finish(struct running *running);

/* Paused types and guards, if there are any; then the instances. */
void running_print(const struct screen *screen, const struct running *running);
/* ,"guards":[…],"paused":[…],"instances":[…] */
void running_put_json(struct strbuf *out, const struct running *running);
