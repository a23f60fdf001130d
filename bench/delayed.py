# SPDX-License-Identifier: Apache-2.0
"""A target at some distance: every answer takes as long as the way there and back.

usage: delayed.py MILLISECONDS SINGLE BATCH      files with the bodies; prints its port
"""

import asyncio
import pathlib
import sys


def answer(body):
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def main():
    delay = int(sys.argv[1]) / 1000
    single, batch = (answer(pathlib.Path(file).read_bytes()) for file in sys.argv[2:4])

    async def serve(reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await asyncio.sleep(delay)
                writer.write(batch if head.startswith(b"GET /batch") else single)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
