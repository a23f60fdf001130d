/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the forms come from: Retry-After, RFC 9110, 10.2.3 (seconds or a date; fractions of seconds
 * from Shopify, milliseconds in headers of their own from Azure); RateLimit-Remaining and -Reset,
 * draft-ietf-httpapi-ratelimit-headers up to 06; one list of members, 07; a list of items with the
 * parameters r and t, from 08 on (RateLimit-Policy "MAY be ignored"); X-RateLimit-Reset in seconds
 * since 1970, GitHub and Twitter (X-Rate-Limit-), and after -Reset-After, Discord.
 *
 * Moments are taken relative to the Date of the same answer, which the same clock wrote: a clock
 * that is wrong, theirs or ours, then does no harm.
 */
#include "quota.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "http_date.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/clock.h"
#include "reconciled/core/reading.h"

/* A number beyond this is a moment: 31 years are no pause. */
#define EPOCH_LEAST ((int64_t)1000000000)

/* Seconds, milliseconds, … since 1970, told apart by their size: each is then later than 1973. */
static const struct {
	int64_t least, per_second;
} epochs[] = {
	{ EPOCH_LEAST * 100000000, 1000000000 },
	{ EPOCH_LEAST * 100000, 1000000 },
	{ EPOCH_LEAST * 100, 1000 },
	{ EPOCH_LEAST, 1 },
};

/* A decimal number: whole part and millionths. */
struct decimal {
	bool negative;
	int64_t whole, micro;
};

/* What remains of a quota and when it is filled again; texts of the answer or NULL. */
struct quota {
	const char *remaining, *reset;
};

enum { FAMILIES = 3 };

/* One scan over the headers of an answer. */
struct scan {
	const struct quota_answer *answer;
	struct quota families[FAMILIES];
	int64_t wait_us;
};

static bool
ends_value(char c)
{
	return c == '\0' || c == ',' || c == ';' || isspace((unsigned char)c);
}

/* INT64_MAX: more than that. */
static const char *
read_digits(const char *text, int64_t *ret_number)
{
	int64_t number = 0;

	for (; isdigit((unsigned char)*text); text++)
		number = number > INT64_MAX / 10 - 1 ? INT64_MAX : number * 10 + (*text - '0');
	*ret_number = number;
	return text;
}

/* Six places; what is finer is cut off. */
static const char *
read_fraction(const char *text, int64_t *ret_micro)
{
	int64_t unit = 100000;

	for (*ret_micro = 0; isdigit((unsigned char)*text); text++, unit /= 10)
		*ret_micro += (*text - '0') * unit;
	return text;
}

static bool
read_decimal(const char *text, struct decimal *ret_decimal)
{
	const char *digits, *end;

	ret_decimal->negative = *text == '-';
	ret_decimal->micro = 0;
	digits = text + (*text == '-' || *text == '+');
	end = read_digits(digits, &ret_decimal->whole);
	if (end == digits)
		return false;
	if (*end == '.')
		end = read_fraction(end + 1, &ret_decimal->micro);
	return ends_value(*end);
}

static const char *
header_value(const struct quota_answer *answer, const char *name)
{
	for (size_t i = 0; i < answer->headers_count; i++)
		if (strcmp(answer->headers[i].name, name) == 0)
			return answer->headers[i].value;
	return NULL;
}

/* The moment of the answer by the clock that wrote it, else by ours. */
static int64_t
answered_at(const struct quota_answer *answer)
{
	const char *date = header_value(answer, "date");
	int64_t us;

	if (date != NULL && http_date_read(date, answer->wall_us, &us))
		return us;
	return answer->wall_us;
}

static int64_t
within(int64_t wait_us)
{
	if (wait_us < 0)
		return 0;
	return wait_us < QUOTA_WAIT_MAX_US ? wait_us : QUOTA_WAIT_MAX_US;
}

static int64_t
wait_of_number(const struct quota_answer *answer, const struct decimal *decimal)
{
	if (decimal->negative)
		return 0;
	if (decimal->whole == INT64_MAX)
		return QUOTA_WAIT_MAX_US;
	for (size_t i = 0; i < ARRAY_LEN(epochs); i++) {
		int64_t per_second = epochs[i].per_second, rest = decimal->whole % per_second;
		int64_t at_us;

		if (decimal->whole < epochs[i].least)
			continue;
		at_us = decimal->whole / per_second * SECOND;
		at_us += per_second > SECOND ? rest / (per_second / SECOND)
					     : rest * (SECOND / per_second);
		return within(at_us - answered_at(answer));
	}
	return within(decimal->whole * SECOND + decimal->micro);
}

/* Seconds, a number since 1970, or a date. */
static int64_t
wait_of_moment(const struct quota_answer *answer, const char *text)
{
	struct decimal decimal;
	int64_t at_us;

	if (read_decimal(text, &decimal))
		return wait_of_number(answer, &decimal);
	if (http_date_read(text, answered_at(answer), &at_us))
		return within(at_us - answered_at(answer));
	return QUOTA_UNSAID;
}

