/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML → the way to a target: certificates, a socket, a proxy.
 */
#pragma once

#include "field.h"
#include "reconciled/config/target.h"

extern const struct table tls_table; /* into a struct target */

/* Decoders of fields; at is a const char *. */
field_decode_fn socket_decode, proxy_decode;

/* Certificate and key belong together. */
void tls_check(struct loading *loading, const struct node *root);
