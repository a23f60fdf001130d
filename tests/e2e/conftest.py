# SPDX-License-Identifier: Apache-2.0
"""One private cluster for all tests; for each test a fresh database migrated by the program itself."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

import target as http_target  # noqa: E402
import world as installation  # noqa: E402
from database_fixtures import cluster, database, template  # noqa: E402, F401
from orders import orders_database, orders_template, shop  # noqa: E402, F401


@pytest.fixture
def world(cluster, database, tmp_path):
    made = installation.World(tmp_path, cluster, database)
    yield made
    made.close()


@pytest.fixture
def target():
    with http_target.Target() as running:
        yield running


@pytest.fixture
def crm(world, target):
    """The usual target, known to the installation."""
    world.target(target.url)
    return target
