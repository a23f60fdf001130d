/* SPDX-License-Identifier: Apache-2.0
 *
 * The ids that were taken and are not recorded yet, so that none is taken twice. Also those that
 * ended while a selection ran: its answer may show them as they were before.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct underway;

struct underway *underway_create(void);
void underway_destroy(struct underway *underway);

void underway_begin(struct underway *underway, const char *id); /* copied */
void underway_end(struct underway *underway, const char *id);
bool underway_has(const struct underway *underway, const char *id);

/* A selection is sent; its answer has come and was compared. One at a time. */
void underway_selecting(struct underway *underway);
void underway_selected(struct underway *underway);

/* Those that have not ended; the texts are borrowed until the next change. The list is the
 * caller's to free. */
const char **underway_list(const struct underway *underway, size_t more, size_t *ret_count);
