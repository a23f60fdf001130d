/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread and the loop hold the lookup together; whoever lets go last frees it. The answer is
 * written before the eventfd is, and read after, so it needs no lock.
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>

#include "lookup.h"
#include "reconciled/base/attributes.h"
#include "reconciled/base/timer.h"
#include "reconciled/base/xalloc.h"

/* A resolver that hangs must not cost a thread for each try. */
enum { THREADS_MAX = 16 };

enum { ADDRESS_TEXT_MAX = 128, ERROR_TEXT_MAX = 128 };

struct lookup {
	atomic_int holders;
	int fd; /* becomes readable with the answer */
	char *name;
	char addresses[LOOKUP_ADDRESSES_MAX][ADDRESS_TEXT_MAX];
	size_t count;
	char error[ERROR_TEXT_MAX];
	/* of the loop alone */
	struct event *answered;
	lookup_done_fn *done;
	void *owner;
};

static atomic_int threads;

static void
let_go(struct lookup *lookup)
{
	if (atomic_fetch_sub(&lookup->holders, 1) > 1)
		return;
	if (lookup->fd >= 0)
		close(lookup->fd);
	free(lookup->name);
	free(lookup);
}

static void
fail(struct lookup *lookup, const char *error)
{
	snprintf(lookup->error, sizeof(lookup->error), "%s", error);
}

static void
announce(const struct lookup *lookup)
{
	uint64_t one = 1;

	if (write(lookup->fd, &one, sizeof(one)) != sizeof(one))
		abort(); /* the counter is zero before */
}

static void
add_address(struct lookup *lookup, const struct addrinfo *info)
{
	if (getnameinfo(info->ai_addr, info->ai_addrlen, lookup->addresses[lookup->count],
			ADDRESS_TEXT_MAX, NULL, 0, NI_NUMERICHOST) == 0)
		lookup->count++;
}

static void
ask(struct lookup *lookup)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int status = getaddrinfo(lookup->name, NULL, &hints, &found);

	if (status != 0) {
		fail(lookup, status == EAI_SYSTEM ? strerrordesc_np(errno) : gai_strerror(status));
		return;
	}
	for (const struct addrinfo *i = found; i && lookup->count < LOOKUP_ADDRESSES_MAX;
	     i = i->ai_next)
		add_address(lookup, i);
	freeaddrinfo(found);
	if (lookup->count == 0)
		fail(lookup, "it has no address");
}

static void *
run(void *arg)
{
	struct lookup *lookup = arg;

	ask(lookup);
	announce(lookup);
	let_go(lookup);
	atomic_fetch_sub(&threads, 1);
	return NULL;
}

/* Signals are for the thread of the loop. */
static bool
create_thread(struct lookup *lookup)
{
	pthread_attr_t detached;
	pthread_t thread;
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, &detached, run, lookup) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	return started;
}

static bool
start_thread(struct lookup *lookup)
{
	if (atomic_fetch_add(&threads, 1) < THREADS_MAX && create_thread(lookup))
		return true;
	atomic_fetch_sub(&threads, 1);
	return false;
}

static void
on_answered(evutil_socket_t fd, short what, void *arg)
{
	struct lookup *lookup = arg;
	struct lookup_answer answer = { .count = lookup->count, .error = lookup->error };

	for (size_t i = 0; i < lookup->count; i++)
		answer.addresses[i] = lookup->addresses[i];
	event_free(TAKE(lookup->answered));
	lookup->done(lookup->owner, &answer);
	let_go(lookup);
}

struct lookup *
lookup_start(struct event_base *base, const char *name, lookup_done_fn *done, void *owner)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	lookup->name = xstrdup(name);
	lookup->done = done;
	lookup->owner = owner;
	lookup->answered = event_new(base, lookup->fd, EV_READ, on_answered, lookup);
	lookup->holders = 2;
	if (lookup->fd >= 0 && start_thread(lookup)) {
		event_add(lookup->answered, NULL);
		return lookup;
	}
	lookup->holders = 1;
	fail(lookup, "too many lookups or descriptors are in use");
	timer_set(lookup->answered, 0);
	return lookup;
}

void
lookup_cancel(struct lookup *lookup)
{
	if (!lookup)
		return;
	event_free(TAKE(lookup->answered));
	let_go(lookup);
}

bool
lookup_is_needed(const char *host)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	if (!host || *host == '\0' || *host == '/' || *host == '@')
		return false;
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return true;
	freeaddrinfo(found);
	return false;
}
