<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** An answer to a client: what is stored and given again, byte for byte. */
final class Answer
{
    /** @param array<string, string> $headers are not stored */
    public function __construct(
        public readonly int $code,
        public readonly string $body,
        public readonly string $type = 'application/json',
        public readonly array $headers = [],
    ) {
    }

    /** @param array<string, string> $headers */
    public static function json(int $code, array $members, array $headers = []): self
    {
        return new self($code, json_encode($members, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES) . "\n",
            headers: $headers);
    }
}
