# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For the steps beside it: the files of the repository, whoever owns the checkout.

# sources PATTERN...: files that match a pattern of git, new ones too, NUL-terminated.
sources()
{
	git -c safe.directory='*' ls-files -z --cached --others --exclude-standard -- "$@" |
		while IFS= read -r -d '' file; do
			[ ! -f "$file" ] || printf '%s\0' "$file"
		done
}
