/* SPDX-License-Identifier: Apache-2.0
 *
 * What a case says that a target answered: one page or several, or a fault.
 */
#include "test_file.h"

#include <ctype.h>
#include <string.h>

#include "header.h"
#include "loading.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/attributes.h"
#include "tree.h"

/* A reading while it is read: a page of its own, or a list of them. */
struct reading_draft {
	int64_t at_us;
	const char *probe;
	struct test_answer answer;
	const struct test_answer *pages;
	size_t pages_count;
};

static void
decode_body(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct test_answer *answer = at;

	if (node->kind != NODE_TEXT) {
		complain_found(loading, node, "a text: the body as it came");
		return;
	}
	answer->body = node->text;
	answer->body_len = strlen(node->text);
}

static const char *
lower_case(struct loading *loading, const char *text)
{
	char *lower = arena_strdup(loading->arena, text);

	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return lower;
}

static void
decode_headers(struct loading *loading, const struct node *node, void *at,
	       const struct field *field)
{
	struct header *headers = arena_array(loading->arena, struct header, node->count + 1);
	struct test_answer *answer = at;

	if (node->kind != NODE_MAP) {
		complain_found(loading, node, "a mapping of names to texts");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		if (!header_name_is_valid(child->key))
			complain_at_key(loading, child, "is no name of a header");
		else if (child->kind != NODE_TEXT)
			complain_found(loading, child, "a text");
		else
			headers[answer->headers_count++] =
				(struct header){ lower_case(loading, child->key), child->text };
	}
	answer->headers = headers;
}

static const struct word fault_list[] = {
	{ "timeout", .value = REASON_TIMEOUT },
	{ "refused", .value = REASON_REFUSED },
	{ "dns", .value = REASON_DNS },
	{ "tls", .value = REASON_TLS },
	{ "transport", .value = REASON_TRANSPORT },
	{ "truncated", .value = REASON_TRUNCATED },
};
WORDS(fault_words, fault_list);

static const struct shape headers_shape = {
	.kind = SHAPE_MAP,
	.pattern = HEADER_NAME_PATTERN,
	.of = &(const struct shape){ .kind = SHAPE_SCALAR },
};
static const struct shape body_shape = { .kind = SHAPE_SCALAR };

#define ANSWER_FIELDS(base)                                                                        \
	{ "status", (base) + offsetof(struct test_answer, status), COUNT(100, 599, 0),             \
	  .help = "HTTP status." },                                                                \
		{ "headers", (base), OWN(decode_headers), .shape = &headers_shape,                 \
		  .help = "Headers of the answer." },                                              \
		{ "body", (base), OWN(decode_body), .shape = &body_shape,                          \
		  .help = "Body of the answer, as text." },                                        \
	{                                                                                          \
		"fault", (base) + offsetof(struct test_answer, fault),                             \
			WORD(fault_words, REASON_COUNT), .help = "Why there was no answer."        \
	}

/* clang-format off */
static const struct field page_fields[] = { ANSWER_FIELDS(0) };
/* clang-format on */
TABLE(page_table, page_fields);

static void
check_answer(struct loading *loading, const struct node *node, const struct test_answer *answer)
{
	const struct node *fault = node_member(node, "fault");
	const struct node *status = node_member(node, "status");

	if (!fault && !status)
		complain(loading, node, "status or fault is missing: what the target answered");
	else if (fault && (status || node_member(node, "body") || node_member(node, "headers")))
		complain_at_key(loading, fault, "contradicts status, headers and body");
}

static void
decode_pages(struct loading *loading, const struct node *node, void *at, const struct field *field)
{
	struct test_answer *pages =
		arena_array(loading->arena, struct test_answer, node->count + 1);
	struct reading_draft *draft = at;

	if (node->kind != NODE_LIST || node->count == 0) {
		complain_found(loading, node, "a list of pages, each with status or fault");
		return;
	}
	draft->pages = pages;
	for (const struct node *child = node->first; child; child = child->next) {
		struct test_answer *page = &pages[draft->pages_count++];

		page->body = "";
		fields_decode(loading, child, &page_table, page);
		if (child->kind == NODE_MAP)
			check_answer(loading, child, page);
	}
}

static const char *const came[] = { "status", "fault", NULL };
static const struct shape_option answer_options[] = {
	NEEDS("headers", "status"),
	NEEDS("body", "status"),
};
static const struct shape pages_shape = {
	.kind = SHAPE_LIST,
	.min = 1,
	.of = &(const struct shape){ .kind = SHAPE_TABLE,
				     .table = &page_table,
				     .one_of = came,
				     .options = answer_options,
				     .options_count = ARRAY_LEN(answer_options) },
};

#define DRAFT(field) offsetof(struct reading_draft, field)

/* clang-format off */
static const struct field reading_fields[] = {
	{ "at", DRAFT(at_us), DURATION(0, FIELD_DURATION_MAX, 0), .required = true,
	  .help = "time since the last send" },
	{ "probe", DRAFT(probe), TEXT(NULL), .required = true, .help = "which probe was asked" },
	ANSWER_FIELDS(DRAFT(answer)),
	{ "pages", 0, OWN(decode_pages), .table = &page_table, .shape = &pages_shape,
	  .help = "Pages of one reading, in order." },
	{ "files", 0, LATER },
	{ "receipt", 0, LATER },
	{ "signature", 0, LATER },
};
/* clang-format on */
const struct table test_reading_table = { reading_fields, ARRAY_LEN(reading_fields) };

static const char *const reading_came[] = { "status", "fault", "pages", NULL };
const struct shape shape_test_reading = {
	.name = "reading",
	.kind = SHAPE_TABLE,
	.table = &test_reading_table,
	.one_of = reading_came,
	.options = answer_options,
	.options_count = ARRAY_LEN(answer_options),
	.help = "What the target answered to one question.",
};

static void
check_reading(struct loading *loading, const struct node *node, const struct reading_draft *draft)
{
	static const char *const of_page[] = { "status", "headers", "body", "fault" };
	const struct node *pages = node_member(node, "pages");

	if (node_member(node, "files") || node_member(node, "receipt"))
		return;
	if (!pages) {
		check_answer(loading, node, &draft->answer);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(of_page); i++)
		if (node_member(node, of_page[i]))
			complain_at_key(loading, node_member(node, of_page[i]),
					"belongs to one of the pages");
}

static const struct test_answer *
keep_answer(struct loading *loading, const struct test_answer *answer)
{
	struct test_answer *kept = arena_new(loading->arena, struct test_answer);

	*kept = *answer;
	return kept;
}

void
test_readings_decode(struct loading *loading, const struct node *node, void *at,
		     const struct field *field)
{
	struct test_reading *readings =
		arena_array(loading->arena, struct test_reading, node->count + 1);
	struct test_case *test = at;

	if (node->kind != NODE_LIST) {
		complain_found(loading, node,
			       "a list of readings, each with at, probe, and what came");
		return;
	}
	for (const struct node *child = node->first; child; child = child->next) {
		struct reading_draft draft = { .answer.body = "" };

		fields_decode(loading, child, &test_reading_table, &draft);
		if (child->kind == NODE_MAP)
			check_reading(loading, child, &draft);
		readings[test->readings_count++] = (struct test_reading){
			.at_us = draft.at_us,
			.probe = draft.probe,
			.pages = draft.pages ? draft.pages : keep_answer(loading, &draft.answer),
			.pages_count = draft.pages ? draft.pages_count : 1,
		};
	}
	test->readings = readings;
}
