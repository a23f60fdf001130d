/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts with placeholders: {field}, {field|path}, {expected./x}, {first_sent_at-1h|rfc3339}.
 * A missing field never becomes an empty text: rendering says that it is missing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"
#include "reconciled/core/operation.h"

struct arena;
struct err;
struct pointer;
struct scene;

enum template_encoding {
	TEMPLATE_PLAIN,
	TEMPLATE_SEGMENT
}; /* SEGMENT: percent-encoded, one path segment */
enum template_time { TEMPLATE_RFC3339, TEMPLATE_EPOCH, TEMPLATE_EPOCH_MS, TEMPLATE_DATE };

struct template_part {
	const char *literal; /* or NULL for a placeholder */
	enum operation_field field;
	const struct pointer *expected; /* OP_EXPECTED */
	bool keep_slashes;		/* |path */
	const char *batch_join; /* {batch|join ,}: the field of all operations, with this between */
	int64_t offset_us;	/* times */
	enum template_time format;
};

struct template
{
	const char *text; /* as written, for evidence */
	const struct template_part *parts;
	size_t count;
};

bool template_parse(struct arena *arena, const char *text, struct template *ret_template,
		    struct err *err) MUST_CHECK;

/* NULL when a field is missing or empty. Only placeholder values are encoded, never literals. */
const char *template_render(const struct scene *scene, const struct template *template,
			    enum template_encoding encoding);
