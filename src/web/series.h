/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the numbers stand: for the process, for each type and for each target one row of them,
 * and the table of families that says what a number means.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/core/verdict.h"

enum { HISTOGRAM_BUCKETS = 12 };

struct histogram {
	uint64_t buckets[HISTOGRAM_BUCKETS + 1]; /* the last: beyond all bounds */
	int64_t sum_us;
};

/* Places of the numbers in a row. */
enum process_slot {
	PROCESS_RELOAD,
	PROCESS_INSTANCES,
	PROCESS_ISOLATED,
	PROCESS_REWIND,
	PROCESS_DATABASE,
};

enum type_slot {
	TYPE_VERDICTS,
	TYPE_ACTIONS = TYPE_VERDICTS + CLASS_COUNT,
	TYPE_INCONCLUSIVE = TYPE_ACTIONS + ACTION_COUNT,
	TYPE_REQUEUES = TYPE_INCONCLUSIVE + REASON_COUNT,
	TYPE_STALE = TYPE_REQUEUES + REASON_COUNT,
	TYPE_HELD,
	TYPE_GUARD,
	TYPE_PAUSED,
	TYPE_LAST_PASS,
	TYPE_SLOTS,
};

enum target_slot {
	TARGET_FAILURES,
	TARGET_BREAKER = TARGET_FAILURES + REASON_COUNT,
	TARGET_CONTROL,
	TARGET_SLOTS,
};

/* The numbers of the process, of one type, or of one target. */
struct series {
	char *name;   /* owned; NULL: the process */
	char *target; /* of a type; owned, or NULL */
	uint64_t numbers[TYPE_SLOTS];
	struct histogram times;
};

_Static_assert((int)TARGET_SLOTS <= (int)TYPE_SLOTS, "one size of row for all");

enum series_kind { OF_PROCESS, OF_TYPE, OF_TARGET, SERIES_KINDS };

struct family;

struct series_list {
	struct series *rows; /* sorted by name */
	size_t count;
};

/* One number of the database. */
struct gauge {
	const struct family *family;
	char *type, *value; /* label values, owned; NULL where the family has none */
	double number;
	double seen; /* what the database said; a counter only grows */
};

struct metrics {
	struct series_list series[SERIES_KINDS];
	struct gauge *gauges; /* in order of family, type, value */
	size_t gauges_count;
};

enum family_source { FROM_NUMBERS, FROM_TIMES, FROM_DATABASE, FROM_CONFIGURATION };
enum family_unit { UNIT_ONE, UNIT_MICROSECOND };

struct family {
	const char *name, *kind, *help; /* kind: a TYPE of the text format */
	enum family_source source;
	enum series_kind of; /* FROM_DATABASE: OF_TYPE has a label "type" */
	size_t slot;	     /* FROM_NUMBERS: of the first word */
	enum family_unit unit;
	const char *label; /* beside type or target, or NULL */
	/* FROM_NUMBERS with label: the words, one slot each, from words_first on. */
	const char *(*word)(int number);
	int words_first, words_count;
	bool (*always)(int number); /* else only what was counted; NULL: all of them */
	const double *bounds;	    /* FROM_TIMES: seconds, HISTOGRAM_BUCKETS of them */
};

extern const double family_probe_bounds[HISTOGRAM_BUCKETS],
	family_confirmation_bounds[HISTOGRAM_BUCKETS];

const struct family *families(size_t *ret_count);
const struct family *family_of_database(const char *name); /* or NULL */

/* What a configuration says of the rows of one kind. Borrowed. */
struct series_names {
	const char *const *names, *const *targets; /* targets NULL: none are told */
	size_t count;
};

/* NULL: no such type or target. */
struct series *series_find(const struct metrics *metrics, enum series_kind of, const char *name);
/* New rows begin at zero, those of names that remain go on, the others vanish. */
void series_set_names(struct metrics *metrics, enum series_kind of,
		      const struct series_names *names);
void series_finish(struct series_list *list);

void gauges_finish(struct metrics *metrics);
void gauges_drop(struct metrics *metrics); /* those of types that are gone */
