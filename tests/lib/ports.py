# SPDX-License-Identifier: Apache-2.0
"""Ports for servers that cannot choose one themselves."""

import random
import socket


def free_port():
    """Nobody listens there, and the system gives it to no connection: tests run side by side."""
    while True:
        port = random.randrange(10240, 32000)
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
