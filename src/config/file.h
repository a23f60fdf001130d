/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of a configuration: one whole file, and the *.yaml of a folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct loading;

/* The bytes of loading->file in its arena, NUL behind them; at most TREE_BYTES_MAX. False: said. */
bool file_read(struct loading *loading, const char **ret_bytes, size_t *ret_len);

/* Paths of FOLDER/?*.yaml, sorted by name, in the arena. False when the folder cannot be read:
 * said. */
bool folder_list(struct loading *loading, const char *folder, const char ***ret_paths,
		 size_t *ret_count);
