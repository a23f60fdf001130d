<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

use Closure;
use PDO;
use PDOException;

/**
 * The functions of the schema reconcile, for PHP: copy this file, Operation.php, Reservation.php and
 * Refused.php. What each function does stands in reconciled-sql(7).
 *
 * Each call commits by itself unless it is made within transaction(). None may be open while a
 * target is called; inTransaction() is there to assert that.
 */
final class Reconcile
{
    private const TRIES = 5;

    private ?PDO $pdo = null;

    /** @param Closure(): PDO $connect is called for the first connection and after each lost one */
    public function __construct(private readonly Closure $connect)
    {
    }

    public static function connect(string $dsn): self
    {
        return new self(fn () => new PDO($dsn, options: [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            // no named statements, which a PgBouncer in transaction mode loses
            PDO::PGSQL_ATTR_DISABLE_PREPARES => true,
        ]));
    }

    // the application

    /** @param array<string, string|null> $fields the other arguments of reconcile.request */
    public function request(string $type, string $id, array $fields): Operation
    {
        return $this->operation('request', ['operation_type' => $type, 'operation_id' => $id] + $fields);
    }

    public function cancel(string $id, string $reason): Operation
    {
        return $this->operation('cancel', ['operation_id' => $id, 'reason' => $reason]);
    }

    // the worker

    /**
     * @param list<string> $types
     * @return list<Operation>
     */
    public function claim(array $types, string $worker, float $lease, int $max = 1): array
    {
        $since = self::now();
        return $this->withPayload($since + $lease, $this->rows('SELECT * FROM reconcile.claim('
            . 'operation_types => :types, worker => :worker, lease => :lease, max => :max)',
            ['types' => self::list($types), 'worker' => $worker, 'lease' => "$lease s", 'max' => $max]));
    }

    /** For a worker that is told the id by a broker. Refused if there is nothing to send (now). */
    public function start(string $id, string $worker, float $lease): Operation
    {
        $since = self::now();
        return $this->withPayload($since + $lease, [$this->call('start', ['operation_id' => $id,
            'worker' => $worker, 'lease' => "$lease s"])])[0];
    }

    /** Refused when the attempt is over: then nothing may be sent. */
    public function extend(Operation $operation, float $lease): Operation
    {
        $since = self::now();
        $this->attempt('extend', $operation, ['lease' => "$lease s"]);
        return $operation->until($since + $lease);
    }

    public function sent(Operation $operation, ?string $ref = null, ?string $remoteId = null): Operation
    {
        return $this->attempt('sent', $operation, ['request_ref' => $ref, 'remote_id' => $remoteId]);
    }

    /** @param array<string, mixed> $evidence is kept in the journal, so nothing secret or personal */
    public function confirm(Operation $operation, string $remoteId, array $evidence = []): Operation
    {
        return $this->attempt('confirm', $operation, ['remote_id' => $remoteId,
            'evidence' => json_encode((object) $evidence, JSON_THROW_ON_ERROR)]);
    }

    public function reject(Operation $operation, string $code, ?string $reason = null): Operation
    {
        return $this->attempt('reject', $operation, ['code' => $code, 'reason' => $reason]);
    }

    /** Only where it is known that there was no effect; sent() otherwise. */
    public function retry(Operation $operation, string $cause, ?float $delay = null): Operation
    {
        return $this->attempt('retry', $operation, ['cause' => $cause,
            'delay' => $delay === null ? null : "$delay s"]);
    }

    // the idempotency store

    /** Committed before anything else happens, so never within transaction(). */
    public function reserve(string $scope, string $operation, string $key, string $payload,
        string $operationId, float $lease, float $wait): Reservation
    {
        $row = $this->call('reserve', ['scope' => $scope, 'operation' => $operation, 'key' => $key,
            'payload' => $payload, 'operation_id' => $operationId, 'lease' => "$lease s",
            'wait' => "$wait s"]);
        return Reservation::of($scope, $operation, $key, $row);
    }

    public function complete(Reservation $reservation, Answer $answer, ?string $resourceId): void
    {
        $this->settle('complete', $reservation, $answer, ['resource_id' => $resourceId]);
    }

    /** retryable: nothing happened, and the next caller may try. Else this answer is repeated. */
    public function fail(Reservation $reservation, Answer $answer, bool $retryable): void
    {
        $this->settle('fail', $reservation, $answer, ['retryable' => $retryable ? 'true' : 'false']);
    }

    // transactions and the connection

    public function inTransaction(): bool
    {
        return $this->pdo?->inTransaction() ?? false;
    }

