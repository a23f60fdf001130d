/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of a probe that reach beyond one page, one operation, one answer: pages, batch, covers,
 * then.
 */
#pragma once

#include "field.h"

/* Items of one page, at the most. */
enum { PAGE_ITEMS_MAX = 1000000 };

extern const struct table pages_table, batch_table, covers_table, reread_table;
extern const struct shape shape_pages;

/* Decoders of fields. at: a struct pages, a struct probe, a struct probe, a struct reread, of which
 * the probe is found when all probes are known. */
field_decode_fn pages_decode, batch_decode, covers_decode, reread_decode;
