/* SPDX-License-Identifier: Apache-2.0
 *
 * The listening socket: of TCP, of a path, or handed over by the service manager.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "reconciled/base/attributes.h"

struct err;
struct web_address;

struct listener {
	int fd;	    /* non-blocking, not inherited; -1: none */
	char *path; /* that we made, or NULL */
	dev_t device;
	ino_t inode;
};

/* A socket that nobody listens on any more is replaced, a living one is ERR_FATAL. */
bool listener_open(struct listener *ret_listener, const struct web_address *address,
		   struct err *err) MUST_CHECK;
/* Removes the path if it is still ours; a socket that was handed over stays with its owner. */
void listener_finish(struct listener *listener);
int listener_port(const struct listener *listener); /* 0: not of TCP */
