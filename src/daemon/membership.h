/* SPDX-License-Identifier: Apache-2.0
 *
 * From what a heartbeat learned: which share of each type, and which part of each target, is ours.
 * Pure; every instance comes to the same result from the same view.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/reconcile/pass.h"

#include "parts.h"

struct cluster_view;
struct config;
struct policy;
struct target;

/* Borrowed. */
struct membership {
	const struct cluster_view *view;
	const struct config *config; /* ours */
	const char *instance_id;
};

struct membership_type {
	struct pass_share share;
	bool guarded;	  /* a guard keeps actions back */
	bool outdated;	  /* another policy than ours is published */
	bool unpublished; /* the database does not know the type */
	bool paused;
};

bool membership_has_others(const struct membership *membership);

/*
 * Members of a type divide it. A target that bears fewer questions at a time than there are
 * instances belongs to one of them, and so do the types that are asked about there: to one that is
 * member of the most of them.
 */
struct membership_type membership_of_type(const struct membership *membership,
					  const struct policy *policy);
struct part membership_of_target(const struct membership *membership, const struct target *target);
