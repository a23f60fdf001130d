/* SPDX-License-Identifier: Apache-2.0
 *
 * The parameter that asks for one page of a list: its value, and where in the request it goes.
 * Private to core.
 */
#pragma once

#include <stdbool.h>

#include "reconciled/core/exchange.h"

enum page_place {
	PAGE_NOWHERE, /* the templates of the probe say everything */
	PAGE_IN_QUERY,
	PAGE_IN_FORM,
	PAGE_IN_JSON,
};

struct page_value {
	enum page_place place;
	const char *name, *text;
	bool is_number; /* in JSON: a number and no text */
};

struct page_value page_value(struct arena *arena, const struct probe *probe,
			     const struct page *page);
