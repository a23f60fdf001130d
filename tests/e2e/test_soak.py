# SPDX-License-Identifier: Apache-2.0
"""A short soak: what the daemon holds does not grow while faults come and go; see scripts/soak."""

import pytest

import soak_run
from cluster import Cluster
from database_fixtures import make_template


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    directory = tmp_path_factory.mktemp("soak")
    with Cluster(soak_run.CLUSTER) as cluster:
        database = cluster.create_database("soak", template=make_template(cluster, directory))
        return soak_run.run(cluster, database, directory / "run", 45)


def test_nothing_grows_and_nothing_is_lost(report):
    assert report.problems == [], report
    assert report.faults >= 6
