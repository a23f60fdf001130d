/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of reconciled.yaml, and the configuration object that everything is loaded into.
 */
#pragma once

#include "field.h"
#include "loading.h"
#include "reconciled/config/config.h"

/* The public part first, then what only loading and dumping need. */
struct loaded {
	struct config config;
	const char *database_text;	/* as written, with the reference to a password */
	const char *evidence_hash_key;	/* the reference */
	const char *http_listen;	/* as written */
	const char *policies, *targets; /* folders as written */
	int log_level, log_format;
	struct arena *arena;
	struct keeper *keepers;
	int references;
};

extern const struct table settings_table;

void settings_decode(struct loading *loading, const struct node *root, struct loaded *loaded);
