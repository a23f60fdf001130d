#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A proxy that damages connections on purpose: TCP or unix sockets on both sides.

In a test it is a context manager whose faults may be switched while connections go through it:

    with FaultProxy("unix:/tmp/pg/.s.PGSQL.5432", postgres=True) as proxy:
        proxy.down(delay=0.1)          # what the server says arrives later
        proxy.up(blackhole_after=0)    # from now on nothing reaches the server
        proxy.lose("INSERT INTO")      # the server commits it, the client never learns

As a program it takes the same words on its standard input, one command a line (see COMMANDS).
"""

import argparse
import asyncio
import contextlib
import dataclasses
import os
import pathlib
import shlex
import socket
import struct
import sys
import threading

CHUNK = 65536


@dataclasses.dataclass(frozen=True)
class Faults:
    """Of one direction. Bytes are counted for each connection, from when the fault was set."""

    delay: float = 0  # seconds before a piece is handed on
    rate: int = 0  # bytes a second; 0: as fast as it goes
    blackhole_after: int = None  # then everything is swallowed
    truncate_after: int = None  # then both sides are closed in an orderly way
    reset_after: int = None  # then both sides are reset
    half_close_after: int = None  # then this direction ends and the other goes on

    def limit(self):
        """(bytes that may pass, what happens then): the first that is reached."""
        limits = [(getattr(self, f"{name}_after"), name)
                  for name in ("blackhole", "truncate", "reset", "half_close")]
        return min([(after, name) for after, name in limits if after is not None],
                   default=(None, None))


@dataclasses.dataclass
class Loss:
    """Of a statement: the n-th whose text contains a text."""

    text: str
    nth: int
    what: str  # answer: the server has done it; question: it never arrives
    how: str  # close, reset or silence: what the client sees
    happened: threading.Event = dataclasses.field(default_factory=threading.Event)


def parse_address(text):
    """unix:PATH or HOST:PORT, as what asyncio takes."""
    if text.startswith("unix:"):
        return {"path": text[5:]}
    host, _, port = text.rpartition(":")
    return {"host": host.strip("[]"), "port": int(port)}


def reset(writer):
    """Closes at once and, with TCP, without a farewell."""
    sock = writer.get_extra_info("socket")
    if sock.family != socket.AF_UNIX:
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Messages:
    """Cuts one direction of PostgreSQL's protocol into whole messages."""

    def __init__(self, begins_untyped):
        self.buffer = b""
        self.untyped = begins_untyped  # the client's first packets have no type
        self.negotiations = 0  # answers of one byte that the server still owes

    def feed(self, data):
        """(type, message) for each that is complete."""
        self.buffer += data
        while (message := self._next()) is not None:
            yield message

    def _next(self):
        if self.negotiations and self.buffer:
            self.negotiations -= 1
            return "", self._take(1)
        head = 0 if self.untyped else 1
        if len(self.buffer) < head + 4:
            return None
        length = head + struct.unpack_from("!I", self.buffer, head)[0]
        if len(self.buffer) < length:
            return None
        kind = "" if self.untyped else chr(self.buffer[0])
        return kind, self._take(length)

    def _take(self, length):
        taken, self.buffer = self.buffer[:length], self.buffer[length:]
        return taken


NEGOTIATIONS = (80877103, 80877104)  # SSLRequest, GSSENCRequest
QUERY, PARSE, SYNC, READY = "Q", "P", "S", "Z"


