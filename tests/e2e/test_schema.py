# SPDX-License-Identifier: Apache-2.0
"""JSON Schemas against the loader: an editor never refuses what loads, and sees what it can see."""

import json
import pathlib
import random
import shutil
import subprocess

import jsonschema
import pytest
import yaml

import editor
from world import BUILD

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("config", "target", "policy", "test")
MUTANTS = 25  # of each sample

SETTINGS = """
database: host=/run/postgresql dbname=app
evidence_hash_key: credential:hash_key
batch: 500
max_verdict_age: 5s
observe: false
http: {listen: "127.0.0.1:9464"}
log: {level: info}
"""
TARGET = """
target: crm
base: https://crm.example.com
auth: {bearer: "credential:token"}
headers: {Accept-Language: en}
timeout: {connect: 200ms}
max_body: 1MiB
rate: {concurrent: 8}
throttled: {status: 403}
control: {get: /control, found: {status: 200}}
"""
POLICY = """
operation_type: sync
target: crm
mode: observe
latency_window: 5m
probes:
  - name: by_key
    needs: [business_key]
    post: /search
    reads: true
    json: {query: "{business_key}", limit: 20}
    found: {status: 200, /total: {ge: 0}}
    items: /list
    where: {/key: {is: op.business_key, fold: case}}
    complete: [{/more: false}, {/more: null}]
    pages: {next: /next, into: after, max: 5}
absence: {confirm: 2}
judge:
  - when: {/state: [open, paid]}
    class: waiting
compare:
  version: {found: /version, type: version, order: integer, is: op.version}
  total: {found: /total, type: number, tolerance: 0.01, is: op./expected/total}
recheck: {factor: 1.5, jitter: 10%}
actions:
  missing:
    - {when: {op.scope: test}, do: review}
    - {do: wait}
evidence: {keep: [/id]}
"""
TEST = """
policy: ../policies.d/sync.yaml
target: ../targets.d/crm.yaml
cases:
  - name: found
    operation: {operation_id: op-1, business_key: k1, version: 7, expected: {total: 1}}
    readings:
      - {at: 10m, probe: by_key, status: 200, headers: {x-a: 1}, body: "{}"}
      - {at: 11m, probe: by_key, fault: timeout}
      - at: 12m
        probe: by_key
        pages: [{status: 200, body: "{}"}, {fault: dns}]
    control: absent
    now: 1h
    sent: 2026-03-01T12:00:00Z
    expect: {class: inconclusive, action: wait}
"""
VALID = {"config": SETTINGS, "target": TARGET, "policy": POLICY, "test": TEST}

