/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading rows and values for people: columns that may be missing, ages, entities, commands.
 */
#pragma once

#include <stddef.h>

struct ctl;
struct strbuf;
struct view;

/* NULL when the column is not there or null. */
const char *facts_get(const struct view *view, size_t row, const char *column);

/* The same, "" in place of NULL. */
const char *facts_text(const struct view *view, size_t row, const char *column);

/* "3h 12m" from the text of an interval or a number of seconds; other texts as they are. */
void facts_age(struct strbuf *out, const char *interval);

/* "2026-03-01 12:00:05Z" from RFC 3339; other texts as they are, NULL as nothing. */
void facts_time(struct strbuf *out, const char *time);

/* Appends "customer 42", with the state in brackets unless it is active; "" without entity. */
void facts_entity(struct strbuf *out, const struct view *view, size_t row);

/* "divergent (newer)", "waiting", or "" */
void facts_verdict(struct strbuf *out, const struct view *view, size_t row);

/* "reconcilectl [--config FILE] COMMAND ARGUMENT" as it was called, quoted for a shell. */
void facts_command(struct strbuf *out, const struct ctl *ctl, const char *command,
		   const char *argument);
