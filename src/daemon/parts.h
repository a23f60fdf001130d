/* SPDX-License-Identifier: Apache-2.0
 *
 * Which part of a target's limits is ours when several instances are alive. Pure: all of them
 * compute the same from the same list.
 */
#pragma once

#include <stddef.h>

/* As probe_target_set_part takes it; parts 0: none of it is ours. */
struct part {
	int part, parts;
};

/*
 * live: ids of all living instances, sorted. A target that bears at least one question at a time
 * of each is divided by rank; one that does not belongs whole to one of them, chosen by a hash of
 * the target's name and the instance's id, so that few targets move when an instance comes or goes.
 * own_id is not in live: none.
 */
struct part part_of_target(const char *const *live, size_t live_count, const char *own_id,
			   const char *target, int concurrent);
