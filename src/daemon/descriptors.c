/* SPDX-License-Identifier: Apache-2.0
 *
 * Each question may need a descriptor; the soft limit of a service is 1024.
 */
#include <stdint.h>
#include <sys/resource.h>

#include "reconciled/base/log.h"

#include "descriptors.h"

enum { OTHER_DESCRIPTORS = 256 };

void
descriptors_provide(int max_in_flight)
{
	rlim_t needed = (rlim_t)max_in_flight + OTHER_DESCRIPTORS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < needed)
		log_warning("fewer descriptors than max_in_flight may need",
			    F_INT("limit", (int64_t)limit.rlim_cur));
}
