/* SPDX-License-Identifier: Apache-2.0
 *
 * A progress bar on a terminal: redrawn at most ten times a second, gone without a trace at the
 * end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress;

/* Does nothing unless wanted and standard error is a terminal. */
struct progress *progress_create(bool wanted);
void progress_destroy(struct progress *progress); /* wipes the line */
bool progress_is_shown(const struct progress *progress);
/* total 0: not known; at_least: there are more than that. */
void progress_set_total(struct progress *progress, int64_t total, bool at_least);
void progress_update(struct progress *progress, int64_t checked);
