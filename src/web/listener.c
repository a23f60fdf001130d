/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening, before the loop turns.
 */
#include "listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/util.h>

#include "reconciled/base/err.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/web/server.h"

enum { BACKLOG = 128, PATH_MASK = 0117 /* 0660: owner and group */ };

/* A socket in the making: closed unless it is taken over. */
static void
close_at(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static int
take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static bool
open_tcp_at(struct listener *listener, const struct addrinfo *at, struct err *err)
{
	CLEANUP(close_at)
	int fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
			at->ai_protocol);
	const int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
		return err_set(err, ERR_FATAL, "%s", strerror(errno));
	listener->fd = take_fd(&fd);
	return true;
}

static bool
open_tcp(struct listener *listener, const struct web_address *address, struct err *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char port[8];
	int failed;
	bool ok;

	snprintf(port, sizeof(port), "%d", address->port);
	failed = getaddrinfo(address->host, port, &hints, &found);
	if (failed != 0)
		return err_set(err, ERR_FATAL, "cannot listen on %s, port %d: %s", address->host,
			       address->port, gai_strerror(failed));
	ok = open_tcp_at(listener, found, err);
	freeaddrinfo(found);
	return ok || err_wrap(err, "cannot listen on %s, port %d", address->host, address->port);
}

/* Whether somebody answers there. */
static bool
is_alive(const struct sockaddr_un *address)
{
	CLEANUP(close_at)
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	       errno != ECONNREFUSED;
}

static bool
remove_stale(const struct sockaddr_un *address, struct err *err)
{
	struct stat there;

	if (lstat(address->sun_path, &there) != 0)
		return errno == ENOENT || err_set(err, ERR_FATAL, "%s", strerror(errno));
	if (!S_ISSOCK(there.st_mode))
		return err_set(err, ERR_FATAL, "something else has that name");
	if (is_alive(address))
		return err_set(err, ERR_FATAL, "another process listens there");
	if (unlink(address->sun_path) != 0)
		return err_set(err, ERR_FATAL, "%s", strerror(errno));
	return true;
}

static bool
bind_path(struct listener *listener, const struct sockaddr_un *address, struct err *err)
{
	CLEANUP(close_at)
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t before = umask(PATH_MASK);
	bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
	int reason = errno;
	struct stat made;

	umask(before);
	if (!bound)
		return err_set(err, ERR_FATAL, "%s", strerror(reason));
	if (listen(fd, BACKLOG) != 0 || lstat(address->sun_path, &made) != 0)
		return err_set(err, ERR_FATAL, "%s", strerror(errno));
	listener->fd = take_fd(&fd);
	listener->path = xstrdup(address->sun_path);
	listener->device = made.st_dev;
	listener->inode = made.st_ino;
	return true;
}

static bool
open_path(struct listener *listener, const struct web_address *address, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t len = strlen(address->socket);

	if (len == 0 || len >= sizeof(at.sun_path))
		return err_set(err, ERR_FATAL,
			       "cannot listen on \"%s\": the path has %zu bytes, allowed: 1 to %zu",
			       address->socket, len, sizeof(at.sun_path) - 1);
	memcpy(at.sun_path, address->socket, len);
	if (!remove_stale(&at, err) || !bind_path(listener, &at, err))
		return err_wrap(err, "cannot listen on \"%s\"", address->socket);
	return true;
}

/* Sockets of the service manager block, and one accept too many would stop the loop. */
static bool
take_over(struct listener *listener, int fd, struct err *err)
{
	socklen_t len = sizeof(int);
	int listening = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) != 0 || !listening)
		return err_set(err, ERR_FATAL, "descriptor %d is no listening socket", fd);
	if (evutil_make_socket_nonblocking(fd) != 0 || evutil_make_socket_closeonexec(fd) != 0)
		return err_set(err, ERR_FATAL, "descriptor %d: %s", fd, strerror(errno));
	listener->fd = fd;
	return true;
}

bool
listener_open(struct listener *ret_listener, const struct web_address *address, struct err *err)
{
	struct listener listener = { .fd = -1 };
	bool ok = address->fd >= 0	    ? take_over(&listener, address->fd, err)
		  : address->socket != NULL ? open_path(&listener, address, err)
					    : open_tcp(&listener, address, err);

	if (ok)
		*ret_listener = listener;
	return ok;
}

void
listener_finish(struct listener *listener)
{
	struct stat there;

	if (listener->path != NULL && lstat(listener->path, &there) == 0 &&
	    there.st_dev == listener->device && there.st_ino == listener->inode)
		unlink(listener->path);
	close_at(&listener->fd);
	free(listener->path);
	*listener = (struct listener){ .fd = -1 };
}

int
listener_port(const struct listener *listener)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ip4;
		struct sockaddr_in6 ip6;
	} at = { 0 };
	socklen_t len = sizeof(at);

	if (getsockname(listener->fd, &at.any, &len) != 0)
		return 0;
	if (at.any.sa_family == AF_INET)
		return ntohs(at.ip4.sin_port);
	return at.any.sa_family == AF_INET6 ? ntohs(at.ip6.sin6_port) : 0;
}
