# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Installing what is missing, for the scripts beside this one. Sourced by bash; needs root or sudo
# only when something is missing.
# shellcheck disable=SC2034 # variables are for those who source this

# What the programs are built with, and the server they talk to.
BUILD_PACKAGES=(gcc libc6-dev meson ninja-build pkg-config libcurl4-openssl-dev libevent-dev
	libjansson-dev libpq-dev libssl-dev libsystemd-dev libutf8proc-dev libyajl-dev libyaml-dev)
TEST_PACKAGES=(git iproute2 libfaketime locales nftables openssl pgbouncer php-cli php-curl php-pgsql procps python3
	python3-jsonschema python3-psycopg python3-pytest python3-pytest-xdist python3-yaml
	strace systemd-container tzdata)
LINT_PACKAGES=(clang clang-format clang-tidy codespell mandoc shellcheck systemd yamllint)

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "needs root or sudo: $*"
	fi
}

is_installed()
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Wanted as a command: another package may bring it (Node.js often comes from elsewhere).
# missing_command COMMAND PACKAGE: prints the package when the command is not there.
missing_command()
{
	command -v "$1" >/dev/null || printf '%s\n' "$2"
}

apt_get()
{
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 "$@" >&2
}

# install_packages PACKAGE...: those that are missing, without asking.
install_packages()
{
	local package missing=()

	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	say "installing: ${missing[*]}"
	apt_get update || say "apt-get update failed: going on with the lists that are there"
	apt_get install --no-install-recommends "${missing[@]}"
}

# The server's programs without Debian's own cluster "main": tests and quickstart start their own.
install_postgresql()
{
	local conf=/etc/postgresql-common/createcluster.conf kept

	! is_installed postgresql && ! is_installed postgresql-15 || return 0
	install_packages postgresql-common
	kept=$(mktemp)
	cp -- "$conf" "$kept"
	as_root sh -c "echo 'create_main_cluster = false' >>$conf"
	install_packages postgresql-15 || true
	as_root cp -- "$kept" "$conf"
	rm -f -- "$kept"
	is_installed postgresql-15
}

# promtool comes with the server, which nobody here wants to run: its service is masked first.
install_promtool()
{
	local unit=/etc/systemd/system/prometheus.service

	! is_installed prometheus || return 0
	[ -e "$unit" ] || [ -L "$unit" ] || as_root ln -s /dev/null "$unit"
	install_packages prometheus
}
