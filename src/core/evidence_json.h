/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON that any PostgreSQL stores: valid UTF-8, no NUL, texts and lists of bounded length.
 * Knows nothing of what it writes. Private to core.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evidence_json;
struct strbuf;

struct evidence_limits {
	size_t text;	/* bytes of a value that are shown */
	size_t entries; /* of one list or object */
};

/* Appends to out. Both are borrowed until destroy. */
struct evidence_json *evidence_json_create(struct strbuf *out,
					   const struct evidence_limits *limits);
void evidence_json_destroy(struct evidence_json *json);

size_t evidence_json_len(const struct evidence_json *json); /* of the whole buffer, so far */
bool evidence_json_has_room(const struct evidence_json *json, size_t entries);

void evidence_json_open(struct evidence_json *json,
			const char *member); /* NULL: in a list, or first */
void evidence_json_close(struct evidence_json *json);
void evidence_json_open_list(struct evidence_json *json);
void evidence_json_close_list(struct evidence_json *json);

void evidence_json_name(struct evidence_json *json, const char *member);
void evidence_json_null(struct evidence_json *json);
void evidence_json_string(struct evidence_json *json, const char *text);
void evidence_json_time(struct evidence_json *json, int64_t us); /* RFC 3339, TIME_NONE: null */

/* A value from outside: cut where it is too long, then marked and followed by mark. */
void evidence_json_text(struct evidence_json *json, const char *text, size_t len, const char *mark);

void evidence_json_member(struct evidence_json *json, const char *member, const char *text);
void evidence_json_member_int(struct evidence_json *json, const char *member, long long number);
void evidence_json_member_bool(struct evidence_json *json, const char *member, bool value);
