# SPDX-License-Identifier: Apache-2.0
"""What is served, and what of HTTP is refused."""

import random
import subprocess

import pytest

from conftest import Answer

HOST = "Host: localhost\r\n"


def test_healthz_and_readyz(server):
    assert (server.get("/healthz").status, server.get("/healthz").body) == (200, "ok\n")
    assert server.get("/readyz").status == 200
    server.tell("not-ready the database is away")
    answer = server.get("/readyz")
    assert (answer.status, answer.body) == (503, "the database is away\n")
    assert server.get("/healthz").status == 200


def test_metrics_are_well_formed(server):
    answer = server.get("/metrics")
    assert answer.status == 200
    assert answer.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    done = subprocess.run(["promtool", "check", "metrics"], input=answer.body, text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert 'reconciled_verdicts_total{type="charge_card",class="correct"} 1\n' in answer.body
    assert ('reconciled_worker_retries{type="sync_customer",cause="a \\"quoted\\\\ \\n cause"} 2\n'
            in answer.body)


def test_fields_of_every_answer(server):
    for answer in (server.get("/healthz"), server.get("/metrics"), server.get("/nothing"),
                   server.ask(b"nonsense\r\n\r\n")):
        assert answer.fields["cache-control"] == "no-store"
        assert answer.fields["x-content-type-options"] == "nosniff"
        assert answer.fields["content-type"].startswith("text/plain; ")
        assert answer.fields["date"].endswith(" GMT")
        assert "server" not in answer.fields


def test_head_has_the_fields_and_no_body(server):
    with server.connect() as made, made.makefile("rb") as stream:
        made.sendall(f"HEAD /healthz HTTP/1.1\r\n{HOST}\r\nGET /readyz HTTP/1.1\r\n{HOST}\r\n".encode())
        first, second = Answer(stream, without_body=True), Answer(stream)
    assert (first.status, first.fields["content-length"]) == (200, "3")
    assert (second.status, second.body) == (200, "ready\n")


@pytest.mark.parametrize("path", [
    "/", "/metrics/", "/Metrics", "//metrics", "/./metrics", "/x/../metrics", "/%6detrics",
    "/healthz%00", "/etc/passwd", "/metrics;x", "/" + "a" * 8000,
])
def test_unknown_paths(server, path):
    assert server.get(path).status == 404


def test_the_query_does_not_matter(server):
    assert server.get("/metrics?name=x&y=/../").status == 200
    assert server.get("/healthz?").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "X"])
def test_other_methods(server, method):
    answer = server.get("/metrics", method=method)
    assert (answer.status, answer.fields["allow"]) == (405, "GET, HEAD")
    assert server.get("/nothing", method=method).status == 404


def request(line="GET /healthz HTTP/1.1", fields=HOST):
    return f"{line}\r\n{fields}\r\n".encode("latin-1")


