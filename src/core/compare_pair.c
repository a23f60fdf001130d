/* SPDX-License-Identifier: Apache-2.0
 *
 * What several types of comparison do with one side.
 */
#include "compare_pair.h"

#include <string.h>

#include "reconciled/base/arena.h"
#include "reconciled/core/time.h"
#include "reconciled/core/value.h"

bool
text_is_readable(const struct comparison *by, struct slice text)
{
	return text.len > 0;
}

bool
time_is_readable(const struct comparison *by, struct slice text)
{
	struct moment moment;

	return time_read(text.text, text.len, by->zone, &moment);
}

const struct value *
find_scalar(const struct scene *scene, const struct locator *locator)
{
	struct located found = locator_find(scene, locator);
	const struct value *value = found.count == 1 ? found.values[0] : NULL;

	if (value == NULL || found.several || !value_is_scalar(value))
		return NULL;
	return value;
}

const char *
shown_text(struct arena *arena, struct slice text)
{
	static const char mark[] = "\xef\xbf\xbd";
	size_t len = 0;
	char *shown;

	if (memchr(text.text, '\0', text.len) == NULL)
		return text.text;
	shown = arena_alloc(arena, text.len * strlen(mark) + 1);
	for (size_t i = 0; i < text.len; i++) {
		if (text.text[i] != '\0') {
			shown[len++] = text.text[i];
			continue;
		}
		memcpy(shown + len, mark, strlen(mark));
		len += strlen(mark);
	}
	return shown;
}
