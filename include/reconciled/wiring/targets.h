/* SPDX-License-Identifier: Apache-2.0
 *
 * The configured targets inside the probe engine.
 */
#pragma once

struct config;
struct target;
struct probe_engine;
struct probe_target;
struct targets;

/* One alone; its secrets have been read. The target is borrowed for the life of the engine. */
struct probe_target *targets_add(struct probe_engine *engine, const struct target *target);

/* All of them. */
struct targets *targets_create(struct probe_engine *engine, const struct config *config);
void targets_destroy(struct targets *targets); /* after the engine */
struct probe_target *targets_get(const struct targets *targets, const char *name);
