/* SPDX-License-Identifier: Apache-2.0
 *
 * The time zone that a key names.
 */
#pragma once

#include <stdbool.h>

#include "shape.h"

struct loading;
struct node;
struct time_zone;

extern const struct shape shape_zone;

/* Reads the zone from the system's files into the arena. False: said. */
bool zone_decode(struct loading *loading, const struct node *node,
		 const struct time_zone **ret_zone);
