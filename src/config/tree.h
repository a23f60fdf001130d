/* SPDX-License-Identifier: Apache-2.0
 *
 * A YAML file as a tree with the place of every key and value. Scalars stay text; only a plain
 * null, ~ or nothing at all is null. What the language does not need is refused: repeated keys,
 * anchors and aliases, tags, several documents, deep nesting, large files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct loading;

enum { TREE_DEPTH_MAX = 32, TREE_KEYS_MAX = 1024, TREE_BYTES_MAX = 1024 * 1024 };

enum node_kind { NODE_NULL, NODE_TEXT, NODE_LIST, NODE_MAP };

struct node {
	enum node_kind kind;
	bool quoted;	  /* TEXT: not plain */
	const char *text; /* TEXT */
	const char *key; /* as member; list elements carry the key of their list; "" for the root */
	int line, column; /* of the value, from 1 */
	int key_line, key_column;
	size_t count;
	struct node *first, *last, *next;
};

/* NULL when there is no usable tree; the reasons are among the problems then. */
const struct node *tree_read(struct loading *loading, const char *bytes, size_t len);

/* The value of a key, or NULL (also when node is no mapping or NULL). */
const struct node *node_member(const struct node *node, const char *key);
