/* SPDX-License-Identifier: Apache-2.0
 *
 * What a probe must not say although each of its keys is right, and what probes say of each other.
 */
#pragma once

#include <stddef.h>

#include "reconciled/core/probe.h"

struct loading;
struct node;

/* A head has no body: nothing that looks into one could ever hold. */
void probe_check_head(struct loading *loading, const struct node *node, const struct probe *probe);

/* The keys of lists: with each other, and with the list. Sets the field that a batch is matched by. */
void probe_check_list(struct loading *loading, const struct node *node, struct probe *probe);

/* Names are unique, `then` finds its probe. node is the list of them. */
void probes_link(struct loading *loading, const struct node *node, struct probe *probes,
		 size_t count);
