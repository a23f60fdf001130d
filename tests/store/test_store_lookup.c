/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of database servers: a resolver that hangs costs its deadline, blocks nobody, and may
 * answer when nobody waits any more. The resolver of this program is the one below.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup.h"
#include "relay.h"
#include "store_test.h"

enum { HANGING_MAX = 16 }; /* more threads are not started */

static const char *conninfo;
static PGconn *plain;
static pthread_t loop_thread;
static sem_t released; /* one for each lookup of slow.test that may go on */
static atomic_int hanging, asked, asked_in_loop;

typedef int getaddrinfo_fn(const char *name, const char *service, const struct addrinfo *hints,
			   struct addrinfo **ret_found);

static int
resolve(const char *name, const char *service, const struct addrinfo *hints,
	struct addrinfo **ret_found)
{
	getaddrinfo_fn *next = (getaddrinfo_fn *)dlsym(RTLD_NEXT, "getaddrinfo");

	return next(name, service, hints, ret_found);
}

static int
resolve_two(const struct addrinfo *hints, struct addrinfo **ret_found)
{
	int status = resolve("127.0.0.2", NULL, hints, ret_found);

	return status ? status : resolve("127.0.0.1", NULL, hints, &(*ret_found)->ai_next);
}

static int
resolve_name(const char *name, const struct addrinfo *hints, struct addrinfo **ret_found)
{
	atomic_fetch_add(&asked, 1);
	if (pthread_equal(pthread_self(), loop_thread))
		atomic_fetch_add(&asked_in_loop, 1);
	if (strcmp(name, "two.test") == 0)
		return resolve_two(hints, ret_found);
	if (strcmp(name, "slow.test") != 0)
		return EAI_NONAME;
	atomic_fetch_add(&hanging, 1);
	sem_wait(&released);
	atomic_fetch_sub(&hanging, 1);
	return resolve("127.0.0.1", NULL, hints, ret_found);
}

int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
	    struct addrinfo **ret_found)
{
	if (name && strstr(name, ".test") && !(hints->ai_flags & AI_NUMERICHOST))
		return resolve_name(name, hints, ret_found);
	return resolve(name, service, hints, ret_found);
}

static struct err
try(const char *hosts, const char *ports, int64_t timeout_us)
{
	struct db_options options = test_options(test_format(
		"user=postgres dbname=lookup sslmode=prefer host=%s port=%s", hosts, ports));
	struct err err = { 0 };
	struct db *db;

	options.connect_timeout_us = timeout_us;
	db = db_create(test_base(), &options);
	if (!db_connect_wait(db, &err))
		printf("# %s\n", err.text);
	db_destroy(db);
	return err;
}

static void
test_addresses(void)
{
	struct relay *good = relay_create(PQhost(plain), "127.0.0.1", 0), *silent;
	const char *port = test_format("%d", relay_port(good));

	tap_int(try("two.test", port, 20 * SECOND).code, ERR_NONE,
		"the first address refuses, the second answers");
	silent = relay_create_silent("127.0.0.2", relay_port(good));
	tap_int(try("two.test", port, SECOND).code, ERR_NONE,
		"L01: the first address is silent, the second answers");
	relay_destroy(good);
	struct err err = try("two.test", port, 200 * MILLISECOND);
	tap_ok(strstr(err.text, "127.0.0.2") && strstr(err.text, "127.0.0.1"),
	       "when none is left, each is named");
	relay_destroy(silent);
}

static void
test_unknown(void)
{
	struct err err = try("nowhere.test", "5432", SECOND);

	tap_int(err.code, ERR_TRANSIENT, "a name that nobody knows");
	tap_ok(strstr(err.text, "could not translate host name \"nowhere.test\" to address: "
				"Name or service not known") != NULL,
	       "is named");
}

static void
test_no_lookup(void)
{
	static const char *const literal[] = { "127.0.0.1", "::1",	 "fe80::1%lo",
					       "/tmp",	    "@abstract", "" };
	int before = asked;

	for (size_t i = 0; i < ARRAY_LEN(literal); i++)
		tap_ok(!lookup_is_needed(literal[i]), "\"%s\" needs no lookup", literal[i]);
	tap_ok(!lookup_is_needed(NULL), "nor does no host");
	tap_ok(lookup_is_needed("db.test"), "a name does");
	tap_int(try("nowhere.test hostaddr=127.0.0.1", test_format("%d", relay_closed_port()),
		    SECOND)
			.code,
		ERR_TRANSIENT, "an address is given with the name");
	tap_int(asked, before, "then nobody is asked for it");
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(*(int *)arg)++;
}

static void
release(int count)
{
	for (int i = 0; i < count; i++)
		sem_post(&released);
	while (hanging > 0)
		test_turn(10 * MILLISECOND);
	test_turn(50 * MILLISECOND);
}

static void
test_hanging(void)
{
	struct relay *good = relay_create(PQhost(plain), "127.0.0.1", 0);
	const char *port = test_format("%d", relay_port(good));
	int ticks = 0;
	struct event *tick = event_new(test_base(), -1, EV_PERSIST, on_tick, &ticks);
	struct err err;

	event_add(tick, &(struct timeval){ .tv_usec = 10000 });
	err = try("slow.test", port, 300 * MILLISECOND);
	tap_ok(strstr(err.text, "\"slow.test\" to address: no answer within 300 ms") != NULL,
	       "a resolver that hangs is given up");
	tap_ok(ticks > 1, "the loop turns meanwhile");
	tap_int(try("slow.test,127.0.0.1", port, 300 * MILLISECOND).code, ERR_NONE,
		"the next host has its turn");
	tap_int(hanging, 2, "both lookups still hang");
	release(2);
	tap_int(hanging, 0, "and end by themselves, when nobody waits for them");
	event_free(tick);
	relay_destroy(good);
}

static void
test_closed_meanwhile(void)
{
	const struct db_options options = test_options("host=slow.test");
	struct db *db = db_create(test_base(), &options);
	struct told told = { 0 }, never = { 0 };

	db_connect(db, told_done, &told);
	test_turn(50 * MILLISECOND);
	db_close(db);
	test_wait(&told, 1);
	tap_int(told.err.code, ERR_TRANSIENT, "closed while its name is looked up");
	db_connect(db, told_done, &never);
	test_turn(50 * MILLISECOND);
	db_destroy(db);
	release(2);
	tap_int(never.times, 0, "destroyed while its name is looked up");
}

static void
test_too_many(void)
{
	struct relay *good = relay_create(PQhost(plain), "127.0.0.1", 0);
	const char *port = test_format("%d", relay_port(good));
	struct err err;

	for (int i = 0; i < HANGING_MAX; i++)
		try("slow.test", port, 10 * MILLISECOND);
	while (hanging < HANGING_MAX)
		test_turn(10 * MILLISECOND);
	err = try("two.test", port, 20 * SECOND);
	tap_ok(strstr(err.text, "too many lookups") != NULL, "no thread more is started");
	release(HANGING_MAX);
	for (int i = 0; i < 100 && err.code != ERR_NONE; i++)
		err = try("two.test", port, 20 * SECOND);
	tap_int(err.code, ERR_NONE, "until some have ended");
	relay_destroy(good);
}

int
main(void)
{
	loop_thread = pthread_self();
	sem_init(&released, 0, 0);
	conninfo = test_database("lookup");
	plain = test_plain(conninfo);
	test_addresses();
	test_unknown();
	test_no_lookup();
	test_hanging();
	test_closed_meanwhile();
	test_too_many();
	tap_int(asked_in_loop, 0, "no name was looked up in the thread of the loop");
	PQfinish(plain);
	return tap_done();
}
