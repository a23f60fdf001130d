/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the characters; each becomes a piece (itself or its escape) with a width.
 */
#include "text.h"

#include <stdio.h>
#include <utf8proc.h>

#include "reconciled/base/strbuf.h"

enum { MARKS_MAX = 3, PIECE_BYTES = 16 };

#define CATEGORY(c) (1u << (unsigned)(c))
#define UNSAFE                                                                                     \
	(CATEGORY(UTF8PROC_CATEGORY_CN) | CATEGORY(UTF8PROC_CATEGORY_CC) |                         \
	 CATEGORY(UTF8PROC_CATEGORY_CF) | CATEGORY(UTF8PROC_CATEGORY_CS) |                         \
	 CATEGORY(UTF8PROC_CATEGORY_CO) | CATEGORY(UTF8PROC_CATEGORY_ZL) |                         \
	 CATEGORY(UTF8PROC_CATEGORY_ZP))

struct piece {
	char bytes[PIECE_BYTES];
	size_t len;
	int width;
};

struct walk {
	const unsigned char *at;
	bool ascii;
	int marks; /* combining marks since the last character that takes a column */
};

bool
text_is_unsafe(int32_t codepoint)
{
	return (UNSAFE & CATEGORY(utf8proc_category(codepoint))) != 0;
}

/* Length in bytes; an invalid byte is one character, U+FFFD. */
static size_t
next_codepoint(const unsigned char *at, int32_t *ret_codepoint)
{
	utf8proc_ssize_t len = utf8proc_iterate(at, -1, ret_codepoint);

	if (len > 0)
		return (size_t)len;
	*ret_codepoint = 0xFFFD;
	return 1;
}

static void
piece_escape(struct piece *piece, int32_t codepoint)
{
	unsigned number = (unsigned)codepoint;

	if (codepoint == '\n' || codepoint == '\t')
		piece->width =
			snprintf(piece->bytes, PIECE_BYTES, "\\%c", codepoint == '\n' ? 'n' : 't');
	else if (codepoint < 0x100)
		piece->width = snprintf(piece->bytes, PIECE_BYTES, "\\x%02x", number);
	else if (codepoint < 0x10000)
		piece->width = snprintf(piece->bytes, PIECE_BYTES, "\\u%04x", number);
	else
		piece->width = snprintf(piece->bytes, PIECE_BYTES, "\\U%08x", number);
	piece->len = (size_t)piece->width;
}

static void
piece_keep(struct piece *piece, int32_t codepoint, struct walk *walk)
{
	int width = utf8proc_charwidth(codepoint);

	walk->marks = width == 0 ? walk->marks + 1 : 0;
	piece->width = width;
	piece->len = walk->marks > MARKS_MAX
			     ? 0
			     : (size_t)utf8proc_encode_char(codepoint, (uint8_t *)piece->bytes);
}

/* False at the end of the text. */
static bool
walk_next(struct walk *walk, struct piece *ret_piece)
{
	int32_t codepoint;

	if (*walk->at == '\0')
		return false;
	walk->at += next_codepoint(walk->at, &codepoint);
	if (text_is_unsafe(codepoint) || (walk->ascii && codepoint > 0x7E))
		piece_escape(ret_piece, codepoint);
	else
		piece_keep(ret_piece, codepoint, walk);
	return true;
}

int
text_width(const char *text, bool ascii)
{
	struct walk walk = { .at = (const unsigned char *)text, .ascii = ascii };
	struct piece piece;
	int width = 0;

	while (walk_next(&walk, &piece))
		width += piece.width;
	return width;
}

int
text_clean(struct strbuf *out, const char *text, int width, bool ascii)
{
	struct walk walk = { .at = (const unsigned char *)text, .ascii = ascii };
	const char *mark = ascii ? "..." : "…";
	int mark_width = ascii ? 3 : 1, room = width, used = 0;
	struct piece piece;
	bool cut = width != TEXT_WIDTH_ANY && text_width(text, ascii) > width;

	if (cut)
		room = width > mark_width ? width - mark_width : 0;
	while (walk_next(&walk, &piece)) {
		if (width != TEXT_WIDTH_ANY && used + piece.width > room)
			break;
		strbuf_add(out, piece.bytes, piece.len);
		used += piece.width;
	}
	if (!cut)
		return used;
	strbuf_puts(out, mark);
	return used + mark_width;
}

static void
json_escape(struct strbuf *out, int32_t codepoint)
{
	if (codepoint < 0x10000) {
		strbuf_printf(out, "\\u%04x", (unsigned)codepoint);
		return;
	}
	codepoint -= 0x10000;
	strbuf_printf(out, "\\u%04x\\u%04x", 0xD800 + ((unsigned)codepoint >> 10),
		      0xDC00 + ((unsigned)codepoint & 0x3FF));
}

void
text_clean_json(struct strbuf *out, const char *json)
{
	const unsigned char *at = (const unsigned char *)json;
	int32_t codepoint;
	size_t len;

	while (*at != '\0') {
		len = next_codepoint(at, &codepoint);
		if (codepoint >= 0x7F && text_is_unsafe(codepoint))
			json_escape(out, codepoint);
		else
			strbuf_add(out, at, len);
		at += len;
	}
}
