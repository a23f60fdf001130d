/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress bar of reconciled --once. Debian has no progress bar library for C.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reconciled/base/clock.h"
#include "reconciled/base/xalloc.h"

#include "progress.h"

enum { BAR_CELLS = 30 };

struct progress {
	bool shown, at_least;
	int64_t total, began_us, drawn_us;
};

struct progress *
progress_create(bool wanted)
{
	struct progress *progress = xcalloc(1, sizeof(*progress));

	progress->shown = wanted && isatty(STDERR_FILENO);
	progress->began_us = clock_monotonic_us();
	return progress;
}

void
progress_destroy(struct progress *progress)
{
	if (!progress)
		return;
	if (progress->drawn_us > 0)
		fputs("\r\033[K", stderr);
	free(progress);
}

bool
progress_is_shown(const struct progress *progress)
{
	return progress->shown;
}

void
progress_set_total(struct progress *progress, int64_t total, bool at_least)
{
	progress->total = total;
	progress->at_least = at_least;
}

static void
draw_bar(int64_t checked, int64_t total)
{
	int full = (int)(checked >= total ? BAR_CELLS : checked * BAR_CELLS / total);
	char bar[BAR_CELLS + 1];

	memset(bar, '#', (size_t)full);
	memset(bar + full, '.', (size_t)(BAR_CELLS - full));
	bar[BAR_CELLS] = '\0';
	fprintf(stderr, "[%s] ", bar);
}

void
progress_update(struct progress *progress, int64_t checked)
{
	int64_t now = clock_monotonic_us();
	int64_t elapsed = now - progress->began_us;

	if (!progress->shown || now - progress->drawn_us < 100 * MILLISECOND)
		return;
	progress->drawn_us = now;
	fputc('\r', stderr);
	if (progress->total > 0)
		draw_bar(checked, progress->total);
	fprintf(stderr, "%" PRId64, checked);
	if (progress->total > 0)
		fprintf(stderr, " of %s%" PRId64, progress->at_least ? "more than " : "",
			progress->total);
	fprintf(stderr, " looked at, %" PRId64 "/s\033[K",
		elapsed > 0 ? checked * SECOND / elapsed : 0);
	fflush(stderr);
}
