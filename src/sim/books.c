/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines are buffered by stdio and flushed by the server's tick, so that a benchmark is not bound by
 * system calls of the books.
 */
#include "books.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/xalloc.h"
#include "table.h"

enum { REMEMBERED_MAX = 100000, STATUS_MAX = 600 };

struct op_count {
	int64_t effects;
	char operation[];
};

struct collection_count {
	int64_t effects, probes, writes;
	int64_t statuses[STATUS_MAX];
	char *name;
};

struct books {
	FILE *file;
	int64_t seq, effects, requests, doubled;
	json_t *remembered; /* the last effects, oldest first */
	struct table by_operation, by_collection;
};

bool
books_open(const char *file, struct books **ret_books, struct err *err)
{
	FILE *out = NULL;
	if (file && !(out = fopen(file, "ae")))
		return err_set(err, ERR_INVALID, "could not open \"%s\": %s", file,
			       strerror(errno));
	struct books *books = xcalloc(1, sizeof(*books));
	books->file = out;
	books->remembered = json_array();
	*ret_books = books;
	return true;
}

void
books_close(struct books *books)
{
	size_t cursor = 0;
	void *value;
	if (!books)
		return;
	if (books->file)
		fclose(books->file);
	json_decref(books->remembered);
	while ((value = table_next(&books->by_operation, &cursor)))
		free(value);
	struct collection_count *count;
	for (cursor = 0; (count = table_next(&books->by_collection, &cursor));) {
		free(count->name);
		free(count);
	}
	table_finish(&books->by_operation);
	table_finish(&books->by_collection);
	free(books);
}

void
books_flush(struct books *books)
{
	if (books->file)
		fflush(books->file);
}

static struct collection_count *
collection_count(struct books *books, const char *name)
{
	struct collection_count *count = table_get(&books->by_collection, name);
	if (count)
		return count;
	count = xcalloc(1, sizeof(*count));
	count->name = xstrdup(name);
	table_put(&books->by_collection, count->name, count);
	return count;
}

static void
count_operation(struct books *books, const char *operation)
{
	struct op_count *count = table_get(&books->by_operation, operation);
	if (!count) {
		size_t len = strlen(operation) + 1;
		count = xcalloc(1, sizeof(*count) + len);
		memcpy(count->operation, operation, len);
		table_put(&books->by_operation, count->operation, count);
	}
	if (++count->effects == 2)
		books->doubled++;
}

static void
set_text(json_t *object, const char *name, const char *text)
{
	if (text)
		json_object_set_new(object, name, json_string(text));
}

static json_t *
line_start(struct books *books, const char *kind)
{
	char at[40];
	int64_t now_us = clock_wall_us();
	time_t seconds = (time_t)(now_us / SECOND);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	size_t len = strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(at + len, sizeof(at) - len, ".%06" PRId64 "Z", now_us % SECOND);
	return json_pack("{s:s, s:I, s:s}", "kind", kind, "seq", (json_int_t)++books->seq, "at",
			 at);
}

static void
line_write(struct books *books, const json_t *line)
{
	if (!books->file)
		return;
	json_dumpf(line, books->file, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putc('\n', books->file);
}

void
books_effect(struct books *books, const struct effect_note *note)
{
	json_t *line = line_start(books, "effect");
	set_text(line, "collection", note->collection);
	set_text(line, "id", note->id);
	set_text(line, "action", note->action);
	set_text(line, "operation_id", note->operation);
	set_text(line, "key", note->key);
	if (note->body)
		json_object_set(line, "body", (json_t *)(uintptr_t)note->body);
	line_write(books, line);
	books->effects++;
	collection_count(books, note->collection)->effects++;
	if (note->operation)
		count_operation(books, note->operation);
	if (json_array_size(books->remembered) >= REMEMBERED_MAX)
		json_array_clear(books->remembered);
	json_array_append_new(books->remembered, line);
}

static void
count_request(struct books *books, const struct request_note *note)
{
	if (!note->collection)
		return;
	struct collection_count *count = collection_count(books, note->collection);
	int64_t *of_purpose = note->purpose == PURPOSE_EFFECT ? &count->writes : &count->probes;
	++*of_purpose;
	if (note->status >= 0 && note->status < STATUS_MAX)
		count->statuses[note->status]++;
}

static json_t *
names_of(const struct plan *plan)
{
	json_t *names = json_array();
	for (size_t i = 0; i < ARRAY_LEN(plan->names) && plan->names[i]; i++)
		json_array_append_new(names, json_string(plan->names[i]));
	return names;
}

void
books_request(struct books *books, const struct request_note *note)
{
	books->requests++;
	count_request(books, note);
	if (!books->file)
		return;
	json_t *line = line_start(books, "request");
	set_text(line, "method", note->method);
	set_text(line, "path", note->path);
	set_text(line, "purpose", note->purpose == PURPOSE_EFFECT ? "effect" : "probe");
	set_text(line, "id", note->id);
	set_text(line, "operation_id", note->operation);
	json_object_set_new(line, "status",
			    note->status ? json_integer(note->status) : json_null());
	if (note->plan && note->plan->names[0])
		json_object_set_new(line, "behaviours", names_of(note->plan));
	line_write(books, line);
	json_decref(line);
}

static json_t *
count_to_json(const struct collection_count *count)
{
	json_t *statuses = json_object();
	for (int i = 0; i < STATUS_MAX; i++) {
		char name[16];
		if (!count->statuses[i])
			continue;
		snprintf(name, sizeof(name), "%d", i);
		json_object_set_new(statuses, i ? name : "none", json_integer(count->statuses[i]));
	}
	return json_pack("{s:I, s:I, s:I, s:o}", "effects", (json_int_t)count->effects, "probes",
			 (json_int_t)count->probes, "writes", (json_int_t)count->writes, "statuses",
			 statuses);
}

json_t *
books_counts(const struct books *books)
{
	json_t *collections = json_object();
	size_t cursor = 0;
	struct collection_count *count;
	while ((count = table_next(&books->by_collection, &cursor)))
		json_object_set_new(collections, count->name, count_to_json(count));
	return json_pack("{s:I, s:I, s:I, s:o}", "effects", (json_int_t)books->effects, "requests",
			 (json_int_t)books->requests, "operations_with_several_effects",
			 (json_int_t)books->doubled, "collections", collections);
}

static bool
equals(const json_t *effect, const char *name, const char *wanted)
{
	const char *text = json_string_value(json_object_get(effect, name));
	return !wanted || (text && strcmp(text, wanted) == 0);
}

json_t *
books_effects(const struct books *books, const char *operation, const char *collection,
	      const char *id)
{
	json_t *list = json_array(), *effect;
	size_t i;
	json_array_foreach(books->remembered, i, effect) {
		if (equals(effect, "operation_id", operation) &&
		    equals(effect, "collection", collection) && equals(effect, "id", id))
			json_array_append(list, effect);
	}
	return list;
}
