/* SPDX-License-Identifier: Apache-2.0
 *
 * From what PostgreSQL reports to what the caller may do.
 */
#pragma once

#include <stdbool.h>

#include <libpq-fe.h>

struct err;
struct strbuf;

/* Fills err from a failed result of the named statement. No values of rows get into the text. */
void sqlstate_err(const char *statement, const PGresult *result, struct err *err);

/* The server takes no more writes on this connection, or is about to close it. */
bool sqlstate_ends_connection(const PGresult *result);

/* libpq's message as one line, without its hints. */
void sqlstate_add_line(struct strbuf *out, const char *message);
