<?php

// SPDX-License-Identifier: Apache-2.0

declare(strict_types=1);

// A class of this example is in the file of its name.
spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/' . str_replace('Example\\', '', $class) . '.php';
    if (str_starts_with($class, 'Example\\') && is_file($file)) {
        require $file;
    }
});

/** From the environment, or the program ends and says what it lacks. */
function setting(string $name, ?string $default = null): string
{
    $value = getenv($name);
    if ($value === false || $value === '') {
        $value = $default ?? throw new RuntimeException("$name is not set");
    }
    return $value;
}
