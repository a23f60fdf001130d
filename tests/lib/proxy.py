# SPDX-License-Identifier: Apache-2.0
"""A small HTTP proxy on loopback that remembers what it was asked: tunnels and absolute addresses."""

import socket
import threading
from urllib.parse import urlsplit


def _head(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        head += chunk
    return head


def _copy(source, destination):
    try:
        while chunk := source.recv(65536):
            destination.sendall(chunk)
    except OSError:
        pass
    finally:
        for end in (source, destination):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Proxy:
    """heads: of the requests to the proxy itself, as they came."""

    def __enter__(self):
        self.heads = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        head = _head(connection)
        if head is None:
            return
        self.heads.append(head.decode("latin-1"))
        method, where = head.split(b" ")[0].decode(), head.split(b" ")[1].decode()
        host, port = (where if method == "CONNECT" else urlsplit(where).netloc).rsplit(":", 1)
        there = socket.create_connection((host, int(port)))
        if method == "CONNECT":
            connection.sendall(b"HTTP/1.1 200 tunnel\r\n\r\n")
        else:
            there.sendall(head.replace(where.encode(), urlsplit(where).path.encode(), 1))
        threading.Thread(target=_copy, args=(there, connection), daemon=True).start()
        _copy(connection, there)
