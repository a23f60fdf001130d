# SPDX-License-Identifier: Apache-2.0
"""The numbers of a running daemon, asked at its unix socket."""

import http.client
import socket


def get(path, where="/metrics"):
    """Status and text."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(20)
    try:
        connection.sock.connect(str(path))
        connection.request("GET", where)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def numbers(path):
    """{'name{labels}': number}"""
    status, text = get(path)
    assert status == 200, text
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, value in rows}
