/* SPDX-License-Identifier: Apache-2.0
 *
 * What every decoder of one file needs: where results live, where problems go. And the few ways
 * in which a problem is said, so that all of them read alike.
 */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"
#include "reconciled/config/problems.h"

struct arena;
struct node;
struct secret;
struct shape;

/* Handles that an arena cannot give back; freed with the configuration. */
struct keeper {
	struct secret *secret;
	regex_t *regex;
	struct keeper *next;
};

struct loading {
	struct arena *arena;
	struct problems *problems;
	const char *file;
	bool secrets;		/* read secrets and look at named files */
	const char *secrets_of; /* of targets only this one's; NULL: of all */
	bool later_is_known; /* keys for later were already said to be unsupported at a better place
			      */
	bool any_file_name;  /* files need not be named like what is in them */
	struct keeper **keepers;
};

/* At the value, or at the key. The text becomes "key: …". */
void complain(struct loading *loading, const struct node *node, const char *fmt, ...) PRINTF(3, 4);
void complain_at_key(struct loading *loading, const struct node *node, const char *fmt, ...)
	PRINTF(3, 4);

/* The same for what loads although it is doubtful. */
void warn_about(struct loading *loading, const struct node *node, const char *fmt, ...)
	PRINTF(3, 4);
void warn_at_key(struct loading *loading, const struct node *node, const char *fmt, ...)
	PRINTF(3, 4);

/* "found …, allowed: …"; what was found is shortened and printable. */
void complain_found(struct loading *loading, const struct node *node, const char *allowed);

/* The language has it, this version does not: a key, or something that a value says. */
void complain_later_key(struct loading *loading, const struct node *node);
void complain_later_value(struct loading *loading, const struct node *node, const char *what);

/* In words for a message: "\"text\"", "a list", "a mapping", "nothing". Lives in the arena. */
const char *found_words(struct loading *loading, const struct node *node);

/* Both give the handle to the configuration's keepers. */
void keep_secret(struct loading *loading, struct secret *secret);
regex_t *keep_new_regex(struct loading *loading);
void keepers_release(struct keeper *keepers);

/*
 * Reads a secret reference at node; text values are never shown. *ret_reference is the text as
 * written, *ret_secret is set when secrets are read. False: said.
 */
bool secret_decode(struct loading *loading, const struct node *node, const char **ret_reference,
		   const struct secret **ret_secret);

extern const struct shape shape_secret, shape_text;

/* The reference to load: a relative "file:" path counts from the folder of loading->file. */
const char *secret_settle(struct loading *loading, const char *reference);

/* The text of a node that must be a non-empty text, or NULL after a complaint. */
const char *text_decode(struct loading *loading, const struct node *node, const char *allowed);

/* path as seen from the folder of loading->file; absolute paths stay. In the arena. */
const char *path_beside(struct loading *loading, const char *path);
