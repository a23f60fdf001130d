/* SPDX-License-Identifier: Apache-2.0
 *
 * A probe of a policy: what is asked, and how the answer is read. Immutable, built by the loader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/core/condition.h"
#include "reconciled/core/template.h"
#include "reconciled/core/value.h"

enum http_method { METHOD_GET, METHOD_HEAD, METHOD_POST };
const char *http_method_name(enum http_method method); /* "GET" */

enum body_kind { BODY_NONE, BODY_JSON, BODY_FORM, BODY_TEXT };

/* A name and a text with placeholders: query, headers, form. */
struct named_template {
	const char *name;
	struct template value;
};

/* A JSON body with placeholders in its strings: a tree of literals and templates. */
struct json_template {
	enum value_kind kind;
	/* LIST: instead of children one object {batch_name: FIELD} for each operation; NULL: none */
	const char *batch_name;
	enum operation_field batch_field;
	const char *name;     /* as member */
	struct template text; /* TEXT: rendered; BOOL, NUMBER: literal */
	const struct json_template *children;
	size_t count;
};

/* How a list goes on beyond its first page. */
enum paging { PAGING_NONE, PAGING_NEXT, PAGING_LINK, PAGING_NUMBER, PAGING_OFFSET };

struct pages {
	enum paging kind;
	/* Parameter of the next page (NEXT, NUMBER, OFFSET): of the query; in a POST the member of
	 * json or form of that name. The value it has in the policy is that of the first page. */
	const char *into;
	struct locator from; /* NEXT: the token; NUMBER: how many pages there are */
	int size;	     /* OFFSET: elements of a page that is not the last */
	int max;
};

/* The authoritative second read: another probe of the policy, with fields taken from the item. */
struct reread {
	const struct probe *probe; /* NULL: none */
	const struct reread_with {
		enum operation_field field;
		struct locator from;
	} * with;
	size_t with_count;
};

struct probe {
	const char *name;
	const enum operation_field *needs;
	size_t needs_count;
	enum http_method method;
	struct template path;
	const struct named_template *query, *headers, *form;
	size_t query_count, headers_count, form_count;
	enum body_kind body;
	const struct json_template *json;
	struct template text;
	struct conditions found, gone, several, unfinished, absent;
	bool has_items; /* items was given: its pointer, then where per item */
	struct pointer items;
	bool has_each;
	struct pointer each;
	bool has_where;
	struct condition where;
	struct conditions skip;
	struct conditions complete; /* count 0: not declared */
	int full;		    /* 0: not declared */
	struct pages pages;
	int batch_max; /* operations that one request may ask about; 0: no batch */
	/* With batch: where an item has what was sent, and the field of the operation that was. */
	struct pointer batch_match;
	enum operation_field batch_field;
	bool has_covers;
	struct locator covers_until; /* a time that the data reach */
	bool stale;
	struct reread reread;
	bool has_remote_id;
	struct locator remote_id;
};
