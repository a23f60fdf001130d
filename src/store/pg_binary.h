/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole numbers of a result in binary format. The column must be of that type and not null.
 */
#pragma once

#include <assert.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>

#include <libpq-fe.h>

static inline int64_t
pg_get_int8(const PGresult *result, int row, int column)
{
	uint64_t number;

	assert(PQgetlength(result, row, column) == sizeof(number));
	memcpy(&number, PQgetvalue(result, row, column), sizeof(number));
	return (int64_t)be64toh(number);
}

static inline int
pg_get_int4(const PGresult *result, int row, int column)
{
	uint32_t number;

	assert(PQgetlength(result, row, column) == sizeof(number));
	memcpy(&number, PQgetvalue(result, row, column), sizeof(number));
	return (int)be32toh(number);
}
