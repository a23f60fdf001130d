<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** reconciled does not allow it: RC400, RC404, RC409, RC410 or RC422, see reconciled-sql(7). */
final class Refused extends \RuntimeException
{
    public function __construct(public readonly string $state, \PDOException $cause)
    {
        parent::__construct($cause->errorInfo[2] ?? $cause->getMessage(), 0, $cause);
    }
}
