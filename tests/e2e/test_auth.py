# SPDX-License-Identifier: Apache-2.0
"""How the daemon logs in, and the ways to a target, from the files to the wire."""

import base64
import hashlib
import hmac
import signal
import time
from urllib.parse import parse_qs

import pytest

from certificates import Certificate
from proxy import Proxy
from target import Target, answer_json

SECRET = "s3cr3t-of-the-client"


def correct(request):
    return answer_json({"id": "c1", "version": 7})


def write_secret(world, name, value=SECRET):
    file = world.directory / name
    file.write_text(value + "\n")
    return f'"file:{file}"'


def assert_secretless(world, *secrets):
    """Nowhere in what was stored or said."""
    said = "".join(daemon.log for daemon in world.daemons)
    rows = world.db.execute("SELECT evidence::text AS t FROM reconcile.journal UNION ALL"
                            " SELECT payload::text FROM reconcile.outbox").fetchall()
    for secret in secrets:
        assert secret not in said
        assert not [row for row in rows if secret in (row["t"] or "")]


class Issuer:
    """A token endpoint beside the customers: takes the id "ada" with the secret."""

    def __init__(self, crm, life=3600):
        self.crm, self.life = crm, life
        self.given, self.valid = 0, None
        self.broken = None  # instead of a token
        crm.answer = self

    def __call__(self, request):
        if request.path == "/oauth/token":
            return self.broken or self.give(request)
        if request.headers.get("authorization") != f"Bearer {self.valid}":
            return answer_json({"error": "invalid_token"}, 401)
        return correct(request)

    def give(self, request):
        form = parse_qs(request.body.decode())
        basic = base64.b64encode(f"ada:{SECRET}".encode()).decode()
        in_body = form.get("client_id") == ["ada"] and form.get("client_secret") == [SECRET]
        if request.headers.get("authorization") != f"Basic {basic}" and not in_body:
            return answer_json({"error": "invalid_client"}, 401)
        assert form["grant_type"] == ["client_credentials"]
        self.given += 1
        self.valid = f"token-{self.given}"
        return answer_json({"access_token": self.valid, "token_type": "Bearer",
                            "expires_in": self.life})


@pytest.fixture
def issuer(world, crm):
    world.policy()
    made = Issuer(crm)
    secret = write_secret(world, "client")
    made.auth = (f"{{token_url: {crm.url}/oauth/token, client_id: ada, client_secret: {secret}}}")
    world.target(crm.url, more=f"auth: {{oauth2: {made.auth}}}")
    return made


def test_one_token_for_many_questions(world, crm, issuer):
    for number in range(20):
        world.send(f"op-{number}")
    world.once()
    assert issuer.given == 1
    assert len(crm.asked("/oauth/token")) == 1
    assert {world.operation(f"op-{n}")["status"] for n in range(20)} == {"confirmed"}
    assert_secretless(world, SECRET, "token-1")


def test_id_and_secret_in_the_form(world, crm, issuer):
    auth = issuer.auth.replace("}", ', style: body, scope: "read:customers"}')
    world.target(crm.url, more=f"auth: {{oauth2: {auth}}}")
    world.send("op-1")
    world.once()
    [request] = crm.asked("/oauth/token")
    assert "authorization" not in request.headers
    assert parse_qs(request.body.decode())["scope"] == ["read:customers"]
    assert world.operation("op-1")["status"] == "confirmed"


def test_a_token_that_the_target_forgot_is_replaced(world, crm, issuer):
    world.settings(interval="1s")
    world.send("op-1")
    daemon = world.start_daemon()
    world.wait_status("op-1", "confirmed")
    issuer.valid = "revoked"
    world.send("op-2")
    world.wait_status("op-2", "confirmed")
    assert issuer.given == 2
    assert [request.headers["authorization"] for request in crm.asked("/customers/op-2")] == [
        "Bearer token-1", "Bearer token-2"]
    assert "level=warning" not in daemon.log
    assert_secretless(world, SECRET, "token-1", "token-2")


