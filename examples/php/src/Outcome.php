<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** What is known after a call to the target. Whatever is not known for certain is Unknown. */
final class Outcome
{
    public const DONE = 'done'; // the answer was validated: confirm()
    public const REFUSED = 'refused'; // the target said no, for good: reject()
    public const NOT_SENT = 'not sent'; // it cannot have had an effect: retry()
    public const UNKNOWN = 'unknown'; // sent(), and reconciled finds out

    private function __construct(
        public readonly string $kind,
        public readonly string $why,
        public readonly ?string $remoteId = null,
        public readonly ?float $delay = null,
    ) {
    }

    public static function done(string $remoteId, int $status): self
    {
        return new self(self::DONE, "http_$status", $remoteId);
    }

    public static function refused(string $code): self
    {
        return new self(self::REFUSED, $code);
    }

    public static function notSent(string $cause, ?float $delay = null): self
    {
        return new self(self::NOT_SENT, $cause, delay: $delay);
    }

    public static function unknown(string $why): self
    {
        return new self(self::UNKNOWN, $why);
    }
}
