# SPDX-License-Identifier: Apache-2.0
"""Orders through the PHP service and workers, all killed at random moments: the books balance.

A short run. scripts/php-runs brings ten thousand orders through.
"""

import php_run
OPERATIONS, SECONDS = 400, 10


def test_the_books_balance(tmp_path):
    result = php_run.run(tmp_path, seed=1, operations=OPERATIONS, seconds=SECONDS)
    assert result.problems == [], result
    assert set(result.kills) == {"service", "database", "worker", "instance"}, result
    assert result.statuses["confirmed"] > OPERATIONS * 0.98
    assert result.requeued > 0, result
