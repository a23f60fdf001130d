# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that misbehaves on request: the first segment of the path names the fault.

Prints one line "name=value ..." with its ports and files, serves until its standard input closes.
Writes raw bytes, so that it can send what no library would send.
"""

import asyncio
import gzip
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

import fault_login

EMPTY_LIST = b'{"data":[]}'
FOUND = b'{"id":"a1","version":"7"}'
PAGE = b"<html><h1>Bad Gateway</h1></html>"
BOMB = gzip.compress(bytes(50_000_000), 9)

running = most = requests = 0
control_there = True
recorded = []
arrivals = []  # seconds, of requests for steps and control
steps_done = {}  # how often each path was asked for


def answer(status, body=b"", *headers, kind="application/json", length=None):
    lines = [f"HTTP/1.1 {status} x", f"Content-Type: {kind}"]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def chunked(*parts, last=b"0\r\n\r\n"):
    head = b"HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n"
    return head, b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + last


def no_length(body):
    return b"HTTP/1.1 200 x\r\nContent-Type: application/json\r\n\r\n" + body


GZIP = "Content-Encoding: gzip"

# Sent at once, the connection stays open.
PLAIN = {
    "found": answer(200, FOUND),
    "absent": answer(404, b'{"error":"not_found"}'),
    "list": answer(200, EMPTY_LIST),
    "html404": answer(404, PAGE, kind="text/html"),
    "html502": answer(502, PAGE, kind="text/html"),
    "html200": answer(200, PAGE, kind="text/html"),
    "json500": answer(500, b'{"e":1}'),
    "json503": answer(503, EMPTY_LIST),
    "json408": answer(408, EMPTY_LIST),
    "empty": answer(200),
    "spaces": answer(200, b" \r\n "),
    "huge": answer(200, b'"' + b"a" * 10_000_000 + b'"'),
    "deep": answer(200, b"[" * 100_000),
    "deepwhole": answer(200, b"[" * 65 + b"]" * 65),
    "bomb": answer(200, BOMB, GZIP),
    "gzip": answer(200, gzip.compress(FOUND), GZIP),
    "notgzip": answer(200, FOUND, GZIP),
    "unmodified": b"HTTP/1.1 304 x\r\nETag: \"3\"\r\n\r\n",
    "nocontent": b"HTTP/1.1 204 x\r\n\r\n",
    "twice": answer(200, FOUND, "X-Id: 1", "X-Id: 2"),
    "mixed": answer(200, FOUND, "X-MiXed-CaSe:  Some Value \t", "ETAG: \"Ab\""),
    "folded": answer(200, FOUND, "X-Long: one", "  two"),
    "flood": answer(200, FOUND, *[f"X-Flood-{i}: {'f' * 100}" for i in range(2000)]),
    "longheader": answer(200, FOUND, "X-Long: " + "f" * 66_000),
    "nulheader": answer(200, FOUND, "X-Nul: a\0b"),
    "throttled": answer(429, b"{}", "Retry-After: 7"),
    "interim": b"HTTP/1.1 103 x\r\nX-Early: 1\r\n\r\n" + answer(200, FOUND, "X-Late: 2"),
    "bom": answer(200, b"\xef\xbb\xbf" + FOUND),
    "duplicate": answer(200, b'{"id":"a1","id":"a2"}'),
}

# Sent, then the connection is closed.
CLOSED = {
    "close": answer(200, FOUND, "Connection: close"),
    "toolong": answer(200, EMPTY_LIST, length=100),
    "openchunk": b"\r\n".join(chunked(EMPTY_LIST, last=b"")),
    "badchunk": chunked()[0] + b"\r\nzz\r\n",
    "cut": no_length(b'{"data":['),
    "nolength": no_length(FOUND),
    "nothing": b"",
    "garbage": b"\x16\x03\x01 nonsense\r\n\r\n",
    "headonly": b"HTTP/1.1 200 x\r\nContent-Type: application/json\r\n",
    "cutgzip": answer(200, gzip.compress(FOUND)[:-12], GZIP, length=1000),
}


class Gone(Exception):
    pass


async def slow_headers(writer, request):
    writer.write(b"HTTP/1.1 200 x\r\n")
    for i in range(1000):
        writer.write(b"X-Slow: %d\r\n" % i)
        await writer.drain()
        await asyncio.sleep(0.2)


async def drip(writer, request):
    writer.write(answer(200, length=1000))
    for _ in range(1000):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(1)


async def never(writer, request):
    await asyncio.sleep(3600)


async def reset(writer, request):
    writer.write(answer(200, b"{", length=100))
    await writer.drain()
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    raise Gone


async def redirect(writer, request):
    where = f"http://127.0.0.1:{recorder_port}/stolen"
    writer.write(answer(302, b"{}", f"Location: {where}"))


async def take_a_moment():
    global running, most
    running += 1
    most = max(most, running)
    await asyncio.sleep(0.01)
    running -= 1


async def slow(writer, request):
    await take_a_moment()
    writer.write(answer(200, FOUND))


def step(status, wait):
    """404, 429a300 (Retry-After: 0.300), 200q300 (used up, filled again after 0.300 s)"""
    headers = []
    if wait[:1] == "a":
        headers = [f"Retry-After: {int(wait[1:]) / 1000:.3f}"]
    if wait[:1] == "q":
        headers = ["X-RateLimit-Remaining: 0", f"X-RateLimit-Reset: {int(wait[1:]) / 1000:.3f}"]
    body = {200: FOUND, 404: b'{"error":"not_found"}'}.get(status, b"{}")
    return answer(status, body, *headers)


async def steps(writer, request):
    """/steps/500-200/x: the first request for this path gets 500, all others 200."""
    arrivals.append(time.monotonic())
    path = request["target"]
    done = steps_done[path] = steps_done.get(path, 0) + 1
    script = path.split("/")[2].split("-")
    word = script[min(done, len(script)) - 1]
    await take_a_moment()
    if word.isalpha():
        if word in CLOSED:
            writer.write(CLOSED[word])
            await writer.drain()
            raise Gone
        await BEHAVIOURS[word](writer, request)
    else:
        writer.write(step(int(word[:3]), word[3:]))


async def busiest(writer, request):
    """/busiest/500: the most arrivals within any 500 ms."""
    window = int(request["target"].split("/")[2]) / 1000
    within = [sum(first <= other < first + window for other in arrivals) for first in arrivals]
    writer.write(answer(200, json.dumps({"arrivals": max(within, default=0)}).encode()))


async def gap(writer, request):
    """/gap/1: milliseconds between the first two arrivals."""
    place = int(request["target"].split("/")[2])
    length = arrivals[place] - arrivals[place - 1] if place < len(arrivals) else 0
    writer.write(answer(200, json.dumps({"ms": int(length * 1000)}).encode()))


async def awaken(writer, request):
    """From now on somebody listens at the port that was asleep."""
    global awake
    awake = await asyncio.start_server(serve, sock=asleep)
    writer.write(answer(200, FOUND))


async def retire(writer, request):
    """Answers, and closes the idle connection a moment later."""
    writer.write(answer(200, FOUND))
    await writer.drain()
    await asyncio.sleep(0.2)
    raise Gone


async def trailer(writer, request):
    head, body = chunked(FOUND, last=b"0\r\nX-Trailer: t\r\nX-Real: changed\r\n\r\n")
    writer.write(head + b"X-Real: r\r\n\r\n" + body)


async def echo(writer, request):
    writer.write(answer(200, json.dumps(request).encode()))


async def stats(writer, request):
    body = {"most": most, "requests": requests, "recorded": recorded, "arrivals": len(arrivals)}
    writer.write(answer(200, json.dumps(body).encode()))


async def control(writer, request):
    arrivals.append(time.monotonic())
    writer.write(PLAIN["found" if control_there else "absent"])


async def take_control(writer, request):
    global control_there
    control_there = False
    writer.write(answer(200, FOUND))


async def return_control(writer, request):
    global control_there
    control_there = True
    writer.write(answer(200, FOUND))


async def forget(writer, request):
    global most, requests
    most = requests = 0
    recorded.clear()
    arrivals.clear()
    steps_done.clear()
    writer.write(answer(200, b"{}"))


BEHAVIOURS = {f.__name__: f for f in (slow_headers, drip, never, reset, redirect, slow, retire,
                                      trailer, echo, stats, forget, control, take_control,
                                      return_control, steps, busiest, gap, awaken)}
BEHAVIOURS.update(fault_login.BEHAVIOURS)


async def read_request(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    headers = [line.split(": ", 1) for line in head[1:] if line]
    length = next((int(v) for n, v in headers if n.lower() == "content-length"), 0)
    body = (await reader.readexactly(length)).decode("latin-1")
    return {"method": method, "target": target, "headers": headers, "body": body}


async def reply(writer, request):
    name = request["target"].split("/")[1].split("?")[0]
    data = PLAIN.get(name) or CLOSED.get(name)
    if data and request["method"] == "HEAD" and b"\r\n\r\n" in data:
        data = data.split(b"\r\n\r\n")[0] + b"\r\n\r\n"
    if name in PLAIN or name in CLOSED:
        writer.write(data or b"")
    else:
        await BEHAVIOURS[name](writer, request)
    await writer.drain()
    if name in CLOSED:
        raise Gone


async def serve(reader, writer):
    global requests
    try:
        while True:
            request = await read_request(reader)
            requests += 1
            await reply(writer, request)
    except (Gone, OSError, asyncio.IncompleteReadError, KeyError):
        pass
    finally:
        writer.close()


async def record(reader, writer):
    recorded.append(await read_request(reader))
    writer.write(answer(200, FOUND))
    writer.close()


def full_backlog():
    """A listener whose queue is full: a connection to it never comes about."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    fillers = [socket.socket() for _ in range(4)]
    for filler in fillers:
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
    return listener, fillers


