<?php

// SPDX-License-Identifier: Apache-2.0

/**
 * The order service: php -S 127.0.0.1:8090 examples/php/public/index.php, with DATABASE in the
 * environment. Whose order it is, X-Tenant says; in earnest that comes from the login.
 */

declare(strict_types=1);

use Example\Answer;
use Example\Orders;
use Example\Reconcile;

require __DIR__ . '/../src/load.php';

function answer(): Answer
{
    $orders = new Orders(Reconcile::connect(setting('DATABASE')));
    $tenant = $_SERVER['HTTP_X_TENANT'] ?? '';
    $body = (string) file_get_contents('php://input');
    $asked = $_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    return match (1) {
        preg_match('{^POST /orders$}', $asked)
            => $orders->place($tenant, $_SERVER['HTTP_IDEMPOTENCY_KEY'] ?? '', $body),
        preg_match('{^GET /orders/(ord-[0-9a-f]+)$}', $asked, $found)
            => $orders->show($tenant, $found[1]),
        preg_match('{^PUT /orders/(ord-[0-9a-f]+)/address$}', $asked, $found)
            => $orders->move($tenant, $found[1], $body),
        default => Answer::json(404, ['error' => 'no such page']),
    };
}

try {
    $answer = answer();
} catch (Throwable $failure) {
    error_log($failure->getMessage());
    // The client may ask again with the same key: that never makes a second order.
    $answer = Answer::json(503, ['error' => 'not now'], ['Retry-After' => '1']);
}
header("Content-Type: $answer->type");
header('Content-Length: ' . strlen($answer->body));
foreach ($answer->headers as $name => $value) {
    header("$name: $value");
}
http_response_code($answer->code); // last, because some headers change it
echo $answer->body;
