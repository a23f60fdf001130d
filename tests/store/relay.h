/* SPDX-License-Identifier: Apache-2.0
 *
 * Loopback ports in front of the socket of the server, on the loop of the tests: one that hands on
 * what comes, one that keeps silent, one where nobody listens.
 */
#pragma once

#include <stdbool.h>

struct relay;

/* port 0: any that is free. socket_path: the directory of the server's socket. Aborts on failure.
 */
struct relay *relay_create(const char *socket_path, const char *address, int port);
struct relay *relay_create_silent(const char *address, int port);
int relay_port(const struct relay *relay);
void relay_destroy(struct relay *relay); /* connections that it made go on */

/* A port that was free a moment ago and where nobody listens. */
int relay_closed_port(void);
