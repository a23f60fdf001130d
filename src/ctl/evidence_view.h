/* SPDX-License-Identifier: Apache-2.0
 *
 * The evidence of a journal row for people: what was asked and seen, which rule fired, what differs.
 */
#pragma once

#include <jansson.h>

struct screen;
struct strbuf;

/* NULL when the text is no JSON object; the reference is the caller's. */
json_t *evidence_parse(const char *text);

/* "version expected 7, found 8; …": the compared fields that are not equal, or "". */
void evidence_differences(struct strbuf *out, const json_t *evidence);

/* Indented lines: asked, saw, rules, differs, equal, kept, looks, needs. */
void evidence_print(const struct screen *screen, const json_t *evidence);

/*
 * Expected against found, side by side; expected (or NULL) is the operation's own, whose fields that
 * no look compared are named at the end. Prints nothing when there is nothing.
 */
void evidence_print_compared(const struct screen *screen, const json_t *evidence, json_t *expected);

/* Lines with the values that are kept, and with the hashes of those that are not. */
void evidence_print_values(const struct screen *screen, int indent, const json_t *evidence);

/* A scalar as text, anything else as compact JSON; appended. */
void evidence_value(struct strbuf *out, const json_t *value);
