/* SPDX-License-Identifier: Apache-2.0
 *
 * One kind of tree for everything that is judged: JSON bodies, headers, rows, receipts and the
 * expected fields of an operation. Scalars stay text (numbers exactly as they were written).
 * All nodes live in the arena of the check.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum value_kind { VALUE_NULL, VALUE_BOOL, VALUE_NUMBER, VALUE_TEXT, VALUE_LIST, VALUE_OBJECT };

struct value {
	enum value_kind kind;
	uint32_t count;	  /* elements or members */
	const char *text; /* bool, number, text; NUL-terminated, but text may hold NUL bytes */
	size_t len;
	const char *name; /* as member of an object, else NULL */
	size_t name_len;
	struct value *first, *last, *next; /* children in order; next sibling */
};

enum { VALUE_DEPTH_MAX = 64, VALUE_NODES_MAX = 128 * 1024 };

const char *value_kind_name(enum value_kind kind);

static inline bool
value_is_scalar(const struct value *value)
{
	return value->kind == VALUE_BOOL || value->kind == VALUE_NUMBER ||
	       value->kind == VALUE_TEXT;
}

/* Member of an object, or NULL (also when it is no object). */
const struct value *value_member(const struct value *object, const char *name, size_t name_len);

/* Building, for sources other than JSON. Texts are copied; the name is NULL in lists. */
struct value *value_create(struct arena *arena, enum value_kind kind, const char *text, size_t len);
void value_append(struct arena *arena, struct value *parent, const char *name, size_t name_len,
		  struct value *child);

/* Same kind of tree, same texts, members in any order. For "identical items count once". */
bool value_equal(const struct value *a, const struct value *b);

enum value_fault { VALUE_OK, VALUE_EMPTY, VALUE_NOT_JSON, VALUE_TOO_DEEP, VALUE_TOO_LARGE };

/*
 * Reads one JSON text (RFC 8259) exactly. A leading byte order mark is dropped. NOT_JSON: bad
 * syntax, bad UTF-8, a duplicate member, a lone surrogate, anything after the value. EMPTY: nothing
 * but white space. TOO_DEEP: more than VALUE_DEPTH_MAX levels. TOO_LARGE: more than
 * VALUE_NODES_MAX values, which bounds the memory of the tree. *ret_value is set on VALUE_OK only.
 */
enum value_fault value_read_json(struct arena *arena, const char *bytes, size_t len,
				 const struct value **ret_value);
