/* SPDX-License-Identifier: Apache-2.0
 *
 * How a list goes on beyond the pages that came. Private to core.
 */
#pragma once

#include "reconciled/core/reading.h"

/*
 * The page to ask for next, or NULL: there is none, or it will not be asked for. False when the list
 * is not whole with the pages that came and no further one is asked for.
 */
bool paging_next(struct arena *arena, const struct answer *answer, const struct page **ret_next);
