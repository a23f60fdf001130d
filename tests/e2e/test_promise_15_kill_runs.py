# SPDX-License-Identifier: Apache-2.0
"""Workers and two instances killed at random moments: each effect once, each decided once.

The runs wait more than they work, so they share the machine. scripts/kill-runs does more of them.
"""

import concurrent.futures

import pytest

import kill_run
from cluster import Cluster
from database_fixtures import make_template

SEEDS = range(1, 11)
AT_ONCE = 4


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kill-runs")
    with Cluster({"max_connections": "200"}) as cluster, \
            concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        template = make_template(cluster, directory)

        def run(seed):
            database = cluster.create_database(f"kill_{seed}", template=template)
            return kill_run.run(cluster, database, directory / str(seed), seed)

        return dict(zip(SEEDS, pool.map(run, SEEDS)))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_effect_once_each_decided_once(results, seed):
    result = results[seed]
    assert result.problems == [], f"{result}"
    assert result.kills["instance"] > 0 and result.kills["worker"] > 0
    assert result.requeued > 0, result
