<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

/** The application: orders of customers, which the warehouse has to know of. Calls nobody itself. */
final class Orders
{
    private const LEASE = 10.0; // seconds in which an order is surely written down
    private const WAIT = 2.0; // for another request with the same key
    private const MOST = 10000; // above, the business wants a signature

    public function __construct(private readonly Reconcile $reconcile)
    {
    }

    /** POST /orders: the same key gives the same order and the same bytes. */
    public function place(string $tenant, string $key, string $body): Answer
    {
        $order = json_decode($body, true);
        if (preg_match('/^[!-~]{8,100}$/', $key) !== 1) {
            return self::error(400, 'Idempotency-Key of 8 to 100 printable characters is needed');
        }
        if (!is_array($order) || !is_string($order['article'] ?? null)
            || preg_match('/^\d{1,8}\.\d\d$/', (string) ($order['total'] ?? '')) !== 1) {
            return self::error(400, 'article and total are needed, the total like "10.50"');
        }
        // From the key, so that two that both believe to be its owner make one order all the same.
        $id = 'ord-' . substr(hash('sha256', "$tenant\0$key"), 0, 24);
        $held = $this->reconcile->reserve($tenant, 'place_order', $key, $body, $id,
            self::LEASE, self::WAIT);
        return $held->outcome === 'reserved' ? $this->accept($held, $tenant, $id, $order)
            : self::repeat($held);
    }

    /** PUT /orders/ID/address: each change is a version, and only the newest has to arrive. */
    public function move(string $tenant, string $id, string $body): Answer
    {
        $given = json_decode($body, true);
        if (!is_string($given['street'] ?? null) || !is_string($given['city'] ?? null)) {
            return self::error(400, 'street and city are needed');
        }
        return $this->reconcile->transaction(function () use ($tenant, $id, $given): Answer {
            $rows = $this->reconcile->rows('UPDATE orders SET street = :street, city = :city,'
                . ' version = version + 1 WHERE id = :id AND tenant = :tenant'
                . ' RETURNING version', ['id' => $id, 'tenant' => $tenant,
                    'street' => $given['street'], 'city' => $given['city']]);
            if ($rows === []) {
                return self::error(404, 'no such order');
            }
            $version = (int) $rows[0]['version'];
            $address = ['street' => $given['street'], 'city' => $given['city']];
            $this->reconcile->request('set_address', "address-$id-$version", [
                'scope' => $tenant, 'entity_type' => 'order', 'entity_id' => $id,
                'version' => (string) $version, 'idempotency_key' => "address-$id-$version",
                'business_key' => $id, 'expected' => json_encode($address, JSON_THROW_ON_ERROR),
                'payload' => json_encode(['version' => $version] + $address, JSON_THROW_ON_ERROR)]);
            return Answer::json(202, ['order' => $id, 'version' => $version]);
        });
    }

    /** GET /orders/ID: the order, and whether the warehouse has it. */
    public function show(string $tenant, string $id): Answer
    {
        $rows = $this->reconcile->rows('SELECT r.id, r.article, r.total, o.status, o.remote_id'
            . ' FROM orders r JOIN reconcile.operations o ON o.operation_id = r.id'
            . ' WHERE r.id = :id AND r.tenant = :tenant', ['id' => $id, 'tenant' => $tenant]);
        return $rows === [] ? self::error(404, 'no such order') : Answer::json(200, $rows[0]);
    }

    /** Order, request and stored answer are committed together, or none of them. */
    private function accept(Reservation $held, string $tenant, string $id, array $order): Answer
    {
        if ((float) $order['total'] > self::MOST) {
            $answer = self::error(422, 'a total above ' . self::MOST . ' needs a signature');
            $this->reconcile->fail($held, $answer, retryable: false);
            return $answer;
        }
        $requested = false;
        try {
            return $this->reconcile->transaction(function () use ($held, $tenant, $id, $order,
                &$requested): Answer {
                $this->reconcile->rows('INSERT INTO orders (id, tenant, article, total)'
                    . ' VALUES (:id, :tenant, :article, :total) ON CONFLICT (id) DO NOTHING',
                    ['id' => $id, 'tenant' => $tenant, 'article' => $order['article'],
                        'total' => $order['total']]);
                $this->reconcile->request('place_order', $id, [
                    'scope' => $tenant, 'entity_type' => 'order', 'entity_id' => $id,
                    'idempotency_key' => $id, 'business_key' => $id,
                    'expected' => json_encode(['total' => $order['total']], JSON_THROW_ON_ERROR),
                    'payload' => json_encode(['number' => $id, 'article' => $order['article'],
                        'total' => $order['total']], JSON_THROW_ON_ERROR)]);
                $requested = true;
                $answer = Answer::json(202, ['order' => $id, 'status' => 'accepted',
                    'accepted_at' => gmdate('Y-m-d\TH:i:s\Z')]);
                $this->reconcile->complete($held, $answer, $id);
                return $answer;
            });
        } catch (\Throwable $failure) {
            $this->release($held);
            if (!$failure instanceof Refused) {
                throw $failure;
            }
            // Another request took the key over, because ours took longer than its lease; or the key
            // was used for another order, so long ago that its record is gone.
            return $requested ? self::busy()
                : self::error(422, 'this Idempotency-Key was used for another order');
        }
    }

    /** Nothing was committed, or all of it, and then this is refused. */
    private function release(Reservation $held): void
    {
        try {
            $this->reconcile->fail($held, self::error(500, 'once more, please'), retryable: true);
        } catch (\PDOException | Refused) {
            return; // the lease ends by itself
        }
    }

    private static function repeat(Reservation $held): Answer
    {
        return match ($held->outcome) {
            'replay', 'failed' => $held->answer
                ?? self::error(409, "this Idempotency-Key was used, and its answer is not kept"),
            'conflict' => self::error(422, 'this Idempotency-Key came with another order before'),
            default => self::busy(), // in_progress or uncertain: it is not known yet
        };
    }

    private static function busy(): Answer
    {
        return self::error(409, 'a request with this key is under way', ['Retry-After' => '1']);
    }

    /** @param array<string, string> $headers */
    private static function error(int $code, string $text, array $headers = []): Answer
    {
        return Answer::json($code, ['error' => $text], $headers);
    }
}
