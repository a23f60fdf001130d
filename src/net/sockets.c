/* SPDX-License-Identifier: Apache-2.0
 *
 * Two kinds of descriptors come from libcurl. Connections are opened and closed by our callbacks:
 * what libcurl wants of them comes and goes with each transfer, their read event stays. Others it
 * closes itself (the wake-up pair of its resolver, and sockets on which no connection came about):
 * there all goes when it stops wanting anything. It may say so just after it closed them, but
 * before anybody else can get the number.
 */
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "reconciled/base/attributes.h"
#include "reconciled/base/xalloc.h"

struct watch {
	struct sockets *sockets;
	struct event read, write;
	bool connection;       /* opened here, and closed here */
	bool reading, writing; /* the events are registered */
	int want;	       /* CURL_POLL_…; 0: idle */
};

void
sockets_init(struct sockets *sockets, struct event_base *base, sockets_ready_fn *ready, void *owner)
{
	*sockets = (struct sockets){ .base = base, .ready = ready, .owner = owner };
}

static struct watch *
find(const struct sockets *sockets, curl_socket_t fd)
{
	return (size_t)fd < sockets->size ? sockets->by_fd[fd] : NULL;
}

static void
set_reading(struct watch *watch, bool on)
{
	if (watch->reading == on)
		return;
	watch->reading = on;
	if (on)
		event_add(&watch->read, NULL);
	else
		event_del(&watch->read);
}

static void
set_writing(struct watch *watch, bool on)
{
	if (watch->writing == on)
		return;
	watch->writing = on;
	if (on)
		event_add(&watch->write, NULL);
	else
		event_del(&watch->write);
}

/*
 * Readable although nothing is wanted: the peer closed an idle connection, which stays readable for
 * ever. libcurl finds out when it next looks for a connection; until then it must not wake us.
 */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct watch *watch = arg;
	struct sockets *sockets = watch->sockets;

	if (!(watch->want & CURL_POLL_IN))
		set_reading(watch, false);
	else
		sockets->ready(sockets->owner, fd, CURL_CSELECT_IN);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct watch *watch = arg;
	struct sockets *sockets = watch->sockets;

	sockets->ready(sockets->owner, fd, CURL_CSELECT_OUT);
}

static void
make_room(struct sockets *sockets, curl_socket_t fd)
{
	size_t size = (size_t)fd + 64;

	if ((size_t)fd < sockets->size)
		return;
	sockets->by_fd = xrealloc(sockets->by_fd, size, sizeof(struct watch *));
	memset(sockets->by_fd + sockets->size, 0, (size - sockets->size) * sizeof(struct watch *));
	sockets->size = size;
}

static struct watch *
watch_create(struct sockets *sockets, curl_socket_t fd, bool connection)
{
	struct watch *watch = xcalloc(1, sizeof(*watch));

	watch->sockets = sockets;
	watch->connection = connection;
	event_assign(&watch->read, sockets->base, fd, EV_READ | EV_PERSIST, on_readable, watch);
	event_assign(&watch->write, sockets->base, fd, EV_WRITE | EV_PERSIST, on_writable, watch);
	make_room(sockets, fd);
	sockets->by_fd[fd] = watch;
	return watch;
}

static void
watch_destroy(struct sockets *sockets, curl_socket_t fd)
{
	struct watch *watch = find(sockets, fd);

	if (watch == NULL)
		return;
	set_reading(watch, false);
	set_writing(watch, false);
	sockets->by_fd[fd] = NULL;
	free(watch);
}

void
sockets_finish(struct sockets *sockets)
{
	for (size_t fd = 0; fd < sockets->size; fd++)
		watch_destroy(sockets, (curl_socket_t)fd);
	free(sockets->by_fd);
	*sockets = (struct sockets){ 0 };
}

static void
set_want(struct watch *watch, int want)
{
	watch->want = want;
	if (want & CURL_POLL_IN)
		set_reading(watch, true);
	set_writing(watch, want & CURL_POLL_OUT);
}

int
sockets_on_want(CURL *easy, curl_socket_t fd, int want, void *arg, void *unused)
{
	struct sockets *sockets = arg;
	struct watch *watch = find(sockets, fd);

	if (want != CURL_POLL_REMOVE)
		set_want(watch != NULL ? watch : watch_create(sockets, fd, false), want);
	else if (watch != NULL && watch->connection && watch->reading)
		set_want(watch, 0);
	else
		watch_destroy(sockets, fd);
	return 0;
}

/* Where clouds keep the credentials of their machines. No target lives there. */
static bool
is_metadata_v4(const struct in_addr *address)
{
	uint32_t a = ntohl(address->s_addr);

	return (a & 0xffff0000) == 0xa9fe0000 /* 169.254.0.0/16 */
	       || a == 0x646464c8	      /* 100.100.100.200 */
	       || a == 0xc00000c0	      /* 192.0.0.192 */
	       || a == 0xa83f8110;	      /* 168.63.129.16 */
}

/* Where IPv4 hides inside IPv6: behind a prefix of its own (mapped, compatible, NAT64), or in 6to4. */
static bool
embedded_v4(const struct in6_addr *v6, struct in_addr *ret_v4)
{
	static const unsigned char prefixes[][12] = {
		{ [10] = 0xff, [11] = 0xff },
		{ 0 },
		{ 0x00, 0x64, 0xff, 0x9b },
	};
	static const unsigned char six_to_four[2] = { 0x20, 0x02 };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (memcmp(v6->s6_addr, prefixes[i], sizeof(prefixes[i])) == 0) {
			memcpy(ret_v4, v6->s6_addr + 12, sizeof(*ret_v4));
			return true;
		}
	if (memcmp(v6->s6_addr, six_to_four, sizeof(six_to_four)) != 0)
		return false;
	memcpy(ret_v4, v6->s6_addr + 2, sizeof(*ret_v4));
	return true;
}

/* fd00:ec2::/32 is Amazon's; link-local addresses are what clouds use like 169.254. */
static bool
is_metadata_v6(const struct in6_addr *v6)
{
	static const unsigned char ec2[] = { 0xfd, 0x00, 0x0e, 0xc2 };
	struct in_addr v4;

	if (embedded_v4(v6, &v4))
		return is_metadata_v4(&v4);
	return IN6_IS_ADDR_LINKLOCAL(v6) || memcmp(v6->s6_addr, ec2, sizeof(ec2)) == 0;
}

static bool
is_metadata(const struct sockaddr *address)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		return is_metadata_v4(&v4.sin_addr);
	}
	if (address->sa_family != AF_INET6)
		return false;
	memcpy(&v6, address, sizeof(v6));
	return is_metadata_v6(&v6.sin6_addr);
}

/*
 * The number may be that of a socket that libcurl closed itself and has not mentioned since. It
 * does not repeat what it wants of a number, so that is handed on.
 */
static void
watch_opened(struct sockets *sockets, curl_socket_t fd)
{
	struct watch *before = find(sockets, fd);
	int want = before != NULL ? before->want : 0;

	watch_destroy(sockets, fd);
	set_want(watch_create(sockets, fd, true), want);
}

curl_socket_t
sockets_on_open(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	if (is_metadata(&address->addr)) {
		errno = EACCES;
		return CURL_SOCKET_BAD;
	}
	int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

	if (fd < 0)
		return CURL_SOCKET_BAD;
	watch_opened(arg, fd);
	return fd;
}

int
sockets_on_close(void *arg, curl_socket_t fd)
{
	watch_destroy(arg, fd);
	return close(fd);
}