def test_a_token_is_renewed_before_it_ends(world, crm, issuer):
    issuer.life = 2
    world.settings(interval="1s")
    world.send("op-1")
    world.start_daemon()
    world.wait_status("op-1", "confirmed")
    time.sleep(2)  # as long as it is valid
    world.send("op-2")
    world.wait_status("op-2", "confirmed")
    assert [request.headers["authorization"] for request in crm.asked("/customers/op-2")] == [
        "Bearer token-2"]


def test_without_a_token_nothing_is_known_and_the_log_says_why(world, crm, issuer):
    world.settings(interval="1s")
    world.target(crm.url, more=f"auth: {{oauth2: {issuer.auth}}}\nretry: {{attempts: 1}}\n")
    issuer.broken = answer_json({"error": "invalid_client", "hint": SECRET}, 401)
    world.send("op-1")
    daemon = world.start_daemon()
    world.wait_for(lambda: "could not get a token" in daemon.log, what="the log")
    assert "invalid_client (status 401)" in daemon.log
    world.wait_for(lambda: world.operation("op-1")["inconclusive"] or
                   world.operation("op-1")["checks"], what="a look")
    assert world.operation("op-1")["status"] == "awaiting_confirmation"
    assert not crm.asked("/customers/")
    assert_secretless(world, SECRET)
    issuer.broken = None
    world.make_due("op-1")
    world.wait_status("op-1", "confirmed")


def test_a_reload_keeps_the_token(world, crm, issuer):
    world.settings(interval="1s")
    world.send("op-1")
    daemon = world.start_daemon()
    world.wait_status("op-1", "confirmed")
    world.target(crm.url, more=f"auth: {{oauth2: {issuer.auth}}}\nheaders: {{X-New: y}}\n")
    daemon.process.send_signal(signal.SIGHUP)
    world.send("op-2")
    world.wait_for(lambda: "configuration loaded" in daemon.log or "reload" in daemon.log,
                   what="the reload")
    world.wait_status("op-2", "confirmed")
    assert issuer.given == 1


def signature_of(request, key, region, service):
    """What AWS would compute for it, from its own description."""
    def keyed(secret, text):
        return hmac.new(secret, text.encode(), hashlib.sha256).digest()

    scope, signed = request.headers["authorization"].split("Credential=")[1].split(", ")[:2]
    names = signed.split("=")[1]
    day = request.headers["x-amz-date"][:8]
    path, _, query = request.raw_path.partition("?")
    canonical = "\n".join([
        request.method, path, query,
        *[f"{name}:{request.headers[name]}" for name in names.split(";")], "", names,
        hashlib.sha256(request.body).hexdigest()])
    text = "\n".join(["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope.split("/", 1)[1],
                      hashlib.sha256(canonical.encode()).hexdigest()])
    for part in (day, region, service, "aws4_request"):
        key = keyed(key, part)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def test_sigv4(world, crm):
    world.policy()
    secret = write_secret(world, "aws")
    world.target(crm.url, more="auth: {sigv4: {region: eu-central-1, service: s3,"
                               f" access_key: AKID, secret_key: {secret}}}}}")
    crm.answer = correct
    world.send("op-1")
    world.once()
    [request] = crm.asked("/customers/")
    wanted = signature_of(request, f"AWS4{SECRET}".encode(), "eu-central-1", "s3")
    assert request.headers["authorization"].endswith(f", Signature={wanted}")
    assert world.operation("op-1")["status"] == "confirmed"


