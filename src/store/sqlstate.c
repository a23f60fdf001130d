/* SPDX-License-Identifier: Apache-2.0
 *
 * The only place that knows SQLSTATEs. Messages about data can quote it, so they are replaced by
 * the names of what refused it.
 */
#include <string.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "sqlstate.h"

struct meaning {
	const char *prefix; /* of the SQLSTATE; the first that fits */
	enum err_code code;
	bool quotes_data; /* its message may hold values */
	bool ends;	  /* this connection is of no use any more */
	bool sentence;	  /* its message is ours and says all */
	const char *hint; /* what helps; NULL: nothing in general */
};

static const struct meaning meanings[] = {
	{ .prefix = "55P03", .code = ERR_BUSY }, /* lock timeout */
	{ .prefix = "40P01", .code = ERR_BUSY }, /* deadlock */
	{ .prefix = "40001", .code = ERR_BUSY }, /* serialization failure */
	{ .prefix = "40002", .code = ERR_INVALID, .quotes_data = true },
	{ .prefix = "40", .code = ERR_TRANSIENT },
	{ .prefix = "25006", .code = ERR_TRANSIENT, .ends = true }, /* not the primary any more */
	{ .prefix = "25P03", .code = ERR_TRANSIENT, .ends = true },
	{ .prefix = "08", .code = ERR_TRANSIENT, .ends = true },
	{ .prefix = "57014", .code = ERR_TRANSIENT }, /* cancelled */
	{ .prefix = "57", .code = ERR_TRANSIENT, .ends = true },
	{ .prefix = "53", .code = ERR_TRANSIENT },
	{ .prefix = "58", .code = ERR_TRANSIENT },
	{ .prefix = "RC", .code = ERR_INVALID, .sentence = true },
	{ .prefix = "23", .code = ERR_INVALID },
	{ .prefix = "22", .code = ERR_INVALID, .quotes_data = true },
	{ .prefix = "44", .code = ERR_INVALID, .quotes_data = true },
	{ .prefix = "54", .code = ERR_INVALID, .quotes_data = true },
	{ .prefix = "P0", .code = ERR_INVALID, .quotes_data = true }, /* somebody's trigger */
	{ .prefix = "09", .code = ERR_INVALID, .quotes_data = true },
	{ .prefix = "27", .code = ERR_INVALID, .quotes_data = true },
	{ .prefix = "42501",
	  .code = ERR_FATAL,
	  .hint = ": reconciled(8) says which role of PostgreSQL is needed" },
	{ .prefix = "", .code = ERR_FATAL },
};

static const struct meaning *
meaning_of(const char *sqlstate)
{
	const struct meaning *m = meanings;

	while (strncmp(sqlstate, m->prefix, strlen(m->prefix)) != 0)
		m++;
	return m;
}

/* Without a SQLSTATE it was libpq that failed: the connection is gone. */
static const char *
sqlstate_of(const PGresult *result)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return sqlstate ? sqlstate : "08006";
}

bool
sqlstate_ends_connection(const PGresult *result)
{
	const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);

	if (PQresultStatus(result) != PGRES_FATAL_ERROR)
		return false;
	if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
		return true;
	return meaning_of(sqlstate_of(result))->ends;
}

void
sqlstate_add_line(struct strbuf *out, const char *message)
{
	bool began = false;

	while (*message) {
		size_t len = strcspn(message, "\n");

		if (len > 0 && *message != '\t') {
			strbuf_puts(out, began ? "; " : "");
			strbuf_add(out, message, len);
			began = true;
		}
		message += len + (message[len] == '\n');
	}
}

/* Names, not values: constraint, table, column, type. */
static void
add_names(struct strbuf *out, const PGresult *result)
{
	static const struct {
		int field;
		const char *word;
	} names[] = {
		{ PG_DIAG_CONSTRAINT_NAME, "constraint" },
		{ PG_DIAG_TABLE_NAME, "table" },
		{ PG_DIAG_COLUMN_NAME, "column" },
		{ PG_DIAG_DATATYPE_NAME, "type" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *name = PQresultErrorField(result, names[i].field);

		if (name)
			strbuf_printf(out, ", %s \"%s\"", names[i].word, name);
	}
}

void
sqlstate_err(const char *statement, const PGresult *result, struct err *err)
{
	const char *sqlstate = sqlstate_of(result);
	const struct meaning *m = meaning_of(sqlstate);
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
	struct strbuf text = { 0 };

	if (m->quotes_data)
		strbuf_puts(&text, "the database refuses the data");
	else
		sqlstate_add_line(&text, message ? message : PQresultErrorMessage(result));
	if (m->code == ERR_INVALID)
		add_names(&text, result);
	if (m->sentence)
		err_fill(err, m->code, "%s", strbuf_text(&text));
	else
		err_fill(err, m->code, "%s: %s (SQLSTATE %s)%s", statement, strbuf_text(&text),
			 sqlstate, m->hint ? m->hint : "");
	strbuf_finish(&text);
}
