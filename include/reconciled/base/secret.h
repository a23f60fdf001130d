/* SPDX-License-Identifier: Apache-2.0
 *
 * A value that must reach no output. A type of its own, so that it cannot be printed by mistake;
 * secret_reveal is the only way to the bytes and easy to search for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "reconciled/base/attributes.h"

struct err;
struct secret;

/* Copies; the bytes may be anything but NUL. */
struct secret *secret_create(const char *bytes, size_t len);
void secret_destroy(struct secret *secret); /* wipes; accepts NULL */
const char *secret_reveal(const struct secret *secret);
size_t secret_len(const struct secret *secret);

/*
 * Reads "credential:NAME" ($CREDENTIALS_DIRECTORY), "file:PATH" or "env:NAME". One trailing newline
 * is stripped. Missing, empty, above 64 KiB, or with a NUL inside: ERR_INVALID naming the
 * reference, never the contents.
 */
bool secret_load(const char *reference, struct secret **ret_secret, struct err *err) MUST_CHECK;

/* True if the text has one of the three forms (whether or not it can be read). */
bool secret_is_reference(const char *text);
