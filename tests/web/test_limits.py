# SPDX-License-Identifier: Apache-2.0
"""Time, connections and memory that a client may take; answers that come late or never."""

import contextlib
import time

from conftest import Answer, wait_until

GET = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def ended(made):
    """Whether the other side has closed, without waiting."""
    made.setblocking(False)
    try:
        return made.recv(65536) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        made.settimeout(30)


def is_open(made):
    return not ended(made)


def test_a_request_has_ten_seconds_in_all(server):
    """Trickling head, trickling body, silent from the start, silent after an answer: all at once."""
    with contextlib.ExitStack() as stack:
        head, body, silent, idle = (stack.enter_context(server.connect()) for _ in range(4))
        idle.sendall(HEALTH)
        body.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n")
        for _ in range(14 * 5):
            for made, byte in ((head, b"G"), (body, b"x")):
                with contextlib.suppress(ConnectionError):
                    made.sendall(byte)
            time.sleep(0.2)
        assert silent.recv(100) == b""
        with head.makefile("rb") as stream:
            assert Answer(stream).status == 408
            assert stream.read() == b""
        with idle.makefile("rb") as stream:
            assert Answer(stream).status == 200
            assert stream.read() == b""
        wait_until(lambda: ended(body))
    assert server.get("/healthz").status == 200


def test_a_client_that_reads_nothing_is_given_up(server):
    server.tell("pad")
    with server.connect() as made:
        made.sendall(GET * 100)
        time.sleep(11)
        wait_until(lambda: server.get("/healthz").status == 200)
        with contextlib.suppress(ConnectionError):
            got = b"".join(iter(lambda: made.recv(1 << 20), b""))
            assert got.count(b"HTTP/1.1 200 OK") < 100


def test_two_hundred_connections(server):
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(server.connect()) for _ in range(200)]
        wait_until(lambda: sum(map(is_open, made)) == 64)
        living = [one for one in made if is_open(one)]
        assert living == made[:64]
        living[0].sendall(HEALTH)  # those that are in are served
        with living[0].makefile("rb") as stream:
            assert Answer(stream).status == 200
        living[1].close()  # and make room when they go
        wait_until(lambda: server.ask(HEALTH) is not None)
        wait_until(lambda: server.ask(HEALTH) is not None)
    wait_until(lambda: server.ask(HEALTH) is not None)


def test_answers_that_come_later(server):
    server.tell("hold")
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(server.connect()) for _ in range(10)]
        for one in made:
            one.sendall(GET + HEALTH)
        assert server.get("/healthz").status == 200  # nobody else waits for them
        for gone in made[5:]:
            gone.close()
        server.tell("release")
        for one in made[:5]:
            with one.makefile("rb") as stream:
                assert Answer(stream).body.startswith("# HELP ")
                assert Answer(stream).body == "ok\n"


def test_an_answer_after_the_deadline(server):
    server.tell("hold")
    with server.connect() as made:
        made.sendall(GET)
        assert made.recv(100) == b""  # closed after ten seconds
    server.tell("release")
    assert server.get("/metrics").status == 200


def test_the_server_ends_while_it_is_asked(start):
    server = start()
    server.tell("hold")
    with server.connect() as made, server.connect() as other:
        made.sendall(GET)
        other.sendall(b"GET /metr")
        assert server.get("/healthz").status == 200
        assert server.end() == (0, "")
        assert made.recv(100) == b""
