<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** What reconcile.reserve said about a key. */
final class Reservation
{
    private function __construct(
        public readonly string $scope,
        public readonly string $operation,
        public readonly string $key,
        public readonly string $outcome,
        public readonly ?string $owner,
        public readonly ?Answer $answer,
        public readonly ?string $resourceId,
    ) {
    }

    public static function of(string $scope, string $operation, string $key, array $row): self
    {
        $body = $row['response_body']; // PDO gives bytea as a stream
        $body = is_resource($body) ? stream_get_contents($body) : $body;
        $answer = $row['response_code'] === null ? null : new Answer((int) $row['response_code'],
            $body ?? '', $row['content_type'] ?? 'application/octet-stream');
        return new self($scope, $operation, $key, $row['outcome'], $row['owner'], $answer,
            $row['resource_id']);
    }
}
