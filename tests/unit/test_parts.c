/* SPDX-License-Identifier: Apache-2.0
 *
 * How the limits of a target are divided among living instances: parts that add up to one target.
 */
#include "../../src/daemon/parts.h"

#include "reconciled/base/attributes.h"
#include "tap.h"

static const char *const live[] = { "a", "b", "c", "d" };

static void
is_part(struct part got, int part, int parts, const char *name)
{
	tap_int(got.part, part, name);
	tap_int(got.parts, parts, name);
}

static void
test_divided(void)
{
	is_part(part_of_target(live, 1, "a", "crm", 1), 0, 1, "alone: the whole target");
	is_part(part_of_target(live, 4, "a", "crm", 8), 0, 4, "the first of four");
	is_part(part_of_target(live, 4, "d", "crm", 4), 3, 4, "one question for each of four");
	is_part(part_of_target(live, 3, "b", "erp", 3), 1, 3, "by rank, whatever the target");
	is_part(part_of_target(live, 2, "z", "crm", 8), 0, 0, "who is not among the living");
	is_part(part_of_target(live, 0, "a", "crm", 8), 0, 0, "nobody is alive");
}

/* How many of the living own the whole target; ret_owner: the last of them. */
static int
owners(size_t count, const char *target, int concurrent, const char **ret_owner)
{
	int found = 0;

	for (size_t i = 0; i < count; i++) {
		struct part part = part_of_target(live, count, live[i], target, concurrent);

		if (part.parts == 1) {
			found++;
			*ret_owner = live[i];
		}
	}
	return found;
}

static void
test_belongs_to_one(void)
{
	static const char *const targets[] = { "crm", "erp", "mail", "psp", "wms", "x", "yy", "z" };
	int owned[ARRAY_LEN(live)] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		const char *of_three = "", *of_four = "";

		tap_int(owners(4, targets[i], 3, &of_four), 1,
			"three slots, four instances: one owner");
		tap_int(owners(3, targets[i], 1, &of_three), 1,
			"one slot, three instances: one owner");
		tap_ok(strcmp(of_four, "d") == 0 || strcmp(of_four, of_three) == 0,
		       "a fourth instance takes \"%s\" or leaves it where it was", targets[i]);
		owned[*of_four - 'a']++;
	}
	for (size_t i = 0; i < ARRAY_LEN(live); i++)
		tap_ok(owned[i] < (int)ARRAY_LEN(targets), "\"%s\" does not own all targets",
		       live[i]);
}

int
main(void)
{
	test_divided();
	test_belongs_to_one();
	return tap_done();
}
