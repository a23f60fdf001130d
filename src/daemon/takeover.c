/* SPDX-License-Identifier: Apache-2.0
 *
 * The only place where one configuration replaces another. Loads nothing and changes no state.
 */
#include <signal.h>

#include <event2/event.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/log.h"
#include "reconciled/config/config.h"

#include "descriptors.h"
#include "notify.h"
#include "pulse.h"
#include "states.h"
#include "takeover.h"

void
takeover_announce(struct daemon *daemon, bool take_part)
{
	size_t count;
	const struct policy *policies = serving_policies(daemon->serving, &count);

	daemon->announced = take_part;
	pulse_announce(daemon->pulse, policies, take_part ? count : 0);
}

/* The hangup that came meanwhile is served from the loop: whoever calls goes on with this set. */
void
takeover_over(struct daemon *daemon)
{
	notify_ready();
	if (daemon->reload_again)
		event_active(daemon->on_hangup, EV_SIGNAL, 1);
	daemon->reload_again = false;
}

void
takeover_run(struct daemon *daemon)
{
	if (!daemon->next)
		return;
	serving_inherit(daemon->next, daemon->serving);
	serving_destroy(daemon->serving);
	daemon->serving = TAKE(daemon->next);
	descriptors_provide(serving_config(daemon->serving)->max_in_flight);
	log_setup(serving_config(daemon->serving)->log_level, daemon->at_start->log_format);
	serving_label(daemon->serving);
	takeover_announce(daemon, daemon->announced);
	log_info("configuration loaded",
		 F_INT("policies", (int64_t)serving_config(daemon->serving)->policies_count));
	takeover_over(daemon);
}
