# SPDX-License-Identifier: Apache-2.0
"""Fixtures of every suite that runs the programs: a private cluster, a database to copy from."""

import itertools
import subprocess

import pytest

import cluster as private_cluster
import world as installation

COUNTER = itertools.count()


@pytest.fixture(scope="session")
def cluster():
    with private_cluster.Cluster() as running:
        yield running


def make_template(cluster, directory):
    """The name of a database that `reconciled --migrate` made, and the logins that tests use."""
    cluster.create_login("migrator", options="CREATEROLE")
    cluster.create_database("template_e2e", owner="migrator")
    (directory / "key").write_text("k" * 32)
    config = directory / "reconciled.yaml"
    config.write_text(f'database: "{cluster.conninfo("template_e2e", "migrator")}"\n'
                      f'evidence_hash_key: "file:{directory}/key"\n')
    subprocess.run([installation.BUILD / "reconciled", "--config", config, "--migrate"], check=True,
                   stdout=subprocess.DEVNULL)
    for role in ("app", "daemon", "operator", "auditor", "retention"):
        cluster.create_login(f"{role}_login", f"reconcile_{role}")
    return "template_e2e"


@pytest.fixture(scope="session")
def template(cluster, tmp_path_factory):
    return make_template(cluster, tmp_path_factory.mktemp("migrate"))


@pytest.fixture
def database(cluster, template):
    """A fresh one, by name, dropped afterwards."""
    name = cluster.create_database(f"e2e_{next(COUNTER)}", template=template)
    yield name
    with cluster.connect() as admin:
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
