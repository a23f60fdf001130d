/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Raises the soft limit of open descriptors, as far as the hard one allows, to what asking
 * max_in_flight questions at once may need; warns when that is not enough. It never lowers it. */
void descriptors_provide(int max_in_flight);
