# SPDX-License-Identifier: Apache-2.0
"""Where the server listens: TCP, a path, a socket of the service manager."""

import os
import socket
import stat


def test_a_port_that_is_taken_is_named(start):
    first = start()
    code, err = start(f"127.0.0.1:{first.port}").end()
    assert code == 1
    assert err == f"cannot listen on 127.0.0.1, port {first.port}: Address already in use\n"


def test_a_host_that_is_not_here_is_named(start):
    code, err = start("192.0.2.1:0").end()
    assert code == 1 and "192.0.2.1, port 0" in err


def test_ipv6(start):
    server = start("::1:0")
    with socket.create_connection(("::1", server.port), 30) as made:
        made.sendall(b"GET /healthz HTTP/1.1\r\nHost: [::1]\r\n\r\n")
        assert made.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")


def test_unix_socket(start, tmp_path):
    path = tmp_path / "http.sock"
    before = os.umask(0)  # whatever the process was started with
    try:
        server = start(f"unix:{path}")
    finally:
        os.umask(before)
    assert server.port == 0
    assert server.get("/metrics").status == 200
    assert stat.S_IMODE(path.stat().st_mode) == 0o660
    assert server.end()[0] == 0
    assert not path.exists()


def test_the_socket_of_a_dead_process_is_replaced(start, tmp_path):
    path = tmp_path / "http.sock"
    dead = start(f"unix:{path}")
    dead.process.kill()
    dead.process.wait()
    assert path.exists()
    dead.process.returncode = 0  # as asked for
    assert start(f"unix:{path}").get("/healthz").status == 200


def test_the_socket_of_a_living_process_is_left_alone(start, tmp_path):
    path = tmp_path / "http.sock"
    first = start(f"unix:{path}")
    code, err = start(f"unix:{path}").end()
    assert (code, err) == (1, f'cannot listen on "{path}": another process listens there\n')
    assert first.get("/healthz").status == 200


def test_another_file_is_left_alone(start, tmp_path):
    path = tmp_path / "notes"
    path.write_text("mine")
    code, err = start(f"unix:{path}").end()
    assert (code, err) == (1, f'cannot listen on "{path}": something else has that name\n')
    assert path.read_text() == "mine"


def test_paths_that_cannot_be(start, tmp_path):
    long = tmp_path / ("x" * 200)
    assert f"the path has {len(str(long))} bytes, allowed: 1 to 107" in start(f"unix:{long}").end()[1]
    assert f'"{tmp_path}/none/s": No such file' in start(f"unix:{tmp_path}/none/s").end()[1]


def test_a_path_that_somebody_else_took_over_is_not_removed(start, tmp_path):
    path = tmp_path / "http.sock"
    first = start(f"unix:{path}")
    path.unlink()
    second = start(f"unix:{path}")
    assert first.end()[0] == 0
    assert second.get("/healthz").status == 200


def test_a_socket_of_the_service_manager(start):
    """It blocks: one accept too many would stop the loop."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(True)
        server = start(f"fd:{listening.fileno()}", pass_fds=[listening.fileno()])
        assert server.port == listening.getsockname()[1]
        assert server.get("/healthz").status == 200
        assert server.get("/metrics").status == 200


def test_descriptors_that_do_not_listen(start):
    with socket.socket() as idle:
        code, err = start(f"fd:{idle.fileno()}", pass_fds=[idle.fileno()]).end()
    assert code == 1 and "no listening socket" in err
    assert "no listening socket" in start("fd:77").end()[1]