# The kind of file, what is changed into what, and where the editor says so.
BROKEN = [
    ("config", "evidence_hash_key: credential:hash_key\n", "", ""),
    ("config", "batch:", "batches:", ""),
    ("config", "batch: 500", "batch: 0", "batch"),
    ("config", "batch: 500", "batch: many", "batch"),
    ("config", "batch: 500", "batch: [500]", "batch"),
    ("config", "max_verdict_age: 5s", "max_verdict_age: 5", "max_verdict_age"),
    ("config", "max_verdict_age: 5s", "max_verdict_age: 5 s", "max_verdict_age"),
    ("config", "observe: false", "observe: no", "observe"),
    ("config", "observe: false", 'observe: "false"', "observe"),
    ("config", "{level: info}", "{level: loud}", "log/level"),
    ("config", "{level: info}", "info", "log"),
    ("config", "credential:hash_key", "0123456789abcdef0123456789abcdef", "evidence_hash_key"),
    ("target", "target: crm\n", "", ""),
    ("target", "target: crm", "target: [crm]", "target"),
    ("target", "credential:token", "s3cret", "auth"),
    ("target", "{bearer:", '{basic: {user: u, password: "env:P"}, bearer:', "auth"),
    ("target", "{bearer:", "{barer:", "auth"),
    ("target", "Accept-Language:", "Accept Language:", "headers"),
    ("target", "200ms", "0.2s", "timeout/connect"),
    ("target", "1MiB", "1MB", "max_body"),
    ("target", "1MiB", "100", "max_body"),
    ("target", "concurrent: 8", "concurrent: 0", "rate/concurrent"),
    ("target", "{status: 403}", "{}", "throttled"),
    ("target", "{status: 403}", "{status: 4030}", "throttled"),
    ("target", "found: {status: 200}", "fund: {status: 200}", "control"),
    ("target", "get: /control", "get: /control, head: /control", "control"),
    ("target", '{bearer: "credential:token"}', "{oauth2: {client_id: c, client_secret: 'env:S'}}", "auth"),
    ("target", '{bearer: "credential:token"}',
     "{sigv4: {region: EU, service: s3, access_key: a, secret_key: 'env:S'}}", "auth"),
    ("target", '{bearer: "credential:token"}', "{hmac: {key: plain, header: x-sig, sign: '{body}'}}", "auth"),
    ("target", "rate:", "tls: {min: 1.1}\nrate:", "tls/min"),
    ("policy", "probes:", "probe:", ""),
    ("policy", "mode: observe", "mode: enforced", "mode"),
    ("policy", "latency_window: 5m", "latency_window: 200ms", "latency_window"),
    ("policy", "latency_window: 5m", "latency_window: 5 minutes", "latency_window"),
    ("policy", "    reads: true\n", "", "probes/0"),
    ("policy", "    reads: true\n", "    reads: false\n", "probes/0/reads"),
    ("policy", "post: /search", "get: /search", "probes/0"),
    ("policy", "post: /search", "post: /search?all=1", "probes/0/post"),
    ("policy", "post: /search", "post: search", "probes/0/post"),
    ("policy", "post: /search", 'post: "/search/{busines_key}"', "probes/0/post"),
    ("policy", "needs: [business_key]", "needs: [busines_key]", "probes/0/needs/0"),
    ("policy", '"{business_key}"', '"{busines_key}"', "probes/0/json"),
    ("policy", "    items: /list\n", "", "probes/0"),
    ("policy", "items: /list", "items: list", "probes/0/items"),
    ("policy", "status: 200", "status: 20", "probes/0/found"),
    ("policy", "status: 200", "stats: 200", "probes/0/found"),
    ("policy", "{ge: 0}", "{ge: many}", "probes/0/found"),
    ("policy", "{ge: 0}", "{minimum: 0}", "probes/0/found"),
    ("policy", "{ge: 0}", "{}", "probes/0/found"),
    ("policy", "fold: case", "fold: cases", "probes/0/where//key"),
    ("policy", "is: op.business_key", "is: op.busines_key", "probes/0/where//key"),
    ("policy", "into: after, ", "", "probes/0/pages"),
    ("policy", "into: after, ", "into: after, link: next, ", "probes/0/pages"),
    ("policy", "max: 5", "max: 5000", "probes/0/pages/max"),
    ("policy", "pages: {next: /next, into: after, max: 5}", "batch: {max: 5}", "probes/0/batch"),
    ("policy", "pages: {next: /next, into: after, max: 5}", "batch: {max: 5, match: key}", "probes/0/batch/match"),
    ("policy", "pages: {next: /next, into: after, max: 5}", "covers: /until", "probes/0/covers"),
    ("policy", "pages: {next: /next, into: after, max: 5}", "covers: {until: op.sent_at}", "probes/0/covers/until"),
    ("policy", "pages: {next: /next, into: after, max: 5}", "then: {probe: by_id}", "probes/0"),
    ("policy", "pages: {next: /next, into: after, max: 5}", "stale: maybe", "probes/0/stale"),
    ("policy", "class: waiting", "class: missing", "judge/0/class"),
    ("policy", "    class: waiting\n", "", "judge/0"),
    ("policy", "[open, paid]", "[]", "judge/0/when//state"),
    ("policy", "found: /version, ", "", "compare/version"),
    ("policy", "found: /version", "found: version", "compare/version/found"),
    ("policy", "type: version", "type: semver", "compare/version/type"),
    ("policy", "order: integer", "tolerance: 1", "compare/version/type"),
    ("policy", ", is: op.version", "", "compare/version"),
    ("policy", "is: op.version", "is: op.version, at_least: 1", "compare/version"),
    ("policy", "tolerance: 0.01", "tolerance: some", "compare/total/tolerance"),
    ("policy", "type: number, tolerance: 0.01", "type: money, unit: cents", "compare/total/unit"),
    ("policy", "type: number, tolerance: 0.01", "type: money, unit: scale 31", "compare/total/unit"),
    ("policy", "type: number, tolerance: 0.01", "type: money, currency: /currency", "compare/total"),
    ("policy", "type: number, tolerance: 0.01", "type: money, sign: {by: /kind, plus: c}", "compare/total/sign"),
    ("policy", "type: number, tolerance: 0.01", "type: digest, algorithm: md6", "compare/total/algorithm"),
    ("policy", "type: number, tolerance: 0.01", "type: time, skew: 100ms", "compare/total/skew"),
    ("policy", "type: number, tolerance: 0.01", "type: time, zone: cet", "compare/total/zone"),
    ("policy", "type: number, tolerance: 0.01", "skew: 1m", "compare/total"),
    ("policy", "is: op./expected/total", "not_before: op.created_at", "compare/total/type"),
    ("policy", "is: op./expected/total", "one_of: op./expected/total", "compare/total/one_of"),
    ("policy", "factor: 1.5", "factor: 0.5", "recheck/factor"),
    ("policy", "jitter: 10%", "jitter: 110%", "recheck/jitter"),
    ("policy", "jitter: 10%", "jitter: 10", "recheck/jitter"),
    ("policy", "{do: wait}", "{do: nothing}", "actions/missing"),
    ("policy", "op.scope: test", "/scope: test", "actions/missing"),
    ("policy", "keep: [/id]", "keep: /id", "evidence/keep"),
    ("policy", "keep: [/id]", "keep: [id]", "evidence/keep/0"),
    ("policy", "absence: {confirm: 2}", "absence:", "absence"),
    ("test", "policy: ../policies.d/sync.yaml\n", "", ""),
    ("test", "- name: found\n    operation", "- operation", "cases/0"),
    ("test", "at: 10m, ", "", "cases/0/readings/0"),
    ("test", "at: 10m", "at: ten", "cases/0/readings/0/at"),
    ("test", "fault: timeout", "fault: slow", "cases/0/readings/1/fault"),
    ("test", "fault: timeout", "fault: timeout, status: 200", "cases/0/readings/1"),
    ("test", "probe: by_key, status: 200,", "probe: by_key,", "cases/0/readings/0"),
    ("test", "status: 200, headers", "status: 99, headers", "cases/0/readings/0/status"),
    ("test", "control: absent", "control: gone", "cases/0/control"),
    ("test", "class: inconclusive", "class: unknown", "cases/0/expect/class"),
    ("test", "class: inconclusive, ", "", "cases/0/expect"),
    ("test", "version: 7", "versoin: 7", "cases/0/operation"),
    ("test", "expected: {total: 1}", "expected: [1]", "cases/0/operation/expected"),
]

