/* SPDX-License-Identifier: Apache-2.0
 *
 * What conditions are said to imply is true of every item and operation: random conditions, all
 * values of a small world.
 */
#include <stdio.h>
#include <string.h>

#include "../../src/config/implication.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/core/value.h"
#include "tap.h"

enum { ROUNDS = 6000, DEPTH_MAX = 3 };

static const char *const texts[] = { "a", "ab", "b", "1", "1.0", "2", "", "A" };
static const char *const numbers[] = { "1", "1.0", "2" };
static const char *const places[] = { "/v", "/v/*", "/w" };

static const char *const bodies[] = {
	"{}",
	"{\"v\":null,\"w\":1}",
	"{\"v\":\"\",\"w\":null}",
	"{\"v\":\"a\"}",
	"{\"v\":\"ab\",\"w\":\"a\"}",
	"{\"v\":\"A\",\"w\":\"b\"}",
	"{\"v\":1}",
	"{\"v\":1.0,\"w\":2}",
	"{\"v\":1.5,\"w\":\"ab\"}",
	"{\"v\":2,\"w\":\"\"}",
	"{\"v\":3}",
	"{\"v\":{},\"w\":[]}",
	"{\"v\":[]}",
	"{\"v\":[null],\"w\":\"A\"}",
	"{\"v\":[\"a\",\"b\"]}",
	"{\"v\":[1,2]}",
	"{\"v\":[null,\"ab\"]}",
	"{\"v\":[0,\"A\",{}]}",
};
static const char *const versions[] = { "", "a", "1" };

struct world {
	struct arena *arena;
	uint32_t random;
	struct locator places[ARRAY_LEN(places)], version;
	struct operation ops[ARRAY_LEN(versions)];
	const struct value *bodies[ARRAY_LEN(bodies)];
};

static unsigned int
pick(struct world *world, unsigned int count)
{
	world->random = world->random * 1664525U + 1013904223U;
	return (world->random >> 8) % count;
}

static struct operand
random_operand(struct world *world, const char *const *list, size_t count)
{
	if (pick(world, 6) == 0)
		return (struct operand){ .from = &world->version };
	return (struct operand){ .text = list[pick(world, (unsigned int)count)] };
}

static struct test random_test(struct world *world, int depth);

static void
add_children(struct world *world, struct test *test, int depth)
{
	size_t count = test->kind == TEST_NOT ? 1 : 2 + pick(world, 2);
	struct test *children = arena_array(world->arena, struct test, count);

	for (size_t i = 0; i < count; i++)
		children[i] = random_test(world, depth + 1);
	test->children = children;
	test->count = count;
}

static struct test
random_test(struct world *world, int depth)
{
	static const enum test_kind leaves[] = { TEST_IS,      TEST_IS, TEST_NULL, TEST_PREFIX,
						 TEST_PRESENT, TEST_ABSENT, TEST_GT, TEST_GE,
						 TEST_LT,      TEST_LE };
	static const enum test_kind branches[] = { TEST_ANY, TEST_ALL, TEST_NOT };
	struct test test = { 0 };

	if (depth < DEPTH_MAX && pick(world, 2) == 0) {
		test.kind = branches[pick(world, ARRAY_LEN(branches))];
		add_children(world, &test, depth);
		return test;
	}
	test.kind = leaves[pick(world, ARRAY_LEN(leaves))];
	if (test.kind == TEST_IS || test.kind == TEST_PREFIX) {
		test.operand = random_operand(world, texts, ARRAY_LEN(texts));
		test.fold = pick(world, 4) == 0 ? FOLD_CASE : FOLD_NONE;
	}
	if (test.kind == TEST_GT || test.kind == TEST_GE || test.kind == TEST_LT ||
	    test.kind == TEST_LE)
		test.operand = random_operand(world, numbers, ARRAY_LEN(numbers));
	return test;
}

static struct condition
random_condition(struct world *world)
{
	unsigned int first = pick(world, ARRAY_LEN(places)), count = 1 + pick(world, 2);
	struct condition_row *rows = arena_array(world->arena, struct condition_row, count);

	for (unsigned int i = 0; i < count; i++) {
		rows[i].locator = world->places[(first + i) % ARRAY_LEN(places)];
		rows[i].test = random_test(world, 0);
	}
	return (struct condition){ .rows = rows, .count = count };
}

/* For each item and operation: bit 0 of the result if one holds, bit 1 if the other does; all that
 * were seen as a set. */
static unsigned int
what_is_seen(struct world *world, const struct condition *one, const struct condition *other)
{
	unsigned int seen = 0;

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
		for (size_t j = 0; j < ARRAY_LEN(versions); j++) {
			struct scene scene = { .arena = world->arena,
					       .op = &world->ops[j],
					       .item = world->bodies[i] };
			unsigned int state = (condition_holds(&scene, one) ? 1U : 0U) |
					     (condition_holds(&scene, other) ? 2U : 0U);

			seen |= 1U << state;
		}
	return seen;
}

enum { SEEN_NONE = 1 << 0, SEEN_ONE = 1 << 1, SEEN_OTHER = 1 << 2, SEEN_BOTH = 1 << 3 };

struct tally {
	int implied, covered, contradictory, wrong;
};

static void
test_round(struct world *world, struct tally *tally)
{
	struct condition one = random_condition(world), other = random_condition(world);
	unsigned int seen = what_is_seen(world, &one, &other);
	bool implies = condition_implies(&one, &other), covers = conditions_cover(&one, &other);
	const struct locator *at;
	bool contradicts = condition_contradicts(&one, &at);

	tally->implied += implies;
	tally->covered += covers;
	tally->contradictory += contradicts;
	tally->wrong += implies && (seen & SEEN_ONE) != 0;
	tally->wrong += covers && (seen & SEEN_NONE) != 0;
	tally->wrong += contradicts && (seen & (SEEN_ONE | SEEN_BOTH)) != 0;
}

static void
make_world(struct world *world)
{
	struct err err = { 0 };
	bool good = locator_parse(world->arena, "op.version", &world->version, &err);

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		good = locator_parse(world->arena, places[i], &world->places[i], &err) && good;
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
		good = value_read_json(world->arena, bodies[i], strlen(bodies[i]),
				       &world->bodies[i]) == VALUE_OK &&
		       good;
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		world->ops[i].version = versions[i];
	tap_ok(good, "the world of the test");
}

int
main(void)
{
	struct world world = { .arena = arena_create(), .random = 1 };
	struct tally tally = { 0 };

	make_world(&world);
	for (int i = 0; i < ROUNDS; i++)
		test_round(&world, &tally);
	printf("# %d implied, %d covered, %d contradictory of %d\n", tally.implied, tally.covered,
	       tally.contradictory, ROUNDS);
	tap_int(tally.wrong, 0, "nothing is said that is not true");
	tap_ok(tally.implied > 100 && tally.covered > 20 && tally.contradictory > 100,
	       "and enough is said");
	arena_destroy(world.arena);
	return tap_done();
}
