/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole configuration as one immutable set: settings, targets, policies. Loaded and checked as
 * a unit; a reload builds a second one and swaps the pointer. Running checks hold a reference.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/log.h"
#include "reconciled/config/target.h"
#include "reconciled/core/policy.h"

struct problems;
struct secret;

struct retention {
	int64_t operations_us, journal_us, outbox_us, idempotency_us, tallies_us;
};

struct config {
	const char *file;
	const char *database; /* conninfo or URI without password; "" : libpq's defaults */
	const struct secret *database_password; /* or NULL */
	const char *instance_name;
	int64_t interval_us, max_verdict_age_us;
	int batch, max_in_flight;
	bool observe;
	const char *policies_dir, *targets_dir, *state_directory;
	const struct secret *evidence_hash_key;
	struct retention retention;
	const char *http_host; /* of http.listen HOST:PORT; NULL: no TCP */
	int http_port;
	const char *http_socket; /* of http.listen unix:PATH; NULL: none */
	enum log_level log_level;
	enum log_format log_format;
	const struct target *targets;
	size_t targets_count;
	const struct policy *policies; /* sorted by operation_type */
	size_t policies_count;
};

enum config_parts {
	CONFIG_SETTINGS = 1, /* the one file: what reconcilectl needs */
	CONFIG_ALL = 3,	     /* and targets and policies */
	CONFIG_SECRETS = 4,  /* and look at every secret (targets', hash key) */
};

/*
 * NULL when anything is wrong; problems then says what and where. Warnings are among the problems, but
 * do not keep it from loading. The database password is always read. The reference belongs to the caller.
 */
struct config *config_load(const char *file, unsigned parts, struct problems *problems) MUST_CHECK;
/* Everything, but of the targets only the secrets of this one. */
struct config *config_load_for(const char *file, const char *target,
			       struct problems *problems) MUST_CHECK;
struct config *config_ref(struct config *config);
void config_unref(struct config *config);

const struct policy *config_policy(const struct config *config, const char *operation_type);
const struct target *config_target(const struct config *config, const char *name);

/* The effective settings as YAML, secrets as their references. */
void config_dump(const struct config *config, FILE *out);

/* Every key that is supported, one "FILE PATH" a line, for documents and their check. */
void config_print_keys(FILE *out);

/*
 * One policy or target file alone, for `policy check`. The target of a policy is looked up in the
 * targets folder beside its folder when there is one. True without errors; unsupported keys are
 * errors, warnings are none.
 */
bool config_check_file(const char *file, struct problems *problems);
