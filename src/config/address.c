/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks addresses by their text; names that resolve to a refused one are the business of who
 * connects.
 */
#include "address.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "reconciled/base/arena.h"
#include "reconciled/base/err.h"

enum { HOST_MAX = 253 };

struct host {
	char name[HOST_MAX + 1]; /* lower case, without brackets and trailing dots */
	bool is_v4, is_v6;
	uint32_t v4; /* host order; also for IPv4 inside IPv6 */
	struct in6_addr v6;
	const char *rest; /* behind it: ":PORT", "/PATH" or "" */
};

static const char *const metadata_names[] = {
	"metadata",	 "metadata.google.internal",   "metadata.goog",
	"instance-data", "instance-data.ec2.internal",
};

static const char *const metadata_v4[] = {
	"100.100.100.200", /* Alibaba */
	"192.0.0.192",	   /* Oracle */
	"168.63.129.16",   /* Azure, wire server */
};

/* Where IPv4 hides inside IPv6: mapped, compatible, NAT64, 6to4. */
static bool
embedded_v4(const struct in6_addr *v6, uint32_t *ret_v4)
{
	static const unsigned char prefixes[][12] = {
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF },
		{ 0 },
		{ 0x00, 0x64, 0xFF, 0x9B },
	};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		if (memcmp(v6->s6_addr, prefixes[i], sizeof(prefixes[i])) != 0)
			continue;
		memcpy(ret_v4, v6->s6_addr + 12, sizeof(*ret_v4));
		*ret_v4 = ntohl(*ret_v4);
		return true;
	}
	if (v6->s6_addr[0] != 0x20 || v6->s6_addr[1] != 0x02)
		return false;
	memcpy(ret_v4, v6->s6_addr + 2, sizeof(*ret_v4));
	*ret_v4 = ntohl(*ret_v4);
	return true;
}

/* inet_aton reads what resolvers read: 1, 2, 3 or 4 parts, decimal, octal, hexadecimal. */
static void
read_addresses(struct host *host)
{
	struct in_addr v4;

	if (inet_aton(host->name, &v4)) {
		host->is_v4 = true;
		host->v4 = ntohl(v4.s_addr);
	} else if (inet_pton(AF_INET6, host->name, &host->v6) == 1) {
		host->is_v6 = true;
	}
}

static bool
host_copy(struct host *host, const char *from, size_t len, struct err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_:";

	while (len > 0 && from[len - 1] == '.')
		len--;
	if (len == 0 || len > HOST_MAX)
		return err_set(err, ERR_INVALID, "no host in the URL");
	for (size_t i = 0; i < len; i++)
		host->name[i] = (char)(from[i] >= 'A' && from[i] <= 'Z' ? from[i] + 32 : from[i]);
	host->name[len] = '\0';
	if (strspn(host->name, allowed) != len)
		return err_set(err, ERR_INVALID, "a character in the host that no host has");
	return true;
}

static bool
host_read(struct host *host, const char *text, struct err *err)
{
	bool bracket = text[0] == '[';
	size_t len = bracket ? strcspn(text, "]") : strcspn(text, ":/");

	if (bracket && text[len] != ']')
		return err_set(err, ERR_INVALID, "no closing bracket behind the address");
	if (!host_copy(host, text + bracket, len - bracket, err))
		return false;
	host->rest = text + len + bracket;
	read_addresses(host);
	if (bracket != host->is_v6)
		return err_set(err, ERR_INVALID, "the host is no name and no address");
	return true;
}

static bool
host_is_loopback(const struct host *host)
{
	if (host->is_v4)
		return host->v4 >> 24 == 127;
	if (host->is_v6)
		return IN6_IS_ADDR_LOOPBACK(&host->v6);
	return strcmp(host->name, "localhost") == 0;
}

static bool
v4_is_metadata(uint32_t v4)
{
	if (v4 >> 16 == (169U << 8 | 254U)) /* link-local: all clouds have theirs there */
		return true;
	for (size_t i = 0; i < ARRAY_LEN(metadata_v4); i++)
		if (ntohl(inet_addr(metadata_v4[i])) == v4)
			return true;
	return false;
}

/* fd00:ec2::/32 is Amazon's, fe80::/10 link-local. */
static bool
v6_is_metadata(const struct in6_addr *v6)
{
	static const unsigned char ec2[] = { 0xFD, 0x00, 0x0E, 0xC2 };
	uint32_t v4;

	if (memcmp(v6->s6_addr, ec2, sizeof(ec2)) == 0 || IN6_IS_ADDR_LINKLOCAL(v6))
		return true;
	return embedded_v4(v6, &v4) && v4_is_metadata(v4);
}

static bool
host_is_metadata(const struct host *host)
{
	if (host->is_v4)
		return v4_is_metadata(host->v4);
	if (host->is_v6)
		return v6_is_metadata(&host->v6);
	for (size_t i = 0; i < ARRAY_LEN(metadata_names); i++)
		if (strcmp(host->name, metadata_names[i]) == 0)
			return true;
	return false;
}

static bool
port_skip(const char **text, struct err *err)
{
	size_t digits;

	if (**text != ':')
		return true;
	digits = strspn(*text + 1, "0123456789");
	if (digits == 0 || digits > 5 || atoi(*text + 1) < 1 || atoi(*text + 1) > 65535)
		return err_set(err, ERR_INVALID, "the port is not 1 to 65535");
	*text += 1 + digits;
	return true;
}