# The same values in every spelling that loads; YAML has types for some of them.
SPELLINGS = [
    ("config", "batch: 500", 'batch: "500"'),
    ("config", "batch: 500", "batch: 0500"),
    ("config", "batch: 500", "instance_name: 12"),
    ("config", "batch: 500", "instance_name: true"),
    ("config", "http:", "instance_name: no\nhttp:"),
    ("target", "1MiB", "1048576"),
    ("target", "{Accept-Language: en}", "{x-version: 1.10, x-flag: true, x-off: no}"),
    ("target", '{bearer: "credential:token"}', "none"),
    ("target", "{get: /control, found: {status: 200}}", "none"),
    ("target", "rate:", "tls: {min: 1.2}\nrate:"),
    ("target", "rate:", 'tls: {min: "1.3"}\nrate:'),
    ("target", '{bearer: "credential:token"}',
     "{oauth2: {token_url: /token, client_id: 123, client_secret: 'env:S', scope: read, style: body}}"),
    ("target", '{bearer: "credential:token"}',
     "{sigv4: {region: eu-central-1, service: s3, access_key: AK, secret_key: 'env:S'}}"),
    ("target", '{bearer: "credential:token"}',
     "{hmac: {algorithm: sha512, key: 'file:key', encoding: base64, header: x-sig, sign: '{method}{path}'}}"),
    ("target", "status: 403", "status: [403, 429]"),
    ("target", "status: 403", 'status: "403"'),
    ("target", "status: 403", "status: {not: {ge: 400}}"),
    ("policy", "mode: observe", "idempotent: no"),
    ("policy", "{ge: 0}", '{ge: "1e3"}'),
    ("policy", "{ge: 0}", "{ge: op./expected/total, present: true}"),
    ("policy", "{ge: 0}", '{present: "true"}'),
    ("policy", "{ge: 0}", '""'),
    ("policy", "{ge: 0}", "12345678901234567890"),
    ("policy", "{ge: 0}", "[1, true, null, x, 1.10]"),
    ("policy", "fold: case", "fold: [case, space]"),
    ("policy", "limit: 20", 'deep: [{a: null, b: [1e400, "{expected./a/0}", "{ braces }"]}]'),
    ("policy", "post: /search", 'post: "/s/{business_key|path}/{expected./id}/{sent_at-1h|epoch}"'),
    ("policy", "tolerance: 0.01", 'tolerance: "0"'),
    ("policy", "is: op./expected/total", "one_of: [1, 2.50, op./expected/total]"),
    ("policy", "type: number, tolerance: 0.01", "type: money, unit: scale 4, tolerance: 1"),
    ("policy", "type: number, tolerance: 0.01",
     "type: money, unit: minor, currency: /c, sign: {by: /k, plus: 1, minus: -1}"),
    ("policy", "type: number, tolerance: 0.01", "type: time, skew: 1m, zone: Europe/Berlin"),
    ("policy", "type: number, tolerance: 0.01", "type: set"),
    ("policy", "type: number, tolerance: 0.01", "type: digest, algorithm: sha256, encoding: base64"),
    ("policy", "factor: 1.5", 'factor: "2"'),
    ("policy", "  version:", "  200:"),
    ("policy", "[open, paid]", "{not: {not: {prefix: p}}}"),
    ("test", "sent: 2026-03-01T12:00:00Z", 'sent: "2026-03-01 12:00:00+01:00"'),
    ("test", "version: 7", "version: null, remote_id: 0x10, first_sent_at: null"),
]


