/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside probe: which header lines say who asks. Some are the same for every request, others are
 * made for each, and those of OAuth need a token first.
 */
#pragma once

#include <stdbool.h>

#include "outgoing.h"
#include "reconciled/probe/engine.h"
#include "token.h"

struct curl_loop;
struct curl_peer_options;
struct lines;
struct login;

/* options are borrowed for the login's life; peer: how the target is reached. */
struct login *login_create(struct curl_loop *curl, const struct probe_target_options *options,
			   const struct curl_peer_options *peer);
void login_destroy(struct login *login);

/* Lines of every request. */
void login_add_fixed(const struct login *login, struct lines *lines);

/* A token is needed and not there: login_wait, and then again. */
bool login_is_ready(struct login *login);
void login_wait(struct login *login, struct token_waiter *waiter);
void login_unwait(struct login *login, struct token_waiter *waiter);

/* Lines of this request; the login is ready. Also the number of what is shown. */
unsigned login_sign(struct login *login, const struct outgoing *request, struct lines *lines);

/* The target answered 401 to a request with this number. True: another login may do better. */
bool login_refused(struct login *login, unsigned number);

void login_inherit(struct login *login, const struct login *before);