    /**
     * Rows of the application and what it requests belong into one transaction. The work is done
     * again when another transaction was faster.
     *
     * @template T
     * @param callable(): T $work
     * @return T
     */
    public function transaction(callable $work): mixed
    {
        for ($try = 1;; $try++) {
            $pdo = $this->pdo();
            $pdo->beginTransaction();
            try {
                $result = $work();
                $pdo->commit();
                return $result;
            } catch (\Throwable $failure) {
                $this->abandon($pdo, $failure);
                if (!self::wasSlower($failure) || $try === self::TRIES) {
                    throw $failure;
                }
            }
        }
    }

    /**
     * One statement, of the application as well.
     *
     * @param array<string, mixed> $values
     * @return list<array<string, mixed>>
     */
    public function rows(string $sql, array $values = []): array
    {
        $within = $this->inTransaction();
        for ($try = 1;; $try++) {
            try {
                return $this->execute($sql, $values);
            } catch (PDOException $failure) {
                if (str_starts_with(self::state($failure), 'RC')) {
                    throw new Refused(self::state($failure), $failure);
                }
                if ($within || !self::wasSlower($failure) || $try === self::TRIES) {
                    $this->pdo = $within ? $this->pdo : null; // perhaps lost: a new one next time
                    throw $failure;
                }
                usleep(random_int(1000, 20000));
            }
        }
    }

    /** Seconds on a clock that nobody sets. */
    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    private function pdo(): PDO
    {
        return $this->pdo ??= ($this->connect)();
    }

    private function execute(string $sql, array $values): array
    {
        $statement = $this->pdo()->prepare($sql);
        foreach ($values as $name => $value) {
            $bytes = $value instanceof Answer;
            $statement->bindValue($name, $bytes ? $value->body : $value, $bytes ? PDO::PARAM_LOB
                : PDO::PARAM_STR);
        }
        $statement->execute();
        return $statement->fetchAll(PDO::FETCH_ASSOC);
    }

    /**
     * The payload is read by a statement of its own: one that claims as well began before it claims,
     * and would not see what was committed in between.
     *
     * @return list<Operation>
     */
    private function withPayload(float $until, array $rows): array
    {
        $payloads = $rows === [] ? [] : array_column($this->rows(
            'SELECT operation_id, payload::text AS payload FROM reconcile.content'
            . ' WHERE operation_id = ANY (:ids)',
            ['ids' => self::list(array_column($rows, 'operation_id'))]), 'payload', 'operation_id');
        return array_map(fn (array $row) => Operation::of(
            $row + ['payload' => $payloads[$row['operation_id']] ?? null], $until), $rows);
    }

    /** As PostgreSQL reads text[]. */
    private static function list(array $values): string
    {
        $quoted = array_map(fn (string $value) => '"' . addcslashes($value, '"\\') . '"', $values);
        return '{' . implode(',', $quoted) . '}';
    }

    private static function state(\Throwable $failure): string
    {
        return $failure instanceof PDOException ? (string) ($failure->errorInfo[0] ?? '') : '';
    }

    private static function wasSlower(\Throwable $failure): bool
    {
        return in_array(self::state($failure), ['40001', '40P01'], true);
    }

    /** Closing the connection rolls back in whatever state it is. */
    private function abandon(PDO $pdo, \Throwable $failure): void
    {
        try {
            $pdo->rollBack();
        } catch (PDOException) {
            $this->pdo = null;
        }
        if ($failure instanceof PDOException && !self::wasSlower($failure)) {
            $this->pdo = null;
        }
    }

    /** Names come from this file only. */
    private function call(string $function, array $arguments): array
    {
        $named = implode(', ', array_map(fn ($name) => "$name => :$name", array_keys($arguments)));
        return $this->rows("SELECT * FROM reconcile.$function($named)", $arguments)[0];
    }

    private function operation(string $function, array $arguments): Operation
    {
        return Operation::of($this->call($function, $arguments));
    }

    private function attempt(string $function, Operation $operation, array $arguments): Operation
    {
        return $this->operation($function, ['operation_id' => $operation->id,
            'attempt' => $operation->attempt] + $arguments);
    }

    private function settle(string $function, Reservation $reservation, Answer $answer, array $more): void
    {
        $this->call($function, ['scope' => $reservation->scope, 'operation' => $reservation->operation,
            'key' => $reservation->key, 'owner' => $reservation->owner, 'response_code' => $answer->code,
            'response_body' => $answer, 'content_type' => $answer->type] + $more);
    }
}
