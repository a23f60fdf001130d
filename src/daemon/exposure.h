/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server of the daemon and the numbers that it shows: those counted here, and those of the
 * database, which it asks for over a connection of its own so that nothing else waits for them.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/base/attributes.h"

struct config;
struct err;
struct event_base;
struct exposure;
struct metrics;
struct serving;

/* From the loop. */
struct exposure_sources {
	/* Sets what is only known at this moment. */
	void (*refresh)(void *owner, struct metrics *metrics);
	bool (*has_database)(void *owner);
	const char *(*not_ready)(void *owner);
	const struct serving *(*serving)(void *owner);
	void *owner;
};

/*
 * Listens where the settings at the start say, or on the socket that the service manager passed;
 * without either, nothing is served and the numbers are only counted. NULL: the address forbids it.
 */
struct exposure *exposure_create(struct event_base *base, const struct config *at_start,
				 const struct exposure_sources *sources,
				 struct err *err) MUST_CHECK;
void exposure_destroy(struct exposure *exposure); /* accepts NULL */
struct metrics *exposure_metrics(const struct exposure *exposure);
