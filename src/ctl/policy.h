/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of `reconcilectl policy`; each takes the files behind its word.
 */
#pragma once

#include "command.h"

struct problems;

/* FILE:LINE:COLUMN: on standard error; what is quoted from the file is made safe to show. */
void policy_print_problems(const struct problems *problems);

/* tap: in the Test Anything Protocol instead of lines for people. */
enum ctl_exit policy_test(struct ctl *ctl, bool tap, int argc, char **argv);
