# SPDX-License-Identifier: Apache-2.0
"""A target system whose answers a test decides one by one: real HTTP on a loopback port."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Request:
    def __init__(self, handler):
        url = urlsplit(handler.path)
        self.method = handler.command
        self.path = url.path
        self.raw_path = handler.path
        self.query = {name: values[0] for name, values in parse_qs(url.query).items()}
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        length = int(self.headers.get("content-length", 0))
        self.body = handler.rfile.read(length)


def answer_json(value, status=200, **headers):
    body = value if isinstance(value, (str, bytes)) else json.dumps(value)
    return status, {"content-type": "application/json", **headers}, body


NOT_FOUND = answer_json({"error": "not_found"}, 404)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _serve(self):
        target = self.server.target
        request = Request(self)
        with target.lock:
            target.requests.append(request)
        answer = target.answer(request)
        if answer is None:  # close without an answer
            self.close_connection = True
            return
        status, headers, body = answer
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        # an answer with a framing of its own is sent as it is: it may be a lie
        framed = {"content-length", "transfer-encoding", "connection"} & {n.lower() for n in headers}
        if not framed:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        if framed:
            self.close_connection = True

    def setup(self):
        self.disable_nagle_algorithm = self.server.address_family == socket.AF_INET
        super().setup()
        if self.server.context:
            self.connection.do_handshake()

    do_GET = do_HEAD = do_POST = _serve


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    context = None

    def get_request(self):
        connection, address = super().get_request()
        if self.context:  # the handshake is made in the thread of the connection
            connection = self.context.wrap_socket(connection, server_side=True,
                                                  do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, *_):
        pass  # the other side went away: tests do that on purpose


class _UnixServer(_Server):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "localhost", 0

    def get_request(self):
        connection, _ = super().get_request()
        return connection, ("", 0)


class Target:
    """answer(request) returns (status, headers, body), or None to close the connection.

    path: a unix socket instead of a port. context: TLS.
    """

    def __init__(self, path=None, context=None):
        self.path, self.context = path, context
        self.lock = threading.Lock()
        self.requests = []
        self.answer = lambda request: NOT_FOUND

    def __enter__(self):
        self.server = (_UnixServer(str(self.path), _Handler) if self.path
                       else _Server(("127.0.0.1", 0), _Handler))
        self.server.target, self.server.context = self, self.context
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self):
        scheme = "https" if self.context else "http"
        return f"{scheme}://127.0.0.1:{self.server.server_address[1]}"

    def asked(self, prefix="/"):
        with self.lock:
            return [request for request in self.requests if request.path.startswith(prefix)]

    def serve(self, objects):
        """GET /customers/KEY from a dictionary; what is not in it is an honest 404."""
        def answer(request):
            found = objects.get(request.path.rsplit("/", 1)[-1])
            return NOT_FOUND if found is None else answer_json(found)
        self.answer = answer
