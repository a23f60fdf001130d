/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares of types, parts of targets and the wait before joining, from made up views. The lists are
 * those of design: sorted ids, members are those that announce the published digest.
 */
#include "reconciled/base/clock.h"
#include "reconciled/config/config.h"
#include "reconciled/store/instances.h"

#include "../../src/daemon/membership.h"
#include "../../src/daemon/standing.h"
#include "tap.h"

static const struct policy policies[] = {
	{ .operation_type = "charge", .target = "bank", .digest = "d1" },
	{ .operation_type = "refund", .target = "bank", .digest = "d2" },
	{ .operation_type = "sync", .target = "crm", .digest = "d3" },
};
static const struct target targets[] = {
	{ .rules.target = "bank", .concurrent = 1 },
	{ .rules.target = "crm", .concurrent = 8 },
};
static const struct config config = {
	.policies = policies,
	.policies_count = 3,
	.targets = targets,
	.targets_count = 2,
};

static const char *const abc[] = { "a", "b", "c" };
static const char *const ab[] = { "a", "b" };
static const char *const b[] = { "b" };

struct share_case {
	const char *name, *id, *digest;
	const char *const *members;
	size_t members_count;
	bool guarded, rewound;
	struct membership_type want;
};

/* Of the type "sync", whose target can be divided; three instances are alive. */
static const struct share_case shares[] = {
	{ "first of three",
	  "a",
	  "d3",
	  abc,
	  3,
	  false,
	  false,
	  { { 0, 3 }, false, false, false, false } },
	{ "last of three",
	  "c",
	  "d3",
	  abc,
	  3,
	  false,
	  false,
	  { { 2, 3 }, false, false, false, false } },
	{ "two announce it",
	  "b",
	  "d3",
	  ab,
	  2,
	  false,
	  false,
	  { { 1, 2 }, false, false, false, false } },
	{ "alone with it",
	  "b",
	  "d3",
	  b,
	  1,
	  false,
	  false,
	  { { 0, 1 }, false, false, false, false } },
	{ "not a member",
	  "c",
	  "d3",
	  ab,
	  2,
	  false,
	  false,
	  { { 0, 0 }, false, false, false, false } },
	{ "nobody is", "a", "d3", NULL, 0, false, false, { { 0, 0 }, false, false, false, false } },
	{ "another digest",
	  "c",
	  "d4",
	  ab,
	  2,
	  false,
	  false,
	  { { 0, 0 }, false, true, false, false } },
	{ "another digest, of nobody",
	  "a",
	  "d4",
	  NULL,
	  0,
	  false,
	  false,
	  { { 0, 0 }, false, true, false, false } },
	{ "guard", "a", "d3", abc, 3, true, false, { { 0, 3 }, true, false, false, false } },
	{ "rewound", "a", "d3", abc, 3, false, true, { { 0, 3 }, true, false, false, false } },
	{ "guard and another digest",
	  "c",
	  "d4",
	  ab,
	  2,
	  true,
	  false,
	  { { 0, 0 }, true, true, false, false } },
};

static void
test_shares(void)
{
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		const struct share_case *c = &shares[i];
		const struct type_view type = { "sync",	    c->digest,	c->guarded,
						c->guarded, c->members, c->members_count };
		const struct cluster_view view = { 1, c->rewound, abc, 3, &type, 1 };
		const struct membership membership = { &view, &config, c->id };
		struct membership_type got = membership_of_type(&membership, &policies[2]);

		tap_int(got.share.index, c->want.share.index, c->name);
		tap_int(got.share.count, c->want.share.count, c->name);
		tap_int(got.guarded, c->want.guarded, c->name);
		tap_int(got.outdated, c->want.outdated, c->name);
		tap_int(got.paused, c->guarded, "paused, in each case with a guard");
	}
}

static void
test_unpublished(void)
{
	const struct cluster_view view = { 1, false, b, 1, NULL, 0 };
	const struct membership membership = { &view, &config, "b" };
	struct membership_type got = membership_of_type(&membership, &policies[2]);

	tap_int(got.share.count, 0, "a type that was not published yet is nobody's");
	tap_ok(got.unpublished, "and that is told");
	tap_ok(!got.outdated, "and ours is not outdated");
}

/* The target "bank" bears one question at a time. */
static void
test_one_owner(void)
{
	const struct type_view types[] = {
		{ "charge", "d1", false, false, abc, 3 },
		{ "refund", "d2", false, false, abc, 3 },
	};
	const struct cluster_view view = { 1, false, abc, 3, types, 2 };
	int owners = 0;

	for (int i = 0; i < 3; i++) {
		const struct membership membership = { &view, &config, abc[i] };
		struct part part = membership_of_target(&membership, &targets[0]);
		struct pass_share charge = membership_of_type(&membership, &policies[0]).share;
		struct pass_share refund = membership_of_type(&membership, &policies[1]).share;

		tap_ok(part.part == 0 && part.parts <= 1, "%s has all of the target or nothing",
		       abc[i]);
		tap_int(charge.count, part.parts, "its types go with it: charge");
		tap_int(refund.count, part.parts, "its types go with it: refund");
		owners += part.parts;
	}
	tap_int(owners, 1, "one of three owns it");
}

