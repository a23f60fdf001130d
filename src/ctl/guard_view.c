/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a guard tripped, and what became of it.
 */
#include "guard_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/store/views.h"
#include "screen.h"
#include "table.h"

/* "0.6250" → "62.5 %" */
static void
put_percent(struct strbuf *out, const char *share)
{
	strbuf_printf(out, "%.4g %%", 100 * strtod(share, NULL));
}

static void
put_cause(struct strbuf *out, const struct view *guards, size_t row)
{
	const char *reason = facts_text(guards, row, "reason"),
		   *count = facts_text(guards, row, "count");

	if (strcmp(reason, "max") == 0) {
		strbuf_printf(out, "%s actions wanted in one window", count);
	} else if (strcmp(reason, "share") == 0) {
		put_percent(out, facts_text(guards, row, "share"));
		strbuf_printf(out, " of %s verdicts missing or divergent", count);
	} else if (strcmp(reason, "beats") == 0) {
		strbuf_puts(out, "the database went back in time");
	} else {
		strbuf_puts(out, reason);
	}
}

static void
put_state(struct strbuf *out, const struct view *guards, size_t row)
{
	const char *by = facts_get(guards, row, "released_by");

	if (by == NULL) {
		strbuf_puts(out, "tripped");
		return;
	}
	strbuf_puts(out, "released");
	if (strcmp(facts_text(guards, row, "kind"), "type") == 0)
		strbuf_printf(out, ", %s of %s used", facts_text(guards, row, "let_through"),
			      facts_text(guards, row, "action_limit"));
	strbuf_printf(out, ", by %s: %s", by, facts_text(guards, row, "release_reason"));
}

static void
add(struct table *table, void (*put)(struct strbuf *, const struct view *, size_t),
    const struct view *guards, size_t row)
{
	struct strbuf words = { 0 };

	put(&words, guards, row);
	table_add(table, strbuf_text(&words));
	strbuf_finish(&words);
}

static void
put_time(struct strbuf *out, const struct view *guards, size_t row)
{
	facts_time(out, facts_get(guards, row, "tripped_at"));
}

static void
put_name(struct strbuf *out, const struct view *guards, size_t row)
{
	bool of_type = strcmp(facts_text(guards, row, "kind"), "type") == 0;

	strbuf_puts(out, of_type ? facts_text(guards, row, "name") : "(rewind)");
}

void
guard_view_print(const struct screen *screen, const struct view *guards)
{
	static const struct table_column columns[] = { TABLE_KEEP("GUARD"),
						       TABLE_LEFT("TRIPPED AT"), TABLE_WORDS("WHY"),
						       TABLE_LEFT("STATE") };
	struct table *table = table_create(columns, ARRAY_LEN(columns));

	for (size_t r = 0; r < view_rows(guards); r++) {
		add(table, put_name, guards, r);
		add(table, put_time, guards, r);
		add(table, put_cause, guards, r);
		add(table, put_state, guards, r);
	}
	table_print(table, screen, 0);
	table_destroy(table);
}
