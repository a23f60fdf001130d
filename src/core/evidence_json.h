/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON that any PostgreSQL stores: valid UTF-8, no NUL, texts and lists of bounded length.
 * Knows nothing of what it writes. Private to core.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

struct evidence_limits {
	size_t text;	/* bytes of a value that are shown */
	size_t entries; /* of one list or object */
};

/* Appends to out. */
struct evidence_json {
	struct strbuf *out;
	const struct evidence_limits *limits;
	bool follows; /* a value, so that the next one begins with a comma */
};

bool evidence_json_has_room(const struct evidence_json *json, size_t entries);

/* A member is one of our own words: it goes out as it is. NULL: in a list, or first. */
void evidence_json_open(struct evidence_json *json, const char *member);
void evidence_json_close(struct evidence_json *json);
void evidence_json_open_list(struct evidence_json *json, const char *member);
void evidence_json_close_list(struct evidence_json *json);
void evidence_json_begin_member(struct evidence_json *json, const char *member);
void evidence_json_member(struct evidence_json *json, const char *member, const char *text);
void evidence_json_member_int(struct evidence_json *json, const char *member, long long number);
void evidence_json_member_bool(struct evidence_json *json, const char *member, bool value);

void evidence_json_name(struct evidence_json *json,
			const char *name); /* of a member, from outside */
void evidence_json_null(struct evidence_json *json);
void evidence_json_string(struct evidence_json *json, const char *text);
void evidence_json_time(struct evidence_json *json, int64_t us); /* RFC 3339, TIME_NONE: null */

/*
 * A value from outside, cut where it is too long: begin returns false then, and mark tells it from
 * others that begin the same.
 */
bool evidence_json_begin_text(struct evidence_json *json, const char *text, size_t len);
void evidence_json_mark(struct evidence_json *json, const char *mark);
void evidence_json_end_text(struct evidence_json *json);