static int64_t
wait_of_milliseconds(const struct quota_answer *answer, const char *text)
{
	struct decimal decimal;

	if (!read_decimal(text, &decimal))
		return QUOTA_UNSAID;
	if (decimal.negative)
		return 0;
	if (decimal.whole > QUOTA_WAIT_MAX_US / MILLISECOND)
		return QUOTA_WAIT_MAX_US;
	return decimal.whole * MILLISECOND + decimal.micro / MILLISECOND;
}

static void
take(struct scan *scan, int64_t wait_us)
{
	if (wait_us > scan->wait_us)
		scan->wait_us = wait_us;
}

/*
 * A quota holds back when nothing of it is left. Where that is not said, the moment counts only in
 * an answer that refuses: others name it always. Less than none is how some say "without limit".
 */
static bool
is_used_up(const struct quota_answer *answer, const char *remaining)
{
	struct decimal left;

	if (remaining == NULL || !read_decimal(remaining, &left) || left.negative)
		return answer->throttled;
	return left.whole == 0;
}

static void
take_quota(struct scan *scan, const struct quota *quota)
{
	if (quota->reset != NULL && is_used_up(scan->answer, quota->remaining))
		take(scan, wait_of_moment(scan->answer, quota->reset));
}

/* Where the value that begins here ends: before the next "," or ";" outside quotes. */
static const char *
end_of_value(const char *text)
{
	bool quoted = false;

	for (; *text != '\0' && (quoted || (*text != ',' && *text != ';')); text++)
		quoted ^= *text == '"';
	return text;
}

static bool
is_member(const char *text, const char *name, const char **ret_value)
{
	size_t len = strlen(name);

	if (strncasecmp(text, name, len) != 0 || text[len] != '=')
		return false;
	*ret_value = text + len + 1;
	return true;
}

/*
 * limit=10, remaining=0, reset=5   one quota, its members parted by commas
 * "a";r=0;t=30, "b";r=5;t=60      one quota per item
 */
static void
read_combined(struct scan *scan, const char *text)
{
	struct quota whole = { 0 }, item = { 0 };

	while (*text != '\0') {
		text += strspn(text, " \t,;");
		if (!is_member(text, "remaining", &whole.remaining) &&
		    !is_member(text, "reset", &whole.reset) &&
		    !is_member(text, "r", &item.remaining))
			is_member(text, "t", &item.reset);
		text = end_of_value(text);
		if (*text != ';') {
			take_quota(scan, &item);
			item = (struct quota){ 0 };
		}
	}
	take_quota(scan, &whole);
}

/* "Later" is said to whoever asked something that failed; in a success it speaks of one object. */
static bool
is_refusal(const struct quota_answer *answer)
{
	return answer->throttled || answer->status >= 400;
}

static void
on_retry_after(struct scan *scan, const char *value, int family)
{
	if (is_refusal(scan->answer))
		take(scan, wait_of_moment(scan->answer, value));
}

static void
on_milliseconds(struct scan *scan, const char *value, int family)
{
	if (is_refusal(scan->answer))
		take(scan, wait_of_milliseconds(scan->answer, value));
}

static void
on_combined(struct scan *scan, const char *value, int family)
{
	read_combined(scan, value);
}

static void
on_remaining(struct scan *scan, const char *value, int family)
{
	scan->families[family].remaining = value;
}

static void
on_reset(struct scan *scan, const char *value, int family)
{
	scan->families[family].reset = value;
}

static const struct {
	const char *name;
	void (*on)(struct scan *scan, const char *value, int family);
	int family;
} forms[] = {
	{ "retry-after", on_retry_after, 0 },
	{ "retry-after-ms", on_milliseconds, 0 },
	{ "x-ms-retry-after-ms", on_milliseconds, 0 },
	{ "ratelimit", on_combined, 0 },
	{ "ratelimit-remaining", on_remaining, 0 },
	{ "ratelimit-reset", on_reset, 0 },
	{ "x-ratelimit-remaining", on_remaining, 1 },
	{ "x-ratelimit-reset", on_reset, 1 },
	{ "x-ratelimit-reset-after", on_reset, 1 },
	{ "x-rate-limit-remaining", on_remaining, 2 },
	{ "x-rate-limit-reset", on_reset, 2 },
};

static void
scan_header(struct scan *scan, const struct header *header)
{
	if (header->name[0] != 'r' && header->name[0] != 'x')
		return;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++)
		if (strcmp(header->name, forms[i].name) == 0)
			forms[i].on(scan, header->value, forms[i].family);
}

int64_t
quota_wait_us(const struct quota_answer *answer)
{
	struct scan scan = { .answer = answer, .wait_us = QUOTA_UNSAID };

	for (size_t i = 0; i < answer->headers_count; i++)
		scan_header(&scan, &answer->headers[i]);
	for (size_t i = 0; i < FAMILIES; i++)
		take_quota(&scan, &scan.families[i]);
	return scan.wait_us;
}
