/* SPDX-License-Identifier: Apache-2.0
 *
 * The instances that share the work: heartbeat, who is alive, what a dead one left in flight, and
 * the guard against a database that went back in time. Times are the database's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;
struct policy;

#define INSTANCE_BEAT_US (3 * (int64_t)1000000)
#define INSTANCE_FRESH_US (10 * (int64_t)1000000) /* a heartbeat at most this old is alive */

/* What an instance says of itself. Borrowed during the call. */
struct beat {
	const char *instance_id, *name, *version;
	/* Types it takes part in and the digests of their policies; none while it only counts
	 * where limits are divided (it is joining, or is a single pass). */
	const struct policy *policies;
	size_t policies_count;
	int64_t known_beats; /* of our last answered beat, across restarts; 0: none */
};

struct type_view {
	const char *operation_type;
	const char *digest; /* of the policy published last */
	bool paused;
	bool guarded;		    /* its guard is tripped */
	const char *const *members; /* ids of the living that announce this digest, sorted */
	size_t members_count;
};

/* What a heartbeat learns. Valid until the callback returns. */
struct cluster_view {
	int64_t beats;		 /* ours, counted by the database */
	bool rewound;		 /* the rewind guard is tripped, perhaps by this beat */
	const char *const *live; /* ids of all living instances, sorted, with ours */
	size_t live_count;
	const struct type_view *types; /* sorted by operation_type */
	size_t types_count;
};

/*
 * Beats and looks around. When the database counts fewer beats than known_beats, it was restored
 * or lost commits: the rewind guard is tripped in the same statement.
 */
typedef void store_beat_fn(void *owner, const struct cluster_view *view, const struct err *err);
void store_beat(struct db *db, const struct beat *beat, store_beat_fn *done, void *owner);

/* This instance ends: others need not wait for its heartbeat to grow old. */
typedef void store_left_fn(void *owner, const struct err *err);
void store_leave(struct db *db, const char *instance_id, store_left_fn *done, void *owner);

/*
 * Takes what one dead instance (stale and not stopped; or instance_id itself, at its start) had in
 * flight: those operations are pushed back and counted as suspects; one that died alone too often
 * goes to review. One instance a call: repeat until count is negative (nobody dead is left).
 * count: operations that were in flight.
 */
typedef void store_buried_fn(void *owner, int count, const struct err *err);
void store_bury(struct db *db, const char *actor, const char *instance_id, bool at_start,
		store_buried_fn *done, void *owner);
