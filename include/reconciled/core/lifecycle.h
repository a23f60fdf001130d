/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of an operation and every arrow between them, once. The database refuses the same
 * pairs (a store test compares), reconcilectl prints this table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum status {
	STATUS_PENDING,
	STATUS_PROCESSING,
	STATUS_AWAITING_CONFIRMATION,
	STATUS_RETRY_SCHEDULED,
	STATUS_MANUAL_REVIEW,
	STATUS_COMPENSATING,
	STATUS_CONFIRMED,
	STATUS_COMPENSATED,
	STATUS_NOT_APPLICABLE,
	STATUS_COUNT,
};

enum lifecycle_who { WHO_APPLICATION, WHO_WORKER, WHO_RECONCILER, WHO_OPERATOR };

struct lifecycle_arrow {
	enum status from, to;
	enum lifecycle_who who;
	const char *on;	  /* the call or verdict that takes it */
	const char *when; /* condition in words, or NULL */
};

const char *status_name(enum status status);
bool status_from_name(const char *name, enum status *ret_status);
bool status_is_final(enum status status);
const char *lifecycle_who_name(enum lifecycle_who who);

const struct lifecycle_arrow *lifecycle_arrows(size_t *ret_count);

/* True if anybody may take the arrow from → to. Staying is always allowed. */
bool lifecycle_allows(enum status from, enum status to);