def test_hmac(world, crm):
    world.policy()
    key = write_secret(world, "hmac")
    world.target(crm.url, more=f"""
        auth:
          hmac:
            algorithm: sha512
            key: {key}
            encoding: base64
            header: X-Signature
            sign: "{{method}}\\n{{path}}\\n{{timestamp}}\\n{{body_sha256}}"
        headers: {{X-Timestamp: "{{timestamp}}"}}
        """)
    crm.answer = correct
    world.send("op-1")
    world.once()
    [request] = crm.asked("/customers/")
    moment = request.headers["x-timestamp"]
    text = f"GET\n/customers/op-1\n{moment}\n{hashlib.sha256(b'').hexdigest()}"
    wanted = hmac.new(SECRET.encode(), text.encode(), "sha512").digest()
    assert request.headers["x-signature"] == base64.b64encode(wanted).decode()
    assert abs(int(moment) - time.time()) < 60
    assert world.operation("op-1")["status"] == "confirmed"


@pytest.fixture
def certificates(world):
    return [Certificate(world.directory, name) for name in ("server", "client", "stranger")]


def test_a_certificate_of_ours(world, certificates):
    server, client, stranger = certificates
    world.policy()
    with Target(context=server.server_context(client)) as crm:
        crm.answer = correct
        world.send("op-1")
        tls = f"tls: {{ca: {server.cert}, cert: {stranger.cert}, key: {stranger.key}}}\n"
        world.target(crm.url, more=tls + "retry: {attempts: 1}\n")
        assert world.once(expect=3).of("op-1")["class"] == "inconclusive"
        assert not crm.asked()
        key = f'"file:{client.key}"'  # as a secret
        world.target(crm.url, more=f"tls: {{ca: {server.cert}, cert: {client.cert}, key: {key}}}")
        world.make_due("op-1")
        world.once()
        assert world.operation("op-1")["status"] == "confirmed"


def test_the_least_version_of_tls(world, certificates):
    server = certificates[0]
    old = server.server_context()
    old.maximum_version = 771  # TLS 1.2
    world.policy()
    with Target(context=old) as crm:
        crm.answer = correct
        world.send("op-1")
        world.target(crm.url, more=f"tls: {{ca: {server.cert}, min: '1.3'}}\n"
                                   "retry: {attempts: 1}\n")
        run = world.once(expect=3)
        assert (run.of("op-1")["class"], run.of("op-1")["reason"]) == ("inconclusive", "tls")
        world.target(crm.url, more=f"tls: {{ca: {server.cert}, min: '1.2'}}\n")
        world.make_due("op-1")
        world.once()
        assert world.operation("op-1")["status"] == "confirmed"


def test_a_unix_socket(world, tmp_path):
    world.policy()
    path = tmp_path / "adapter"
    with Target(path=path) as adapter:
        adapter.answer = correct
        world.target("http://adapter.internal", more=f"socket: {path}")
        world.send("op-1")
        world.once()
        [request] = adapter.asked("/customers/op-1")
        assert request.headers["host"] == "adapter.internal"
    assert world.operation("op-1")["status"] == "confirmed"


def test_a_proxy(world, certificates):
    server = certificates[0]
    world.policy()
    token = write_secret(world, "token")
    environment = {"no_proxy": "*", "NO_PROXY": "*", "https_proxy": "http://127.0.0.1:1"}
    with Target(context=server.server_context()) as crm, Proxy() as proxy:
        crm.answer = correct
        world.target(crm.url, more=f"auth: {{bearer: {token}}}\nproxy: {proxy.url}\n"
                                   f"tls: {{ca: {server.cert}}}\n")
        world.send("op-1")
        world.once(env=environment)
        [head] = proxy.heads
        assert head.startswith(f"CONNECT {crm.url.removeprefix('https://')} HTTP/1.1\r\n")
        assert "authorization" not in head.lower()
        [request] = crm.asked("/customers/op-1")
        assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert world.operation("op-1")["status"] == "confirmed"


def test_the_proxy_of_the_environment_is_ignored(world, crm):
    world.policy()
    crm.answer = correct
    world.send("op-1")
    dead = "http://127.0.0.1:1"
    world.once(env={"http_proxy": dead, "HTTP_PROXY": dead, "all_proxy": dead, "ALL_PROXY": dead})
    assert world.operation("op-1")["status"] == "confirmed"
