/* SPDX-License-Identifier: Apache-2.0
 *
 * What the database knows for the metrics, in one statement: gauges over open rows by type and
 * status, outbox, idempotency store. Guards come with each heartbeat, see instances.h.
 *
 * reconciled_worker_retries counts attempts after the first of open operations: "requeue" those
 * that verdicts asked for, "worker" the others. (The causes that workers name stand in the journal
 * only: they are free text, and the journal is too large to be read every few seconds.)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct err;

/* One number: the name is that of the metric family; labels are NULL where it has none. */
struct measured {
	const char *name;	 /* "reconciled_operations" */
	const char *type;	 /* operation type, or NULL */
	const char *label_value; /* status or cause, or NULL */
	double value;
};

/* Valid until the callback returns. */
typedef void store_measured_fn(void *owner, const struct measured *values, size_t count,
			       const struct err *err);

/* Of these types only (their number bounds the answer). */
void store_measure(struct db *db, const char *const *types, size_t types_count,
		   store_measured_fn *done, void *owner);