def certificate(folder):
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-out", cert, "-keyout", key], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return cert, context


def port_of(server):
    return server.sockets[0].getsockname()[1]


def unheard():
    """A port at which nobody listens."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound


async def main():
    global recorder_port, asleep
    folder = tempfile.TemporaryDirectory()
    cert, context = certificate(folder.name)
    plain = await asyncio.start_server(serve, "127.0.0.1", 0)
    tls = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    mtls = await asyncio.start_server(serve, "127.0.0.1", 0,
                                      ssl=fault_login.client_certificate(folder.name))
    proxy = await asyncio.start_server(fault_login.proxy, "127.0.0.1", 0)
    path = os.path.join(folder.name, "socket")
    unix = await asyncio.start_unix_server(serve, path)
    recorder = await asyncio.start_server(record, "127.0.0.1", 0)
    recorder_port = port_of(recorder)
    backlog = full_backlog()
    refused, asleep = unheard(), unheard()
    print(f"plain={port_of(plain)} tls={port_of(tls)} full={backlog[0].getsockname()[1]} "
          f"refused={refused.getsockname()[1]} asleep={asleep.getsockname()[1]} cert={cert} "
          f"mtls={port_of(mtls)} proxy={port_of(proxy)} folder={folder.name}",
          flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    unix.close()
    folder.cleanup()
    os._exit(0)


asyncio.run(main())
