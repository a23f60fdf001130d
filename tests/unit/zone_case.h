/* SPDX-License-Identifier: Apache-2.0
 *
 * A time zone of the system, for tests. Needs the package tzdata.
 */
#pragma once

#include <stdio.h>

#include "reconciled/core/time_zone.h"
#include "scene.h"

static inline size_t
zone_bytes(const char *name, char *room, size_t size)
{
	char path[200];
	size_t len = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", name);
	file = fopen(path, "rb");
	if (file != NULL) {
		len = fread(room, 1, size, file);
		fclose(file);
	}
	return len;
}

static inline const struct time_zone *
zone(struct arena *arena, const char *name)
{
	static char bytes[100000];
	const struct time_zone *read = NULL;
	struct err err = { 0 };

	must(time_zone_read(arena, name, bytes, zone_bytes(name, bytes, sizeof(bytes)), &read,
			    &err),
	     &err);
	return read;
}
