# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A private PostgreSQL for scripts: own data directory, unix socket only, stopped by its process id.
# Sourced by bash. PostgreSQL refuses to run as root, so root starts it as another user; that user
# needs no access to the directory of the sources.

# Newest installed server programs.
postgresql_bin()
{
	local bin

	bin=$(find /usr/lib/postgresql -maxdepth 3 -name initdb -path '*/bin/*' 2>/dev/null | sort -V |
		tail -n 1)
	[ -n "$bin" ] || return 1
	dirname -- "$bin"
}

# postgresql_as_server COMMAND...: from the directory of the cluster, as the user of the server.
postgresql_as_server()
{
	local user=postgres

	if [ "$(id -u)" -ne 0 ]; then
		exec "$@"
	fi
	id "$user" >/dev/null 2>&1 || user=nobody
	exec setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- \
		env HOME="$POSTGRESQL_DIRECTORY" "$@"
}

# postgresql_start DIRECTORY: makes DIRECTORY/data and DIRECTORY/run and starts the server; sets
# POSTGRESQL_PID. The superuser is postgres. DIRECTORY must be short, and passable for others.
postgresql_start()
{
	local bin tries=0

	POSTGRESQL_DIRECTORY=$1
	bin=$(postgresql_bin) || return 1
	mkdir -m 700 -- "$1/data" "$1/run" || return 1
	if [ "$(id -u)" -eq 0 ]; then
		chown "$(id -u postgres 2>/dev/null || id -u nobody)" -- "$1/data" "$1/run" || return 1
	fi
	(cd -- "$1" && postgresql_as_server "$bin/initdb" -A trust -N -U postgres -E UTF8 \
		--locale=C.UTF-8 -D "$1/data") >"$1/postgresql.log" 2>&1 || return 1
	(cd -- "$1" && postgresql_as_server setsid "$bin/postgres" -D "$1/data" -k "$1/run" \
		-c listen_addresses= -c fsync=off -c full_page_writes=off) >>"$1/postgresql.log" 2>&1 &
	POSTGRESQL_PID=$!
	until "$bin/pg_isready" -q -h "$1/run" -U postgres -d postgres; do
		tries=$((tries + 1))
		if [ $tries -gt 300 ] || ! kill -0 "$POSTGRESQL_PID" 2>/dev/null; then
			return 1
		fi
		sleep 0.1
	done
}

postgresql_stop()
{
	[ -n "${POSTGRESQL_PID:-}" ] || return 0
	kill -INT "$POSTGRESQL_PID" 2>/dev/null
	wait "$POSTGRESQL_PID" 2>/dev/null
	POSTGRESQL_PID=
}
