/* SPDX-License-Identifier: Apache-2.0
 *
 * The decoder behind the tables of behaviours and collections.
 */
#include "decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"

enum { COUNT_MAX = 1000000000 };

static const struct {
	const char *suffix;
	int64_t us;
} units[] = {
	{ "ms", MILLISECOND }, { "s", SECOND }, { "m", MINUTE }, { "h", HOUR }, { "d", DAY },
};

bool
decode_duration(const char *text, int64_t *ret_us, struct err *err)
{
	int64_t number = 0;
	size_t digits = strspn(text, "0123456789");
	if (digits == 0 || digits > 9)
		return err_set(err, ERR_INVALID, "\"%s\" is no duration like 200ms, 2s, 5m", text);
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (text[i] - '0');
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(text + digits, units[i].suffix) == 0) {
			*ret_us = number * units[i].us;
			return true;
		}
	}
	return err_set(err, ERR_INVALID, "\"%s\" is no duration like 200ms, 2s, 5m", text);
}

static bool
decode_word(const char *text, const char *const *words, int *ret, struct err *err)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = i;
			return true;
		}
	}
	CLEANUP(strbuf_finish) struct strbuf known = { 0 };
	for (int i = 0; words[i]; i++)
		strbuf_printf(&known, "%s%s", i ? ", " : "", words[i]);
	return err_set(err, ERR_INVALID, "\"%s\" is none of %s", text, strbuf_text(&known));
}

static bool
keep(json_t *value, bool right, const char *kind, void *into, struct err *err)
{
	if (!right)
		return err_set(err, ERR_INVALID, "is no %s", kind);
	json_t **slot = into;
	json_decref(*slot);
	*slot = json_incref(value);
	return true;
}

static bool
all_texts(const json_t *list)
{
	size_t i;
	json_t *item;
	json_array_foreach(list, i, item) {
		if (!json_is_string(item))
			return false;
	}
	return json_is_array(list);
}

static bool
decode_text(json_t *value, char **into, struct err *err)
{
	if (!json_is_string(value))
		return err_set(err, ERR_INVALID, "is no text");
	free(*into);
	*into = xstrdup(json_string_value(value));
	return true;
}

static bool
decode_count(json_t *value, int *into, struct err *err)
{
	json_int_t n = json_integer_value(value);
	if (!json_is_integer(value) || n < 0 || n > COUNT_MAX)
		return err_set(err, ERR_INVALID, "is no number from 0 to %d", COUNT_MAX);
	*into = (int)n;
	return true;
}

static bool
decode_bool(json_t *value, bool *into, struct err *err)
{
	if (!json_is_boolean(value))
		return err_set(err, ERR_INVALID, "is neither true nor false");
	*into = json_is_true(value);
	return true;
}

static bool
decode_value(json_t *value, const struct decode_field *field, void *into, struct err *err)
{
	const char *text = json_is_string(value) ? json_string_value(value) : "";
	switch (field->type) {
	case DECODE_TEXT:
		return decode_text(value, into, err);
	case DECODE_TEXTS:
		return keep(value, all_texts(value), "list of texts", into, err);
	case DECODE_BOOL:
		return decode_bool(value, into, err);
	case DECODE_COUNT:
		return decode_count(value, into, err);
	case DECODE_DURATION:
		return decode_duration(text, into, err);
	case DECODE_WORD:
		return decode_word(text, field->words, into, err);
	case DECODE_OBJECT:
		return keep(value, json_is_object(value), "mapping", into, err);
	case DECODE_LIST:
		return keep(value, json_is_array(value), "list", into, err);
	}
	return err_set(err, ERR_FATAL, "unknown type %d", (int)field->type);
}

static const struct decode_field *
field_of(const struct decode_field *fields, const char *name)
{
	for (; fields->name; fields++) {
		if (strcmp(fields->name, name) == 0)
			return fields;
	}
	return NULL;
}

bool
decode_object(const json_t *from, const struct decode_field *fields, void *into, struct err *err)
{
	if (!json_is_object(from))
		return err_set(err, ERR_INVALID, "is no mapping");
	CLEANUP(strbuf_finish) struct strbuf known = { 0 };
	const char *name;
	json_t *value;
	void *iter = json_object_iter((json_t *)(uintptr_t)from);
	for (; iter; iter = json_object_iter_next((json_t *)(uintptr_t)from, iter)) {
		name = json_object_iter_key(iter);
		value = json_object_iter_value(iter);
		const struct decode_field *field = field_of(fields, name);
		if (field) {
			if (!decode_value(value, field, (char *)into + field->offset, err))
				return err_wrap(err, "%s", name);
			continue;
		}
		for (size_t i = 0; fields[i].name; i++)
			strbuf_printf(&known, "%s%s", i ? ", " : "", fields[i].name);
		return err_set(err, ERR_INVALID, "\"%s\" is none of %s", name, strbuf_text(&known));
	}
	return true;
}

void
decode_release(const struct decode_field *fields, void *of)
{
	for (; fields->name; fields++) {
		void *at = (char *)of + fields->offset;
		switch (fields->type) {
		case DECODE_TEXT:
			free(*(char **)at);
			break;
		case DECODE_TEXTS:
		case DECODE_OBJECT:
		case DECODE_LIST:
			json_decref(*(json_t **)at);
			break;
		case DECODE_BOOL:
		case DECODE_COUNT:
		case DECODE_DURATION:
		case DECODE_WORD:
			break;
		}
	}
}
