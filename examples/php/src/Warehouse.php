<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** The target. Says what is known about a call, and nothing more than that. */
final class Warehouse
{
    // Each type of operation: method and path. An order is made once by its key; of an address the
    // highest version stays.
    private const CALLS = [
        'place_order' => ['POST', '/orders'],
        'set_address' => ['PUT', '/addresses/%s'],
    ];

    // With the error document of the warehouse these say that nothing was done and nothing will be.
    private const REFUSALS = ['bad_body', 'too_large', 'unknown_article', 'bad_address'];

    // Nothing of the request can have left.
    private const NOT_SENT = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST,
        CURLE_COULDNT_CONNECT];

    /** @param float $timeout of a whole call, in seconds */
    public function __construct(
        private readonly string $base,
        private readonly ?string $token,
        public readonly float $timeout,
    ) {
    }

    public function send(Operation $operation): Outcome
    {
        if ($operation->payload === null) {
            return Outcome::notSent('no payload was requested');
        }
        [$method, $path] = self::CALLS[$operation->type];
        [$error, $status, $body, $retryAfter] = $this->call($method,
            sprintf($path, rawurlencode((string) $operation->businessKey)), $operation);
        return match (true) {
            in_array($error, self::NOT_SENT, true) => Outcome::notSent(curl_strerror($error)),
            $error !== 0 => Outcome::unknown(curl_strerror($error)),
            $status === 200, $status === 201 => $this->validated($operation, $status, $body),
            // The warehouse counts before it begins. Not every target does.
            $status === 429 => Outcome::notSent('http_429', $retryAfter),
            default => $this->judged($status, $body),
        };
    }

    /** An answer counts if it says again what was sent. */
    private function validated(Operation $operation, int $status, string $body): Outcome
    {
        $made = json_decode($body, true);
        $same = is_string($made['id'] ?? null);
        foreach (json_decode($operation->payload, true) as $name => $value) {
            $same = $same && ($made[$name] ?? null) === $value;
        }
        return $same ? Outcome::done($made['id'], $status)
            : Outcome::unknown("http_$status, but another answer than expected");
    }

    /** A status alone proves nothing: a proxy may have said it. */
    private function judged(int $status, string $body): Outcome
    {
        $error = json_decode($body, true)['error'] ?? null;
        return $status < 500 && in_array($error, self::REFUSALS, true)
            ? Outcome::refused("http_$status $error") : Outcome::unknown("http_$status");
    }

    /** @return array{int, int, string, ?float} the error of curl or 0, status, body, Retry-After */
    private function call(string $method, string $path, Operation $operation): array
    {
        $headers = ['Content-Type: application/json', 'Accept: application/json', 'Expect:',
            "Idempotency-Key: $operation->key", "Operation-Id: $operation->id"];
        if ($this->token !== null) {
            $headers[] = "Authorization: Bearer $this->token";
        }
        $retryAfter = null;
        // A new connection for each call: on an old one that turns out to be closed, curl sends
        // once more by itself, and nobody learns of it.
        $curl = curl_init($this->base . $path);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_POSTFIELDS => $operation->payload,
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ($this->timeout * 1000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$retryAfter): int {
                if (preg_match('/^retry-after:\s*(\d{1,6})\s*$/i', $line, $found) === 1) {
                    $retryAfter = (float) $found[1];
                }
                return strlen($line);
            },
        ]);
        $body = curl_exec($curl);
        return [curl_errno($curl), (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE),
            is_string($body) ? $body : '', $retryAfter];
    }
}
