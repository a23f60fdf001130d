# SPDX-License-Identifier: Apache-2.0
"""One private cluster for all tests; for each test a fresh database migrated by the program itself."""

import itertools
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import cluster as private_cluster  # noqa: E402
import target as http_target  # noqa: E402
import world as installation  # noqa: E402

COUNTER = itertools.count()


@pytest.fixture(scope="session")
def cluster():
    with private_cluster.Cluster() as running:
        running.create_login("migrator", options="CREATEROLE")
        yield running


@pytest.fixture(scope="session")
def template(cluster, tmp_path_factory):
    """A database that `reconciled --migrate` made, copied for each test."""
    directory = tmp_path_factory.mktemp("migrate")
    cluster.create_database("template_e2e", owner="migrator")
    (directory / "key").write_text("k" * 32)
    config = directory / "reconciled.yaml"
    config.write_text(f'database: "{cluster.conninfo("template_e2e", "migrator")}"\n'
                      f'evidence_hash_key: "file:{directory}/key"\n')
    subprocess.run([installation.BUILD / "reconciled", "--config", config, "--migrate"], check=True)
    for role in ("app", "daemon", "operator", "auditor", "retention"):
        cluster.create_login(f"{role}_login", f"reconcile_{role}")
    return "template_e2e"


@pytest.fixture
def world(cluster, template, tmp_path):
    name = f"e2e_{next(COUNTER)}"
    with cluster.connect() as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    made = installation.World(tmp_path, cluster, name)
    yield made
    made.close()
    with cluster.connect() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def target():
    with http_target.Target() as running:
        yield running


@pytest.fixture
def crm(world, target):
    """The usual target, known to the installation."""
    world.target(target.url)
    return target
