/* SPDX-License-Identifier: Apache-2.0
 *
 * No target takes all slots of the process while there are others.
 */
#include "../../src/reconcile/fairness.h"

#include "tap.h"

/* The fairness only compares where types ask. */
static char places[3];
#define TARGET(i) ((struct probe_target *)&places[i])

/* As many as it gets. */
static int
fill(struct fairness *fairness, size_t type)
{
	int taken = 0;

	while (fairness_allows(fairness, type)) {
		fairness_take(fairness, type);
		taken++;
	}
	return taken;
}

static void
test_one_target(void)
{
	const struct pass_type types[] = { { NULL, TARGET(0) }, { NULL, TARGET(0) } };
	struct fairness *fairness = fairness_create(types, 2, 10);

	tap_int(fill(fairness, 0), 10, "one target of two types takes everything");
	tap_ok(!fairness_allows(fairness, 1), "nothing is left");
	fairness_give(fairness, 0);
	tap_ok(fairness_allows(fairness, 1), "a slot that was given back");
	fairness_destroy(fairness);
}

static void
test_three_targets(void)
{
	const struct pass_type types[] = {
		{ NULL, TARGET(0) }, { NULL, TARGET(1) }, { NULL, TARGET(0) }, { NULL, TARGET(2) }
	};
	struct fairness *fairness = fairness_create(types, 4, 90);

	/* 58 < 2 * 32, 59 < 2 * 31, 60 = 2 * 30 */
	tap_int(fill(fairness, 0), 60, "the first takes two thirds");
	tap_int(fill(fairness, 2), 0, "another type of the same target gets nothing more");
	/* 20 = 2 * 10 */
	tap_int(fill(fairness, 1), 20, "the second two thirds of what is left");
	tap_int(fill(fairness, 3), 7, "and there is something for the third");
	fairness_give(fairness, 1);
	tap_ok(!fairness_allows(fairness, 0), "what one gives back is not for the greedy");
	tap_ok(fairness_allows(fairness, 3), "but for who has little");
	fairness_destroy(fairness);
}

static void
test_few_slots(void)
{
	const struct pass_type types[] = { { NULL, TARGET(0) }, { NULL, TARGET(1) } };
	struct fairness *fairness = fairness_create(types, 2, 1);

	tap_int(fill(fairness, 0), 1, "a single slot is for whoever comes");
	fairness_give(fairness, 0);
	tap_int(fill(fairness, 1), 1, "one after the other");
	fairness_destroy(fairness);
	fairness_destroy(NULL);
}

int
main(void)
{
	test_one_target();
	test_three_targets();
	test_few_slots();
	return tap_done();
}