/* During an upgrade: only b has the newest policies of both types. */
static void
test_owner_has_most_types(void)
{
	static const char *const ac[] = { "a", "c" };
	const struct {
		const char *name;
		const char *const *charge, *const *refund;
		size_t charge_count, refund_count;
	} cases[] = {
		{ "alone in both", b, b, 1, 1 },
		{ "in both, others in one", ab, b, 2, 1 },
		{ "in one, others in none", b, NULL, 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct type_view types[] = {
			{ "charge", "d1", false, false, cases[i].charge, cases[i].charge_count },
			{ "refund", "d2", false, false, cases[i].refund, cases[i].refund_count },
		};
		const struct cluster_view view = { 1, false, abc, 3, types, 2 };
		const struct membership ours = { &view, &config, "b" };

		tap_int(membership_of_target(&ours, &targets[0]).parts, 1, cases[i].name);
		for (int k = 0; k < 2; k++) {
			const struct membership theirs = { &view, &config, ac[k] };

			tap_int(membership_of_target(&theirs, &targets[0]).parts, 0, cases[i].name);
			tap_int(membership_of_type(&theirs, &policies[0]).share.count, 0,
				cases[i].name);
		}
	}
}

/* Whoever joins announces no types yet, but counts where limits are divided. */
static void
test_divided_target(void)
{
	const struct type_view type = { "sync", "d3", false, false, ab, 2 };
	const struct cluster_view view = { 1, false, abc, 3, &type, 1 };

	for (int i = 0; i < 3; i++) {
		const struct membership membership = { &view, &config, abc[i] };
		struct part part = membership_of_target(&membership, &targets[1]);

		tap_int(part.part, i, "rank among the living");
		tap_int(part.parts, 3, "all that are alive");
	}
}

static void
test_others(void)
{
	const struct cluster_view alone = { 1, false, b, 1, NULL, 0 };
	const struct cluster_view three = { 1, false, abc, 3, NULL, 0 };
	const struct cluster_view nobody = { 1, false, NULL, 0, NULL, 0 };

	tap_ok(!membership_has_others(&(struct membership){ &alone, &config, "b" }), "alone");
	tap_ok(membership_has_others(&(struct membership){ &alone, &config, "a" }), "one other");
	tap_ok(membership_has_others(&(struct membership){ &three, &config, "a" }), "two others");
	tap_ok(!membership_has_others(&(struct membership){ &nobody, &config, "a" }), "nobody");
}

/* Heartbeats as they were sent; what follows after the last one. */
struct standing_case {
	const char *name;
	struct {
		int64_t sent_us;
		bool others;
	} beats[6];
	int count;
	int64_t join_us; /* 0: at once */
	bool bury;
};

#define AT(seconds) ((seconds)*SECOND)

/* Ten seconds until others are seen or have seen us, and 30 for the longest question. */
static const struct standing_case standings[] = {
	{ "the first, alone", { { AT(100), false } }, 1, 0, false },
	{ "the first, with others", { { AT(100), true } }, 1, AT(40), false },
	{ "the third, with others",
	  { { AT(100), true }, { AT(103), true }, { AT(106), true } },
	  3,
	  AT(34),
	  false },
	{ "joined",
	  { { AT(100), true },
	    { AT(109), true },
	    { AT(118), true },
	    { AT(127), true },
	    { AT(136), true },
	    { AT(145), true } },
	  6,
	  0,
	  true },
	{ "somebody came while we were alone",
	  { { AT(100), false }, { AT(103), true } },
	  2,
	  0,
	  false },
	{ "ten seconds regular",
	  { { AT(100), false }, { AT(105), false }, { AT(110), false } },
	  3,
	  0,
	  true },
	{ "a short gap is none", { { AT(100), false }, { AT(109), true } }, 2, 0, false },
	{ "a gap, alone before and after",
	  { { AT(100), false }, { AT(110), false } },
	  2,
	  0,
	  false },
	{ "a gap, alone before, others now",
	  { { AT(100), false }, { AT(110), true } },
	  2,
	  AT(40),
	  false },
	{ "a gap, the others are not back yet",
	  { { AT(50), false }, { AT(53), true }, { AT(110), false } },
	  3,
	  AT(40),
	  false },
	{ "two gaps before they are back",
	  { { AT(50), false }, { AT(53), true }, { AT(110), false }, { AT(130), false } },
	  4,
	  AT(40),
	  false },
	{ "a second gap while joining again",
	  { { AT(53), true }, { AT(63), false }, { AT(72), false }, { AT(90), false } },
	  4,
	  AT(40),
	  false },
	{ "the others never came back",
	  { { AT(53), true },
	    { AT(62), false },
	    { AT(71), false },
	    { AT(80), false },
	    { AT(89), false },
	    { AT(98), false } },
	  6,
	  0,
	  true },
};

static void
test_standing(void)
{
	for (size_t i = 0; i < ARRAY_LEN(standings); i++) {
		const struct standing_case *c = &standings[i];
		struct standing standing = { 0 };
		int64_t now_us = c->beats[c->count - 1].sent_us;

		for (int k = 0; k < c->count; k++)
			standing_note(&standing, c->beats[k].sent_us, c->beats[k].others, AT(30));
		tap_int(standing_join_us(&standing, now_us), c->join_us, c->name);
		tap_int(standing_may_bury(&standing, now_us), c->bury, c->name);
	}
}

static void
test_no_burial_by_the_silent(void)
{
	struct standing standing = { 0 };

	tap_ok(!standing_may_bury(&standing, AT(1000)), "who never was heard buries nobody");
	for (int64_t at = 100; at <= 120; at += 5)
		standing_note(&standing, AT(at), true, 0);
	tap_ok(standing_may_bury(&standing, AT(121)), "who is regular does");
	tap_ok(!standing_may_bury(&standing, AT(130)), "who is late does not");
}

int
main(void)
{
	test_shares();
	test_unpublished();
	test_one_owner();
	test_owner_has_most_types();
	test_divided_target();
	test_others();
	test_standing();
	test_no_burial_by_the_silent();
	return tap_done();
}
