/* SPDX-License-Identifier: Apache-2.0
 *
 * Dates of answers, read as those that are compared.
 */
#include "http_date.h"

#include <string.h>
#include <time.h>

#include "reconciled/base/clock.h"
#include "reconciled/core/time.h"

bool
http_date_read(const char *text, int64_t near_us, int64_t *ret_us)
{
	time_t near = (time_t)(near_us / SECOND);
	struct moment moment;
	struct tm tm;

	gmtime_r(&near, &tm);
	if (!time_read_http(text, strlen(text), tm.tm_year + 1900, &moment))
		return false;
	*ret_us = moment_us(&moment);
	return true;
}
