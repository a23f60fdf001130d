# SPDX-License-Identifier: Apache-2.0
"""One booted container for all tests; for each test a fresh database and configuration."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import container as booted  # noqa: E402
import installed  # noqa: E402
from database_fixtures import cluster, database, template  # noqa: E402, F401


@pytest.fixture(scope="session")
def container(cluster):
    with booted.Container(cluster.directory) as running:
        yield running


@pytest.fixture
def world(container, cluster, database):
    made = installed.Installed(container, cluster, database)
    yield made
    made.close()


@pytest.fixture
def crm(world, container):
    """The usual target, known to the installation."""
    with installed.Target(container) as running:
        world.target(running.url)
        yield running