REFUSED = {
    "no host": (request(fields=""), 400),
    "two hosts": (request(fields=HOST + "host: other\r\n"), 400),
    "two hosts in 1.0": (request("GET /healthz HTTP/1.0", HOST + HOST), 400),
    "two words as host": (request(fields="Host: a b\r\n"), 400),
    "host with user": (request(fields="Host: a@b\r\n"), 400),
    "two lengths": (request(fields=HOST + "Content-Length: 0\r\nContent-Length: 0\r\n"), 400),
    "two lengths in one": (request(fields=HOST + "Content-Length: 0, 0\r\n"), 400),
    "length with sign": (request(fields=HOST + "Content-Length: +5\r\n") + b"12345", 400),
    "negative length": (request(fields=HOST + "Content-Length: -1\r\n"), 400),
    "length in hex": (request(fields=HOST + "Content-Length: 0x1\r\n"), 400),
    "empty length": (request(fields=HOST + "Content-Length:\r\n"), 400),
    "length and coding": (request(fields=HOST + "Content-Length: 5\r\n"
                                  "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n", 400),
    "coding and length": (request(fields=HOST + "Transfer-Encoding: chunked\r\n"
                                  "Content-Length: 5\r\n") + b"0\r\n\r\n", 400),
    "coding in 1.0": (request("GET /healthz HTTP/1.0", "Transfer-Encoding: chunked\r\n"), 400),
    "coding": (request(fields=HOST + "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n", 411),
    "other coding": (request(fields=HOST + "Transfer-Encoding: xchunked\r\n"), 411),
    "expectation": (request(fields=HOST + "Expect: 100-continue\r\n"), 417),
    "space before colon": (request(fields=HOST + "X-B : v\r\n"), 400),
    "space before name": (request(fields=HOST + " X-B: v\r\n"), 400),
    "space before first name": (request(fields=" " + HOST), 400),
    "folded": (request(fields=HOST + "X-B: v\r\n\tw\r\n"), 400),
    "no colon": (request(fields=HOST + "X-B\r\n"), 400),
    "no name": (request(fields=HOST + ": v\r\n"), 400),
    "NUL in value": (request(fields=HOST + "X-B: a\0b\r\n"), 400),
    "NUL in name": (request(fields=HOST + "X\0B: a\r\n"), 400),
    "CR in value": (request(fields=HOST + "X-B: a\rX-C: b\r\n"), 400),
    "bell in value": (request(fields=HOST + "X-B: a\x07\r\n"), 400),
    "bare LF": (b"GET /healthz HTTP/1.1\nHost: localhost\n\n", 400),
    "bare LF in fields": (b"GET /healthz HTTP/1.1\r\nHost: localhost\nX-B: v\r\n\r\n", 400),
    "absolute": (request("GET http://localhost/healthz HTTP/1.1"), 400),
    "absolute, other host": (request("GET http://other/healthz HTTP/1.1"), 400),
    "asterisk": (request("OPTIONS * HTTP/1.1"), 400),
    "authority": (request("CONNECT localhost:1 HTTP/1.1"), 400),
    "relative": (request("GET healthz HTTP/1.1"), 400),
    "two spaces": (request("GET  /healthz HTTP/1.1"), 400),
    "space at the end": (request("GET /healthz HTTP/1.1 "), 400),
    "tab": (request("GET\t/healthz\tHTTP/1.1"), 400),
    "no version": (request("GET /healthz"), 400),
    "version in lower case": (request("GET /healthz http/1.1"), 400),
    "long version": (request("GET /healthz HTTP/1.10"), 400),
    "HTTP/2": (request("GET /healthz HTTP/2.0"), 505),
    "HTTP/1.2": (request("GET /healthz HTTP/1.2"), 505),
    "HTTP/0.9": (request("GET /healthz HTTP/0.9"), 505),
    "preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "no method": (request(" /healthz HTTP/1.1"), 400),
    "method with comma": (request("GE,T /healthz HTTP/1.1"), 400),
    "byte beyond ASCII in the path": (request("GET /h\xe4 HTTP/1.1"), 400),
    "empty line before": (b"\r\n" + request(), 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\n", 400),
    "many fields": (request(fields=HOST + "X: y\r\n" * 100), 431),
    "large field": (request(fields=HOST + "X: " + "y" * 8192 + "\r\n"), 431),
    "endless line": (b"G" * 8192, 431),
    "endless fields": (request(fields=HOST + ("X: " + "y" * 200 + "\r\n") * 60), 431),
    "large body": (request(fields=HOST + "Content-Length: 16385\r\n"), 413),
    "huge body": (request(fields=HOST + "Content-Length: 99999999999999999999999\r\n"), 413),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(server, name):
    sent, status = REFUSED[name]
    with server.connect() as made, made.makefile("rb") as stream:
        made.sendall(sent)
        answer = Answer(stream)
        assert (answer.status, answer.closes) == (status, True)
        assert stream.read() == b""  # closed, whatever follows
    assert server.get("/healthz").status == 200


def test_nothing_of_a_refused_request_comes_back(server):
    answer = server.ask(request(fields=HOST + "X-Secret : hunter2\r\n"))
    assert "hunter2" not in str(answer.fields) + answer.body


TAKEN = {
    "HTTP/1.0 without host": request("GET /healthz HTTP/1.0", ""),
    "empty host": request(fields="Host:\r\n"),
    "IPv6 host": request(fields="Host: [::1]:9402\r\n"),
    "host with spaces around": request(fields="Host: \t localhost \t\r\n"),
    "body": request(fields=HOST + "Content-Length: 5\r\n") + b"12345",
    "largest body": request(fields=HOST + "Content-Length: 16384\r\n") + b"x" * 16384,
    "length with zeros": request(fields=HOST + "Content-Length: 0000\r\n"),
    "ninety-nine fields more": request(fields=HOST + "X: y\r\n" * 99),
    "text beyond ASCII in a field": request(fields=HOST + "X: \xe4\r\n"),
    "tab in a field": request(fields=HOST + "X: a\tb\r\n"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(server, name):
    answer = server.ask(TAKEN[name])
    assert (answer.status, answer.body) == (200, "ok\n")


def test_the_largest_head(server):
    start, end = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"\r\n\r\n"
    for length, status in ((8192, 200), (8193, 431)):
        assert server.ask(start + b"y" * (length - len(start + end)) + end).status == status


def test_keep_alive(server):
    with server.connect() as made, made.makefile("rb") as stream:
        for _ in range(3):
            made.sendall(request(fields=HOST + "Content-Length: 3\r\n") + b"abc")
            assert not Answer(stream).closes
        made.sendall(request(fields=HOST + "Connection: x, Close\r\n"))
        assert Answer(stream).closes
        assert stream.read() == b""


@pytest.mark.parametrize("fields, closes", [("", True), ("Connection: keep-alive\r\n", False)])
def test_keep_alive_in_1_0(server, fields, closes):
    assert server.ask(request("GET /healthz HTTP/1.0", fields)).closes == closes


def test_requests_in_a_row_are_answered_in_order(server):
    paths = ["/healthz", "/nothing", "/metrics", "/readyz"] * 25
    with server.connect() as made, made.makefile("rb") as stream:
        made.sendall(b"".join(request(f"GET {path} HTTP/1.1") for path in paths))
        statuses = [Answer(stream).status for _ in paths]
    assert statuses == [200, 404, 200, 200] * 25


def test_what_follows_a_refused_request_is_not_read(server):
    with server.connect() as made, made.makefile("rb") as stream:
        made.sendall(request(fields=HOST + "Content-Length: +9\r\n") + request())
        assert Answer(stream).status == 400
        assert stream.read() == b""


def test_a_client_that_shuts_its_side_is_answered(server):
    with server.connect() as made, made.makefile("rb") as stream:
        made.sendall(request() + request("GET /readyz HTTP/1.1") + b"GET /hea")
        made.shutdown(1)
        assert [Answer(stream).body, Answer(stream).body] == ["ok\n", "ready\n"]
        assert stream.read() == b""


def test_bytes_one_by_one(server):
    with server.connect() as made, made.makefile("rb") as stream:
        for byte in request(fields=HOST + "Content-Length: 2\r\n") + b"ab":
            made.sendall(bytes([byte]))
        assert Answer(stream).status == 200


def mutate(rng, sent):
    """One of the usual accidents: changed, doubled, lost bytes."""
    at, what = rng.randrange(len(sent)), rng.randrange(4)
    if what == 0:
        return sent[:at] + bytes([rng.randrange(256)]) + sent[at + 1:]
    if what == 1:
        return sent[:at] + sent[at:at + rng.randrange(40)] + sent[at:]
    if what == 2:
        return sent[:at] + sent[at + rng.randrange(1, 9):]
    return sent[:at] + rng.choice([b"\r\n", b"\n", b"\0", b" ", b":", b"\r", b"\t", b"+"]) + sent[at:]


def test_random_bytes_do_no_harm(server):
    rng = random.Random(3)
    seeds = [sent for sent, _ in REFUSED.values() if len(sent) < 500] + list(TAKEN.values())[:5]
    for _ in range(600):
        sent = rng.choice(seeds)
        for _ in range(rng.randrange(1, 5)):
            sent = mutate(rng, sent) or b"G"
        with server.connect() as made, made.makefile("rb") as stream:
            made.sendall(sent)
            made.shutdown(1)
            for line in stream.read().split(b"\r\n"):
                if line.startswith(b"HTTP/1.1 "):
                    assert int(line.split()[1]) in (200, 400, 404, 405, 411, 413, 417, 431, 505)
    assert server.get("/healthz").status == 200
