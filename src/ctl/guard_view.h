/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards as a table.
 */
#pragma once

struct screen;
struct view;

/* guards: at least one row of view_guards. */
void guard_view_print(const struct screen *screen, const struct view *guards);
