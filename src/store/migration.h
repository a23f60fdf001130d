/* SPDX-License-Identifier: Apache-2.0
 *
 * The migrations as they were embedded at build, in order, and how they compare with those that a
 * database has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <libpq-fe.h>

#include "reconciled/base/attributes.h"

struct err;

struct migration {
	int version;
	const char *name, *text;
};

extern const struct migration migrations[];
extern const size_t migrations_count;

enum { MIGRATION_NAME_MAX = 80 };

/* "0003_tables", as the file is called. */
void migration_format(const struct migration *migration, char ret[static MIGRATION_NAME_MAX]);

/*
 * applied: result of read_migrations.sql in text format. ret_missing is the first of ours that the
 * database lacks, NULL when it has all. ERR_INVALID: it has newer ones, or one of ours was another
 * when it was applied.
 */
bool migrations_compare(const PGresult *applied, const struct migration **ret_missing,
			struct err *err) MUST_CHECK;
