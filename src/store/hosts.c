/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits a connection string into its hosts. What libpq would take from the environment when the
 * string names no host is taken here too; hosts of a service file stay with libpq, as one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts.h"
#include "reconciled/base/clock.h"
#include "reconciled/base/err.h"
#include "reconciled/base/secret.h"
#include "reconciled/base/strbuf.h"
#include "reconciled/base/xalloc.h"
#include "reconciled/store/db.h"

enum { HOSTS_MAX = 32, SETTINGS_MAX = 64 };

/* A server that vanished without a word is noticed within half a minute, also while nothing is
 * asked. */
static const struct default_setting {
	const char *keyword, *value;
} usual[] = {
	{ "keepalives_idle", "10" },
	{ "keepalives_interval", "5" },
	{ "keepalives_count", "3" },
	{ "tcp_user_timeout", "30000" }, /* ms */
};

static const char *
option(const PQconninfoOption *options, const char *keyword)
{
	for (const PQconninfoOption *o = options; o->keyword; o++)
		if (strcmp(o->keyword, keyword) == 0)
			return o->val && *o->val ? o->val : NULL;
	return NULL;
}

static size_t
list_length(const char *list)
{
	size_t count = 1;

	for (; *list; list++)
		count += *list == ',';
	return count;
}

/* Element i of a list with commas; a list of one holds for all. */
static char *
list_element(const char *list, size_t i)
{
	if (!list)
		return NULL;
	if (list_length(list) == 1)
		i = 0;
	while (i-- > 0)
		list = strchr(list, ',') + 1;
	return xstrndup(list, strcspn(list, ","));
}

/* From the string; what is not there from the environment, if that is asked. */
static const char *
setting(const struct hosts *hosts, const PQconninfoOption *defaults, const char *keyword)
{
	const char *own = option(hosts->options, keyword);

	return own || !defaults ? own : option(defaults, keyword);
}

static bool
split(struct hosts *hosts, const PQconninfoOption *defaults, struct err *err)
{
	const char *host = setting(hosts, defaults, "host");
	const char *hostaddr = setting(hosts, defaults, "hostaddr");
	const char *port = setting(hosts, defaults, "port");
	size_t count = list_length(hostaddr ? hostaddr : host ? host : "");

	if (count > HOSTS_MAX)
		return err_set(err, ERR_INVALID, "database: more than %d hosts", HOSTS_MAX);
	if (host && hostaddr && list_length(host) != count)
		return err_set(err, ERR_INVALID, "database: host and hostaddr differ in number");
	if (port && list_length(port) != 1 && list_length(port) != count)
		return err_set(err, ERR_INVALID, "database: hosts and ports differ in number");
	hosts->list = xcalloc(count, sizeof(*hosts->list));
	hosts->count = count;
	for (size_t i = 0; i < count; i++)
		hosts->list[i] = (struct host){
			.host = list_element(host, i),
			.hostaddr = list_element(hostaddr, i),
			.port = list_element(port, i),
		};
	return true;
}

/* What libpq says about a bad string quotes it, password and all. */
bool
hosts_parse(struct hosts *ret_hosts, const char *conninfo, struct err *err)
{
	struct hosts hosts = { .options = PQconninfoParse(conninfo, NULL) };
	PQconninfoOption *defaults = NULL;
	bool ok;

	if (!hosts.options)
		return err_set(err, ERR_INVALID, "database: not a valid connection string");
	if (!option(hosts.options, "host") && !option(hosts.options, "hostaddr") &&
	    !option(hosts.options, "service") && !getenv("PGSERVICE"))
		defaults = PQconndefaults();
	ok = split(&hosts, defaults, err);
	PQconninfoFree(defaults);
	if (ok)
		*ret_hosts = hosts;
	else
		hosts_finish(&hosts);
	return ok;
}

void
hosts_finish(struct hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		free(hosts->list[i].host);
		free(hosts->list[i].hostaddr);
		free(hosts->list[i].port);
	}
	free(hosts->list);
	PQconninfoFree(hosts->options);
	*hosts = (struct hosts){ 0 };
}

struct settings {
	const char *keywords[SETTINGS_MAX + 1], *values[SETTINGS_MAX + 1];
	size_t count;
};

/* A later one of the same name wins in libpq. */
static void
set(struct settings *settings, const char *keyword, const char *value)
{
	if (!value || settings->count == SETTINGS_MAX)
		return;
	settings->keywords[settings->count] = keyword;
	settings->values[settings->count++] = value;
}

static bool
is_split(const char *keyword)
{
	return strcmp(keyword, "host") == 0 || strcmp(keyword, "hostaddr") == 0 ||
	       strcmp(keyword, "port") == 0;
}

static void
fill(struct settings *settings, const struct hosts *hosts, const struct host *host,
     const struct db_options *options)
{
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		set(settings, usual[i].keyword, usual[i].value);
	if (hosts->count > 1 && !getenv("PGTARGETSESSIONATTRS"))
		set(settings, "target_session_attrs", "read-write");
	set(settings, "fallback_application_name", options->application_name);
	for (const PQconninfoOption *o = hosts->options; o->keyword; o++)
		if (!is_split(o->keyword))
			set(settings, o->keyword, o->val);
	set(settings, "host", host->host);
	set(settings, "hostaddr", host->hostaddr);
	set(settings, "port", host->port);
	set(settings, "client_encoding", "UTF8");
	if (options->password)
		set(settings, "password", secret_reveal(options->password));
}

PGconn *
hosts_connect_start(const struct hosts *hosts, size_t i, const char *address,
		    const struct db_options *options)
{
	struct settings settings = { 0 };

	fill(&settings, hosts, &hosts->list[i], options);
	set(&settings, "hostaddr", address);
	return PQconnectStartParams(settings.keywords, settings.values, 0);
}

PGconn *
hosts_connect_wait(const struct hosts *hosts, size_t i, const struct db_options *options)
{
	struct settings settings = { 0 };
	char seconds[24];

	/* libpq takes less than two seconds for two */
	snprintf(seconds, sizeof(seconds), "%lld",
		 (long long)((options->connect_timeout_us + SECOND - 1) / SECOND));
	fill(&settings, hosts, &hosts->list[i], options);
	set(&settings, "connect_timeout", seconds);
	return PQconnectdbParams(settings.keywords, settings.values, 0);
}

void
hosts_describe(const struct hosts *hosts, size_t i, const char *address, struct strbuf *out)
{
	const struct host *host = &hosts->list[i];
	const char *name = host->host ? host->host : host->hostaddr;

	strbuf_printf(out, "connection to server at \"%s\"", name ? name : "(default)");
	if (address)
		strbuf_printf(out, " (%s)", address);
	strbuf_printf(out, ", port %s", host->port ? host->port : "5432");
}
