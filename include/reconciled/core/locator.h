/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a value is: pointers (RFC 6901 with "*" and "[name=value]") and locators (policy language).
 * Parsed once at load; looked up without allocation where nothing matches several.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"
#include "reconciled/core/operation.h"

struct arena;
struct err;
struct response;
struct template;
struct value;

enum pointer_token_kind { POINTER_NAME, POINTER_EACH, POINTER_SELECT };

struct pointer_token {
	enum pointer_token_kind kind;
	const char *name; /* NAME, unescaped */
	size_t name_len;
	const struct pointer *path;    /* SELECT: member, relative to the element */
	const struct template *equals; /* SELECT: may hold placeholders */
};

struct pointer {
	const struct pointer_token *tokens;
	size_t count; /* 0: the value itself */
};

enum locator_root {
	LOCATE_ITEM,
	LOCATE_STATUS,
	LOCATE_HEADER,
	LOCATE_BODY,
	LOCATE_OP_FIELD,
	LOCATE_OP_POINTER
};

struct locator {
	enum locator_root root;
	const char *text;	    /* as written */
	struct pointer pointer;	    /* ITEM, BODY; OP_POINTER: below "/expected" */
	const char *header;	    /* lower case */
	enum operation_field field; /* OP_FIELD */
};

/* Text → structure, in the arena. ERR_INVALID says what was found and what is allowed. */
bool pointer_parse(struct arena *arena, const char *text, struct pointer *ret_pointer,
		   struct err *err) MUST_CHECK;
bool locator_parse(struct arena *arena, const char *text, struct locator *ret_locator,
		   struct err *err) MUST_CHECK;

/* What locators look into. item NULL: the body; response NULL: status, headers and body are absent.
 */
struct scene {
	struct arena *arena;
	const struct operation *op;
	const struct response *response;
	const struct value *item;
};

/* Values found, in order. several: a [name=value] step matched more than one (unreadable). reached:
 * every step of the path existed, so an empty result is an empty list. partial: some of several
 * values had no next step, so one at least is missing among those found. */
struct located {
	const struct value **values;
	size_t count;
	bool several, reached, partial;
};

struct located pointer_find(const struct scene *scene, const struct value *start,
			    const struct pointer *pointer);
struct located locator_find(const struct scene *scene, const struct locator *locator);
