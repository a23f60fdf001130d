# SPDX-License-Identifier: Apache-2.0
"""Parts of the fault server that ask who is there, answer page by page, or for many at once.

Tokens are "tok1", "tok2" …; only the newest is taken, and none after /revoke.
"""

import asyncio
import json
import os
import ssl
import subprocess
from urllib.parse import parse_qs, unquote, urlsplit

given = 0  # tokens so far
valid = None
asked = []  # requests of tokens
pages = []  # targets of the pages that were asked for


def reply(status, value, *headers):
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    lines = [f"HTTP/1.1 {status} x", "Content-Type: application/json",
             f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def header(request, name):
    return next((v for n, v in request["headers"] if n.lower() == name), None)


def give(word):
    """200e3600: a token for an hour; 200r: and another refresh token; 200m: of another kind."""
    global given, valid
    given += 1
    valid = f"tok{given}"
    answer = {"access_token": valid, "token_type": "mac" if "m" in word else "Bearer"}
    if "e" in word:
        answer["expires_in"] = int(word.split("e")[1])
    if "r" in word:
        answer["refresh_token"] = f"refresh{given}"
    return reply(200, answer)


WORDS = {"html": b"<html>tok1</html>", "empty": b"", "none": b'{"token_type":"bearer"}',
         "odd": b'{"access_token":"a\\r\\nX-Evil: 1","token_type":"bearer"}',
         "list": b'["tok1"]', "huge": b'{"access_token":"' + b"a" * 100_000 + b'"}'}


async def token(writer, request):
    """/token/200e3600-400/x: the first answer, then the others; the last one again and again."""
    script = request["target"].split("/")[2].split("-")
    word = script[min(len(asked), len(script) - 1)]
    asked.append(request)
    await asyncio.sleep(0.05)
    if word.startswith("200"):
        writer.write(give(word))
    elif word in WORDS:
        writer.write(reply(200, WORDS[word]))
    elif word == "close":
        writer.transport.abort()
    else:
        writer.write(reply(int(word), {"error": "invalid_client", "secret": "s3cret"}))


async def guarded(writer, request):
    if valid is None or header(request, "authorization") != f"Bearer {valid}":
        writer.write(reply(401, {"error": "invalid_token"}))
    else:
        writer.write(reply(200, {"id": "a1", "token": valid}))


async def revoke(writer, request):
    global valid
    valid = None
    writer.write(reply(200, {"id": "a1"}))


async def tokens(writer, request):
    """What was asked for: how many, the last form, its header."""
    last = asked[-1] if asked else {"body": "", "headers": []}
    writer.write(reply(200, {"id": "a1", "count": len(asked), "form": last["body"],
                             "basic": header(last, "authorization") or ""}))


async def fresh(writer, request):
    global given, valid
    given, valid = 0, None
    asked.clear()
    pages.clear()
    writer.write(reply(200, {"id": "a1"}))


def page_of(number, last):
    """Two items a page, "i0", "i1" on the first."""
    page = {"data": [{"id": f"i{2 * number}"}, {"id": f"i{2 * number + 1}"}], "pages": last + 1}
    if number < last:
        page["next"] = f"t{number + 1}"
    return page


async def listed(writer, request):
    """/listed/3?cursor=t1: four pages, from token to token."""
    pages.append(request["target"])
    url = urlsplit(request["target"])
    number = int(parse_qs(url.query).get("cursor", ["t0"])[0][1:])
    writer.write(reply(200, page_of(number, int(url.path.split("/")[2]))))


async def base(writer, request):
    """/base/linked/ADDRESS, percent-encoded: the first page names that one as the next."""
    pages.append(request["target"])
    url = urlsplit(request["target"])
    where = unquote(url.path.rsplit("/", 1)[1])
    link = [f'Link: <{where}>; rel="next"'] if len(pages) == 1 else []
    writer.write(reply(200, {"data": [{"id": f"i{len(pages)}"}]}, *link))


async def scripted(writer, request):
    """/scripted/200n1-503-200/x: a page that names another, a failure, a page that is the last."""
    script = request["target"].split("/")[2].split("-")
    word = script[min(len(pages), len(script) - 1)]
    pages.append(request["target"])
    page = {"data": [], "next": f"t{word[4:]}"} if word[3:4] == "n" else {"data": []}
    writer.write(reply(int(word[:3]), page))


async def paged(writer, request):
    """/paged: how many pages were asked for, and the last of them."""
    writer.write(reply(200, {"id": "a1", "count": len(pages), "last": pages[-1] if pages else ""}))


def of_many(request):
    """What is there of what was asked for: all but those with "no" in front."""
    ids = parse_qs(urlsplit(request["target"]).query).get("ids", [""])[0].split(",")
    found = [{"id": one, "status": "error" if one.startswith("bad") else "ok"}
             for one in ids if not one.startswith("no")]
    return reply(207, {"data": found, "asked": len(ids)})


async def many(writer, request):
    """/many/429a100-207?ids=a,b: one answer for all, after what the script says."""
    script = urlsplit(request["target"]).path.split("/")[2].split("-")
    word = script[min(len(pages), len(script) - 1)]
    pages.append(request["target"])
    await asyncio.sleep(0.02)
    if word == "never":
        await asyncio.sleep(3600)
    if word == "207":
        writer.write(of_many(request))
    else:
        wait = [f"Retry-After: {int(word[4:]) / 1000:.3f}"] if word[3:4] == "a" else []
        writer.write(reply(int(word[:3]), {}, *wait))


BEHAVIOURS = {f.__name__: f for f in (token, guarded, revoke, tokens, fresh, listed, base, scripted,
                                      paged, many)}


def client_certificate(folder):
    """A certificate for us, and a context of a server that asks for it."""
    cert, key = (os.path.join(folder, f"client.{kind}") for kind in ("pem", "key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=client",
                    "-out", cert, "-keyout", key], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cert)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    return context


proxied = []  # heads of the requests that the proxy saw


async def copy(reader, writer):
    try:
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    finally:
        writer.close()


async def proxy(reader, writer):
    """CONNECT and absolute addresses; "refused" in the address: 403."""
    head = await reader.readuntil(b"\r\n\r\n")
    proxied.append(head.decode("latin-1"))
    method, where, _ = head.split(b"\r\n")[0].decode().split(" ")
    if "refused" in where:
        writer.write(b"HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n")
        writer.close()
        return
    host, port = (where if method == "CONNECT" else urlsplit(where).netloc).rsplit(":", 1)
    there, back = await asyncio.open_connection("127.0.0.1", int(port))
    if method == "CONNECT":
        writer.write(b"HTTP/1.1 200 x\r\nX-Proxy: 1\r\n\r\n")
    else:
        path = urlsplit(where).path
        back.write(head.replace(where.encode(), path.encode(), 1))
    await asyncio.gather(copy(reader, back), copy(there, writer), return_exceptions=True)


async def through_proxy(writer, request):
    writer.write(reply(200, {"id": "a1", "count": len(proxied),
                             "last": proxied[-1] if proxied else ""}))


BEHAVIOURS["through_proxy"] = through_proxy
