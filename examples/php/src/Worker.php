<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

namespace Example;

use PDOException;

/**
 * Sends what was requested and says what came of it. It may be killed at any moment: what it did
 * not say, reconciled finds out.
 */
final class Worker
{
    private const MARGIN = 1.0; // seconds of the lease beside the call itself
    private const PAUSE = 0.25; // when there is nothing to do
    private const AWAY = 1.0; // when the database is away
    private const TELL_FOR = 60.0; // how long an outcome is kept for a database that is away

    private bool $stopping = false;

    /** @param float $lease in seconds, longer than a call with its margin */
    public function __construct(
        private readonly Reconcile $reconcile,
        private readonly Warehouse $warehouse,
        private readonly string $name,
        private readonly float $lease,
        private readonly int $atOnce = 1,
    ) {
        if ($lease <= $warehouse->timeout + self::MARGIN) {
            throw new \InvalidArgumentException('the lease is too short for a call');
        }
    }

    /** For the handler of SIGTERM: ends what is in hand, and takes nothing new. */
    public function stop(): void
    {
        $this->stopping = true;
    }

    public function isStopping(): bool
    {
        return $this->stopping;
    }

    /**
     * The database as the queue, until stop().
     *
     * @param list<string> $types
     */
    public function run(array $types): void
    {
        while (!$this->stopping) {
            try {
                $claimed = $this->reconcile->claim($types, $this->name, $this->lease, $this->atOnce);
            } catch (PDOException | Refused $failure) {
                // Refused: after a restored backup nothing begins until a person has looked.
                $this->log('cannot claim: ' . $failure->getMessage());
                self::sleep(self::AWAY);
                continue;
            }
            while (($operation = array_shift($claimed)) !== null) {
                $this->work($operation);
                $claimed = $this->hold($claimed);
            }
            if ($claimed === []) {
                self::sleep(self::PAUSE);
            }
        }
    }

    /**
     * A message of a broker, which names an operation and may come twice, late, or in any order.
     * True: acknowledge it. False: it should come again.
     */
    public function handle(string $id): bool
    {
        if ($this->stopping) {
            return false;
        }
        try {
            $operation = $this->reconcile->start($id, $this->name, $this->lease);
        } catch (PDOException $failure) {
            $this->log("cannot start $id: " . $failure->getMessage());
            return false;
        } catch (Refused $refused) {
            // Unknown: the message was faster than the commit. Otherwise it is under way, done,
            // outdated, or not its time: when it is to be sent after all, it is announced again.
            $this->log("not started: {$refused->getMessage()}");
            return $refused->state !== 'RC404';
        }
        if ($operation->status === 'processing') {
            $this->work($operation);
        }
        return true;
    }

    private function work(Operation $operation): void
    {
        if ($this->stopping) {
            $this->tell($operation, Outcome::notSent('worker stops', 0));
            return;
        }
        $held = $this->withLease($operation);
        if ($held === null) {
            return; // nothing was sent, and it is no longer ours to say so
        }
        if ($this->reconcile->inTransaction()) {
            throw new \LogicException('a transaction is open before the call to the target');
        }
        $this->tell($held, $this->warehouse->send($held));
    }

    /**
     * Those that wait for the call before them must not lose their lease meanwhile.
     *
     * @param list<Operation> $waiting
     * @return list<Operation>
     */
    private function hold(array $waiting): array
    {
        return $this->stopping ? $waiting
            : array_values(array_filter(array_map($this->withLease(...), $waiting)));
    }

    /** With enough of the lease for a call, or null: who overslept it must not send. */
    private function withLease(Operation $operation): ?Operation
    {
        if ($operation->left() > $this->warehouse->timeout + self::MARGIN) {
            return $operation;
        }
        try {
            return $this->reconcile->extend($operation, $this->lease);
        } catch (PDOException | Refused $failure) {
            $this->log("not sent: {$failure->getMessage()}");
            return null;
        }
    }

    /** Says it again while the database is away; a repetition changes nothing. */
    private function tell(Operation $operation, Outcome $outcome): void
    {
        $until = Reconcile::now() + self::TELL_FOR;
        while (true) {
            try {
                $this->say($operation, $outcome);
                return;
            } catch (Refused $refused) {
                // It moved on meanwhile: its state knows more than we do.
                $this->log("$outcome->kind: {$refused->getMessage()}");
                return;
            } catch (PDOException $failure) {
                $this->log("could not say of $operation->id: {$failure->getMessage()}");
                if ($this->stopping || Reconcile::now() > $until) {
                    return; // the lease ends, and reconciled asks
                }
                self::sleep(self::AWAY);
            }
        }
    }

    private function say(Operation $operation, Outcome $outcome): void
    {
        match ($outcome->kind) {
            Outcome::DONE => $this->reconcile->confirm($operation, (string) $outcome->remoteId,
                ['answer' => $outcome->why]),
            Outcome::REFUSED => $this->reconcile->reject($operation, $outcome->why),
            Outcome::NOT_SENT => $this->reconcile->retry($operation, $outcome->why, $outcome->delay),
            Outcome::UNKNOWN => $this->reconcile->sent($operation, $outcome->why),
        };
    }

    private function log(string $text): void
    {
        fwrite(STDERR, "$this->name: $text\n");
    }

    /** A signal ends it early. */
    private static function sleep(float $seconds): void
    {
        usleep((int) ($seconds * 1e6));
    }
}
