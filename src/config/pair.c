/* SPDX-License-Identifier: Apache-2.0
 *
 * The target is read first, because the policy is checked against what it has.
 */
#include "pair.h"

#include <string.h>

#include "file.h"
#include "loading.h"
#include "policy.h"
#include "target.h"
#include "tree.h"

static const struct node *
read_tree(struct loading *loading, const char *file, const char **ret_bytes)
{
	size_t len;

	loading->file = file;
	if (!file_read(loading, ret_bytes, &len))
		return NULL;
	return tree_read(loading, *ret_bytes, len);
}

/* Another name than the policy's is said at the policy, as for a target that is not there. */
static bool
is_named(const struct node *policy, const struct node *target)
{
	const struct node *wanted = node_member(policy, "target");
	const struct node *name = node_member(target, "target");

	if (!wanted || !name || wanted->kind != NODE_TEXT || name->kind != NODE_TEXT)
		return true;
	return strcmp(wanted->text, name->text) == 0;
}

void
pair_load(struct loading *loading, const char *policy_file, const char *target_file,
	  struct pair *ret_pair)
{
	const char *before = loading->file, *bytes;
	const struct node *target = read_tree(loading, target_file, &bytes);
	const struct node *policy;

	if (target)
		target_decode(loading, target, &ret_pair->target);
	policy = read_tree(loading, policy_file, &bytes);
	if (policy) {
		const struct target_facts facts = {
			.known = true,
			.exists = is_named(policy, target),
			.readable = target != NULL,
			.has_control = target && target_has_control(target),
		};

		policy_decode(loading, policy, &ret_pair->policy);
		policy_check(loading, policy, &ret_pair->policy, &facts);
		ret_pair->policy.file = policy_file;
		ret_pair->policy.text = bytes;
	}
	loading->file = before;
}