static bool
path_check(const char *path, struct err *err)
{
	static const char refused[] = "\"<>\\^`{|} %";

	if (*path != '\0' && *path != '/')
		return err_set(err, ERR_INVALID, "only a port and a path may follow the host");
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7F || strchr(refused, *c))
			return err_set(err, ERR_INVALID,
				       "a character in the path that no base has");
	for (const char *slash = path; slash && *slash != '\0'; slash = strchr(slash + 1, '/')) {
		size_t len = strcspn(slash + 1, "/");

		if ((len == 1 || len == 2) && strncmp(slash + 1, "..", len) == 0)
			return err_set(err, ERR_INVALID, "no \".\" or \"..\" in a base");
	}
	return true;
}

static bool
scheme_skip(const char **text, bool *ret_plain, struct err *err)
{
	static const struct {
		const char *prefix;
		bool plain;
	} schemes[] = { { "https://", false }, { "http://", true } };

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
		size_t len = strlen(schemes[i].prefix);

		if (strncasecmp(*text, schemes[i].prefix, len) != 0)
			continue;
		*ret_plain = schemes[i].plain;
		*text += len;
		return true;
	}
	return err_set(err, ERR_INVALID, "not an https URL, allowed: https://HOST[:PORT][/PATH]");
}

bool
address_check(struct arena *arena, const char *url, bool insecure, const char **ret_base,
	      struct err *err)
{
	const char *text = url;
	struct host host = { 0 };
	size_t len = strlen(url);
	bool plain = false;

	if (!scheme_skip(&text, &plain, err))
		return false;
	if (strchr(text, '@'))
		return err_set(err, ERR_INVALID, "no user or password in a URL, allowed: auth");
	if (strpbrk(text, "?#"))
		return err_set(err, ERR_INVALID, "no query and no fragment in a base");
	if (!host_read(&host, text, err) || !port_skip(&host.rest, err) ||
	    !path_check(host.rest, err))
		return false;
	if (host_is_metadata(&host))
		return err_set(err, ERR_INVALID,
			       "the address of a cloud metadata service is never asked");
	if (plain && !insecure && !host_is_loopback(&host))
		return err_set(
			err, ERR_INVALID,
			"http is for loopback only, allowed: https, or insecure: true beside it");
	while (len > 0 && url[len - 1] == '/')
		len--;
	*ret_base = arena_strndup(arena, url, len);
	return true;
}

bool
address_check_proxy(struct arena *arena, const char *url, const char **ret_url, struct err *err)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://", "socks5h://" };
	struct host host = { 0 };
	size_t i = 0, len = strlen(url);

	while (i < ARRAY_LEN(schemes) && strncasecmp(url, schemes[i], strlen(schemes[i])) != 0)
		i++;
	if (i == ARRAY_LEN(schemes))
		return err_set(
			err, ERR_INVALID,
			"not a proxy, allowed: http, https, socks5 or socks5h://HOST[:PORT]");
	if (strchr(url, '@'))
		return err_set(err, ERR_INVALID,
			       "no user or password in a URL, allowed: a proxy that needs none");
	if (!host_read(&host, url + strlen(schemes[i]), err) || !port_skip(&host.rest, err))
		return false;
	if (*host.rest != '\0' && strcmp(host.rest, "/") != 0)
		return err_set(err, ERR_INVALID, "nothing follows the host and port of a proxy");
	*ret_url = arena_strndup(arena, url, *host.rest == '\0' ? len : len - 1);
	return true;
}

static bool
listen_socket(struct arena *arena, const char *path, struct listen_address *ret_address,
	      struct err *err)
{
	size_t most = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;
	size_t len = strlen(path);

	if (path[0] != '/' || path[1] == '\0')
		return err_set(err, ERR_INVALID,
			       "the path of the socket does not begin with \"/\"");
	if (len > most)
		return err_set(err, ERR_INVALID,
			       "the path of the socket has %zu bytes, allowed: at most %zu", len,
			       most);
	*ret_address = (struct listen_address){ .socket = arena_strdup(arena, path) };
	return true;
}

/* Other spellings of an address than the usual one are not understood by who binds it. */
static const char *
host_text(struct arena *arena, const struct host *host)
{
	char text[INET6_ADDRSTRLEN];
	uint32_t v4 = htonl(host->v4);

	if (host->is_v4)
		return arena_strdup(arena, inet_ntop(AF_INET, &v4, text, sizeof(text)));
	if (host->is_v6)
		return arena_strdup(arena, inet_ntop(AF_INET6, &host->v6, text, sizeof(text)));
	return arena_strdup(arena, host->name);
}

bool
address_listen(struct arena *arena, const char *text, struct listen_address *ret_address,
	       struct err *err)
{
	static const char unix_prefix[] = "unix:";
	struct host host = { 0 };
	const char *end;

	if (strncmp(text, unix_prefix, sizeof(unix_prefix) - 1) == 0)
		return listen_socket(arena, text + sizeof(unix_prefix) - 1, ret_address, err);
	if (text[0] == ':' || text[0] == '\0')
		return err_set(err, ERR_INVALID, "the host is missing");
	if (!host_read(&host, text, err))
		return false;
	end = host.rest;
	if (*end != ':')
		return err_set(err, ERR_INVALID, "the port is missing");
	if (!port_skip(&end, err))
		return false;
	if (*end != '\0')
		return err_set(err, ERR_INVALID, "something follows the port");
	if (!host_is_loopback(&host))
		return err_set(err, ERR_INVALID,
			       "nobody logs in there, so it may only be reached from this machine");
	*ret_address = (struct listen_address){ .host = host_text(arena, &host),
						.port = atoi(host.rest + 1) };
	return true;
}