@pytest.fixture(scope="module")
def schemas():
    return {name: editor.Schema(json.loads(run("reconcilectl", "schema", name).stdout)) for name in NAMES}


FOLDERS = {"policy": "policies.d", "target": "targets.d"}
NAMED = {"policy": "operation_type", "target": "target"}


def run(name, *arguments):
    done = subprocess.run([BUILD / name, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode >= 0, f"{name}: killed by signal {-done.returncode}"
    return done


class Loader:
    """Asks the programs whether texts load; each text gets a folder with what it refers to."""

    def __init__(self, directory):
        self.directory = directory
        self.count = 0
        for name in ("policies.d", "targets.d"):
            shutil.copytree(SOURCE / "etc" / name, directory / name)
        (directory / "policies.d/sync.yaml").write_text(POLICY)
        (directory / "targets.d/crm.yaml").write_text(TARGET)

    def folder(self, kind):
        self.count += 1
        made = self.directory / str(self.count)
        (made / "put").mkdir(parents=True)
        for name in {"policies.d", "targets.d"} - {FOLDERS.get(kind)}:
            (made / name).symlink_to(self.directory / name)
        return (made / "put").rename(made / FOLDERS.get(kind, "put"))

    @staticmethod
    def named(text, key):
        """The name that the file must have."""
        try:
            name = str(editor.read(text)[key])
        except (yaml.YAMLError, LookupError, TypeError, ValueError, RecursionError):
            return "t"
        return name if name.replace("_", "a").replace("-", "a").isalnum() and len(name) < 60 else "t"

    @staticmethod
    def is_taken_for(kind, text):
        """`policy check` sees by the keys whether a file is a policy or a target."""
        tree = editor.read(text)
        return ("operation_type" in tree or "probes" in tree) == (kind == "policy")

    def put(self, kind, text):
        path = self.folder(kind) / f"{self.named(text, NAMED[kind]) if kind in NAMED else 'file'}.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def load(self, kind, texts):
        """For each text whether it loads."""
        paths = [self.put(kind, text) for text in texts]
        if kind == "config":
            return [run("reconciled", "--dump-config", "--config", path).returncode == 0 for path in paths]
        if kind == "test":
            lines = run("reconcilectl", "policy", "test", *paths).stdout.splitlines()
            return [f"{path}: does not load" not in lines for path in paths]
        files = json.loads(run("reconcilectl", "--json", "policy", "check", *paths).stdout)["files"]
        return [file["ok"] and self.is_taken_for(kind, text) for file, text in zip(files, texts)]


@pytest.fixture
def loader(tmp_path):
    return Loader(tmp_path)


def kind_of(path):
    """A file by its folder, as reconciled takes it; None: another program's."""
    if path.name == "reconciled.yaml":
        return "config"
    if path.name.endswith(("_test.yaml", ".test.yaml")) or "tests" in path.parent.name:
        return "test"
    return {"policies.d": "policy", "targets.d": "target"}.get(path.parent.name)


def shipped():
    files = [*(SOURCE / "etc").rglob("*.yaml"), *(SOURCE / "examples").rglob("*.yaml"),
             *(SOURCE / "tests/data/policies").rglob("*.yaml")]
    return sorted((kind_of(path), path) for path in files if kind_of(path))


def check_valid(schema, loader, kind, texts):
    """What loads is valid; returns how many load."""
    loading = [text for text, loads in zip(texts, loader.load(kind, texts)) if loads]
    for text in loading:
        assert schema.complaints(text) == [], text
    return len(loading)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(schemas, name):
    jsonschema.Draft7Validator.check_schema(schemas[name].schema)
    assert schemas[name].schema["$schema"] == "http://json-schema.org/draft-07/schema#"


def test_an_unknown_schema_is_refused():
    done = run("reconcilectl", "schema", "polici")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == 'reconcilectl: no schema "polici" (there are: config, target, policy, test)\n'


@pytest.mark.parametrize("kind", NAMES)
def test_the_texts_that_are_changed_below_are_valid(schemas, loader, kind):
    assert schemas[kind].complaints(VALID[kind]) == []
    assert loader.load(kind, [VALID[kind]]) == [True]


def test_every_shipped_file_is_valid(schemas):
    assert {kind for kind, _ in shipped()} >= {"config", "target", "policy"}
    for kind, path in shipped():
        text = path.read_text()
        if loads_whole(kind, path):
            assert schemas[kind].complaints(text) == [], path


def loads_whole(kind, path):
    """Some files in tests/data use what is not supported yet; some examples are filled in when they are used."""
    program = {"config": ["reconciled", "--dump-config", "--config"], "test": ["reconcilectl", "policy", "test"]}
    [name, *arguments] = program.get(kind, ["reconcilectl", "policy", "check"])
    done = run(name, *arguments, path)
    assert done.returncode == 0 or "etc" not in path.relative_to(SOURCE).parts, done.stderr
    return done.returncode == 0


@pytest.mark.parametrize("kind, old, new, place", BROKEN)
def test_what_does_not_load_is_refused(schemas, loader, kind, old, new, place):
    assert VALID[kind].count(old) == 1
    text = VALID[kind].replace(old, new)
    assert loader.load(kind, [text]) == [False]
    assert place in [path for path, _ in schemas[kind].complaints(text)]


@pytest.mark.parametrize("kind, old, new", SPELLINGS)
def test_what_loads_is_valid_in_every_spelling(schemas, loader, kind, old, new):
    assert VALID[kind].count(old) == 1
    text = VALID[kind].replace(old, new)
    assert loader.load(kind, [text]) == [True]
    assert schemas[kind].complaints(text) == []


def test_fuzz_corpora_that_load_are_valid(schemas, loader):
    texts = [path.read_bytes() for path in sorted((SOURCE / "tests/fuzz/corpus/config").iterdir())]
    for kind, least in (("config", 3), ("target", 2), ("policy", 3)):
        assert check_valid(schemas[kind], loader, kind, texts) >= least


def mutate(tree, chance, spare):
    """One change somewhere: a key less or twice renamed, a value from elsewhere or of another kind."""
    places = [(tree, key) for key in (tree if isinstance(tree, dict) else range(len(tree)))]
    for parent, key in places:
        if isinstance(parent[key], (dict, list)):
            below = parent[key]
            places += [(below, k) for k in (below if isinstance(below, dict) else range(len(below)))]
    parent, key = chance.choice(places)
    kind = chance.randrange(4)
    if kind == 0 and isinstance(parent, dict):
        parent[chance.choice(spare)] = parent.pop(key)
    elif kind == 1:
        del parent[key]
    else:
        other, other_key = chance.choice(places)
        values = [other[other_key], "", "x", "5m", "op.version", "/a", "10%", 0, 1, 200, 1.5, None, True, [], {},
                  [parent[key]], {"is": parent[key]}]
        parent[key] = json.loads(json.dumps(chance.choice(values)))


def keys_of(tree):
    if isinstance(tree, dict):
        return [*tree, *(key for value in tree.values() for key in keys_of(value))]
    return [key for value in tree for key in keys_of(value)] if isinstance(tree, list) else []


def mutants(text, chance):
    spare = sorted({key for valid in VALID.values() for key in keys_of(editor.read(valid))})
    for _ in range(MUTANTS):
        tree = editor.read(text)
        for _ in range(chance.choice((1, 1, 2))):
            mutate(tree, chance, spare)
        yield yaml.dump(tree, sort_keys=False, default_flow_style=None, width=1000)


@pytest.mark.parametrize("kind", NAMES)
def test_changed_files_that_load_are_valid(schemas, loader, kind):
    chance = random.Random(kind)
    samples = [VALID[kind], *(path.read_text() for k, path in shipped() if k == kind and "etc" in path.parts)]
    texts = [text for sample in samples for text in mutants(sample, chance)]
    assert check_valid(schemas[kind], loader, kind, texts) >= len(texts) / 10
