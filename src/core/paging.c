/* SPDX-License-Identifier: Apache-2.0
 *
 * Four ways in which targets say that there is more. What is said and cannot be used means that the
 * list is not whole; what names a page a second time would go on for ever.
 */
#include "paging.h"

#include <string.h>

#include "link_header.h"
#include "listing.h"
#include "reconciled/base/arena.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/core/number.h"

enum {
	TOKEN_MAX = 8 * 1024,	      /* bytes of what names a page; it goes into an address */
	TREES_MAX = 32 * 1024 * 1024, /* bytes of memory that the pages of one list may take */
};

enum follow { FOLLOW_END, FOLLOW_MORE, FOLLOW_UNREADABLE };

/* The place in the answer where one page speaks of others. */
struct pages_of {
	struct scene scene;
	const struct answer *answer;
	size_t count; /* pages up to and with this one */
};

static struct pages_of
pages_up_to(struct arena *arena, const struct answer *answer, size_t index)
{
	return (struct pages_of){
		.scene = { .arena = arena,
			   .op = answer->op,
			   .response = answer->pages[index].response },
		.answer = answer,
		.count = index + 1,
	};
}

/* The one plain value at the policy's locator. */
static enum follow
find_one(const struct pages_of *of, const struct value **ret_value)
{
	const struct probe *probe = of->answer->probe;
	struct located found = locator_find(&of->scene, &probe->pages.from);

	if (found.several || found.count > 1)
		return FOLLOW_UNREADABLE;
	if (found.count == 0 || found.values[0]->kind == VALUE_NULL)
		return FOLLOW_END;
	*ret_value = found.values[0];
	return value_is_scalar(*ret_value) ? FOLLOW_MORE : FOLLOW_UNREADABLE;
}

static enum follow
follow_token(const struct pages_of *of, const char **ret_text)
{
	const struct value *value = NULL;
	enum follow follow = find_one(of, &value);

	if (follow != FOLLOW_MORE)
		return follow;
	if (value->len == 0)
		return FOLLOW_END;
	*ret_text = value->text;
	return value->len <= TOKEN_MAX && memchr(value->text, '\0', value->len) == NULL
		       ? FOLLOW_MORE
		       : FOLLOW_UNREADABLE;
}

static enum follow
follow_link(const struct pages_of *of, const char **ret_text)
{
	const char *next = NULL;

	if (!link_header_next(of->scene.arena, of->scene.response, &next))
		return FOLLOW_UNREADABLE;
	if (next == NULL)
		return FOLLOW_END;
	*ret_text = next;
	return *next != '\0' && strlen(next) <= TOKEN_MAX ? FOLLOW_MORE : FOLLOW_UNREADABLE;
}

static enum follow
follow_number(const struct pages_of *of, const char **ret_text)
{
	const struct value *total = NULL;
	char room[24];

	if (find_one(of, &total) != FOLLOW_MORE || !number_is_valid(total->text, total->len))
		return FOLLOW_UNREADABLE;
	return number_compare(total->text, decimal_text((long long)of->count, room)) > 0
		       ? FOLLOW_MORE
		       : FOLLOW_END;
}

static enum follow
follow_offset(const struct pages_of *of, const char **ret_text)
{
	const struct probe *probe = of->answer->probe;

	return listing_elements(&of->scene, probe) >= (size_t)probe->pages.size ? FOLLOW_MORE
										: FOLLOW_END;
}

/* text: what names the next page, where something does; lives in the arena or in the answer. */
static enum follow
follow(const struct pages_of *of, const char **ret_text)
{
	switch (of->answer->probe->pages.kind) {
	case PAGING_NONE:
		return FOLLOW_END;
	case PAGING_NEXT:
		return follow_token(of, ret_text);
	case PAGING_LINK:
		return follow_link(of, ret_text);
	case PAGING_NUMBER:
		return follow_number(of, ret_text);
	case PAGING_OFFSET:
		return follow_offset(of, ret_text);
	}
	return FOLLOW_UNREADABLE;
}

/* A page before the last one named the same next page. */
static bool
was_named(struct arena *arena, const struct answer *answer, const char *text)
{
	struct arena_mark mark = arena_mark(arena);
	bool found = false;

	for (size_t i = 0; i + 1 < answer->count && !found; i++) {
		const struct pages_of of = pages_up_to(arena, answer, i);
		const char *before = NULL;

		found = follow(&of, &before) == FOLLOW_MORE && before != NULL &&
			strcmp(before, text) == 0;
	}
	arena_release(arena, mark);
	return found;
}

static const struct page *
page_named(struct arena *arena, const struct answer *answer, const char *text)
{
	struct page *page = arena_new(arena, struct page);

	page->index = (int)answer->count;
	if (answer->probe->pages.kind == PAGING_LINK)
		page->link = text;
	else
		page->token = text;
	return page;
}

/* No further page is asked for: of their number and of what they hold there is a limit. */
static bool
is_long_enough(const struct answer *answer)
{
	size_t bytes = 0;

	for (size_t i = 0; i < answer->count; i++)
		bytes += answer->pages[i].response->parsed_bytes;
	return answer->count >= (size_t)answer->probe->pages.max || bytes > TREES_MAX;
}

bool
paging_next(struct arena *arena, const struct answer *answer, const struct page **ret_next)
{
	const struct pages_of of = pages_up_to(arena, answer, answer->count - 1);
	const char *text = NULL;
	enum follow last = follow(&of, &text);

	*ret_next = NULL;
	if (last != FOLLOW_MORE)
		return last == FOLLOW_END;
	if (is_long_enough(answer))
		return false;
	if (text != NULL && was_named(arena, answer, text))
		return false;
	*ret_next = page_named(arena, answer, text);
	return true;
}
