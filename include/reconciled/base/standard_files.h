/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard input, output and error, whatever the caller made of them.
 */
#pragma once

#include <stdbool.h>

/*
 * Called first of all: a standard descriptor that is closed is taken by one on which reading and
 * writing fail. Else the next socket would get its number, and what is printed would go there.
 */
void standard_files_reserve(void);

/* Everything printed on standard output has arrived; says so on standard error when not. */
bool standard_output_is_complete(const char *program);
