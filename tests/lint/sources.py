# SPDX-License-Identifier: Apache-2.0
"""For the steps beside it: the files of the repository, whoever owns the checkout."""

import pathlib
import re
import subprocess
import sys


def files(*patterns):
    """Files that match patterns of git, new ones too."""
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard", "--", *patterns], capture_output=True, check=True)
    found = (pathlib.Path(name) for name in listed.stdout.decode().split("\0") if name)
    return sorted(path for path in found if path.is_file())


def text_files(*patterns):
    """(path, text) of files that are text."""
    for path in files(*patterns):
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def code_lines(text):
    """(number, line) without comments and the contents of strings."""
    def blank(match):
        token = match.group(0)
        return '""' if token[0] in "\"'" else re.sub(r"[^\n]", " ", token)

    bare = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.DOTALL)
    return enumerate(bare.splitlines(), 1)


def finish(findings):
    """Prints the findings, "FILE:LINE: rule: what", and exits."""
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