class Conversation:
    """What is known of one connection to PostgreSQL. Answers are counted by ReadyForQuery: the
    first ends the authentication, the others answer a Query or a Sync each."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.client, self.server = Messages(True), Messages(False)
        self.asked, self.answered = 0, -1
        self.loss, self.lost_answer = None, None

    def from_client(self, data):
        """What goes on to the server, and how this connection ends, if it does."""
        passed = b""
        for kind, message in self.client.feed(data):
            if self.client.untyped:
                self._greet(message)
            elif (text := self._statement(kind, message)) is not None:
                loss = self.proxy.sees_statement(text)
                if loss and loss.what == "question":
                    loss.happened.set()
                    return passed, loss.how
                if loss:
                    self.loss, self.lost_answer = loss, self.asked + 1
            self.asked += kind in (QUERY, SYNC)
            passed += message
        return passed, None

    def _greet(self, message):
        if struct.unpack_from("!I", message, 4)[0] in NEGOTIATIONS:
            self.server.negotiations += 1
        else:
            self.client.untyped = False

    @staticmethod
    def _statement(kind, message):
        if kind == QUERY:
            return message[5:-1].decode(errors="replace")
        if kind == PARSE:
            return message[5:].split(b"\0")[1].decode(errors="replace")
        return None

    def from_server(self, data):
        passed = b""
        for kind, message in self.server.feed(data):
            withheld = self.loss and self.answered == self.lost_answer - 1
            self.answered += kind == READY
            if not withheld:
                passed += message
            elif self.answered == self.lost_answer:
                self.loss.happened.set()
                return passed, self.loss.how
        return passed, None


class Plain:
    """A connection of which nothing is known."""

    @staticmethod
    def from_client(data):
        return data, None

    from_server = from_client


class Way:
    """One direction of a connection."""

    def __init__(self, link, reader, writer, faults, translate):
        self.link, self.reader, self.writer = link, reader, writer
        self.faults_of, self.translate = faults, translate
        self.faults, self.passed, self.swallows = None, 0, False

    async def run(self):
        with contextlib.suppress(OSError):
            while data := await self.reader.read(CHUNK):
                data, end = self.translate(data)
                if not await self._hand_on(data):
                    return
                if end:
                    self.link.end(end)
                    if end != "silence":
                        return
        with contextlib.suppress(OSError):
            if not self.swallows and not self.link.silent:
                self.writer.write_eof()

    def _refresh(self):
        if self.faults is not self.faults_of():
            self.faults, self.passed, self.swallows = self.faults_of(), 0, False
        return self.faults

    async def _hand_on(self, data):
        """False: this direction is over."""
        while data:
            faults = self._refresh()
            if self.swallows or self.link.silent:
                return True
            if faults.delay:
                await asyncio.sleep(faults.delay)
                faults = self._refresh()
            after, what = faults.limit()
            piece = data[:max(1, faults.rate // 20)] if faults.rate else data
            piece = piece if after is None else piece[:after - self.passed]
            self.writer.write(piece)
            await self.writer.drain()
            self.passed += len(piece)
            data = data[len(piece):]
            if self.passed == after and not self._limit_reached(what):
                return False
            if faults.rate:
                await asyncio.sleep(len(piece) / faults.rate)
        return True

    def _limit_reached(self, what):
        if what == "blackhole":
            self.swallows = True
            return True
        if what == "half_close":
            self.writer.write_eof()
        else:
            self.link.end("reset" if what == "reset" else "close")
        return False


class Link:
    """A client and its connection to the target."""

    def __init__(self, proxy, client, server):
        conversation = Conversation(proxy) if proxy.postgres else Plain()
        self.writers = (client[1], server[1])
        self.silent = False
        self.ways = (
            Way(self, client[0], server[1], lambda: proxy.up_faults, conversation.from_client),
            Way(self, server[0], client[1], lambda: proxy.down_faults, conversation.from_server))

    async def run(self):
        try:
            await asyncio.gather(*(way.run() for way in self.ways))
        finally:
            for writer in self.writers:
                writer.close()

    def end(self, how):
        if how == "silence":
            self.silent = True
            return
        for writer in self.writers:
            if how == "reset":
                reset(writer)
            else:
                writer.close()


class FaultProxy:
    """target, listen: "HOST:PORT" or "unix:PATH"; port 0 is any. All methods are for any thread."""

    def __init__(self, target, listen="127.0.0.1:0", postgres=False):
        self.target, self.listen, self.postgres = parse_address(target), parse_address(listen), postgres
        self.up_faults = self.down_faults = Faults()
        self.statements = []  # texts that clients sent, in order (postgres only)
        self.accepted = 0
        self.losses = []
        self.links = set()
        self.loop = asyncio.new_event_loop()
        self.server = None

    # life

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self._do(self._listen())

    def stop(self):
        self._do(self._finish())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()

    def _do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)

    async def _listen(self):
        if self.server:
            return
        if "path" in self.listen:
            self.server = await asyncio.start_unix_server(self._on_client, **self.listen)
            os.chmod(self.listen["path"], 0o777)
        else:
            self.server = await asyncio.start_server(self._on_client, **self.listen)
            self.listen["port"] = self.server.sockets[0].getsockname()[1]

    async def _unlisten(self):
        if not self.server:
            return
        self.server.close()
        await self.server.wait_closed()
        self.server = None
        if "path" in self.listen:
            pathlib.Path(self.listen["path"]).unlink(missing_ok=True)

    async def _finish(self):
        await self._unlisten()
        for link in self.links:
            link.end("close")
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _on_client(self, reader, writer):
        self.accepted += 1
        try:
            if "path" in self.target:
                server = await asyncio.open_unix_connection(**self.target)
            else:
                server = await asyncio.open_connection(**self.target)
        except OSError:
            reset(writer)
            return
        link = Link(self, (reader, writer), server)
        self.links.add(link)
        try:
            await link.run()
        except asyncio.CancelledError:
            pass  # the proxy stops
        finally:
            self.links.discard(link)

    # where it is

    @property
    def port(self):
        return self.listen["port"]

    @property
    def address(self):
        if "path" in self.listen:
            return f"unix:{self.listen['path']}"
        return f"{self.listen['host']}:{self.port}"

    # faults

    def up(self, **faults):
        """From client to server; without faults it is honest again."""
        self.up_faults = Faults(**faults)

    def down(self, **faults):
        """From server to client."""
        self.down_faults = Faults(**faults)

    def both(self, **faults):
        self.up(**faults)
        self.down(**faults)

    def refuse(self):
        """Nobody listens any more; connections that were made go on."""
        self._do(self._unlisten())

    def accept(self):
        self._do(self._listen())

    def cut(self, how="reset"):
        """Ends every connection now: close, reset or silence."""
        async def end():
            for link in list(self.links):
                link.end(how)
        self._do(end())

    def lose(self, text, nth=1, what="answer", how="close"):
        """The n-th statement from now on that contains text loses its answer, after the server
        committed it, or (what="question") never reaches the server. The result's happened is an
        event to wait for."""
        if not self.postgres:
            raise ValueError("only a proxy for PostgreSQL knows statements")
        loss = Loss(text, nth, what, how)
        self.losses.append(loss)
        return loss

    def sees_statement(self, text):
        """Called with each statement; the loss that it must suffer."""
        self.statements.append(text)
        for loss in self.losses:
            if loss.nth > 0 and loss.text in text:
                loss.nth -= 1
                if loss.nth == 0:
                    return loss
        return None

    def sent(self, text):
        """How many statements that contain text clients have sent."""
        return sum(text in statement for statement in self.statements)


def _number(text):
    return float(text) if "." in text else int(text)


COMMANDS = """\
up|down|both [NAME=NUMBER...]   the faults of a direction, see Faults; none: honest again
refuse | accept                 stop and go on listening
cut close|reset|silence         end the connections that are there
lose TEXT [N] [answer|question] [close|reset|silence]
"""


def command(proxy, line):
    name, *words = shlex.split(line)
    if name in ("up", "down", "both"):
        pairs = (word.split("=", 1) for word in words)
        getattr(proxy, name)(**{key: _number(value) for key, value in pairs})
    elif name == "lose":
        text, nth, *rest = words if len(words) > 1 else [*words, 1]
        proxy.lose(text, int(nth), *rest)
    elif name in ("refuse", "accept", "cut"):
        getattr(proxy, name)(*words)
    else:
        raise ValueError(f"unknown command {name}")


def main():
    parser = argparse.ArgumentParser(description="A proxy that damages connections.",
                                     epilog=COMMANDS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="HOST:PORT or unix:PATH")
    parser.add_argument("--listen", default="127.0.0.1:0")
    parser.add_argument("--postgres", action="store_true", help="knows statements (for lose)")
    options = parser.parse_args()
    with FaultProxy(options.target, options.listen, options.postgres) as proxy:
        print(proxy.address, flush=True)
        for line in sys.stdin:
            if line.strip():
                command(proxy, line)
                print("done", flush=True)


if __name__ == "__main__":
    main()
