/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this instance is, and how far it got, across restarts: a small file in the state directory,
 * locked for the life of the process so that no second one goes by the same name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reconciled/base/attributes.h"

struct err;
struct state_file;

/*
 * directory "": nothing is kept, the identity is new each time. ERR_FATAL: the directory cannot be
 * used, or another process has it. A file that is not ours to read is not overwritten.
 */
struct state_file *state_file_open(const char *directory, struct err *err) MUST_CHECK;
void state_file_close(struct state_file *file); /* accepts NULL */

const char *state_file_instance_id(const struct state_file *file);
bool state_file_is_kept(const struct state_file *file);
int64_t state_file_beats(const struct state_file *file); /* last noted; 0: none */
void state_file_note_beats(struct state_file *file, int64_t beats);
