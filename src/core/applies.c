/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a probe can be asked: a value that is missing makes it not apply, and one that could mean
 * something else at the target is never sent.
 */
#include "reconciled/core/reading.h"

#include <ctype.h>
#include <string.h>

#include "reconciled/base/arena.h"
#include "template_value.h"

/* Everything of a probe that may hold placeholders, one after the other; false stops. */
typedef bool visit_fn(const struct template *template, void *arg);

static bool
visit_json(const struct json_template *json, visit_fn *visit, void *arg)
{
	if (json->kind == VALUE_TEXT && !visit(&json->text, arg))
		return false;
	for (size_t i = 0; i < json->count; i++)
		if (!visit_json(&json->children[i], visit, arg))
			return false;
	return true;
}

static bool
visit_named(const struct named_template *list, size_t count, visit_fn *visit, void *arg)
{
	for (size_t i = 0; i < count; i++)
		if (!visit(&list[i].value, arg))
			return false;
	return true;
}

static bool
visit_body(const struct probe *probe, visit_fn *visit, void *arg)
{
	switch (probe->body) {
	case BODY_NONE:
		return true;
	case BODY_JSON:
		return visit_json(probe->json, visit, arg);
	case BODY_FORM:
		return visit_named(probe->form, probe->form_count, visit, arg);
	case BODY_TEXT:
		return visit(&probe->text, arg);
	}
	return true;
}

static bool
visit_templates(const struct probe *probe, visit_fn *visit, void *arg)
{
	return visit(&probe->path, arg) &&
	       visit_named(probe->query, probe->query_count, visit, arg) &&
	       visit_named(probe->headers, probe->headers_count, visit, arg) &&
	       visit_body(probe, visit, arg);
}

struct guard {
	struct scene scene;
	const struct policy *policy;
	const struct template_part *batch; /* what this operation adds to a batch, or NULL */
};

/* A place that all operations of a batch share is looked at as `batch`. */
static bool
is_own_part(const struct template_part *part)
{
	return part->literal == NULL && part->batch_join == NULL;
}

static bool
has_values(const struct template *template, void *arg)
{
	const struct guard *guard = arg;
	const char *text;
	size_t len;

	for (size_t i = 0; i < template->count; i++)
		if (is_own_part(&template->parts[i]) &&
		    !template_part_value(&guard->scene, &template->parts[i], &text, &len))
			return false;
	return true;
}

/* The policy's own pattern is for the references that we made up ourselves; NULL: the default. */
static const regex_t *
pattern_of(const struct policy *policy, enum operation_field field)
{
	bool own =
		field == OP_OPERATION_ID || field == OP_IDEMPOTENCY_KEY || field == OP_BUSINESS_KEY;

	return own ? policy->reference : NULL;
}

/* What passes where no pattern was given. */
static bool
is_default_reference(const char *text)
{
	enum { REFERENCE_MAX = 200 };
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "._:@+=~-");

	return text[len] == '\0' && len <= REFERENCE_MAX;
}

static bool
matches_whole(const regex_t *pattern, const char *text)
{
	regmatch_t match = { .rm_so = -1, .rm_eo = -1 };

	return regexec(pattern, text, 1, &match, 0) == 0 && match.rm_so == 0 &&
	       (size_t)match.rm_eo == strlen(text);
}

static bool
has_control_character(const char *text)
{
	for (const char *at = text; *at != '\0'; at++)
		if (iscntrl((unsigned char)*at))
			return true;
	return false;
}

static bool
is_safe_segment(const regex_t *pattern, const char *segment)
{
	if (*segment == '\0' || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0)
		return false;
	if (pattern == NULL)
		return is_default_reference(segment);
	return !has_control_character(segment) && matches_whole(pattern, segment);
}

static bool
is_safe_part(const struct guard *guard, const struct template_part *part)
{
	const regex_t *pattern = pattern_of(guard->policy, part->field);
	char *copy, *segment;
	const char *text;
	size_t len;

	if (!is_own_part(part) || operation_field_is_time(part->field))
		return true;
	if (!template_part_value(&guard->scene, part, &text, &len) ||
	    memchr(text, '\0', len) != NULL)
		return false;
	if (!part->keep_slashes)
		return is_safe_segment(pattern, text);
	copy = arena_strndup(guard->scene.arena, text, len);
	while ((segment = strsep(&copy, "/")) != NULL)
		if (!is_safe_segment(pattern, segment))
			return false;
	return true;
}

static bool
is_safe(const struct template *template, void *arg)
{
	for (size_t i = 0; i < template->count; i++)
		if (!is_safe_part(arg, &template->parts[i]))
			return false;
	return true;
}

static bool
all_parts(const struct probe *probe, struct guard *guard, visit_fn *visit)
{
	const struct template batch = { .parts = guard->batch, .count = guard->batch != NULL };

	return visit(&batch, guard) && visit_templates(probe, visit, guard);
}

enum applies
probe_applies(const struct policy *policy, const struct probe *probe, const struct operation *op,
	      struct arena *arena)
{
	const struct template_part batch = { .field = probe->batch_field };
	struct guard guard = { .scene = { .arena = arena, .op = op },
			       .policy = policy,
			       .batch = probe->batch_max > 0 ? &batch : NULL };

	for (size_t i = 0; i < probe->needs_count; i++)
		if (!operation_has(op, probe->needs[i]))
			return APPLIES_NOT;
	if (!all_parts(probe, &guard, has_values))
		return APPLIES_NOT;
	return all_parts(probe, &guard, is_safe) ? APPLIES : APPLIES_BAD_REFERENCE;
}

bool
reference_is_default(const char *text)
{
	return is_safe_segment(NULL, text);
}
