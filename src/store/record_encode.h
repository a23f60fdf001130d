/* SPDX-License-Identifier: Apache-2.0
 *
 * A batch of verdicts as the parameters of record.sql.
 */
#pragma once

#include <stddef.h>

struct params;
struct record_batch;

/* order[k] is the row that stands at place k + 1 of the arrays. */
void record_encode(struct params *params, const struct record_batch *batch, const size_t *order);
