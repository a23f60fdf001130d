/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens go out as they came; numbers and offsets are counted from the value that the policy gives
 * the parameter, which is that of the first page.
 */
#include "page_value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reconciled/base/arena.h"

/* The parameter as the policy writes it. */
struct first_page {
	enum page_place place;
	const char *text; /* NULL: not written */
	bool is_number;
};

static const char *
find_pair(const struct named_template *pairs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].name, name) == 0)
			return pairs[i].value.text;
	return NULL;
}

static struct first_page
first_in_json(const struct json_template *json, const char *name, bool counts)
{
	struct first_page first = { .place = PAGE_IN_JSON, .is_number = counts };

	for (size_t i = 0; i < json->count; i++)
		if (strcmp(json->children[i].name, name) == 0) {
			first.text = json->children[i].text.text;
			first.is_number = json->children[i].kind == VALUE_NUMBER;
		}
	return first;
}

static struct first_page
first_page(const struct probe *probe, bool counts)
{
	const char *name = probe->pages.into;
	struct first_page first = {
		.place = PAGE_IN_QUERY,
		.text = find_pair(probe->query, probe->query_count, name),
	};

	if (first.text != NULL || probe->method != METHOD_POST)
		return first;
	if (probe->body == BODY_JSON && probe->json->kind == VALUE_OBJECT)
		return first_in_json(probe->json, name, counts);
	if (probe->body == BODY_FORM)
		return (struct first_page){ .place = PAGE_IN_FORM,
					    .text = find_pair(probe->form, probe->form_count,
							      name) };
	return first;
}

/* start + index * step */
static const char *
counted(struct arena *arena, const char *start, const struct page *page, int64_t step)
{
	int64_t number = strtoll(start, NULL, 10);

	if (__builtin_add_overflow(number, page->index * step, &number))
		number = INT64_MAX;
	return arena_printf(arena, "%" PRId64, number);
}

static const char *
text_of(struct arena *arena, const struct pages *pages, const struct first_page *first,
	const struct page *page)
{
	switch (pages->kind) {
	case PAGING_NUMBER:
		return counted(arena, first->text != NULL ? first->text : "1", page, 1);
	case PAGING_OFFSET:
		return counted(arena, first->text != NULL ? first->text : "0", page, pages->size);
	case PAGING_NEXT:
		return page->token;
	case PAGING_NONE:
	case PAGING_LINK:
		break;
	}
	return NULL;
}

struct page_value
page_value(struct arena *arena, const struct probe *probe, const struct page *page)
{
	const struct pages *pages = &probe->pages;
	bool counts = pages->kind == PAGING_NUMBER || pages->kind == PAGING_OFFSET;
	struct page_value value = { .name = pages->into };
	struct first_page first;

	if (!counts && pages->kind != PAGING_NEXT)
		return value;
	first = first_page(probe, counts);
	if (page->index == 0 && first.text != NULL)
		return value; /* as it is written */
	value.text = text_of(arena, pages, &first, page);
	value.place = value.text == NULL ? PAGE_NOWHERE : first.place;
	value.is_number = first.is_number;
	return value;
}
