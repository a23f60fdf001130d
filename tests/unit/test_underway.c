/* SPDX-License-Identifier: Apache-2.0
 *
 * What is under way is not taken again; what ends during a selection counts until that is over.
 */
#include "../../src/reconcile/underway.h"

#include <stdlib.h>

#include "tap.h"

static void
test_begins_and_ends(void)
{
	struct underway *underway = underway_create();

	tap_ok(!underway_has(underway, "op-1"), "nothing at first");
	underway_begin(underway, "op-1");
	underway_begin(underway, "op-2");
	tap_ok(underway_has(underway, "op-1") && underway_has(underway, "op-2"), "both have begun");
	underway_end(underway, "op-1");
	tap_ok(!underway_has(underway, "op-1"), "one has ended");
	tap_ok(underway_has(underway, "op-2"), "the other has not");
	underway_begin(underway, "op-1");
	tap_ok(underway_has(underway, "op-1"), "it may begin again");
	underway_destroy(underway);
}

static void
test_ends_during_a_selection(void)
{
	struct underway *underway = underway_create();
	const char **ids;
	size_t count;

	underway_begin(underway, "recorded");
	underway_begin(underway, "asked");
	underway_selecting(underway);
	underway_end(underway, "recorded");
	tap_ok(underway_has(underway, "recorded"), "the selection may show it as it was");
	ids = underway_list(underway, 3, &count);
	tap_int((long long)count, 1, "what has ended is not in flight");
	tap_str(ids[0], "asked", "the other is");
	ids[1] = ids[2] = ids[3] = "room for three more";
	free(ids);
	underway_selected(underway);
	tap_ok(!underway_has(underway, "recorded"), "after the selection it may be selected again");
	tap_ok(underway_has(underway, "asked"), "the other is still asked");
	underway_end(underway, "asked");
	tap_ok(!underway_has(underway, "asked"), "without a selection an end is an end");
	underway_destroy(underway);
	underway_destroy(NULL);
}

int
main(void)
{
	test_begins_and_ends();
	test_ends_during_a_selection();
	return tap_done();
}
