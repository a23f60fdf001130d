/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranks in sorted lists, and the choice of one instance where a target cannot be divided.
 */
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/config/config.h"
#include "reconciled/store/instances.h"

#include "membership.h"

/* In a sorted list; its length when it is not there. */
static size_t
rank_in(const char *const *ids, size_t count, const char *id)
{
	size_t rank = 0;

	while (rank < count && strcmp(ids[rank], id) != 0)
		rank++;
	return rank;
}

static const struct type_view *
find_type(const struct cluster_view *view, const char *operation_type)
{
	for (size_t i = 0; i < view->types_count; i++)
		if (strcmp(view->types[i].operation_type, operation_type) == 0)
			return &view->types[i];
	return NULL;
}

static bool
is_undivided(const struct membership *membership, const struct target *target)
{
	return (size_t)target->concurrent < membership->view->live_count;
}

/* Of how many types of this target the instance is a member. */
static size_t
count_types(const struct membership *membership, const struct target *target, const char *id)
{
	const struct config *config = membership->config;
	size_t count = 0;

	for (size_t i = 0; i < config->policies_count; i++) {
		const struct policy *policy = &config->policies[i];
		const struct type_view *type = find_type(membership->view, policy->operation_type);

		if (type && strcmp(policy->target, target->rules.target) == 0)
			count += rank_in(type->members, type->members_count, id) <
				 type->members_count;
	}
	return count;
}

/* Those of the living that are member of the most, in their order. */
static size_t
collect_candidates(const struct membership *membership, const struct target *target,
		   const char **candidates)
{
	const struct cluster_view *view = membership->view;
	size_t most = 0, count = 0;

	for (size_t i = 0; i < view->live_count; i++) {
		size_t types = count_types(membership, target, view->live[i]);

		if (types > most)
			count = 0;
		if (types >= most)
			candidates[count++] = view->live[i];
		most = types > most ? types : most;
	}
	return count;
}

static struct part
whole_or_none(const struct membership *membership, const struct target *target)
{
	CLEANUP(xfree_at)
	const char **candidates = xcalloc(membership->view->live_count, sizeof(*candidates));
	size_t count = collect_candidates(membership, target, candidates);

	return part_of_target(candidates, count, membership->instance_id, target->rules.target, 0);
}

bool
membership_has_others(const struct membership *membership)
{
	const struct cluster_view *view = membership->view;

	return view->live_count >
	       (rank_in(view->live, view->live_count, membership->instance_id) < view->live_count);
}

struct part
membership_of_target(const struct membership *membership, const struct target *target)
{
	const struct cluster_view *view = membership->view;

	if (is_undivided(membership, target))
		return whole_or_none(membership, target);
	return part_of_target(view->live, view->live_count, membership->instance_id,
			      target->rules.target, target->concurrent);
}

static struct pass_share
share_of(const struct membership *membership, const struct type_view *type,
	 const struct target *target)
{
	size_t rank = rank_in(type->members, type->members_count, membership->instance_id);

	if (rank == type->members_count)
		return (struct pass_share){ 0, 0 };
	if (is_undivided(membership, target))
		return (struct pass_share){ 0, whole_or_none(membership, target).parts };
	return (struct pass_share){ (int)rank, (int)type->members_count };
}

struct membership_type
membership_of_type(const struct membership *membership, const struct policy *policy)
{
	const struct type_view *type = find_type(membership->view, policy->operation_type);
	struct membership_type ours = {
		.guarded = membership->view->rewound,
		.unpublished = !type,
	};

	if (!type)
		return ours;
	ours.paused = type->paused;
	ours.guarded |= type->guarded;
	ours.outdated = strcmp(type->digest, policy->digest) != 0;
	if (!ours.outdated)
		ours.share = share_of(membership, type,
				      config_target(membership->config, policy->target));
	return ours;
}
