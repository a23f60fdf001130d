<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** A row of reconcile.operations, as far as a worker needs it, with the bytes that are to be sent. */
final class Operation
{
    private function __construct(
        public readonly string $id,
        public readonly string $type,
        public readonly string $status,
        public readonly int $attempt,
        public readonly ?string $key,
        public readonly ?string $businessKey,
        public readonly ?string $supersededBy,
        public readonly ?string $payload,
        private readonly float $until,
    ) {
    }

    /** @param float $until when the lease ends, on the clock of Reconcile::now() */
    public static function of(array $row, float $until = 0): self
    {
        return new self($row['operation_id'], $row['operation_type'], $row['status'],
            (int) $row['attempts'], $row['idempotency_key'], $row['business_key'],
            $row['superseded_by'], $row['payload'] ?? null, $until);
    }

    public function until(float $until): self
    {
        return new self($this->id, $this->type, $this->status, $this->attempt, $this->key,
            $this->businessKey, $this->supersededBy, $this->payload, $until);
    }

    /** Seconds that are left of the lease, counted from before it was asked for. */
    public function left(): float
    {
        return $this->until - Reconcile::now();
    }
}
